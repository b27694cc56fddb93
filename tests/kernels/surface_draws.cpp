// SPDX-License-Identifier: MIT
// What the pipelines of random problems depend on: each function draws one dimension.
#include <algorithm>
#include <array>

#include "kernels/surface.h"
#include "kernels/tally.h"
#include "shaders/gemv_blocks/family_mxint8.h"

namespace vkgemm::test {
namespace {

using plan::columnMajor;
using plan::info;
using plan::Kernel;
using plan::Matrix;
using plan::Problem;
using plan::rowMajor;
using plan::Type;

bool wants_blocks(const Kernel& k) { return k.module.family.reads_chunk64; }  // as B of a row-major D

bool suits_blocks(const Kernel& k, const Problem& p) {
    namespace family = plan::family;
    if (k.module.family.uses_matrix_units && p.a.type == plan::bf16) return false;
    if (!k.module.family.uses_packed_dots) return family::has_chunk64(p.b.type);
    return family::has_dots(p.b.type) && family::is_rounded(p.a.type);
}

/// Of tiles that compile fast a CPU driver runs more problems; a GPU runs the rows' own, too.
bool own_tile(Random& random) { return device().info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU && random.one_in(2); }

void draw_types(Random& random, Draw& d, const Kernel& k) {
    Problem& p = d.base.problem;
    const auto& m = k.module;
    std::vector<Type> results;
    for (const auto& type : plan::type_info)
        if (m.writes(type.type)) results.push_back(type.type);
    p.a.type = m.a;
    p.b.type = m.b;
    p.accumulate = m.accumulate;
    p.accuracy = m.family.accuracy;
    for (Type* const t : {&p.a.type, &p.b.type})
        if (m.family.takes_fp8 && random.one_in(2)) *t = plan::e5m2;
    p.c.type = p.d.type = m.d == plan::scaled ? random.pick(results) : m.d;
    if (!m.is_mixed()) return;
    std::vector<Type> types;
    for (const auto& type : plan::type_info)
        if (plan::is_decoded(type.type) && !(m.family.uses_matrix_units && type.type == plan::bf16))
            types.push_back(type.type);
    do {
        p.a.type = random.pick(types);
        p.b.type = random.pick(types);
    } while (!plan::is_mixed(p) || (wants_blocks(k) && !suits_blocks(k, p)));
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
        const auto& step = plan::step_info[random.below(std::size(plan::step_info))];
        if (step.sums == plan::StepSums::FLOATS && !info(plan::finished_in(p)).is_float) continue;
        if (step.is_pair()) continue;  // draw_pair()
        if (step.operand != VKGEMM_SLOT_COUNT && !read.insert(step.operand).second) continue;
        if (kinds.insert(step.kind).second) p.epilogue.add({step.kind, -2, 3});
    }
}

/// For the kernels that take them, and without what rules them out.
void draw_pair(Random& random, Problem& p, const Kernel& k) {
    if (!k.module.family.takes_pairs || plan::is_scaled(p) || !random.one_in(4)) return;
    constexpr std::array<VkgemmStepKind, 3> pairs = {VKGEMM_STEP_PAIR_RELU, VKGEMM_STEP_PAIR_GELU,
                                                     VKGEMM_STEP_PAIR_SILU};
    const auto given = p.epilogue;
    p.epilogue.count = 0;
    const bool biased = given.count && info(given.step[0].kind).operand == VKGEMM_SLOT_BIAS;
    if (biased) p.epilogue.add(given.step[0]);
    p.epilogue.add({info(plan::finished_in(p)).is_float ? random.pick(pairs) : VKGEMM_STEP_PAIR_RELU});
    for (const auto& step : given)
        if (info(step.kind).operand != VKGEMM_SLOT_RESIDUAL && p.epilogue.count < VKGEMM_MAX_EPILOGUE_STEPS &&
            !(biased && step.kind == given.step[0].kind))
            p.epilogue.add(step);
    p.d.layout = rowMajor;
    p.cSource = VKGEMM_C_NONE;
    p.c = {};
}

/// Types of their own for some operands of the epilogue.
void draw_operand_types(Random& random, Problem& p) {
    constexpr std::array<Type, 4> types = {plan::f32, plan::f16, plan::bf16, plan::i8};
    const auto sums = plan::finished_in(p);
    if (!info(sums).is_float || sums == plan::f64) return;
    const bool scaled = plan::is_scaled(p);
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
    if (scaled && bias_first && random.one_in(2)) p.biasType = plan::i32;
}

/// Some scalars in memory, and what is noted of D.
void draw_scalars(Random& random, Problem& p) {
    const auto sums = plan::finished_in(p);
    if (!info(sums).is_float || sums == plan::f64 || !random.one_in(3)) return;
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
    if (ahead && (which & 2) && !plan::is_pair(p)) p.packedB = VKGEMM_PACKED_ANY;
    const bool free = !ahead && !mixed && !k.module.family.packs_fragments;
    if (!own_tile(random)) d.base.tile = small_tile(k);
    for (const char* constant : {random.pick(splits), free ? random.pick(packs) : ""})
        if (*constant) d.base.tile += (d.base.tile.empty() ? "" : ",") + std::string(constant);
}

/// Which sizes vary, as far as packed operands and blocks allow.
uint32_t draw_up_to(Random& random, const Problem& p) {
    if (random.one_in(2)) return 0;
    uint32_t out = 1 + static_cast<uint32_t>(random.below(15));
    if (random.one_in(3)) out |= VKGEMM_UP_TO_STRIDES;
    const bool a = p.packedA != VKGEMM_PACKED_NONE, b = p.packedB != VKGEMM_PACKED_NONE;
    if (a) out &= ~uint32_t{VKGEMM_UP_TO_M};
    if (b) out &= ~uint32_t{VKGEMM_UP_TO_N};
    if (a || b) out &= ~uint32_t{VKGEMM_UP_TO_K | VKGEMM_UP_TO_BATCH | VKGEMM_UP_TO_STRIDES};
    if (!info(p.a.type).is_plain() || !info(p.b.type).is_plain()) out &= ~uint32_t{VKGEMM_UP_TO_K};
    return out;
}

/// Groups of each kind, for the kernels that take them.
void draw_groups(Random& random, Draw& d, const Kernel& k) {
    Problem& p = d.base.problem;
    if (!k.module.takes_groups() || plan::is_pair(p) || !random.one_in(3)) return;
    constexpr std::array<VkgemmGrouping, 5> kinds = {VKGEMM_GROUPING_TABLE, VKGEMM_GROUPING_TABLE,
                                                     VKGEMM_GROUPING_INDEXED, VKGEMM_GROUPING_ADDRESSES,
                                                     VKGEMM_GROUPING_SELECTED};
    p.grouping = random.pick(kinds);
    if (p.grouping == VKGEMM_GROUPING_ADDRESSES && !device().hasAddresses()) p.grouping = VKGEMM_GROUPING_TABLE;
    if (p.grouping == VKGEMM_GROUPING_SELECTED && !k.module.selects()) p.grouping = VKGEMM_GROUPING_TABLE;
    p.packedA = p.packedB = VKGEMM_PACKED_NONE;
    p.scalars = 0;
    p.batchInvariant = 0;
    p.c.type = p.residualType = VKGEMM_TYPE_DEFAULT;
    const bool blocks = !info(p.a.type).is_plain() || !info(p.b.type).is_plain();
    p.upTo = static_cast<uint32_t>(random.below(8)) & (blocks ? ~uint32_t{VKGEMM_UP_TO_K} : ~uint32_t{0});
    d.base.tile = own_tile(random) ? "" : small_tile(k);
    if (p.grouping == VKGEMM_GROUPING_INDEXED) {
        p.upTo = VKGEMM_UP_TO_M;
        p.a.layout = p.c.layout = p.d.layout = rowMajor;
        p.indicesPerRow = static_cast<uint32_t>(1 + random.below(8));
    } else if (p.grouping == VKGEMM_GROUPING_SELECTED) {
        p.upTo = 0;
        p.d.layout = rowMajor;
        p.cSource = VKGEMM_C_NONE;
    } else if (p.grouping == VKGEMM_GROUPING_ADDRESSES) {
        auto kept = p.epilogue;
        kept.count = 0;
        for (const auto& step : p.epilogue)
            if (info(step.kind).operand != VKGEMM_SLOT_RESIDUAL) kept.add(step);
        p.epilogue = kept;
    }
}

/// What is tried besides the run.
void draw_ways(Random& random, Draw& d) {
    if (random.one_in(2)) d.base.ways |= way_text;
    if (d.base.problem.grouping != VKGEMM_GROUPING_NONE) return;
    if (random.one_in(3)) d.base.ways |= way_slices;
    if (random.one_in(3)) d.base.ways |= way_replay;
    if (d.base.problem.batchInvariant) d.base.ways |= way_rows;
    if (device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU && random.one_in(2)) d.base.ways |= way_fences;
}

/// So few bytes of workspace at times that another kernel or schedule is chosen, or a given one refused.
void draw_workspace(Random& random, Draw& d) {
    constexpr std::array<uint64_t, 4> limits = {0, 1000, 10000, 100000};
    if (random.one_in(d.base.kernel.empty() ? 2 : 12)) d.base.workspace = random.pick(limits);
}

/// Offsets of operands: multiples of 16 bytes, or of fewer if the kernel takes them.
void draw_alignment(Random& random, Draw& d, const Kernel& k) {
    constexpr std::array<uint32_t, 5> any = {16, 8, 4, 2, 1};
    d.aligned = random.one_in(3) || wants_alignment(k);
    d.alignment = d.aligned ? 16 : any[random.below(k.module.is_mixed() ? 4 : 5)];
}

}  // namespace

