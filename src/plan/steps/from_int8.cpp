// SPDX-License-Identifier: MIT
// The steps of f64 from products of int8: A and B are split, their parts are multiplied, and the sums are joined.
#include "plan/choice/from_int8.h"

#include <utility>

#include "plan/base/rounding.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {
namespace {

uint32_t u(uint64_t x) { return static_cast<uint32_t>(x); }  // unfit() has checked that they fit

// Makes planes of A, or B, for `product`, whose exponents are so many bytes into what is written.
Step splitting_step(const Packing& packing, const Operand& from, const Problem& product, VkgemmSlot slot,
                    VkgemmSlot written, uint64_t exponents, const DeviceCaps& dev) {
    const Matrix& to = from.is_b() ? product.b : product.a;
    Step s = unsized_step(*packing.kernel, packing.kernel->tile);
    s.constants.PRODUCTS = u(product.batch);
    s.constants.TRANS_A = from.is_b() == (from.matrix->layout == rowMajor);  // rows are neighbours in memory
    s.constants.FORMAT_D = uint32_t(to.type);
    s.args.m = u(from.is_b() ? from.cols : from.rows);
    s.args.k = s.args.k_chunk = u(from.is_b() ? from.rows : from.cols);
    s.args.batch = 1;
    s.args.lda = u(from.matrix->ld);
    s.args.ldd = u(to.ld);
    s.slots.fill(written);  // what is bound and not written must not reach into the other operand's planes
    s.offsets.fill(packing.offset);
    s.bytes.fill(packed_int8(from, product).planes_bytes);
    s.slots[BIND_A] = slot;
    s.offsets[BIND_A] = s.bytes[BIND_A] = 0;
    s.offsets[BIND_C] = exponents;
    s.bytes[BIND_C] = sizeof(int32_t) * s.args.m;
    s.waits = false;
    set_grid(s, div_up(s.args.m, s.tile.BM), dev);
    return s;
}

// Where the parts of A, or B, are.
VkgemmSlot split_slot(const Packing& packing, bool is_a, const Normalised& normalised) {
    return packing.key ? slot_of(is_a, normalised.swapped) : VKGEMM_SLOT_WORKSPACE;
}

// One product for each modulus, whose sums stay in the workspace.
Step multiplying_step(const Choice& choice, const Normalised& normalised, const Request& request,
                      const DeviceCaps& dev) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = schedule.problem;
    Step s = unsized_step(*choice.kernel, choice.tile, constants_of(schedule, *choice.kernel, choice.tile, request));
    s.tile.RASTER = s.tile.SPLIT = s.tile.PACK = 0;
    s.constants.PARTIAL = 1;
    s.constants.ALIGNED &= ~uint32_t{WIDE_C | WIDE_D};
    clear_epilogue(s.constants);
    if (stores_remainders(schedule)) s.constants.FORMAT_D = VKGEMM_TYPE_U8;
    s.args = args_of(p);
    s.args.k_chunk = u(schedule.split.chunk);
    s.args.ldd = u(schedule.sums_pitch());
    s.args.raster = choice.tile.RASTER;
    s.slots.fill(VKGEMM_SLOT_D);
    s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    const auto all = operands(normalised.problem);
    for (const auto& [packing, i] : {std::pair{&schedule.a, size_t{BIND_A}}, {&schedule.b, size_t{BIND_B}}}) {
        s.slots[i] = split_slot(*packing, i == BIND_A, normalised);
        s.offsets[i] = packing->offset;
        s.bytes[i] = packed_int8(all[i], p).planes_bytes;
    }
    s.waits = schedule.a.in_workspace() || schedule.b.in_workspace();
    s.offsets[BIND_D] = schedule.partial_offset;
    set_grid(s, div_up(p.m, s.tile.BM) * div_up(p.n, s.tile.BN) * p.batch * schedule.split.slices, dev);
    return s;
}

// An invocation for each element of D, with alpha, beta and C.
Step elementwise_step(const Kernel& kernel, const Normalised& normalised, const DeviceCaps& dev) {
    const Problem& p = normalised.problem;
    Step s = unsized_step(kernel, kernel.tile);
    s.constants.TRANS_C = p.c.layout == columnMajor;
    s.constants.USE_C = p.cSource != VKGEMM_C_NONE;
    s.args = args_of(p);
    s.slots = slots_of(p, normalised.swapped);
    set_grid(s, div_up(p.m * p.n, s.tile.BN), dev);
    return s;
}

