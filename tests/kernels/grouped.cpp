// SPDX-License-Identifier: MIT
// Groups of a table: sizes and places from memory, index lists, and tables full of nonsense.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "kernels/groups.h"
#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "support/random.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

using plan::Kernel;

VkgemmOperand operand(const host::Buffer& buffer, const Guarded& x) {
    return {.buffer = buffer.handle(), .offset = x.offset(), .size = x.span_bytes(), .address = 0};
}

/// The problem of the plan. If its m varies, it is larger than that of the run, which states its own.
VkgemmProblem planned(const Problem& p) {
    VkgemmProblem out = convert::toC(plan::restated(p));
    if (!(p.upTo & VKGEMM_UP_TO_M) || p.a.layout != plan::rowMajor || p.d.layout != plan::rowMajor) return out;
    out.m += 5;
    out.a.batchStride = out.b.batchStride = out.c.batchStride = out.d.batchStride = 0;
    return out;
}

/// The table with addresses in place of offsets.
std::vector<VkgemmGroup> addressed(const Groups& g, const host::Buffer& a, const host::Buffer& b,
                                   const host::Buffer& d) {
    std::vector<VkgemmGroup> out = g.table;
    const auto place = [](uint64_t& offset, const host::Buffer& buffer, const Guarded& x) {
        offset = buffer.address() + x.offset() + plan::info(x.type()).bytes_of(offset);
    };
    for (VkgemmGroup& x : out) {
        place(x.offsetA, a, g.a);
        place(x.offsetB, b, g.b);
        place(x.offsetD, d, g.d);
    }
    for (size_t i = 0; i < g.astray; ++i)
        (i % 3 == 0 ? out[i].offsetA : i % 3 == 1 ? out[i].offsetB : out[i].offsetD) += 2;
    return out;
}

/// Runs `run.table` where the reference is `good`, and compares all of D.
std::string run_groups(const Groups& run, const Groups& good, const char* kernel, const char* tile, double alpha,
                       double beta) {
    const size_t messages = device().messageCount();
    const VkgemmProblem problem = planned(run.p);
    const bool by_address = run.p.grouping == VKGEMM_GROUPING_ADDRESSES;
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = kernel;
    options.tile = tile;
    const Kernel* const row = kernel ? plan::find_kernel(kernel) : nullptr;
    options.operandAlignment = row && wants_alignment(*row) ? 16 : plan::info(run.p.d.type).unit_bytes();
    OwnedPlan plan;
    VkgemmPlanInfo info;
    if (std::string why = make_plan(problem, options, plan, info); !why.empty()) return why;
    const auto upload = [](const auto& bytes) { return uploaded(bytes.data(), bytes.size() * sizeof bytes[0]); };
    const host::Buffer a = upload(run.a.bytes()), b = upload(run.b.bytes()), d = upload(run.d.bytes()),
                       groups = upload(by_address ? addressed(run, a, b, d) : run.table), indices = upload(run.indices),
                       workspace = upload(
                           std::vector<std::byte>(info.requiredBytes[VKGEMM_SLOT_WORKSPACE] + 64, std::byte{0x5a}));
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a = operand(a, run.a);
    r.b = operand(b, run.b);
    r.d = operand(d, run.d);
    if (plan::is_mixed(run.p))  // A and B are read in words
        for (VkgemmOperand* x : {&r.a, &r.b})
            x->size = (x->size + 3) / 4 * 4 + (options.operandAlignment < 4 ? 4 - options.operandAlignment : 0);
    if (by_address) r.a = r.b = r.d = {};
    if (problem.m != run.p.m) {
        r.flags = VKGEMM_RECORD_SIZES;
        r.m = run.p.m;
        r.n = run.p.n;
        r.k = run.p.k;
        r.batch = run.p.batch;
    }
    r.groups.buffer = groups.handle();
    if (run.p.grouping == VKGEMM_GROUPING_INDEXED) {
        r.indices.buffer = indices.handle();
        r.indices.size = run.indices.size() * sizeof(uint32_t);
    }
    r.workspace.buffer = workspace.handle();
    r.alpha = alpha;
    if (alpha == 0) r.flags |= VKGEMM_RECORD_ZERO_ALPHA;
    r.beta = beta;
    if (const std::string why = submitted(plan, r, messages); !why.empty()) return why;

    std::vector<std::byte> after(run.d.bytes().size());
    REQUIRE(device().download(d, after).code == VKGEMM_SUCCESS);
    if (const auto byte = run.d.trespass(after)) return plan::concat({"byte ", *byte, " outside D was written"});
    const std::vector<double> got = run.d.numbers_of(after), want = expected(good, alpha, beta);
    for (size_t i = 0; i < want.size(); ++i)
        if (got[i] != want[i] && !(std::isnan(got[i]) && std::isnan(want[i])))
            return plan::concat(
                {"element ", i, " of D is ", numberText(got[i]), " and should be ", numberText(want[i])});
    return "";
}

