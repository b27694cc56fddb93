// SPDX-License-Identifier: MIT
#include "plan/steps/steps.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/base/rounding.h"

namespace vkgemm::plan {
namespace {

ProblemConstants constants_of(const Schedule& schedule, const Tile& t, const Request& request) {
    const Problem& p = schedule.problem;
    ProblemConstants c;
    c.TRANS_A = p.a.layout == columnMajor;
    c.TRANS_B = p.b.layout == columnMajor;
    c.TRANS_C = p.c.layout == columnMajor;
    c.USE_C = p.cSource != VKGEMM_C_NONE;
    const std::array<Operand, 4> all = schedule.operands();
    constexpr uint32_t wide[] = {WIDE_A, WIDE_B, WIDE_C, WIDE_D};
    for (size_t i = 0; i < all.size(); ++i)
        if (is_wide(all[i], request.operand_alignment)) c.ALIGNED |= wide[i];
    c.WHOLE = p.m % t.BM == 0 && p.n % t.BN == 0 && (t.BK == 0 || p.k % t.BK == 0);
    const std::array<uint32_t*, VKGEMM_MAX_EPILOGUE_STEPS> step = {&c.STEP_0, &c.STEP_1, &c.STEP_2, &c.STEP_3};
    for (size_t i = 0; i < p.epilogue.count; ++i) *step[i] = static_cast<uint32_t>(p.epilogue.step[i].kind);
    return c;
}

abi::GemmArgs args_of(const Problem& p) {
    const auto u = [](uint64_t x) { return static_cast<uint32_t>(x); };  // unfit() has checked that they fit
    abi::GemmArgs g{};
    g.m = u(p.m), g.n = u(p.n), g.k = u(p.k), g.batch = u(p.batch);
    g.lda = u(p.a.ld), g.ldb = u(p.b.ld), g.ldc = u(p.c.ld), g.ldd = u(p.d.ld);
    g.batch_a = u(p.a.batchStride), g.batch_b = u(p.b.batchStride), g.batch_c = u(p.c.batchStride),
    g.batch_d = u(p.d.batchStride);
    for (const EpilogueStep& e : p.epilogue)
        if (info(e.kind).has_bounds())
            g.clamp_lo = std::bit_cast<uint32_t>(e.low), g.clamp_hi = std::bit_cast<uint32_t>(e.high);
    return g;
}

// The bindings are the slots without the workspace, in the same order.
constexpr size_t binding_of(VkgemmSlot slot) { return static_cast<size_t>(slot); }
static_assert(BIND_A == VKGEMM_SLOT_A && BIND_RESIDUAL == VKGEMM_SLOT_RESIDUAL && BIND_COUNT == VKGEMM_SLOT_WORKSPACE);

// The operand of each binding. A and B are swapped if the problem was transposed.
std::array<VkgemmSlot, BIND_COUNT> slots_of(const Problem& p, bool swapped) {
    std::array<VkgemmSlot, BIND_COUNT> s;
    s.fill(VKGEMM_SLOT_D);
    s[BIND_A] = swapped ? VKGEMM_SLOT_B : VKGEMM_SLOT_A;
    s[BIND_B] = swapped ? VKGEMM_SLOT_A : VKGEMM_SLOT_B;
    if (p.cSource == VKGEMM_C_SEPARATE) s[BIND_C] = VKGEMM_SLOT_C;
    for (const EpilogueStep& e : p.epilogue)
        if (const VkgemmSlot slot = info(e.kind).operand; slot != VKGEMM_SLOT_COUNT) s[binding_of(slot)] = slot;
    return s;
}

std::array<Requirement, size_t{VKGEMM_SLOT_COUNT}> requirements_of(const Problem& p, uint32_t operand_alignment) {
    std::array<Requirement, size_t{VKGEMM_SLOT_COUNT}> out;
    const uint32_t d_bytes = info(p.d.type).bytes;
    const auto matrix = [&](VkgemmSlot s, const Matrix& x, uint64_t rows, uint64_t cols, bool reads, bool writes) {
        const uint32_t bytes = info(x.type).bytes;
        out[size_t(s)] = {*span_elements(x, rows, cols, p.batch) * bytes, std::max(operand_alignment, bytes), reads,
                          writes};
    };
    const auto vector = [&](VkgemmSlot s, uint64_t elements) {
        out[size_t(s)] = {elements * d_bytes, d_bytes, true, false};
    };
    matrix(VKGEMM_SLOT_A, p.a, p.m, p.k, true, false);
    matrix(VKGEMM_SLOT_B, p.b, p.k, p.n, true, false);
    matrix(VKGEMM_SLOT_D, p.d, p.m, p.n, p.cSource == VKGEMM_C_IS_D, true);
    if (p.cSource == VKGEMM_C_SEPARATE) matrix(VKGEMM_SLOT_C, p.c, p.m, p.n, true, false);
    for (const EpilogueStep& e : p.epilogue) {
        const StepInfo& step = info(e.kind);
        if (step.shape == StepShape::MATRIX) matrix(step.operand, p.d, p.m, p.n, true, false);
        if (step.shape == StepShape::M) vector(step.operand, p.m);
        if (step.shape == StepShape::N) vector(step.operand, p.n);
        if (step.shape == StepShape::ONE) vector(step.operand, 1);
    }
    return out;
}

// k products and k sums in the accumulator, each off by at most half a unit in the last place of a partial sum, which
// is at most k max|A| max|B|: to first order k/2 * eps * k, bounded here by the textbook gamma_(k+1) * k. Then one
// rounding to D's type. From parts it is four times that (docs/accuracy.md).
double error_bound_of(const Problem& p, const Kernel* kernel) {
    const TypeInfo& acc = info(p.accumulate);
    if (!acc.is_float) return 0;
    const double unit = std::ldexp(1.0, -acc.exact_bits), k = double(p.k), steps = (k + 1) * unit;
    if (steps >= 1) return INFINITY;
    const double rounding = info(p.d.type).is_float ? std::ldexp(1.0, -info(p.d.type).exact_bits) : 0;
    const double sum = steps / (1 - steps) * k * (kernel && kernel->module.family.operand_split.count > 1 ? 4 : 1);
    return sum + rounding * (k + sum);
}

void set_grid(Step& step, uint64_t groups, const DeviceCaps& dev) {
    step.groups_x = static_cast<uint32_t>(std::min<uint64_t>(groups, dev.max_groups_x));
    step.groups_y = static_cast<uint32_t>(div_up(groups, step.groups_x));
}

// Copies A or B to its place in the workspace. The shader pack takes m rows and k columns, from A to D; pack_fragments
// takes m rows along k, and writes n elements of each.
Step packing_step(const Packing& packing, const Operand& from, const Matrix& to, const Problem& p, VkgemmSlot slot,
                  const DeviceCaps& dev, const Request& request) {
    const auto u = [](uint64_t x) { return static_cast<uint32_t>(x); };
    Step s = {packing.kernel, packing.kernel->tile, {}, {}, 0, 0, {}};
    s.constants.TRANS_A = from.matrix->layout == columnMajor;
    s.constants.TRANS_B = to.layout == columnMajor;
    s.constants.ALIGNED = is_wide(from, request.operand_alignment) ? WIDE_A : 0;
    abi::GemmArgs& g = s.args;
    g.m = u(from.rows), g.n = g.k = g.k_chunk = u(from.cols);
    if (packing.kernel->module.family.packs_fragments) {
        const bool is_b = from.name == "B";
        s.constants.TRANS_A = from.matrix->layout != to.layout;
        s.constants.TRANS_B = is_b;
        g.m = u(is_b ? from.cols : from.rows), g.k = g.k_chunk = u(is_b ? from.rows : from.cols);
        g.n = packing.kernel->module.family.operand_split.scaled ? s.tile.BN
                                                                 : u(to.ld);  // then a work group takes whole rows
    }
    g.batch = from.matrix->batchStride ? u(p.batch) : 1;
    g.lda = u(from.matrix->ld), g.batch_a = u(from.matrix->batchStride);
    g.ldd = u(to.ld), g.batch_d = u(to.batchStride);
    s.slots.fill(VKGEMM_SLOT_D);
    s.slots[BIND_A] = slot;
    s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_D] = packing.offset, s.bytes[BIND_D] = packing.bytes;
    s.waits = false;
    set_grid(s, div_up(g.m, s.tile.BM) * div_up(g.n, s.tile.BN) * g.batch, dev);
    return s;
}

// The product writes bare sums to the workspace; the second pass reads them as its A and does all the rest.
std::vector<Step> split_in_two(Step product, const Schedule& schedule, const DeviceCaps& dev) {
    const Problem& p = schedule.problem;
    Step reduce = product;
    reduce.kernel = schedule.split.reducer;
    reduce.tile = schedule.split.reducer->tile;
    reduce.constants.WHOLE = 0;
    reduce.constants.ALIGNED = (reduce.constants.ALIGNED & WIDE_D) | (p.n % 4 == 0 ? WIDE_A : 0u);
    reduce.slots[BIND_A] = VKGEMM_SLOT_WORKSPACE;
    reduce.slots[BIND_B] = VKGEMM_SLOT_D;
    reduce.offsets = reduce.bytes = {};
    reduce.offsets[BIND_A] = schedule.partial_offset;
    reduce.waits = true;
    set_grid(reduce, div_up(p.m * div_up(p.n, 4) * p.batch, reduce.tile.BN / 4), dev);

    ProblemConstants& c = product.constants;
    c.PARTIAL = 1;
    c.USE_C = c.TRANS_C = c.STEP_0 = c.STEP_1 = c.STEP_2 = c.STEP_3 = 0;
    c.ALIGNED &= WIDE_A | WIDE_B;
    product.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    product.offsets[BIND_D] = schedule.partial_offset;
    return {product, reduce};
}

}  // namespace

