// SPDX-License-Identifier: MIT
// Random problems over the whole public surface, each against the reference: types, mixed ones and block formats,
// layouts, strides, batches of two levels with ratios, C and the residual on D, steps, factors, schedules, operands
// packed ahead, buffers and addresses, plans for one size and for many. Most of the time would go into compiling, so a
// draw fixes what pipelines depend on, and many problems share it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kernels/rows.h"
#include "kernels/tally.h"
#include "shaders/gemv_blocks/family_mxint8.h"
#include "support/random.h"
#include "support/reference.h"
#include "vkgemm/rounding.hpp"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::rowMajor;
using vkgemm::plan::info;
using vkgemm::plan::Kernel;
using vkgemm::plan::Matrix;
using vkgemm::plan::Problem;
using vkgemm::plan::Type;

namespace {

/// What pipelines depend on.
struct Draw {
    Case base;             // kernel, tile, types, layouts, C, steps, upTo, what comes packed, how operands are given
    bool aligned = false;  // sizes, strides and offsets are multiples of 16 elements
    uint64_t grain_k = 1;  // K is a multiple, for whole blocks
    uint64_t most_m = 70, most_n = 70;
};

/// Those of one module that compile fast, for each module of each family: families are drawn equally often, however
/// many rows they have.
using Rows = std::vector<const Kernel*>;
std::vector<std::vector<Rows>> rows_by_family() {
    std::map<std::string, std::map<std::string_view, Rows>> found;
    for (const Kernel& k : vkgemm::plan::kernels()) {
        if (!k.module.is_product() || !is_chosen(k) || !fits(k)) continue;
        Rows& rows = found[variant_of(k.module)][k.module.name];
        if (rows.empty() || k.tile.BM * k.tile.BN <= 1024) rows.push_back(&k);
    }
    std::vector<std::vector<Rows>> out;
    for (const auto& [family, modules] : found) {
        auto& list = out.emplace_back();
        for (const auto& [module, rows] : modules) list.push_back(rows);
    }
    return out;
}

bool is_gemv(const Kernel& k) { return k.module.family.name.starts_with("gemv"); }
bool wants_blocks(const Kernel& k) { return k.module.family.reads_chunk64; }  // as B of a row-major D

bool suits_blocks(const Kernel& k, const Problem& p) {
    namespace family = vkgemm::plan::family;
    if (k.module.family.uses_matrix_units && p.a.type == vkgemm::plan::bf16) return false;
    if (!k.module.family.uses_packed_dots) return family::has_chunk64(p.b.type);
    return family::has_dots(p.b.type) && family::is_rounded(p.a.type);
}

void draw_types(Random& random, Draw& d, const Kernel& k) {
    Problem& p = d.base.problem;
    const auto& m = k.module;
    std::vector<Type> results;
    for (const auto& type : vkgemm::plan::type_info)
        if (m.writes(type.type)) results.push_back(type.type);
    p.a.type = m.a;
    p.b.type = m.b;
    p.accumulate = m.accumulate;
    p.accuracy = m.family.accuracy;
    for (Type* const t : {&p.a.type, &p.b.type})
        if (m.family.takes_fp8 && random.one_in(2)) *t = vkgemm::plan::e5m2;
    p.c.type = p.d.type = m.d == vkgemm::plan::scaled ? random.pick(results) : m.d;
    if (!m.is_mixed()) return;
    std::vector<Type> types;
    for (const auto& type : vkgemm::plan::type_info)
        if (vkgemm::plan::is_decoded(type.type) && !(m.family.uses_matrix_units && type.type == vkgemm::plan::bf16))
            types.push_back(type.type);
    do {
        p.a.type = random.pick(types);
        p.b.type = random.pick(types);
    } while (!vkgemm::plan::is_mixed(p) || (wants_blocks(k) && !suits_blocks(k, p)));
    d.grain_k = std::max({info(p.a.type).block, info(p.b.type).block, wants_blocks(k) ? 64u : is_gemv(k) ? 32u : 1u});
}

void draw_layouts(Random& random, Draw& d, const Kernel& k) {
    Problem& p = d.base.problem;
    for (Matrix* x : {&p.a, &p.b, &p.d}) x->layout = random.one_in(2) ? rowMajor : columnMajor;
    const bool along_k = k.module.is_mixed() && is_gemv(k);
    if (along_k || !info(p.a.type).is_plain()) p.a.layout = rowMajor;
    if (along_k || !info(p.b.type).is_plain()) p.b.layout = columnMajor;
    if (wants_blocks(k)) p.d.layout = rowMajor;
    constexpr std::array<VkgemmC, 4> sources = {VKGEMM_C_NONE, VKGEMM_C_NONE, VKGEMM_C_SEPARATE, VKGEMM_C_IS_D};
    p.cSource = random.pick(sources);
    if (p.cSource == VKGEMM_C_SEPARATE && random.one_in(2)) p.c.layout = columnMajor;
}

void draw_steps(Random& random, Problem& p) {
    std::set<VkgemmSlot> read;
    std::set<VkgemmStepKind> kinds;
    for (uint64_t left = random.one_in(2) ? 0 : 1 + random.below(VKGEMM_MAX_EPILOGUE_STEPS); left > 0; --left) {
        const auto& step = vkgemm::plan::step_info[random.below(std::size(vkgemm::plan::step_info))];
        if (step.sums == vkgemm::plan::StepSums::FLOATS && !info(vkgemm::plan::finished_in(p)).is_float) continue;
        if (step.operand != VKGEMM_SLOT_COUNT && !read.insert(step.operand).second) continue;
        if (kinds.insert(step.kind).second) p.epilogue.add({step.kind, -2, 3});
    }
}

/// Types of their own for some operands of the epilogue.
void draw_operand_types(Random& random, Problem& p) {
    constexpr std::array<Type, 4> types = {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::bf16, vkgemm::plan::i8};
    const auto sums = vkgemm::plan::finished_in(p);
    if (!info(sums).is_float || sums == vkgemm::plan::f64) return;
    const bool scaled = vkgemm::plan::is_scaled(p);
    const auto some = [&](bool matrix) { return types[random.below(scaled && matrix ? 4 : 3)]; };
    if (p.cSource == VKGEMM_C_SEPARATE && random.one_in(2)) p.c.type = some(true);
    for (const auto& step : p.epilogue) {
        const VkgemmSlot slot = info(step.kind).operand;
        if (random.one_in(3)) continue;
        if (slot == VKGEMM_SLOT_BIAS) p.biasType = some(false);
        if (slot == VKGEMM_SLOT_SCALE) p.scaleType = some(false);
        if (slot == VKGEMM_SLOT_RESIDUAL) p.residualType = some(true);
    }
    const bool bias_first = p.epilogue.count && info(p.epilogue.begin()->kind).operand == VKGEMM_SLOT_BIAS;
    if (scaled && bias_first && random.one_in(2)) p.biasType = vkgemm::plan::i32;
}

/// Some scalars in memory, and what is noted of D.
void draw_scalars(Random& random, Problem& p) {
    const auto sums = vkgemm::plan::finished_in(p);
    if (!info(sums).is_float || sums == vkgemm::plan::f64 || !random.one_in(3)) return;
    p.scalars = static_cast<uint32_t>(random.below(32));
    if (p.cSource == VKGEMM_C_NONE) p.scalars &= ~uint32_t{VKGEMM_SCALARS_BETA};
    p.scalars &= ~uint32_t{VKGEMM_SCALARS_CLAMP};
    for (const auto& step : p.epilogue)
        if (step.kind == VKGEMM_STEP_CLAMP && p.scalars) p.scalars |= VKGEMM_SCALARS_CLAMP;
}

/// Constants that compile fast, and a schedule.
void draw_schedule(Random& random, Draw& d, const Kernel& k) {
    constexpr std::array<const char*, 4> splits = {"", "", "SPLIT=1", "SPLIT=3"};
    constexpr std::array<const char*, 6> packs = {"", "", "PACK=1", "PACK=2", "PACK=3", "PACK=4"};
    Problem& p = d.base.problem;
    const bool mixed = k.module.is_mixed(), ahead = !mixed && random.one_in(5);
    const uint64_t which = 1 + random.below(3);
    if (ahead && (which & 1)) p.packedA = VKGEMM_PACKED_ANY;
    if (ahead && (which & 2)) p.packedB = VKGEMM_PACKED_ANY;
    const bool free = !ahead && !mixed && !k.module.family.packs_fragments;
    d.base.tile = small_tile(k);
    for (const char* constant : {random.pick(splits), free ? random.pick(packs) : ""})
        if (*constant) d.base.tile += (d.base.tile.empty() ? "" : ",") + std::string(constant);
}

/// Which sizes vary, as far as packed operands and blocks allow.
uint32_t draw_up_to(Random& random, const Problem& p) {
    if (random.one_in(2)) return 0;
    uint32_t out = 1 + static_cast<uint32_t>(random.below(15));
    const bool a = p.packedA != VKGEMM_PACKED_NONE, b = p.packedB != VKGEMM_PACKED_NONE;
    if (a) out &= ~uint32_t{VKGEMM_UP_TO_M};
    if (b) out &= ~uint32_t{VKGEMM_UP_TO_N};
    if (a || b) out &= ~uint32_t{VKGEMM_UP_TO_K | VKGEMM_UP_TO_BATCH};
    if (!info(p.a.type).is_plain() || !info(p.b.type).is_plain()) out &= ~uint32_t{VKGEMM_UP_TO_K};
    return out;
}

Draw some_draw(Random& random, const Kernel& k) {
    Draw d;
    d.base.kernel = k.name;
    draw_types(random, d, k);
    draw_layouts(random, d, k);
    draw_steps(random, d.base.problem);
    draw_operand_types(random, d.base.problem);
    draw_scalars(random, d.base.problem);
    draw_schedule(random, d, k);
    d.base.problem.upTo = draw_up_to(random, d.base.problem);
    d.aligned = random.one_in(3) || wants_alignment(k);
    d.base.addresses = random.one_in(3);
    if (!d.base.addresses && random.one_in(2)) d.base.invocations = as_on_a_gpu;
    if (is_gemv(k)) (k.tile.BM < k.tile.BN ? d.most_m : d.most_n) = std::min(k.tile.BM, k.tile.BN);
    return d;
}

/// A size, at times 0 or 1, or the most.
uint64_t some_size(Random& random, uint64_t most) {
    if (random.one_in(40)) return 0;
    if (random.one_in(8)) return random.one_in(2) ? 1 : most;
    return 1 + random.below(most);
}

void set_strides(Random& random, const Draw& d, Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch, bool shared) {
    const uint64_t inner = x.layout == rowMajor ? cols : rows, outer = x.layout == rowMajor ? rows : cols;
    const uint64_t grain = std::max<uint64_t>(info(x.type).block, d.aligned ? 16 : 1);
    const std::array<uint64_t, 3> lds = {0, inner, vkgemm::roundUp(inner + 1 + random.below(9), grain)};
    x.ld = random.pick(lds);
    if (batch <= 1 || random.one_in(3)) return;
    if (shared && random.one_in(3)) {
        x.batchStride = vkgemm::broadcast;
    } else if (random.one_in(3)) {  // matrices side by side
        x.batchStride = std::max(inner, grain);
        x.ld = x.batchStride * batch + grain * random.below(3);
    } else {
        x.batchStride = vkgemm::roundUp(std::max(x.ld, inner) * (outer + random.below(3)), grain);
    }
}

/// A stride of the outer level: dense, shared, with a gap, or below that of the inner level, which then grows.
void set_outer_stride(Random& random, const Draw& d, Matrix& x, uint64_t& stride, uint64_t rows, uint64_t cols,
                      uint64_t batch, uint64_t outer, bool shared) {
    if (outer <= 1 || random.one_in(3)) return;
    const uint64_t length = x.layout == rowMajor ? cols : rows, lines = x.layout == rowMajor ? rows : cols;
    const uint64_t grain = std::max<uint64_t>(info(x.type).block, d.aligned ? 16 : 1);
    const uint64_t one = vkgemm::roundUp((x.ld ? x.ld : std::max<uint64_t>(length, 1)) * lines, grain);
    const bool one_matrix = batch <= 1 || x.batchStride == vkgemm::broadcast;
    if (shared && random.one_in(3)) {
        stride = vkgemm::broadcast;
    } else if (!one_matrix && random.one_in(2)) {
        stride = one + grain * random.below(2);
        x.batchStride = stride * outer;
    } else {
        const uint64_t all = one_matrix ? one : std::max(one, batch * (x.batchStride ? x.batchStride : one));
        stride = vkgemm::roundUp(all, grain) + grain * random.below(2);
    }
}

/// Two levels, and matrices that neighbours share.
void set_levels(Random& random, const Draw& d, Problem& p) {
    constexpr std::array<uint64_t, 5> counts = {1, 2, 3, 4, 6};
    p.batch = random.pick(counts);
    p.outerBatch = 1 + random.below(3);
    const auto ratio = [&](uint64_t count, uint64_t& a, uint64_t& b) {
        const uint64_t some = random.pick(counts);
        if (count % some == 0) (random.one_in(2) ? a : b) = some;
    };
    ratio(p.batch, p.ratioA, p.ratioB);
    ratio(p.outerBatch, p.outerRatioA, p.outerRatioB);
    const auto set = [&](Matrix& x, uint64_t& stride, uint64_t rows, uint64_t cols, uint64_t batch, uint64_t outer,
                         bool shared) {
        set_strides(random, d, x, rows, cols, batch, shared);
        set_outer_stride(random, d, x, stride, rows, cols, batch, outer, shared);
    };
    set(p.a, p.outerStrideA, p.m, p.k, p.batch / p.ratioA, p.outerBatch / p.outerRatioA, true);
    set(p.b, p.outerStrideB, p.k, p.n, p.batch / p.ratioB, p.outerBatch / p.outerRatioB, true);
    set(p.d, p.outerStrideD, p.m, p.n, p.batch, p.outerBatch, false);
    if (p.cSource == VKGEMM_C_SEPARATE) set(p.c, p.outerStrideC, p.m, p.n, p.batch, p.outerBatch, true);
}

/// One level.
void set_batch(Random& random, const Draw& d, Problem& p) {
    if (random.one_in(3)) p.batch = 1 + random.below(4);
    set_strides(random, d, p.a, p.m, p.k, p.batch, true);
    set_strides(random, d, p.b, p.k, p.n, p.batch, true);
    set_strides(random, d, p.d, p.m, p.n, p.batch, false);
    if (p.cSource == VKGEMM_C_SEPARATE) set_strides(random, d, p.c, p.m, p.n, p.batch, true);
}

void set_alias(Random& random, Case& x) {
    Problem& p = x.problem;
    const bool residual =
        std::ranges::any_of(p.epilogue, [](const auto& s) { return info(s.kind).operand == VKGEMM_SLOT_RESIDUAL; });
    const auto has_type_of_d = [&](Type t) { return t == VKGEMM_TYPE_DEFAULT || t == p.d.type; };
    if (residual && has_type_of_d(p.residualType) && random.one_in(2)) {
        x.alias = Alias::residual;
    } else if (p.cSource == VKGEMM_C_SEPARATE && p.c.layout == p.d.layout && has_type_of_d(p.c.type) &&
               random.one_in(2)) {
        x.alias = Alias::c;
        p.c.ld = p.d.ld;
        p.c.batchStride = p.d.batchStride;
        p.outerStrideC = p.outerStrideD;
    }
}

/// A problem of the draw.
Case some_case(Random& random, const Draw& d) {
    Case x = d.base;
    Problem& p = x.problem;
    const uint64_t grain = d.aligned ? 16 : 1;
    p.m = vkgemm::roundUp(some_size(random, d.most_m), grain);
    p.n = vkgemm::roundUp(some_size(random, d.most_n), grain);
    p.k = vkgemm::roundUp(some_size(random, random.one_in(6) ? 300 : 60), std::max(grain, d.grain_k));
    if (!(p.upTo & VKGEMM_UP_TO_BATCH) && random.one_in(4))
        set_levels(random, d, p);
    else
        set_batch(random, d, p);
    const bool floats = info(vkgemm::plan::finished_in(p)).is_float;
    const std::array<double, 6> factors = {1, 1, 2, -1, floats ? 0.5 : -3, 0};
    x.alpha = random.pick(factors);
    x.beta = p.cSource == VKGEMM_C_NONE ? 0 : random.pick(factors);
    x.shift = d.aligned ? 0 : vkgemm::plan::find_kernel(x.kernel)->module.is_mixed() ? 4 : 1;
    for (const VkgemmSlot slot : {VKGEMM_SLOT_C, VKGEMM_SLOT_RESIDUAL})  // read in words
        if (x.shift == 1 && *vkgemm::plan::epilogue_type(p, slot) != p.d.type) x.shift = 2;
    x.seed = random.bits() % 100000;
    const bool curved = std::ranges::any_of(p.epilogue, [](const auto& s) { return is_curve(s.kind); });
    const uint64_t fill = random.below(6);
    x.fill = floats && fill == 0 ? Fill::special : floats && fill < 3 ? Fill::random : Fill::exact;
    if (curved || !can_be_exact(x)) x.fill = Fill::random;
    set_alias(random, x);
    return x;
}

void draw_sizes(Random& random, Case& x, bool aligned) {
    const Problem& p = x.problem;
    const uint64_t grain = aligned && random.one_in(2) ? 16 : 1;
    const auto size = [&](uint32_t bit, uint64_t most) {
        return p.upTo & bit ? std::min(vkgemm::roundUp(some_size(random, std::max<uint64_t>(most, 1)), grain), most)
                            : most;
    };
    x.sizes = vkgemm::plan::Sizes{.m = size(VKGEMM_UP_TO_M, p.m),
                                  .n = size(VKGEMM_UP_TO_N, p.n),
                                  .k = size(VKGEMM_UP_TO_K, p.k),
                                  .batch = p.upTo & VKGEMM_UP_TO_BATCH ? random.below(p.batch + 1) : p.batch};
}

/// Runs so many problems, of at least sixty draws or with forty to a draw.
void run_surface(uint64_t seed, int problems) {
    const int of_a_draw = std::clamp(problems / 60, 40, 300);
    Random random(seed);
    const auto all = rows_by_family();
    std::set<std::string> families;
    int done = 0, wrong = 0, varying = 0, packed = 0, aliased = 0, mixed = 0, levels = 0;
    size_t drawn = 0;
    for (int offered = 0; done < problems && offered < 4 * problems;) {
        const Kernel& k = *random.pick(random.pick(all[drawn++ % all.size()]));
        const Draw d = some_draw(random, k);
        for (int i = 0; i < of_a_draw; ++i, ++offered) {
            Case x = some_case(random, d);
            if (x.problem.upTo) draw_sizes(random, x, d.aligned);
            if (refused(x) || !is_planned(x)) continue;
            ++done;
            varying += x.sizes.has_value();
            aliased += x.alias != Alias::none;
            packed += x.problem.packedA || x.problem.packedB;
            mixed += k.module.is_mixed();
            levels += x.problem.outerBatch > 1;
            families.insert(variant_of(k.module));
            if (const std::string why = run(x); !why.empty() && ++wrong <= 3) MESSAGE(to_text(x), "\n  ", why);
        }
    }
    CHECK_MESSAGE(wrong == 0, wrong, " of ", done, " problems are wrong");
    CHECK(done >= problems);
    if (problems < 10000) return;
    CHECK(families.size() == all.size());
    for (const int some : {varying, packed, aliased, mixed, levels}) CHECK(some * 50 > done);
}

}  // namespace

TEST_SUITE_BEGIN("surface");
TEST_CASE("random problems over the whole surface") { run_surface(seed_or(20), is_quick() ? 80 : 200); }
// Without the colon, because SwiftShader would take an hour.
TEST_CASE("slow random problems over the whole surface") { run_surface(seed_or(21), everything() ? 100000 : 12000); }
TEST_SUITE_END();