bool is_gemv(const Kernel& k) { return k.module.family.name.starts_with("gemv"); }

Draw some_draw(Random& random, const Kernel& k) {
    Draw d;
    d.kernel = &k;
    if (!random.one_in(8)) d.base.kernel = k.name;
    draw_types(random, d, k);
    draw_layouts(random, d, k);
    draw_steps(random, d.base.problem);
    draw_pair(random, d.base.problem, k);
    draw_operand_types(random, d.base.problem);
    draw_scalars(random, d.base.problem);
    draw_schedule(random, d, k);
    d.base.problem.upTo = draw_up_to(random, d.base.problem);
    d.base.problem.batchInvariant = !(d.base.problem.upTo & VKGEMM_UP_TO_STRIDES) && random.one_in(8);
    draw_groups(random, d, k);
    draw_ways(random, d);
    draw_workspace(random, d);
    draw_alignment(random, d, k);
    d.base.addresses = random.one_in(3) && device().hasAddresses();
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!d.base.addresses && random.one_in(is_cpu ? 2 : 6)) d.base.invocations = as_on_a_gpu;
    if (d.base.kernel.empty()) d.base.tile.clear();
    const bool selects = d.base.problem.grouping == VKGEMM_GROUPING_SELECTED;
    if (is_gemv(k) || selects)
        (k.tile.BM < k.tile.BN ? d.most_m : d.most_n) = std::min<uint64_t>({k.tile.BM, k.tile.BN, 16});
    return d;
}

}  // namespace vkgemm::test