struct Line {
    const char* sizes;
    double alpha, beta;
};
constexpr Line lines[] = {
    {"29x35x40 batch=5 groups=table upto=m", 1, 0},
    {"29x36x40 batch=6 groups=table upto=mnk layout=nt", 2, 0},
    {"24x33x38 batch=4 groups=table upto=mk layout=tn c=d", 1, 2},
    {"20x33x32 batch=4 groups=table upto=m layout_d=t", 1, 0},
    {"20x17x0 batch=3 groups=table upto=m", 1, 0},
    {"29x35x40 batch=4 groups=table", 1, 0},
    {"40x36x48 batch=5 groups=indexed upto=m layout=nt", 1, 0},
    {"45x35x38 batch=7 groups=indexed per_row=4 upto=m layout=nn c=d", 1, 2},
    {"29x36x40 batch=6 groups=addresses upto=mnk layout=nt", 2, 0},
    {"24x33x38 batch=4 groups=addresses upto=mk layout=tn c=d", 1, 2},
    {"9x33x96 batch=5 groups=addresses upto=m layout=nt", 1, 0},  // columns of blocks: an odd number of halfwords
    {"33x20x64 batch=1 groups=indexed per_row=2 upto=m layout=nt", -1, 0},
    {"9x36x192 batch=3 groups=table upto=mn layout=nt", 1, 0},  // few rows, or columns
    {"40x36x64 batch=5 groups=indexed per_row=2 upto=m layout=nt", 1, 0},
    {"40x8x128 batch=5 groups=indexed upto=m layout=nt c=d", 1, 2},
    {"9x34x192 ldb=256 batch=4 groups=table upto=m layout=nt", 1, 0},  // columns of blocks: an odd number of them apart
    {"9x34x256 ldb=512 batch=4 groups=table upto=m layout=nt", 1, 0},
    {"40x35x512 batch=5 groups=indexed per_row=2 upto=m layout=nt", 1, 0},
};

/// A batch whose products take matrix `indices[i]` of B, which has four; others leave D as it was.
std::string run_selected(const std::string& line, const Kernel& kernel, const char* tile,
                         const std::vector<uint32_t>& indices) {
    const Problem p = Groups::completed(line);
    constexpr uint32_t matrices = 4;
    if (p.b.batchStride == 0) return "all products have one matrix of B";
    Guarded a(p.a.type, p.a, p.m, p.k, p.batch), b(p.b.type, p.b, p.k, p.n, matrices),
        d(p.d.type, p.d, p.m, p.n, p.batch);
    std::mt19937_64 random(indices.size());
    for (Guarded* x : {&a, &b, &d}) x->fill([&] { return double(int64_t(random() % 9) - 4); });

    const size_t messages = device().messageCount();
    const VkgemmProblem problem = convert::toC(plan::restated(p));
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = kernel.name.data();
    options.tile = tile;
    options.operandAlignment = wants_alignment(kernel) ? 16 : plan::info(p.d.type).unit_bytes();
    OwnedPlan plan;
    VkgemmPlanInfo info;
    if (std::string why = make_plan(problem, options, plan, info); !why.empty()) return why;
    const host::Buffer in_a = uploaded(a.bytes().data(), a.bytes().size()),
                       in_b = uploaded(b.bytes().data(), b.bytes().size()),
                       out = uploaded(d.bytes().data(), d.bytes().size()),
                       chosen = uploaded(indices.data(), indices.size() * sizeof indices[0]);
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a = operand(in_a, a);
    r.b = operand(in_b, b);
    r.d = operand(out, d);
    if (plan::is_mixed(p))
        for (VkgemmOperand* x : {&r.a, &r.b})
            x->size = (x->size + 3) / 4 * 4 + (options.operandAlignment < 4 ? 4 - options.operandAlignment : 0);
    r.indices.buffer = chosen.handle();
    if (const std::string why = submitted(plan, r, messages); !why.empty()) return why;

    std::vector<std::byte> after(d.bytes().size());
    REQUIRE(device().download(out, after).code == VKGEMM_SUCCESS);
    if (const auto byte = d.trespass(after)) return plan::concat({"byte ", *byte, " outside D was written"});
    const std::vector<double> x = a.numbers(), y = b.numbers(), got = d.numbers_of(after);
    std::vector<double> want = d.numbers();
    for (uint64_t i = 0; i < p.batch; ++i)
        for (uint64_t row = 0; row < p.m && indices[i] < matrices; ++row)
            for (uint64_t col = 0; col < p.n; ++col) {
                double sum = 0;
                for (uint64_t q = 0; q < p.k; ++q)
                    sum += x[i * p.a.batchStride + at(p.a, p.a.ld, row, q)] *
                           y[indices[i] * p.b.batchStride + at(p.b, p.b.ld, q, col)];
                want[i * p.d.batchStride + row * p.d.ld + col] = rounded(p.d.type, sum);
            }
    for (size_t i = 0; i < want.size(); ++i)
        if (got[i] != want[i] && !(std::isnan(got[i]) && std::isnan(want[i])))
            return plan::concat(
                {"element ", i, " of D is ", numberText(got[i]), " and should be ", numberText(want[i])});
    return "";
}

}  // namespace

