// SPDX-License-Identifier: MIT
// The operands of a run: where they are, and everything that can be wrong with them.
#include "vkgemm/operands.hpp"

#include <numeric>

#include "plan/base/concat.h"
#include "plan/problem/factors.h"
#include "vk/record.h"

namespace vkgemm::vk {
namespace {

using plan::Binding;
using plan::Refusal;
using plan::Requirement;

VKGEMM_COLD Refusal bad_operand(VkgemmSlot slot, const std::string& why) {
    return {slot == VKGEMM_SLOT_WORKSPACE ? VKGEMM_ERROR_WORKSPACE : VKGEMM_ERROR_OPERAND,
            plan::concat({"operand ", plan::slot_name(slot), " ", why})};
}

// Why an operand's offset must be a multiple of what it is not.
std::string remedy(const plan::Problem& p, VkgemmSlot slot, bool packed) {
    if (packed) return "a packed operand needs";
    if (plan::is_read_in_words(p, slot)) return "an operand of 16 bits beside a D of another type needs";
    if (slot == VKGEMM_SLOT_SCALARS) return "VkgemmScalars needs";
    if (slot == VKGEMM_SLOT_WORKSPACE) return "the device requires of a workspace";
    if (slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_BIAS2 || slot == VKGEMM_SLOT_SCALE)
        return "is the size of its element";
    return "this plan was made for; make the plan with a smaller operandAlignment, down to the size of an element";
}

}  // namespace

plan::Result<Resolved> resolve_one(const VkgemmPlan_T& p, const VkgemmOperand& operand, VkgemmSlot slot,
                                   const Requirement& need) {
    const bool by_address = p.operands == VKGEMM_OPERANDS_ADDRESSES;
    if (operand.address && !by_address)
        return bad_operand(slot,
                           "has an address, but this plan was made for VKGEMM_OPERANDS_BUFFERS; give a buffer and "
                           "leave the address 0, or make the plan for VKGEMM_OPERANDS_ADDRESSES");
    if (operand.address && operand.buffer)
        return bad_operand(slot, "has both a buffer and an address; give one of them and leave the other 0");
    if (!operand.address && !operand.buffer)
        return bad_operand(
            slot, plan::concat({"is missing: it needs a ", (by_address ? "buffer or an address" : "buffer"), " with ",
                                need.bytes, " bytes"}));
    const VkDeviceSize least = need.least ? need.least : need.bytes;
    Resolved out = {.buffer = operand.buffer,
                    .offset = operand.offset,
                    .address = 0,
                    .bytes = operand.size && need.least ? operand.size : need.bytes};
    if (operand.address) {
        out.address = operand.address + operand.offset;
    } else if (p.plan.steps.binding == Binding::addresses) {
        const VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, operand.buffer};
        const VkDeviceAddress begin =
            p.context->device.functions.GetBufferDeviceAddress(p.context->device.handle, &info);
        if (begin == 0)
            return bad_operand(
                slot, "is a buffer without a device address: it lacks VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT");
        out.address = begin + operand.offset;
    }
    const uint64_t place = out.address ? out.address : out.offset;
    if (place < operand.offset || place > UINT64_MAX - out.bytes)
        return bad_operand(slot, plan::concat({"begins at ", operand.offset, " and would end beyond 2^64"}));
    if (place % need.alignment)
        return bad_operand(slot, plan::concat({"is at offset ", operand.offset,
                                               (out.address ? plan::concat({" (address ", place, ")"}) : ""),
                                               ", not a multiple of ", need.alignment, " bytes, which ",
                                               remedy(p.plan.problem.completed, slot, need.packed)}));
    if (operand.size && operand.size < least)
        return bad_operand(slot, plan::concat({"has ", operand.size, " bytes, but the problem reaches over ", least}));
    return out;
}