std::string_view slot_name(VkgemmSlot s) {
    constexpr std::string_view names[] = {"a", "b", "c", "d", "bias", "scale", "residual", "workspace"};
    return names[size_t(s)];
}

Steps make_steps(const Choice& choice, const Problem& completed, const Normalised& n, const DeviceCaps& dev,
                 const Request& request) {
    Steps out;
    out.binding = choice.binding;
    out.error_bound = error_bound_of(completed, choice.kernel);
    if (is_empty(completed)) return out;
    out.slots = requirements_of(completed, request.operand_alignment);

    const Schedule& schedule = choice.schedule;
    const Problem& p = schedule.problem;
    Step product = {choice.kernel,         choice.tile, constants_of(schedule, choice.tile, request), args_of(p), 0, 0,
                    slots_of(p, n.swapped)};
    product.args.k_chunk = static_cast<uint32_t>(schedule.split.chunk);
    product.args.raster = choice.tile.RASTER;
    product.tile.RASTER = product.tile.SPLIT = product.tile.PACK = 0;  // tiles that differ there share a pipeline
    set_grid(product, div_up(p.m, choice.tile.BM) * div_up(p.n, choice.tile.BN) * p.batch * schedule.split.slices, dev);
    product.waits = schedule.a.kernel || schedule.b.kernel;

    const auto all = operands(n.problem);
    for (const auto& [packing, i] : {std::pair{&schedule.a, size_t{BIND_A}}, {&schedule.b, size_t{BIND_B}}}) {
        if (!packing->kernel) continue;
        out.steps.push_back(packing_step(*packing, all[i], i == BIND_A ? p.a : p.b, p, product.slots[i], dev, request));
        product.slots[i] = VKGEMM_SLOT_WORKSPACE;
        product.offsets[i] = packing->offset, product.bytes[i] = packing->bytes;
    }
    if (const uint64_t bytes = schedule.workspace_bytes())
        out.slots[size_t(VKGEMM_SLOT_WORKSPACE)] = {bytes, std::max(dev.offset_alignment, 16u), true, true};
    if (schedule.split.slices == 1) {
        out.steps.push_back(product);
    } else {
        for (const Step& s : split_in_two(product, schedule, dev)) out.steps.push_back(s);
    }
    return out;
}

std::vector<uint32_t> constant_values(const Step& s) {
    return {
#define X(id, name, meaning) s.tile.name,
        VKGEMM_TILE_CONSTANTS(X)
#undef X
#define X(id, name, meaning) s.constants.name,
            VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
    };
}

}  // namespace vkgemm::plan