TEST_SUITE_BEGIN("groups");

TEST_CASE("groups of a table, and with index lists: every kernel that takes them") {
    std::map<std::string_view, size_t> right;
    for_each_grouped([&](const Kernel& kernel, const std::string& types, const char* tile) {
        uint64_t seed = 0;
        size_t& count = right[kernel.name];
        const size_t first = right.size();
        for (size_t i = 0; i < std::size(lines); ++i) {
            const Line& x = lines[(first + i) % std::size(lines)];
            if (is_quick() && count >= 1 && i % 3) continue;
            const std::string line = line_of(types, x.sizes);
            const auto parsed = plan::parse_problem(line);
            REQUIRE_MESSAGE(bool(parsed), line);
            const auto p = plan::complete(parsed->problem);
            if (!p) continue;  // blocks along the other side
            const Groups groups(line, ++seed);
            const std::string why = run_groups(groups, groups, kernel.name.data(), tile, x.alpha, x.beta);
            const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
            if (kernel.module.a != kernel.module.b && says("multiplies")) continue;  // a D that swaps A and B
            if (says("is for ") || says("is not for operands") || says("not for bf16")) continue;
            CHECK_MESSAGE(why.empty(), kernel.name, " ", line, ": ", why);
            ++count;
        }
    });
    for (const auto& row : right) CHECK_MESSAGE(row.second > 0, row.first, " took none of the problems");
}

TEST_CASE("groups with an alpha of 0 read neither A nor B, whether their K varies or not") {
    uint64_t seed = 0;
    for (const auto& row : {std::pair{"29x35x40 batch=5 groups=table upto=m", 0.0},
                            {"29x36x40 batch=6 groups=table upto=mnk layout=nt", 0.0},
                            {"24x33x38 batch=4 groups=table layout=tn c=d", 2.0},
                            {"45x35x38 batch=7 groups=indexed per_row=4 upto=m c=d", 2.0},
                            {"29x36x40 batch=6 groups=addresses upto=mn layout=nt", 0.0}}) {
        Groups groups(row.first, ++seed);
        for (Guarded* const x : {&groups.a, &groups.b}) x->fill([] { return NAN; });
        const std::string why = run_groups(groups, groups, nullptr, nullptr, 0, row.second);
        CHECK_MESSAGE(why.empty(), row.first, ": ", why);
    }
}

