// SPDX-License-Identifier: MIT
#include "chain/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "support/limited_device.h"
#include "support/numbers.h"

namespace vkgemm::test {
namespace {

constexpr std::chrono::minutes patience{8};  // CPU drivers compile at the first dispatch
constexpr VkDeviceSize between = 256;        // bytes of poison between operands

uint64_t bytes_of(Type type) { return type == VKGEMM_TYPE_F32 ? 4 : 2; }

double read(const std::byte* from, Type type, uint64_t i) { return decode(type, from + i * bytes_of(type)); }

Problem problem_of(const NetworkCase& c, size_t layer) {
    const LayerCase& l = c.layers[layer];
    Problem p;
    p.m = c.rows;
    p.n = l.width;
    p.k = layer ? c.layers[layer - 1].width : c.inputs;
    if (layer == 0) p.a = {.type = c.type, .ld = (c.a_column_major ? c.rows : c.inputs) + c.pad};
    if (layer == 0 && c.a_column_major) p.a.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    if (l.b_column_major) p.b.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    p.d.ld = (c.d_column_major ? c.rows : l.width) + c.pad;
    if (c.d_column_major) p.d.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    if (l.bias) p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
    if (l.act != VKGEMM_STEP_NONE)
        p.epilogue.add({.kind = l.act, .low = l.act == VKGEMM_STEP_CLAMP ? -3.0F : 0.25F, .high = 5});
    p.biasType = l.bias_type;
    if (c.varies || c.counted) p.upTo = VKGEMM_UP_TO_M;
    if (c.counted) p.grouping = VKGEMM_GROUPING_TABLE;
    return p;
}

Type bias_type(const NetworkCase& c, const LayerCase& l) { return l.bias_type ? l.bias_type : c.type; }

}  // namespace

uint64_t index_of(const Matrix& m, uint64_t row, uint64_t col) {
    return m.layout == VKGEMM_LAYOUT_COLUMN_MAJOR ? col * m.ld + row : row * m.ld + col;
}

Network::Region Network::place(uint64_t bytes) {
    const Region out = {end_, bytes};
    end_ = (end_ + bytes + between + 255) / 256 * 256;
    return out;
}

Network::Network(const NetworkCase& c, Fill how, uint64_t seed) : case_(c) {
    const uint64_t e = bytes_of(c.type);
    for (size_t i = 0; i < c.layers.size(); ++i) problems_.push_back(problem_of(c, i));
    a_ = place((c.a_column_major ? c.inputs : c.rows) * problems_[0].a.ld * e);
    group_ = place(sizeof(VkgemmGroup));
    for (size_t i = 0; i < c.layers.size(); ++i) {
        const Problem& p = problems_[i];
        const uint64_t lines = c.d_column_major ? p.n : p.m;
        layers_.push_back({.b = place(p.k * p.n * e),
                           .bias = place(p.n * bytes_of(bias_type(c, c.layers[i]))),
                           .d = place(lines * p.d.ld * e),
                           .residual = {}});
        if (c.layers[i].act == VKGEMM_STEP_DRELU) layers_.back().residual = place(lines * p.d.ld * e);
    }
    auto made = device().createBuffer(end_ + 65536, host::Memory::host);
    REQUIRE_MESSAGE(bool(made), made.status().text);
    memory_ = *made;
    auto space = device().createBuffer(end_ + 65536, host::Memory::device);
    REQUIRE_MESSAGE(bool(space), space.status().text);
    workspace_ = *space;
    fill(how, seed);
}

void Network::fill(Fill how, uint64_t seed) {
    std::byte* const to = memory_.mapped().data();
    const uint64_t e = bytes_of(case_.type);
    for (uint64_t at = 0; at + e <= memory_.size(); at += e) poison(case_.type, to + at);
    std::mt19937_64 random(seed);
    const auto number = [&](bool weight) {
        if (how == Fill::fractions) return (double(random() >> 11) * 0x1p-52 - 1) * (weight ? 0.25 : 1);
        if (how == Fill::ones && weight) return 1.0;
        const double x = double(random() % 5) - 2;  // few weights are not 0, so that sums stay exact
        return weight ? (random() % 8 ? 0.0 : std::clamp(x, -1.0, 1.0)) : x;
    };
    for (uint64_t r = 0; r < case_.rows; ++r)
        for (uint64_t k = 0; k < case_.inputs; ++k) set_a(r, k, rounded(case_.type, number(false)));
    for (size_t i = 0; i < layers_.size(); ++i) {
        const Problem& p = problems_[i];
        for (uint64_t j = 0; j < p.k * p.n; ++j) encode(case_.type, number(true), to + layers_[i].b.offset + j * e);
        const Type type = bias_type(case_, case_.layers[i]);
        for (uint64_t j = 0; j < p.n; ++j)
            encode(type, rounded(case_.type, number(false)), to + layers_[i].bias.offset + j * bytes_of(type));
        const double signs[] = {-1, -0.0, 0, 1, 0x1p-14, std::nan("")};
        for (uint64_t j = 0; j < layers_[i].residual.bytes / e; ++j)
            encode(case_.type, signs[random() % std::size(signs)], to + layers_[i].residual.offset + j * e);
    }
}

void Network::set_a(uint64_t row, uint64_t col, double value) {
    encode(case_.type, value,
           memory_.mapped().data() + a_.offset + index_of(problems_[0].a, row, col) * bytes_of(case_.type));
}

std::vector<double> Network::numbers(const Region& r, uint64_t rows, uint64_t cols, const Matrix& m) const {
    std::vector<double> out;
    for (uint64_t row = 0; row < rows; ++row)
        for (uint64_t col = 0; col < cols; ++col)
            out.push_back(read(memory_.mapped().data() + r.offset, case_.type, index_of(m, row, col)));
    return out;
}
std::vector<double> Network::b(size_t i) const {
    Matrix m = problems_[i].b;
    m.ld = m.layout == VKGEMM_LAYOUT_COLUMN_MAJOR ? problems_[i].k : problems_[i].n;
    return numbers(layers_[i].b, problems_[i].k, problems_[i].n, m);
}
std::vector<double> Network::d(size_t i) const {
    return numbers(layers_[i].d, problems_[i].m, problems_[i].n, problems_[i].d);
}
std::vector<double> Network::bias(size_t i) const {
    std::vector<double> out(problems_[i].n);
    for (uint64_t j = 0; j < out.size() && case_.layers[i].bias; ++j)
        out[j] = read(memory_.mapped().data() + layers_[i].bias.offset, bias_type(case_, case_.layers[i]), j);
    return out;
}

std::vector<std::byte> Network::d_bytes(size_t i) const {
    const auto all = memory_.mapped().subspan(layers_[i].d.offset, layers_[i].d.bytes + between);
    return {all.begin(), all.end()};
}

std::vector<Run> Network::runs(uint64_t rows) const {
    std::vector<Run> out(layers_.size());
    for (size_t i = 0; i < layers_.size(); ++i) {
        Run& r = out[i];
        if (i == 0) r.a = operand(a_);
        r.b = operand(layers_[i].b);
        if (i == 0 && case_.counted) r.groups = operand(group_);
        if (case_.layers[i].bias) r.bias = operand(layers_[i].bias);
        if (case_.layers[i].act == VKGEMM_STEP_DRELU) r.residual = operand(layers_[i].residual);
        if (i + 1 == layers_.size() || (case_.kept >> i & 1)) r.d = operand(layers_[i].d);
        r.alpha = case_.layers[i].alpha;
        if (case_.varies) r.sizes = Sizes{.m = rows, .n = problems_[i].n, .k = problems_[i].k, .batch = 1};
    }
    return out;
}

void Network::set_count(uint64_t rows) {
    VkgemmGroup group{};
    group.m = static_cast<uint32_t>(rows);
    std::memcpy(memory_.mapped().data() + group_.offset, &group, sizeof group);
}

void Network::poison_results() {
    const uint64_t e = bytes_of(case_.type);
    for (const LayerMemory& l : layers_)
        for (uint64_t at = 0; at + e <= l.d.bytes; at += e)
            poison(case_.type, memory_.mapped().data() + l.d.offset + at);
}

// Every byte but the elements of a D that is written must be what it was.
void Network::check_untouched(uint64_t rows, const std::vector<std::byte>& before, bool all_d) const {
    std::vector<std::byte> expected = before;
    const uint64_t e = bytes_of(case_.type);
    const auto now = memory_.mapped();
    for (size_t i = 0; i < layers_.size(); ++i) {
        if (!all_d && i + 1 != layers_.size() && !(case_.kept >> i & 1)) continue;
        for (uint64_t r = 0; r < rows; ++r)
            for (uint64_t c = 0; c < problems_[i].n; ++c) {
                const uint64_t at = layers_[i].d.offset + index_of(problems_[i].d, r, c) * e;
                std::memcpy(&expected[at], &now[at], e);
            }
    }
    const auto differs = std::ranges::mismatch(expected, now);
    CHECK_MESSAGE(differs.in1 == expected.end(), "byte ", differs.in1 - expected.begin(), " of ", expected.size(),
                  " has changed, outside every D");
}

void Network::run_chain(const Chain& chain, uint64_t rows) {
    poison_results();
    set_count(rows);
    rows = std::min(rows, case_.rows);
    const std::vector<std::byte> before(memory_.mapped().begin(), memory_.mapped().end());
    const std::vector<Run> all = runs(rows);
    ChainRun run = {.runs = all};
    if (chain.info().workspaceBytes) run.workspace = workspace_.operand(0, chain.info().workspaceBytes);
    const Status s = device().submit([&](VkCommandBuffer c) { return chain.record(c, run); }, patience);
    REQUIRE_MESSAGE(bool(s), s.text);
    check_untouched(rows, before, false);
}

void Network::run_separately(uint64_t rows) {
    poison_results();
    const std::vector<std::byte> before(memory_.mapped().begin(), memory_.mapped().end());
    std::vector<Run> all = runs(rows);
    std::vector<Plan> plans;
    for (size_t i = 0; i < all.size(); ++i) {
        Problem p = problems_[i];
        p.grouping = VKGEMM_GROUPING_NONE;
        if (case_.counted) all[i].sizes = Sizes{.m = rows, .n = p.n, .k = p.k, .batch = 1};
        all[i].groups = {};
        if (i > 0) {
            p.a = problems_[i - 1].d;
            p.a.type = case_.type;
            all[i].a = operand(layers_[i - 1].d);
        }
        all[i].d = operand(layers_[i].d);
        all[i].flags |= VKGEMM_RECORD_BARRIER_BEFORE;
        auto plan = device().context().createPlan(p);
        REQUIRE_MESSAGE(bool(plan), plan.status().text);
        plans.push_back(*std::move(plan));
    }
    const Status s = device().submit(
        [&](VkCommandBuffer c) {
            for (size_t i = 0; i < plans.size(); ++i)
                if (Status one = plans[i].record(c, all[i]); !one) return one;
            return Status{};
        },
        patience);
    REQUIRE_MESSAGE(bool(s), s.text);
    check_untouched(rows, before, true);
}

// A CPU computes chains by separate products, so there the context is one for a GPU.
VkgemmContext chain_context() {
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return is_cpu ? limited_context(device().info().maxInvocations) : device().context().handle();
}

Chain make_chain(const ChainProblem& p, VkgemmContext context) {
    const convert::ChainProblemC problem(p);
    VkgemmChain made = nullptr;
    VkgemmError error{};
    const VkgemmResult r = vkgemmCreateChain(context, problem.get(), nullptr, &made, &error);
    REQUIRE_MESSAGE(r >= 0, error.text);
    return Chain(made);
}

std::string explain_chain(const ChainProblem& p, VkgemmContext context) {
    const convert::ChainProblemC problem(p);
    std::string out(4096, ' ');
    size_t size = out.size();
    VkgemmError error{};
    const VkgemmResult r = vkgemmExplainChain(context, problem.get(), nullptr, out.data(), &size, &error);
    REQUIRE_MESSAGE(r == VKGEMM_SUCCESS, error.text);
    return out.c_str();
}

}  // namespace vkgemm::test
