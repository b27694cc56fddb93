// SPDX-License-Identifier: MIT
#include "plan/steps/steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "plan/base/rounding.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {

abi::GemmArgs args_of(const Problem& p) {
    const auto u = [](uint64_t x) { return static_cast<uint32_t>(x); };  // unfit() has checked that they fit
    abi::GemmArgs g{};
    g.m = u(p.m);
    g.n = u(p.n);
    g.k = u(p.k);
    g.batch = u(p.batch);
    g.lda = u(p.a.ld);
    g.ldb = u(p.b.ld);
    g.ldc = u(p.c.ld);
    g.ldd = u(p.d.ld);
    g.batch_a = u(p.a.batchStride);
    g.batch_b = u(p.b.batchStride);
    g.batch_c = u(p.c.batchStride);
    g.batch_d = u(p.d.batchStride);
    for (const EpilogueStep& e : p.epilogue)
        if (info(e.kind).has_bounds())
            g.clamp_or_scalars.clamp = {std::bit_cast<uint32_t>(e.low), std::bit_cast<uint32_t>(e.high)};
    return g;
}

namespace {

// The bindings are the slots without the workspace, in the same order. A pair has no C and no residual.
constexpr size_t binding_of(VkgemmSlot slot) {
    if (slot == VKGEMM_SLOT_B2) return BIND_C;
    return slot == VKGEMM_SLOT_BIAS2 ? size_t{BIND_RESIDUAL} : static_cast<size_t>(slot);
}
static_assert(BIND_A == VKGEMM_SLOT_A && BIND_RESIDUAL == VKGEMM_SLOT_RESIDUAL && BIND_COUNT == VKGEMM_SLOT_WORKSPACE);

}  // namespace

std::array<VkgemmSlot, BIND_COUNT> slots_of(const Problem& p, bool swapped) {
    std::array<VkgemmSlot, BIND_COUNT> s;
    s.fill(VKGEMM_SLOT_D);
    s[BIND_A] = swapped ? VKGEMM_SLOT_B : VKGEMM_SLOT_A;
    s[BIND_B] = swapped ? VKGEMM_SLOT_A : VKGEMM_SLOT_B;
    if (p.cSource == VKGEMM_C_SEPARATE) s[BIND_C] = VKGEMM_SLOT_C;
    for (const EpilogueStep& e : p.epilogue)
        if (const VkgemmSlot slot = info(e.kind).operand; slot != VKGEMM_SLOT_COUNT) s[binding_of(slot)] = slot;
    if (is_biased_pair(p)) s[binding_of(VKGEMM_SLOT_BIAS2)] = VKGEMM_SLOT_BIAS2;
    return s;
}

// A sliced step is dispatched by rows, so a row has no more groups than a dispatch.
void set_grid(Step& step, uint64_t groups, const DeviceCaps& dev) {
    step.groups = groups;
    uint64_t row = dev.max_groups_x;
    if (step.is_sliced())
        row = std::clamp<uint64_t>(step.groups_per_dispatch, div_up(groups, uint64_t{dev.max_groups_y}), row);
    step.groups_x = static_cast<uint32_t>(std::min(groups, row));
    step.groups_y = static_cast<uint32_t>(div_up(groups, step.groups_x));
}