TEST_CASE("a batch whose matrices of B indices choose: every family of few rows, and indices beyond") {
    constexpr std::array<const char*, 5> sizes = {
        "1x33x256 batch=6 stride_a=0 layout=nt groups=selected", "1x40x512 layout=nt groups=selected",
        "3x40x512 batch=6 layout=nt groups=selected", "40x2x512 batch=6 layout=nt groups=selected",
        "5x40x264 batch=6 layout=nn groups=selected"};
    std::map<std::string, size_t> tried, right;  // of each family some kernels, each with one problem
    for_each_grouped([&](const Kernel& kernel, const std::string& types, const char* tile) {
        const std::string family = variant_of(kernel.module);
        if (!kernel.module.selects()) return;
        const std::string line = line_of(types, sizes[tried[family]++ % sizes.size()]);
        if (!plan::complete(plan::parse_problem(line)->problem)) return;  // blocks along the other side
        if (right[family] >= (is_quick() ? 2 : 6) && !everything()) return;
        const std::string why = run_selected(line, kernel, tile, {2, 4, 0, UINT32_MAX, 3, 2});
        const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
        if (says("is for ") || says("is not for operands") || says("not for bf16")) return;
        CHECK_MESSAGE(why.empty(), kernel.name, " ", line, ": ", why);
        ++right[family];
    });
    for (const auto& one : tried) CHECK_MESSAGE(right[one.first] > 0, one.first, ": no kernel took its problem");
}

namespace {

struct Chosen {
    const Kernel* kernel;
    std::string types;
    const char* tile;
};

/// A problem without its sizes: what pipelines depend on.
std::string some_words(Random& random, bool indexed) {
    constexpr std::array<const char*, 4> layouts = {"nn", "nt", "tn", "tt"};
    constexpr std::array<const char*, 5> sizes = {"m", "mn", "mk", "nk", "mnk"};
    std::string out = std::string(" layout=") + layouts[random.below(indexed ? 2 : 4)];
    out += std::string(" upto=") + (indexed ? "m" : random.pick(sizes));
    if (indexed) out += " groups=indexed per_row=" + std::to_string(1 + random.below(8));
    if (!indexed) out += random.one_in(3) ? " groups=addresses" : " groups=table";
    if (!indexed && random.one_in(3)) out += " layout_d=t";
    if (random.one_in(2)) out += " c=d";
    return out;
}

std::string some_sizes(Random& random, bool blocks) {
    const uint64_t grain = random.one_in(3) ? 8 : 1;
    const auto size = [&] { return (random.one_in(12) ? random.below(2) : 1 + random.below(60)) * grain; };
    const uint64_t m = std::min<uint64_t>(size(), a_rows - 1), n = size(), k = blocks ? 32 * random.below(4) : size();
    return plan::concat({m, "x", n, "x", k, " batch=", 1 + random.below(9)});
}

/// Runs so many problems, many for each choice of kernel and layouts, because most of the time goes into compiling.
void run_random_groups(uint64_t seed, int problems) {
    Random random(seed);
    std::vector<Chosen> all;
    for_each_grouped([&](const Kernel& kernel, const std::string& types, const char* tile) {
        if (kernel.module.family.name.starts_with("gemv")) return;  // which refuse most of these problems
        all.push_back({&kernel, types, tile});
    });
    if (all.empty()) return;
    int done = 0, refused = 0, wrong = 0;
    while (done < problems && refused < 40 * problems) {
        const Chosen& x = random.pick(all);
        const bool indexed = random.one_in(3), blocks = x.types.find("q8_0") != std::string::npos;
        const std::string words = some_words(random, indexed);
        for (int i = 0; i < 25; ++i) {
            const std::string line = line_of(x.types, (some_sizes(random, blocks) + words).c_str());
            const auto parsed = plan::parse_problem(line);
            REQUIRE_MESSAGE(bool(parsed), line);
            if (!plan::complete(parsed->problem)) {
                ++refused;
                continue;
            }
            const Groups groups(line, random.bits());
            const bool adds = groups.p.cSource != VKGEMM_C_NONE;
            const std::string why = run_groups(groups, groups, x.kernel->name.data(), x.tile,
                                               1 + double(random.below(2)), adds ? double(random.below(3)) : 0);
            const bool no_plan = why.starts_with("no plan: ");
            ++(no_plan ? refused : done);
            if (!no_plan && !why.empty() && ++wrong <= 3) MESSAGE(x.kernel->name, " ", line, ": ", why);
        }
    }
    CHECK_MESSAGE(wrong == 0, wrong, " of ", done, " problems are wrong");
    CHECK(done >= problems);
}

}  // namespace

TEST_CASE("random groups") { run_random_groups(22, is_quick() ? 50 : 200); }
TEST_CASE("slow random groups") { run_random_groups(seed_or(23), everything() ? 20000 : 1000); }

