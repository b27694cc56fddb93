// SPDX-License-Identifier: MIT
// The operands of a run: where they are, and everything that can be wrong with them.
#include <numeric>

#include "plan/base/concat.h"
#include "plan/problem/factors.h"
#include "plan/problem/overlap.h"
#include "vk/record.h"

namespace vkgemm::vk {
namespace {

using plan::Binding;
using plan::Refusal;
using plan::Requirement;

const VkgemmOperand& operand_of(const VkgemmRun& run, VkgemmSlot s) {
    switch (s) {
        case VKGEMM_SLOT_A:
            return run.a;
        case VKGEMM_SLOT_B:
            return run.b;
        case VKGEMM_SLOT_C:
            return run.c;
        case VKGEMM_SLOT_BIAS:
            return run.bias;
        case VKGEMM_SLOT_SCALE:
            return run.scale;
        case VKGEMM_SLOT_RESIDUAL:
            return run.residual;
        case VKGEMM_SLOT_WORKSPACE:
            return run.workspace;
        case VKGEMM_SLOT_GROUPS:
            return run.groups;
        case VKGEMM_SLOT_INDICES:
            return run.indices;
        case VKGEMM_SLOT_SCALARS:
            return run.scalars;
        default:
            return run.d;
    }
}

VKGEMM_COLD Refusal bad_operand(VkgemmSlot s, const std::string& why) {
    return {s == VKGEMM_SLOT_WORKSPACE ? VKGEMM_ERROR_WORKSPACE : VKGEMM_ERROR_OPERAND,
            plan::concat({"operand ", plan::slot_name(s), " ", why})};
}

// Why an operand's offset must be a multiple of what it is not.
std::string remedy(const plan::Problem& p, VkgemmSlot s, bool packed) {
    if (packed) return "a packed operand needs";
    if (plan::is_read_in_words(p, s)) return "an operand of 16 bits beside a D of another type needs";
    if (s == VKGEMM_SLOT_SCALARS) return "VkgemmScalars needs";
    if (s == VKGEMM_SLOT_WORKSPACE) return "the device requires of a workspace";
    if (s == VKGEMM_SLOT_BIAS || s == VKGEMM_SLOT_SCALE) return "is the size of its element";
    return "this plan was made for; make the plan with a smaller operandAlignment, down to the size of an element";
}

// The place of one operand, or what is wrong with it by itself.
plan::Result<Resolved> resolve_one(const VkgemmPlan_T& p, const VkgemmOperand& x, VkgemmSlot s,
                                   const Requirement& need) {
    const bool by_address = p.operands == VKGEMM_OPERANDS_ADDRESSES;
    if (x.address && !by_address)
        return bad_operand(s,
                           "has an address, but this plan was made for VKGEMM_OPERANDS_BUFFERS; give a buffer and "
                           "leave the address 0, or make the plan for VKGEMM_OPERANDS_ADDRESSES");
    if (x.address && x.buffer)
        return bad_operand(s, "has both a buffer and an address; give one of them and leave the other 0");
    if (!x.address && !x.buffer)
        return bad_operand(s, plan::concat({"is missing: it needs a ", (by_address ? "buffer or an address" : "buffer"),
                                            " with ", need.bytes, " bytes"}));
    const VkDeviceSize least = need.least ? need.least : need.bytes;
    Resolved out = {
        .buffer = x.buffer, .offset = x.offset, .address = 0, .bytes = x.size && need.least ? x.size : need.bytes};
    if (x.address) {
        out.address = x.address + x.offset;
    } else if (p.plan.steps.binding == Binding::addresses) {
        const VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, x.buffer};
        const VkDeviceAddress begin =
            p.context->device.functions.GetBufferDeviceAddress(p.context->device.handle, &info);
        if (begin == 0)
            return bad_operand(
                s, "is a buffer without a device address: it lacks VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT");
        out.address = begin + x.offset;
    }
    const uint64_t place = out.address ? out.address : out.offset;
    if (place < x.offset || place > UINT64_MAX - out.bytes)
        return bad_operand(s, plan::concat({"begins at ", x.offset, " and would end beyond 2^64"}));
    if (place % need.alignment)
        return bad_operand(
            s, plan::concat({"is at offset ", x.offset, (out.address ? plan::concat({" (address ", place, ")"}) : ""),
                             ", not a multiple of ", need.alignment, " bytes, which ",
                             remedy(p.plan.problem.completed, s, need.packed)}));
    if (x.size && x.size < least)
        return bad_operand(s, plan::concat({"has ", x.size, " bytes, but the problem reaches over ", least}));
    return out;
}

// The bytes a slot touches. Bias, scale, workspace and packed operands are single runs.
plan::Footprint footprint(const Work& w, VkgemmSlot s, const Resolved& r) {
    const uint64_t begin = r.address ? r.address : r.offset, bytes = r.bytes;
    plan::Footprint f = {.begin = begin, .end = begin + bytes, .run_bytes = bytes, .pitch = 0, .stride = 0};
    const plan::Problem& q = *w.problem;
    const plan::Matrix* m = s == VKGEMM_SLOT_A                                ? &q.a
                            : s == VKGEMM_SLOT_B                              ? &q.b
                            : s == VKGEMM_SLOT_C                              ? &q.c
                            : s == VKGEMM_SLOT_D || s == VKGEMM_SLOT_RESIDUAL ? &q.d
                                                                              : nullptr;
    if (!m || (*w.slots)[size_t(s)].packed || (*w.slots)[size_t(s)].least) return f;
    const plan::TypeInfo& type = plan::info(plan::epilogue_type(q, s).value_or(m->type));
    const bool rows = m->layout == plan::rowMajor;
    const uint64_t inner = s == VKGEMM_SLOT_A   ? (rows ? q.k : q.m)
                           : s == VKGEMM_SLOT_B ? (rows ? q.n : q.k)
                                                : (rows ? q.n : q.m);
    const uint64_t outer = s == VKGEMM_SLOT_A   ? q.outerStrideA
                           : s == VKGEMM_SLOT_B ? q.outerStrideB
                           : s == VKGEMM_SLOT_C ? q.outerStrideC
                                                : q.outerStrideD;
    f.run_bytes = type.bytes_of(inner);
    f.pitch = type.bytes_of(m->ld);
    f.stride = type.bytes_of(std::gcd(m->batchStride, outer));
    return f;
}

bool same_place(const Work& w, VkgemmSlot s, const Resolved& x, const Resolved& d) {
    if (plan::epilogue_type(*w.problem, s).value_or(w.problem->d.type) != w.problem->d.type) return false;
    const bool matrix = s == VKGEMM_SLOT_RESIDUAL || (s == VKGEMM_SLOT_C && w.problem->c.ld == w.problem->d.ld &&
                                                      w.problem->c.batchStride == w.problem->d.batchStride &&
                                                      w.problem->outerStrideC == w.problem->outerStrideD &&
                                                      w.problem->c.layout == w.problem->d.layout);
    return matrix && (x.address ? x.address == d.address : x.offset == d.offset);
}

// D may be exactly C or the residual; otherwise it must share nothing with what is read.
std::optional<Status> overlap_with_d(const Work& w, const ResolvedOperands& all) {
    const Resolved& d = all[size_t(VKGEMM_SLOT_D)];
    if (d.bytes == 0) return std::nullopt;  // where it is, only the table of groups knows
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const VkgemmSlot s = VkgemmSlot(i);
        const Resolved& x = all[i];
        if (s == VKGEMM_SLOT_D || s == VKGEMM_SLOT_WORKSPACE || (*w.slots)[i].bytes == 0) continue;
        if ((x.address == 0) && x.buffer != d.buffer) continue;
        if (same_place(w, s, x, d) || !may_overlap(footprint(w, s, x), footprint(w, VKGEMM_SLOT_D, d))) continue;
        const plan::Footprint fx = footprint(w, s, x), fd = footprint(w, VKGEMM_SLOT_D, d);
        return bad_operand(s, plan::concat({"(bytes ", fx.begin, " to ", fx.end, ") overlaps D (bytes ", fd.begin,
                                            " to ", fd.end, "); only C or the residual may be D, and then exactly"}));
    }
    return std::nullopt;
}