namespace {

// Whether the shader convert makes elements of another type.
bool converts(const Packing& packing) {
    return packing.kernel->module.is_mixed() && !packing.kernel->module.family.packs_fragments;
}

// Copies A or B to its place in the workspace.
Step packing_step(const Packing& packing, const Operand& from, const Matrix& to, VkgemmSlot slot,
                  const Request& request) {
    Step s = unsized_step(*packing.kernel, packing.kernel->tile);
    const bool packs_fragments = packing.kernel->module.family.packs_fragments;
    if (!converts(packing)) {
        s.constants.TRANS_A = packs_fragments ? from.matrix->layout != to.layout : from.matrix->layout == columnMajor;
        s.constants.TRANS_B = packs_fragments ? from.is_b() : to.layout == columnMajor;
    }
    s.constants.ALIGNED = is_wide(from, request.operand_alignment) ? WIDE_A : 0;
    if (packing.kernel->module.is_mixed()) {
        const uint64_t row = from.matrix->layout == rowMajor ? from.cols : from.rows;
        s.constants.FORMAT_A = static_cast<uint32_t>(from.matrix->type);
        s.constants.ALIGNED = !from.ragged && row % 8 == 0 ? WIDE_A : 0;
        if (in_chunks(from, request)) s.constants.ALIGNED |= CHUNKS_A;
    }
    s.slots.fill(VKGEMM_SLOT_D);
    s.slots[BIND_A] = slot;
    s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    s.waits = false;
    return s;
}

// The shader pack takes m rows and k columns, from A to D; convert takes m rows of k elements along memory, and
// pack_fragments m rows along k, of which it writes n elements.
void size_packing(Step& s, const Packing& packing, const Operand& from, const Matrix& to, uint64_t batch,
                  const DeviceCaps& dev) {
    const auto u = [](uint64_t x) { return static_cast<uint32_t>(x); };
    const Family& f = packing.kernel->module.family;
    const bool along_columns =
        f.packs_fragments ? from.is_b() : converts(packing) && from.matrix->layout == columnMajor;
    abi::GemmArgs& g = s.args;
    g = {};
    g.m = u(along_columns ? from.cols : from.rows);
    g.n = g.k = g.k_chunk = u(along_columns ? from.rows : from.cols);
    if (f.packs_fragments) g.n = f.operand_split.scaled ? s.tile.BN : u(to.ld);  // BN: a work group takes whole rows
    g.batch = from.matrix->batchStride ? u(batch) : 1;
    g.lda = u(from.matrix->ld);
    g.batch_a = u(from.matrix->batchStride);
    g.ldd = u(to.ld);
    g.batch_d = u(to.batchStride);
    s.offsets[BIND_D] = packing.offset;
    s.bytes[BIND_D] = packing.bytes;
    set_grid(s, div_up(g.m, s.tile.BM) * div_up(g.n, s.tile.BN) * g.batch, dev);
}

void size_product(Step& s, const Tile& t, const Schedule& schedule, const DeviceCaps& dev) {
    const Problem& p = schedule.problem;
    s.args = args_of(p);
    s.args.k_chunk = static_cast<uint32_t>(schedule.split.chunk);
    s.args.raster = t.RASTER;
    for (const auto& [packing, i] : {std::pair{&schedule.a, size_t{BIND_A}}, {&schedule.b, size_t{BIND_B}}})
        if (packing->kernel) {
            s.offsets[i] = packing->offset;
            s.bytes[i] = packing->bytes;
        }
    if (schedule.split.reducer) {
        s.offsets[BIND_D] = schedule.partial_offset;
        s.args.ldd = static_cast<uint32_t>(schedule.sums_pitch());
    }
    set_grid(s, div_up(p.m, t.BM) * div_up(p.n, t.BN) * p.batch * schedule.split.slices, dev);
}

void size_reduction(Step& s, const Step& product, const Schedule& schedule, const DeviceCaps& dev) {
    const Problem& p = schedule.problem;
    s.args = product.args;
    s.args.lda = product.args.ldd;
    s.args.ldd = args_of(p).ldd;
    s.offsets[BIND_A] = schedule.partial_offset;
    set_grid(s, div_up(p.m * div_up(p.n, 4) * p.batch, s.tile.BN / 4), dev);
}

// The product writes bare sums to the workspace; the second pass reads them as its A and does all the rest.
Step reducing_step(Step& product, const Schedule& schedule) {
    Step reduce = product;
    reduce.kernel = schedule.split.reducer;
    reduce.tile = schedule.split.reducer->tile;
    reduce.constants.WHOLE = reduce.constants.FORMAT_A = reduce.constants.FORMAT_B = 0;
    set_epilogue(reduce.constants, reduce.kernel->module, schedule.problem);
    const bool fours =
        schedule.sums_unit % 4 == 0 || (schedule.problem.n % 4 == 0 && !(schedule.problem.upTo & VKGEMM_UP_TO_N));
    reduce.constants.ALIGNED = (reduce.constants.ALIGNED & WIDE_D) | (fours ? WIDE_A : 0u);
    reduce.slots[BIND_A] = VKGEMM_SLOT_WORKSPACE;
    reduce.slots[BIND_B] = VKGEMM_SLOT_D;
    reduce.offsets = reduce.bytes = {};
    reduce.waits = true;

    ProblemConstants& c = product.constants;
    c.PARTIAL = 1;
    c.USE_C = c.TRANS_C = 0;
    clear_epilogue(c);
    c.ALIGNED &= ~uint32_t{WIDE_C | WIDE_D};
    product.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    return reduce;
}

}  // namespace

