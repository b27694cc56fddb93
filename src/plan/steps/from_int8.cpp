// SPDX-License-Identifier: MIT
// The steps of f64 from products of int8: A and B are split, their parts are multiplied, and the sums are joined.
#include "plan/choice/from_int8.h"

#include "plan/base/rounding.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {
namespace {

uint32_t u(uint64_t x) { return static_cast<uint32_t>(x); }  // unfit() has checked that they fit

// Makes planes of A, or B, whose exponents are so many bytes into the workspace.
Step splitting_step(const Packing& packing, const Operand& from, const Matrix& to, VkgemmSlot slot, uint64_t exponents,
                    const DeviceCaps& dev) {
    Step s = unsized_step(*packing.kernel, packing.kernel->tile);
    s.constants.TRANS_A = from.is_b() == (from.matrix->layout == rowMajor);  // rows are neighbours in memory
    s.constants.FORMAT_D = uint32_t(to.type);
    s.args.m = u(from.is_b() ? from.cols : from.rows);
    s.args.k = s.args.k_chunk = u(from.is_b() ? from.rows : from.cols);
    s.args.batch = 1;
    s.args.lda = u(from.matrix->ld);
    s.args.ldd = u(to.ld);
    s.slots.fill(VKGEMM_SLOT_D);
    s.slots[BIND_A] = slot;
    s.slots[BIND_C] = s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_C] = exponents;
    s.bytes[BIND_C] = sizeof(int32_t) * s.args.m;
    s.offsets[BIND_D] = packing.offset;
    s.bytes[BIND_D] = packing.bytes;
    s.waits = false;
    set_grid(s, div_up(s.args.m, s.tile.BM), dev);
    return s;
}

// One product for each modulus, whose sums stay in the workspace.
Step multiplying_step(const Choice& choice, const Request& request, const DeviceCaps& dev) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = schedule.problem;
    Step s = unsized_step(*choice.kernel, choice.tile, constants_of(schedule, *choice.kernel, choice.tile, request));
    s.tile.RASTER = s.tile.SPLIT = s.tile.PACK = 0;
    s.constants.PARTIAL = 1;
    s.constants.ALIGNED &= ~uint32_t{WIDE_C | WIDE_D};
    clear_epilogue(s.constants);
    s.args = args_of(p);
    s.args.k_chunk = u(schedule.split.chunk);
    s.args.ldd = u(schedule.sums_pitch());
    s.args.raster = choice.tile.RASTER;
    s.slots.fill(VKGEMM_SLOT_D);
    s.slots[BIND_A] = s.slots[BIND_B] = s.slots[BIND_D] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_A] = schedule.a.offset;
    s.bytes[BIND_A] = schedule.a.bytes;
    s.offsets[BIND_B] = schedule.b.offset;
    s.bytes[BIND_B] = schedule.b.bytes;
    s.offsets[BIND_D] = schedule.partial_offset;
    set_grid(s, div_up(p.m, s.tile.BM) * div_up(p.n, s.tile.BN) * p.batch * schedule.split.slices, dev);
    return s;
}

Step joining_step(const Choice& choice, const Normalised& normalised, const DeviceCaps& dev) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = normalised.problem;
    const Kernel& joiner = *schedule.split.reducer;
    Step s = unsized_step(joiner, joiner.tile);
    s.constants.TRANS_A = p.a.layout == columnMajor;
    s.constants.TRANS_B = p.b.layout == columnMajor;
    s.constants.TRANS_C = p.c.layout == columnMajor;
    s.constants.USE_C = p.cSource != VKGEMM_C_NONE;
    s.args = args_of(p);
    s.args.k_chunk = u(schedule.split.chunk);
    s.args.batch_a = u(schedule.sums_pitch());
    s.args.batch_b = u(exponents_of_b(p) / sizeof(int32_t));
    s.slots = slots_of(p, normalised.swapped);
    s.slots[BIND_BIAS] = s.slots[BIND_SCALE] = VKGEMM_SLOT_WORKSPACE;
    s.offsets[BIND_BIAS] = schedule.partial_offset;
    s.bytes[BIND_SCALE] = exponents_of_b(p) + sizeof(int32_t) * p.n;
    set_grid(s, div_up(p.m * p.n, joiner.tile.BN), dev);
    return s;
}

}  // namespace

std::vector<Step> steps_from_int8(const Choice& choice, const Normalised& normalised, const DeviceCaps& dev,
                                  const Request& request) {
    const Schedule& schedule = choice.schedule;
    const Problem& p = normalised.problem;
    if (p.k == 0) return {joining_step(choice, normalised, dev)};
    const auto all = operands(p);
    const auto slots = slots_of(p, normalised.swapped);
    return {splitting_step(schedule.a, all[0], schedule.problem.a, slots[BIND_A], 0, dev),
            splitting_step(schedule.b, all[1], schedule.problem.b, slots[BIND_B], exponents_of_b(p), dev),
            multiplying_step(choice, request, dev), joining_step(choice, normalised, dev)};
}

}  // namespace vkgemm::plan