plan::Footprint footprint(const Work& work, VkgemmSlot slot, const Resolved& operand) {
    const uint64_t begin = operand.address ? operand.address : operand.offset, bytes = operand.bytes;
    plan::Footprint out = {.begin = begin, .end = begin + bytes, .run_bytes = bytes, .pitch = 0, .stride = 0};
    const plan::Problem& p = *work.problem;
    if (slot == VKGEMM_SLOT_B2) slot = VKGEMM_SLOT_B;  // which it is placed like
    const plan::Matrix* matrix = slot == VKGEMM_SLOT_A                                   ? &p.a
                                 : slot == VKGEMM_SLOT_B                                 ? &p.b
                                 : slot == VKGEMM_SLOT_C                                 ? &p.c
                                 : slot == VKGEMM_SLOT_D || slot == VKGEMM_SLOT_RESIDUAL ? &p.d
                                                                                         : nullptr;
    if (!matrix || (*work.slots)[size_t(slot)].packed || (*work.slots)[size_t(slot)].least) return out;
    const plan::TypeInfo& type = plan::info(plan::epilogue_type(p, slot).value_or(matrix->type));
    const bool rows = matrix->layout == plan::rowMajor;
    const uint64_t inner = slot == VKGEMM_SLOT_A   ? (rows ? p.k : p.m)
                           : slot == VKGEMM_SLOT_B ? (rows ? p.n : p.k)
                                                   : (rows ? p.n : p.m);
    const uint64_t outer = slot == VKGEMM_SLOT_A   ? p.outerStrideA
                           : slot == VKGEMM_SLOT_B ? p.outerStrideB
                           : slot == VKGEMM_SLOT_C ? p.outerStrideC
                                                   : p.outerStrideD;
    out.run_bytes = type.bytes_of(inner);
    out.pitch = type.bytes_of(matrix->ld);
    out.stride = type.bytes_of(std::gcd(matrix->batchStride, outer));
    return out;
}

std::string common_bytes(const plan::Footprint& x, const plan::Footprint& other, std::string_view name_of_other) {
    const uint64_t begin = std::max(x.begin, other.begin), end = std::min(x.end, other.end);
    return plan::concat({"its bytes ", begin - x.begin, " to ", end - x.begin, " are bytes ", begin - other.begin,
                         " to ", end - other.begin, " of ", name_of_other});
}

namespace {

bool same_place(const Work& work, VkgemmSlot slot, const Resolved& x, const Resolved& d) {
    if (plan::epilogue_type(*work.problem, slot).value_or(work.problem->d.type) != work.problem->d.type) return false;
    const bool matrix =
        slot == VKGEMM_SLOT_RESIDUAL ||
        (slot == VKGEMM_SLOT_C && work.problem->c.ld == work.problem->d.ld &&
         work.problem->c.batchStride == work.problem->d.batchStride &&
         work.problem->outerStrideC == work.problem->outerStrideD && work.problem->c.layout == work.problem->d.layout);
    return matrix && (x.address ? x.address == d.address : x.offset == d.offset);
}

// D may be exactly C or the residual; otherwise it must share nothing with what is read.
std::optional<Status> overlap_with_d(const Work& work, const ResolvedOperands& all) {
    const Resolved& d = all[size_t(VKGEMM_SLOT_D)];
    if (d.bytes == 0) return std::nullopt;  // where it is, only the table of groups knows
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const VkgemmSlot slot = VkgemmSlot(i);
        const Resolved& x = all[i];
        if (slot == VKGEMM_SLOT_D || slot == VKGEMM_SLOT_WORKSPACE || (*work.slots)[i].bytes == 0) continue;
        if ((x.address == 0) && x.buffer != d.buffer) continue;
        if (same_place(work, slot, x, d)) continue;
        const plan::Footprint fx = footprint(work, slot, x), fd = footprint(work, VKGEMM_SLOT_D, d);
        if (!may_overlap(fx, fd)) continue;
        return bad_operand(slot, plan::concat({"overlaps D: ", common_bytes(fx, fd, "D"),
                                               "; only C or the residual may be D, and then exactly"}));
    }
    return std::nullopt;
}