Step joining_step(const Choice& choice, const Normalised& normalised, const DeviceCaps& dev) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = normalised.problem;
    const WorkspaceInt8 at = workspace_int8(p, schedule.problem);
    Step s = elementwise_step(*schedule.split.reducer, normalised, dev);
    s.constants.PRODUCTS = u(schedule.problem.batch);
    s.constants.TRANS_A = p.a.layout == columnMajor;
    s.constants.TRANS_B = p.b.layout == columnMajor;
    s.args.k_chunk = u(schedule.split.chunk);
    s.args.batch_a = u(schedule.sums_pitch());
    if (stores_remainders(schedule)) s.constants.FORMAT_BIAS = VKGEMM_TYPE_U8;
    s.slots[BIND_BIAS] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_BIAS] = schedule.partial_offset;
    s.slots[BIND_SCALE] = split_slot(schedule.a, true, normalised);
    s.bytes[BIND_SCALE] = sizeof(int32_t) * p.m;
    s.slots[BIND_RESIDUAL] = split_slot(schedule.b, false, normalised);
    s.offsets[BIND_RESIDUAL] = schedule.b.key ? 0 : at.exponents_b;
    s.bytes[BIND_RESIDUAL] = sizeof(int32_t) * p.n;
    const auto all = operands(p);
    if (schedule.a.key) {
        s.constants.TRANS_A = 0;
        s.args.lda = u(p.k);
        const PackedInt8 packed = packed_int8(all[0], schedule.problem);
        s.offsets[BIND_A] = packed.copy;
        s.bytes[BIND_A] = packed.copy_bytes;
    }
    if (schedule.b.key) {
        s.constants.TRANS_B = 1;
        s.args.ldb = u(p.k);
        const PackedInt8 packed = packed_int8(all[1], schedule.problem);
        s.offsets[BIND_B] = packed.copy;
        s.bytes[BIND_B] = packed.copy_bytes;
    }
    if (schedule.finisher) {
        s.constants.PARTIAL = 1;
        s.constants.USE_C = 0;
        s.args.ldd = u(p.n);
        s.slots[BIND_C] = s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
        s.offsets[BIND_C] = s.offsets[BIND_D] = at.unfinished;
        s.bytes[BIND_C] = s.bytes[BIND_D] = info(f64).bytes * p.m * p.n;
    }
    return s;
}

// The epilogue, of what the join has stored in the workspace. The bounds of a clamp, which alpha and beta displace, are
// in batch_c and batch_d: a k of 0 clears the other strides.
Step finishing_step(const Choice& choice, const Normalised& normalised, const DeviceCaps& dev) {
    const Problem& p = normalised.problem;
    const Kernel& finisher = *choice.schedule.finisher;
    Step s = elementwise_step(finisher, normalised, dev);
    set_epilogue(s.constants, finisher.module, p);
    s.args.batch_c = s.args.clamp_or_scalars.clamp.low;
    s.args.batch_d = s.args.clamp_or_scalars.clamp.high;
    s.args.lda = u(p.n);
    s.slots[BIND_A] = s.slots[BIND_B] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_A] = s.offsets[BIND_B] = workspace_int8(p, choice.schedule.problem).unfinished;
    s.bytes[BIND_A] = s.bytes[BIND_B] = info(f64).bytes * p.m * p.n;
    return s;
}

}  // namespace

StepsFromInt8 steps_from_int8(const Choice& choice, const Normalised& normalised, const DeviceCaps& dev,
                              const Request& request) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = normalised.problem;
    const auto all = operands(p);
    const auto slots = slots_of(p, normalised.swapped);
    StepsFromInt8 out{};
    const auto split = [&](const Packing& packing, size_t operand, uint64_t exponents) {
        if (packing.in_workspace())
            out.add(splitting_step(packing, all[operand], schedule.problem, slots[operand], VKGEMM_SLOT_WORKSPACE,
                                   exponents, dev));
    };
    if (p.k != 0) {
        split(schedule.a, BIND_A, 0);
        split(schedule.b, BIND_B, workspace_int8(p, schedule.problem).exponents_b);
        out.add(multiplying_step(choice, normalised, request, dev));
    }
    if (p.k != 0 || !schedule.finisher) out.add(joining_step(choice, normalised, dev));
    if (schedule.finisher) out.add(finishing_step(choice, normalised, dev));
    return out;
}

void set_sizes_from_int8(std::span<Step> steps, const Choice& choice, const Normalised& normalised,
                         const DeviceCaps& dev) {
    const StepsFromInt8 sized = steps_from_int8(choice, normalised, dev, {});
    for (size_t i = 0; i < steps.size(); ++i) {  // constants and bindings are those of the largest sizes
        steps[i].args = sized.step[i].args;
        steps[i].offsets = sized.step[i].offsets;
        steps[i].bytes = sized.step[i].bytes;
        set_grid(steps[i], sized.step[i].groups, dev);
    }
}

Step splitting_ahead(const Packing& packing, const Operand& from, const Problem& product, VkgemmSlot slot,
                     const DeviceCaps& dev) {
    Step s = splitting_step(packing, from, product, slot, VKGEMM_SLOT_D, 0, dev);
    const PackedInt8 packed = packed_int8(from, product);
    s.constants.FORMAT_B = VKGEMM_TYPE_F64;
    s.offsets[BIND_B] = packed.copy;
    s.bytes[BIND_B] = packed.copy_bytes;
    return s;
}

}  // namespace vkgemm::plan