Step unsized_step(const Kernel& k, const Tile& t, const ProblemConstants& constants) {
    return {.kernel = &k, .tile = t, .constants = constants, .args = {}, .groups_x = 0, .groups_y = 0, .slots = {}};
}

uint32_t Step::rows_per_dispatch() const {
    return is_sliced() ? std::max(1u, groups_per_dispatch / groups_x) : groups_y;
}

uint32_t Step::dispatch_count() const { return static_cast<uint32_t>(div_up(groups_y, rows_per_dispatch())); }

uint32_t dispatch_count(std::span<const Step> steps, std::span<const Repeats> parts) {
    uint32_t out = 0;
    each_recorded(steps, parts, [&](const Recorded& r) { out += steps[r.step].dispatch_count(); });
    return out;
}

// Each step is cut as if it took all the time: a short one then has more dispatches than it needs, and no longer ones.
void limit_dispatches(std::span<Step> steps, double whole, double limit, const DeviceCaps& dev) {
    if (!(limit > 0) || !(whole > limit)) return;
    const auto parts = static_cast<uint64_t>(std::min<double>(std::ceil(whole / limit), max_dispatches));
    for (Step& s : steps) {
        s.groups_per_dispatch = static_cast<uint32_t>(std::min<uint64_t>(div_up(s.groups, parts), UINT32_MAX));
        set_grid(s, s.groups, dev);
    }
}

std::array<uint32_t, BIND_COUNT> counted_in(const Step& s) {
    const Module& m = s.kernel->module;
    const ProblemConstants& c = s.constants;
    const auto operand = [](Type t) { return t == mixed ? 1 : info(t).bytes; };
    const auto of_format = [](uint32_t format, uint32_t otherwise) {
        return format ? info(static_cast<Type>(format)).bytes : otherwise;
    };
    // The sums of a scaled product that finishes nothing are of the accumulator's type.
    const uint32_t d = m.d == scaled ? of_format(c.FORMAT_D, info(m.accumulate).bytes) : info(m.d).bytes;
    return {operand(m.a),
            operand(m.b),
            c.PAIR ? operand(m.b) : of_format(c.FORMAT_C, d),
            d,
            of_format(c.FORMAT_BIAS, d),
            of_format(c.FORMAT_SCALE, d),
            of_format(c.FORMAT_RESIDUAL, d)};
}

Step as_compiled(Step native) {
    const ProblemConstants& all = native.constants;
    native.constants = {.TRANS_A = all.TRANS_A, .TRANS_B = all.TRANS_B};
    return native;
}

void set_sizes(std::span<Step> steps, const Tile& t, const Schedule& schedule, const Problem& p,
               const DeviceCaps& dev) {
    const auto [a, b, c, d] = operands(p);
    size_t i = 0;
    for (const auto& [packing, from, to] :
         {std::tuple{&schedule.a, &a, &schedule.problem.a}, {&schedule.b, &b, &schedule.problem.b}})
        if (packing->in_workspace()) size_packing(steps[i++], *packing, *from, *to, schedule.problem.batch, dev);
    size_product(steps[i], t, schedule, dev);
    if (schedule.split.reducer) size_reduction(steps[i + 1], steps[i], schedule, dev);
}

namespace {

// What follows from the steps.
void finish(Steps& out, const Schedule& schedule, const Normalised& normalised, const DeviceCaps& dev,
            const Request& request) {
    out.parts = {repeats_of(normalised, schedule, out.steps, out.binding, dev, request.operand_alignment)};
    out.parts[0].cost = schedule.cost;
    if (is_pair(schedule.problem))  // two products, less what a dispatch costs
        out.parts[0].cost = std::max(schedule.cost, 2 * schedule.cost - first_pass_cost(dev));
    set_own_slots(out.slots, schedule, normalised.swapped, dev);
}

}  // namespace