// The workspace is written before the operands are read for the last time.
std::optional<Status> overlap_with_workspace(const Work& work, const ResolvedOperands& all) {
    const Resolved& space = all[size_t(VKGEMM_SLOT_WORKSPACE)];
    const plan::Footprint fw = footprint(work, VKGEMM_SLOT_WORKSPACE, space);
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        if (i == size_t(VKGEMM_SLOT_WORKSPACE) || i == size_t(VKGEMM_SLOT_GROUPS) || i == size_t(VKGEMM_SLOT_INDICES))
            continue;
        if ((*work.slots)[i].bytes == 0 || ((space.address == 0) && all[i].buffer != space.buffer)) continue;
        const plan::Footprint fx = footprint(work, VkgemmSlot(i), all[i]);
        if (!may_overlap(fx, fw)) continue;
        const std::string_view name = plan::slot_name(VkgemmSlot(i));
        return bad_operand(
            VKGEMM_SLOT_WORKSPACE,
            plan::concat({"overlaps operand ", name, ": ", common_bytes(fw, fx, name), "; give it memory of its own"}));
    }
    return std::nullopt;
}

// Why a plan for `p` has no use for an operand that a run may have.
const char* why_unused(const plan::Problem& p, VkgemmSlot slot) {
    switch (slot) {
        case VKGEMM_SLOT_C:
            return "cSource is not VKGEMM_C_SEPARATE";
        case VKGEMM_SLOT_BIAS:
        case VKGEMM_SLOT_SCALE:
        case VKGEMM_SLOT_RESIDUAL:
        case VKGEMM_SLOT_B2:
        case VKGEMM_SLOT_BIAS2:
            return "the problem has no step that reads it";
        case VKGEMM_SLOT_SCALARS:
            return "VkgemmProblem::scalars is 0";
        default:
            return p.grouping == VKGEMM_GROUPING_NONE ? "this plan does not use it" : "this grouping does not use it";
    }
}

}  // namespace

std::optional<Status> unused_operand(const plan::Problem& p, const plan::BySlot<Requirement>& slots,
                                     const VkgemmRun& run) {
    if (plan::is_empty(p)) return std::nullopt;
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const VkgemmSlot slot = VkgemmSlot(i);
        if (slots[i].bytes || slot == VKGEMM_SLOT_WORKSPACE) continue;
        const VkgemmOperand& given = operandOf(run, slot);
        const bool is_factor = slot == VKGEMM_SLOT_A || slot == VKGEMM_SLOT_B || slot == VKGEMM_SLOT_B2;
        if ((given.buffer || given.address) && !(is_factor && p.k == 0))
            return bad_operand(slot, plan::concat({"must be zero: ", why_unused(p, slot)}));
    }
    return std::nullopt;
}

std::optional<Status> resolve(const VkgemmPlan_T& p, const VkgemmRun& run, const Work& work, ResolvedOperands& out) {
    out = {};
    const auto [alpha, beta] = plan::known_factors(p.plan.problem.completed, run.alpha, run.beta);
    if (auto why = plan::unfit_factors(p.plan.problem.completed, alpha, beta)) return why;
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const Requirement& need = (*work.slots)[i];
        if (need.bytes == 0) continue;
        if (i == VKGEMM_SLOT_B && work.problem->grouping == VKGEMM_GROUPING_SELECTED && run.b.size == 0)
            return bad_operand(VKGEMM_SLOT_B, plan::concat({"has no size, which limits the indices that select its "
                                                            "matrices: state the bytes of all of them (one has ",
                                                            need.least, ")"}));
        auto one = resolve_one(p, operandOf(run, VkgemmSlot(i)), VkgemmSlot(i), need);
        if (!one) return one.status();
        out[i] = *one;
    }
    if (work.table && !out[VKGEMM_SLOT_WORKSPACE].buffer)
        return bad_operand(VKGEMM_SLOT_WORKSPACE,
                           "has an address, but a dispatch of groups is read from it: give its buffer, which needs "
                           "VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT");
    if (auto why = overlap_with_d(work, out)) return why;
    return overlap_with_workspace(work, out);
}

}  // namespace vkgemm::vk
