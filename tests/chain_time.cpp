// SPDX-License-Identifier: MIT
// Times a chain beside separate plans of its products, after comparing their values. It is not a test.
//
//     tools/with lavapipe build/tests/chain_time TYPE ROWS INPUTS,WIDTH,... [KEPT[a][d][c] [N|NAME-PART of a device]]
//
// All layers but the last have a ReLU. After KEPT, as in 0ac: a: the first A is column-major; d: gradients, so the
// epilogue is the derivative of ReLU, and the last D is column-major; c: the GPU has the rows. Prints TYPE ROWS WIDTHS,
// the microseconds of the chain and of separate plans, each with its barrier (the least, the median, the largest), and
// the kernel or why there are several plans.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "vkgemm/elements.hpp"
#include "vkgemm/host.hpp"

namespace {

using namespace vkgemm;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "chain_time: %s\n", why.c_str());
    std::exit(1);
}
template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status().text);
    return *std::move(result);
}
void check(const Status& s) {
    if (!s) give_up(s.text);
}

struct Layers {
    Type type = VKGEMM_TYPE_DEFAULT;
    uint64_t rows = 0;
    std::vector<uint64_t> widths;
    uint32_t kept = 0;
    bool a_column_major = false, gradients = false, counted = false;

    uint64_t element() const { return type == VKGEMM_TYPE_F32 ? 4 : 2; }
    std::vector<Problem> problems() const {
        std::vector<Problem> out;
        for (size_t i = 0; i + 1 < widths.size(); ++i) {
            Problem p;
            p.m = rows;
            p.n = widths[i + 1];
            p.k = widths[i];
            if (i == 0) p.a.type = type;
            if (i == 0 && a_column_major) p.a.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
            const bool is_last = i + 2 == widths.size();
            if (gradients && is_last) p.d.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
            if (gradients) p.b.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
            if (!gradients) p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
            if (!is_last) p.epilogue.add({.kind = gradients ? VKGEMM_STEP_DRELU : VKGEMM_STEP_RELU});
            if (counted) p.upTo = VKGEMM_UP_TO_M;
            if (counted) p.grouping = VKGEMM_GROUPING_TABLE;
            out.push_back(p);
        }
        return out;
    }
};

// Either whole numbers, few of the weights not 0, or fractions.
std::vector<std::byte> random_elements(const Layers& l, uint64_t count, bool exact, bool weight) {
    std::mt19937_64 random(count + exact);
    const uint64_t pattern = std::min<uint64_t>(count, 999983), e = l.element();
    std::vector<std::byte> out(count * e);
    for (uint64_t i = 0; i < pattern; ++i) {
        // Sums beyond what 16 bits hold exactly, so that their rounding shows.
        const double whole = weight ? (random() % 8 ? 0 : double(random() % 3) - 1) : double(random() % 4201) - 2100;
        const double fraction = (double(random() >> 11) * 0x1p-52 - 1) * (weight ? 0.3 : 1);
        encode(l.type, exact ? whole : fraction, out.data() + i * e);
    }
    for (uint64_t i = pattern * e; i < out.size(); ++i) out[i] = out[i - pattern * e];
    return out;
}

struct Operands {
    host::Buffer a, workspace, group;
    std::vector<host::Buffer> b, bias, d, residual;  // d: of each product, where it is stored
};

std::vector<Run> runs_of(const Layers& l, const Operands& o) {
    std::vector<Run> runs(o.b.size());
    runs[0].a = o.a.operand();
    if (l.counted) runs[0].groups = o.group.operand();
    for (size_t i = 0; i < runs.size(); ++i) {
        runs[i].b = o.b[i].operand();
        if (!l.gradients) runs[i].bias = o.bias[i].operand();
        if (l.gradients && i + 1 < runs.size()) runs[i].residual = o.residual[i].operand();
        if (i + 1 == runs.size() || (l.kept >> i & 1)) runs[i].d = o.d[i].operand();
    }
    return runs;
}

void fill(const host::Device& device, const Layers& l, const Operands& o, bool exact) {
    check(device.upload(o.a, random_elements(l, l.rows * l.widths[0], exact, false)));
    for (size_t i = 0; i < o.b.size(); ++i) {
        check(device.upload(o.b[i], random_elements(l, l.widths[i] * l.widths[i + 1], exact, true)));
        check(device.upload(o.bias[i], random_elements(l, l.widths[i + 1], exact, false)));
        if (l.gradients)
            check(device.upload(o.residual[i], random_elements(l, l.rows * l.widths[i + 1], exact, false)));
    }
    std::vector<uint32_t> group(sizeof(VkgemmGroup) / sizeof(uint32_t));
    group[0] = static_cast<uint32_t>(l.rows);
    check(device.upload(o.group, group));
}

