// SPDX-License-Identifier: MIT
// The specialization constants of a step.
#include <bit>

#include "plan/steps/make_steps.h"

namespace vkgemm::plan {

bool is_whole(const Tile& t, const Problem& p) {
    return p.m % t.BM == 0 && p.n % t.BN == 0 && (t.BK == 0 || p.k % t.BK == 0);
}

void set_epilogue(ProblemConstants& c, const Module& m, const Problem& p) {
    const auto format = [&](VkgemmSlot slot) {
        const Type type = *epilogue_type(p, slot);
        return m.d == scaled || type != p.d.type ? static_cast<uint32_t>(type) : 0;
    };
    c.FORMAT_D = m.d == scaled ? static_cast<uint32_t>(p.d.type) : 0;
    c.SCALARS = p.scalars;
    if (c.USE_C) c.FORMAT_C = format(VKGEMM_SLOT_C);
    const std::array<uint32_t*, VKGEMM_MAX_EPILOGUE_STEPS> step = {&c.STEP_0, &c.STEP_1, &c.STEP_2, &c.STEP_3};
    for (size_t i = 0; i < p.epilogue.count; ++i) {
        const EpilogueStep& s = p.epilogue.step[i];
        const VkgemmSlot slot = info(s.kind).operand;
        const bool has_slope = info(s.kind).has_slope();
        // A slope of 0 is ReLU: a driver that computes 0 times x before it knows x makes NaN 0.
        *step[i] = static_cast<uint32_t>(has_slope && s.low == 0 ? VKGEMM_STEP_RELU : step_in_kernel(s.kind));
        if (slot == VKGEMM_SLOT_BIAS) c.FORMAT_BIAS = format(slot);
        if (slot == VKGEMM_SLOT_SCALE) c.FORMAT_SCALE = format(slot);
        if (slot == VKGEMM_SLOT_RESIDUAL) c.FORMAT_RESIDUAL = format(slot);
        if (info(s.kind).is_pair()) {
            c.PAIR = 1;
            c.FORMAT_RESIDUAL = c.FORMAT_BIAS;
        }
        if (has_slope && s.low != 0) c.SLOPE = std::bit_cast<uint32_t>(s.low);
    }
}

void clear_epilogue(ProblemConstants& c) {
    c.STEP_0 = c.STEP_1 = c.STEP_2 = c.STEP_3 = c.SLOPE = c.SCALARS = 0;
    c.FORMAT_C = c.FORMAT_D = c.FORMAT_BIAS = c.FORMAT_SCALE = c.FORMAT_RESIDUAL = 0;
}

bool in_chunks(const Operand& x, const Request& request) {
    return info(x.matrix->type).is_plain() && is_wide(x, request.operand_alignment);
}

ProblemConstants constants_of(const Schedule& schedule, const Kernel& k, const Tile& t, const Request& request) {
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
    const auto in_fours = [](const Operand& x) {
        return !x.ragged && (x.matrix->layout == rowMajor ? x.cols : x.rows) % 4 == 0;
    };
    if (k.module.is_mixed()) {  // elements are read one by one, by fours or by eights, from any byte on
        c.FORMAT_A = static_cast<uint32_t>(p.a.type);
        c.FORMAT_B = static_cast<uint32_t>(p.b.type);
        c.ALIGNED &= WIDE_C | WIDE_D;
        if (in_chunks(all[0], request)) c.ALIGNED |= CHUNKS_A;
        if (in_chunks(all[1], request) || has_wide_chunk64(schedule, k, t, request)) c.ALIGNED |= CHUNKS_B;
        if (in_fours(all[0])) c.ALIGNED |= WIDE_A;
        if (in_fours(all[1])) c.ALIGNED |= WIDE_B;
    }
    if (k.module.family.takes_fp8) {
        c.FORMAT_A = static_cast<uint32_t>(p.a.type);
        c.FORMAT_B = static_cast<uint32_t>(p.b.type);
    }
    c.WHOLE = is_whole(t, p) && !p.batchInvariant;  // one pipeline, whatever m is
    set_epilogue(c, k.module, p);
    return c;
}

ConstantValues constant_values(const Step& s) {
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