TEST_CASE("groups that are not inside their operands are left out") {
    const char* const all[] = {"29x36x40 batch=12 groups=table upto=mnk layout=nt",
                               "i32*i32 29x36x40 batch=12 groups=table upto=mn layout=tn ldd=41 c=d",
                               "45x35x37 batch=12 groups=indexed per_row=3 upto=m"};
    uint64_t seed = 10;
    for (const char* line : all) {
        const Groups good(line, ++seed);
        Groups run = good, reference = good;
        const auto leave_out = [&](size_t i, auto change) {
            change(run.table[i]);
            reference.table[i].m = reference.table[i].n = 0;
        };
        const bool indexed = Groups::is_indexed(good.p);
        leave_out(0, [](VkgemmGroup& g) { g.offsetA = UINT64_MAX; });
        leave_out(1, [](VkgemmGroup& g) { g.offsetA = uint64_t{1} << 63; });
        leave_out(2, [](VkgemmGroup& g) {
            g.m = 20;
            g.n = 30;
            g.k = 30;
            g.offsetB = uint64_t{1} << 40;
        });
        leave_out(3, [&](VkgemmGroup& g) {
            g.m = 20;
            g.n = 30;
            g.offsetD = good.d.span_bytes() / 4;
        });
        leave_out(4, [](VkgemmGroup& g) {
            g.m = 20;
            g.n = 30;
            g.k = 30;
            g.ldb = 29;
        });
        leave_out(5, [](VkgemmGroup& g) {
            g.m = 20;
            g.n = 30;
            g.ldd = 0x80000000u;
        });
        leave_out(6, [](VkgemmGroup& g) {
            g.m = 20;
            g.n = 30;
            g.k = 30;
            g.lda = UINT32_MAX;
        });
        if (indexed) {
            leave_out(7, [](VkgemmGroup& g) { g.firstIndex = UINT32_MAX; });
            run.indices.back() = reference.indices.back() = UINT32_MAX;  // no such row
            run.indices.front() = reference.indices.front() = uint32_t(good.p.m);
        }
        const std::string why =
            run_groups(run, reference, nullptr, nullptr, 1, good.p.cSource == VKGEMM_C_NONE ? 0 : 2);
        CHECK_MESSAGE(why.empty(), line, ": ", why);
    }
}

TEST_CASE("groups by address whose addresses are no multiples of an element are left out") {
    const Groups good("29x36x40 batch=6 groups=addresses upto=mnk layout=nt", 31);
    Groups run = good, reference = good;
    run.astray = 3;
    for (size_t i = 0; i < 6; ++i) {
        run.table[i].m = reference.table[i].m = 20;
        run.table[i].n = reference.table[i].n = 30;
        run.table[i].k = reference.table[i].k = 30;
    }
    for (size_t i = 0; i < run.astray; ++i) reference.table[i].m = reference.table[i].n = 0;
    CHECK(run_groups(run, reference, nullptr, nullptr, 1, 0) == "");
}

TEST_CASE("tables of random words touch nothing outside the operands") {
    std::mt19937_64 random(5);
    for (int round = 0; round < 40; ++round) {
        const Groups good(round % 2 ? "29x36x40 batch=30 groups=table upto=mnk layout=nt"
                                    : "45x35x37 batch=30 groups=indexed per_row=3 upto=m",
                          uint64_t(round));
        Groups run = good;
        for (VkgemmGroup& g : run.table) {
            uint32_t words[sizeof g / 4];
            for (uint32_t& w : words) w = static_cast<uint32_t>(random() >> random() % 64);
            std::memcpy(&g, words, sizeof g);
            if (random() % 2) {
                g.offsetA %= 100;
                g.offsetB %= 100;
                g.offsetD %= 100;
                g.lda = g.ldb = g.ldc = g.ldd = 0;
            }
        }
        for (uint32_t& i : run.indices) i = static_cast<uint32_t>(random() >> random() % 64);
        const std::string why = run_groups(run, good, nullptr, nullptr, 1, 0);
        CHECK_MESSAGE((why.empty() || why.starts_with("element ")), round, ": ",
                      why);  // which D there is, nobody knows
    }
}

TEST_SUITE_END();

}  // namespace vkgemm::test