std::vector<double> timed(const host::Device& device, const host::RecordRun& record) {
    using Clock = std::chrono::steady_clock;
    for (const auto begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(400);)
        value(device.time(20, record));
    auto all = value(device.time(41, record)).seconds;
    std::ranges::sort(all);
    return {all.front() * 1e6, all[all.size() / 2] * 1e6, all.back() * 1e6};
}

Layers layers_from(int argc, char** argv) {
    Layers l;
    const std::string type = argc > 3 ? argv[1] : "";
    for (const Type t : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16})
        if (type == std::string(t == VKGEMM_TYPE_F32 ? "f32" : t == VKGEMM_TYPE_F16 ? "f16" : "bf16")) l.type = t;
    if (l.type == VKGEMM_TYPE_DEFAULT) give_up("usage: chain_time f32|f16|bf16 ROWS INPUTS,WIDTH,... [KEPT [DEVICE]]");
    l.rows = std::strtoull(argv[2], nullptr, 10);
    for (char* at = argv[3]; *at; at += *at == ',') l.widths.push_back(std::strtoull(at, &at, 10));
    char* letters = nullptr;
    if (argc > 4) l.kept = static_cast<uint32_t>(std::strtoul(argv[4], &letters, 10));
    for (; letters && *letters; ++letters) {
        if (!std::strchr("adc", *letters))
            give_up(std::string("what follows KEPT are letters of a, d and c: ") + letters);
        (*letters == 'a' ? l.a_column_major : *letters == 'd' ? l.gradients : l.counted) = true;
    }
    return l;
}

}  // namespace

int main(int argc, char** argv) {
    const Layers l = layers_from(argc, argv);
    const std::vector<Problem> problems = l.problems();
    const auto device = value(host::Device::open({.device = argc > 5 ? argv[5] : ""}));
    const auto buffer = [&](uint64_t elements) { return value(device.createBuffer(elements * l.element())); };
    Operands o = {.a = buffer(l.rows * l.widths[0]),
                  .workspace = {},
                  .group = value(device.createBuffer(sizeof(VkgemmGroup))),
                  .b = {},
                  .bias = {},
                  .d = {},
                  .residual = {}};
    for (const Problem& p : problems) {
        o.b.push_back(buffer(p.n * p.k));
        o.bias.push_back(buffer(p.n));
        o.d.push_back(buffer(l.rows * p.n));
        o.residual.push_back(l.gradients ? buffer(l.rows * p.n) : host::Buffer{});
    }
    const std::vector<Run> runs = runs_of(l, o);
    const std::string why = value(Chain::explain(device.context(), {problems, l.kept}));
    const auto chain = value(Chain::create(device.context(), {problems, l.kept}));
    const auto separate = value(Chain::create(device.context(), {problems, l.kept, VKGEMM_CHAIN_SEPARATE}));
    o.workspace = value(
        device.createBuffer(std::max({separate.info().workspaceBytes, chain.info().workspaceBytes, uint64_t{16}})));
    const auto record_of = [&](const Chain& c) -> host::RecordRun {
        return [&](VkCommandBuffer commands, uint32_t) {
            return c.record(commands, {.runs = runs, .workspace = o.workspace.operand()});
        };
    };
    size_t wrong = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].d.buffer) continue;
        fill(device, l, o, true);
        std::vector<std::byte> of_chain(l.rows * problems[i].n * l.element()), expected(of_chain.size());
        check(device.submit([&](VkCommandBuffer c) { return record_of(chain)(c, 0); }));
        check(device.download(o.d[i], of_chain));
        check(device.fill(o.d[i], 0, of_chain.size() / 4 * 4, 0xffffffff));
        check(device.submit([&](VkCommandBuffer c) { return record_of(separate)(c, 0); }));
        check(device.download(o.d[i], expected));
        for (size_t at = 0; at < expected.size(); ++at) wrong += of_chain[at] != expected[at];
    }
    fill(device, l, o, false);
    std::printf("%s %llu %s kept=%s", argv[1], static_cast<unsigned long long>(l.rows), argv[3],
                argc > 4 ? argv[4] : "0");
    std::vector<double> best[2];
    for (int turn = 0; turn < 2; ++turn)
        for (const auto* c : {&chain, &separate}) {
            const auto t = timed(device, record_of(*c));
            auto& b = best[c == &separate];
            if (b.empty() || t[1] < b[1]) b = t;
        }
    for (const auto& t : best) std::printf("  %.1f/%.1f/%.1f", t[0], t[1], t[2]);
    std::printf("  wrong=%zu  %s\n", wrong, why.substr(0, why.find('\n')).c_str());
    return wrong != 0;
}