// The workspace is written before the operands are read for the last time.
std::optional<Status> overlap_with_workspace(const Work& w, const ResolvedOperands& all) {
    const Resolved& space = all[size_t(VKGEMM_SLOT_WORKSPACE)];
    const plan::Footprint fw = footprint(w, VKGEMM_SLOT_WORKSPACE, space);
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        if (i >= size_t(VKGEMM_SLOT_WORKSPACE) && i != size_t(VKGEMM_SLOT_SCALARS)) continue;
        if ((*w.slots)[i].bytes == 0 || ((space.address == 0) && all[i].buffer != space.buffer) ||
            !may_overlap(footprint(w, VkgemmSlot(i), all[i]), fw))
            continue;
        return bad_operand(VKGEMM_SLOT_WORKSPACE,
                           plan::concat({"(bytes ", fw.begin, " to ", fw.end, ") overlaps operand ",
                                         plan::slot_name(VkgemmSlot(i)), "; give it memory of its own"}));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Status> resolve(const VkgemmPlan_T& p, const VkgemmRun& run, const Work& w, ResolvedOperands& out) {
    out = {};
    const auto [alpha, beta] = plan::known_factors(p.plan.problem.completed, run.alpha, run.beta);
    if (auto why = plan::unfit_factors(p.plan.problem.completed, alpha, beta)) return why;
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const Requirement& need = (*w.slots)[i];
        if (need.bytes == 0) continue;
        auto one = resolve_one(p, operand_of(run, VkgemmSlot(i)), VkgemmSlot(i), need);
        if (!one) return one.status();
        out[i] = *one;
    }
    if (w.table && !out[VKGEMM_SLOT_WORKSPACE].buffer)
        return bad_operand(VKGEMM_SLOT_WORKSPACE,
                           "has an address, but a dispatch of groups is read from it: give its buffer, which needs "
                           "VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT");
    if (auto why = overlap_with_d(w, out)) return why;
    return overlap_with_workspace(w, out);
}

}  // namespace vkgemm::vk