Steps make_steps(const Choice& choice, const Problem& completed, const Normalised& normalised, const DeviceCaps& dev,
                 const Request& request) {
    Steps out;
    out.binding = choice.binding;
    out.error_bound = error_bound_of(completed, choice.kernel);
    if (is_empty(completed)) return out;
    out.slots = requirements_of(completed, request.operand_alignment);
    if (is_from_int8(completed)) {
        const StepsFromInt8 made = steps_from_int8(choice, normalised, dev, request);
        out.steps.assign(made.step.begin(), made.step.begin() + made.count);
        out.packed_keys[slot_of(true, normalised.swapped)] = choice.schedule.a.key;
        out.packed_keys[slot_of(false, normalised.swapped)] = choice.schedule.b.key;
        finish(out, choice.schedule, normalised, dev, request);
        return out;
    }

    const Schedule& schedule = choice.schedule;
    const Problem& p = schedule.problem;
    Step product =
        unsized_step(*choice.kernel, choice.tile, constants_of(schedule, *choice.kernel, choice.tile, request));
    product.slots = slots_of(p, normalised.swapped);
    product.tile.RASTER = product.tile.SPLIT = product.tile.PACK = 0;  // tiles that differ there share a pipeline
    product.waits = schedule.a.in_workspace() || schedule.b.in_workspace();

    const auto all = operands(normalised.problem);
    for (const auto& [packing, i] : {std::pair{&schedule.a, size_t{BIND_A}}, {&schedule.b, size_t{BIND_B}}}) {
        if (packing->key) out.packed_keys[product.slots[i]] = packing->key;
        if (!packing->in_workspace()) continue;
        out.steps.push_back(packing_step(*packing, all[i], i == BIND_A ? p.a : p.b, product.slots[i], request));
        product.slots[i] = VKGEMM_SLOT_WORKSPACE;
    }
    if (schedule.split.reducer) {
        const Step reduction = reducing_step(product, schedule);
        out.steps.push_back(product);
        out.steps.push_back(reduction);
    } else {
        out.steps.push_back(product);
    }
    set_sizes(out.steps, choice.tile, schedule, normalised.problem, dev);
    finish(out, schedule, normalised, dev, request);
    return out;
}

void add_part(Steps& to, Steps part) {
    part.steps[0].waits = true;
    to.steps.insert(to.steps.end(), part.steps.begin(), part.steps.end());
    to.parts.push_back(part.parts[0]);
    Requirement &all = to.slots[VKGEMM_SLOT_WORKSPACE], &one = part.slots[VKGEMM_SLOT_WORKSPACE];
    if (one.bytes > all.bytes) all = one;
}

Steps make_pack_steps(const Choice& choice, const Problem& completed, const Normalised& normalised, VkgemmSlot slot,
                      const DeviceCaps& dev, const Request& request) {
    const Schedule& schedule = choice.schedule;
    const bool is_a = (slot == VKGEMM_SLOT_A) != normalised.swapped;  // of the product
    const Packing& packing = is_a ? schedule.a : schedule.b;
    if (!packing.key) return {};
    Steps out;
    out.binding = choice.binding;
    out.slots[slot] = requirements_of(completed, request.operand_alignment)[slot];
    out.slots[VKGEMM_SLOT_D] = packed_requirement(packing);
    std::swap(out.slots[VKGEMM_SLOT_D].reads, out.slots[VKGEMM_SLOT_D].writes);
    const Operand from = operands(normalised.problem)[is_a ? BIND_A : BIND_B];
    const Matrix& to = is_a ? schedule.problem.a : schedule.problem.b;
    if (is_from_int8(completed)) {
        out.steps.push_back(splitting_ahead(packing, from, schedule.problem, slot, dev));
    } else {
        Step& step = out.steps.emplace_back(packing_step(packing, from, to, slot, request));
        size_packing(step, packing, from, to, schedule.problem.batch, dev);
        step.slots[BIND_D] = VKGEMM_SLOT_D;
    }
    Repeats& once = out.parts.emplace_back();
    once.steps = 1;
    once.cost = schedule.cost;
    return out;
}

}  // namespace vkgemm::plan
