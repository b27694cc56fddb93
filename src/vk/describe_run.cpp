// SPDX-License-Identifier: MIT
#include "vk/describe_run.h"

#include <algorithm>
#include <span>

#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "vk/convert.h"
#include "vkgemm/hash.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::vk {
namespace {

using plan::concat;
using plan::Refusal;
using plan::Result;

std::string checksum_of(const void* data, uint64_t size) {
    return hashText(hashOf({static_cast<const std::byte*>(data), static_cast<size_t>(size)}));
}

const char* why_not_described(const VkgemmPlan_T& plan, const CheckedRun& checked) {
    if (plan.plan.is_pack) return "a pack is not described; describe the product that reads what it packs";
    const plan::Problem& p = *checked.work.problem;
    if (p.m == 0 || p.n == 0 || p.batch == 0) return "the run computes nothing: m, n or batch is 0";
    if (p.grouping == VKGEMM_GROUPING_ADDRESSES)
        return "the memory of groups with VKGEMM_GROUPING_ADDRESSES is not known; VKGEMM_GROUPING_TABLE states it";
    return nullptr;
}

// The lines of the operands and of the result, or which of `data` is not what the run touches.
Result<std::string> data_text(const VkgemmPlan_T& plan, const CheckedRun& checked, const VkgemmRunData& data) {
    VkgemmRunAccess accesses[VKGEMM_SLOT_COUNT];
    const uint32_t count = accesses_of(plan, checked, accesses, VKGEMM_SLOT_COUNT);
    if (data.operandCount && !data.operands)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmRunData::operands is null (with a count above 0)"};
    std::string out;
    uint32_t given = 0;
    uint64_t of_d = 0;
    for (const VkgemmRunAccess& x : std::span(accesses).first(count)) {
        if (x.slot == VKGEMM_SLOT_WORKSPACE) continue;
        const std::string_view name = plan::slot_name(x.slot);
        const VkgemmOperandData* const o = given < data.operandCount ? &data.operands[given++] : nullptr;
        if (!o || enum_value(o->slot) != int32_t(x.slot) || o->size != x.size || !o->data)
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                           concat({"VkgemmRunData::operands[", given - (o ? 1 : 0), "] must be operand ", name,
                                   ", with ", x.size, " bytes"})};
        out += concat({"operand ", name, " ", x.size, " ", checksum_of(o->data, o->size), "\n"});
        if (x.slot == VKGEMM_SLOT_D) of_d = x.size;
    }
    if (given < data.operandCount)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       concat({"VkgemmRunData::operandCount is ", data.operandCount, ", but the run touches ", given,
                               " operands besides the workspace"})};
    return out + concat({"result ", of_d, " ", (data.result ? checksum_of(data.result, of_d) : "unknown"), "\ndata\n"});
}

bool has_own_sizes(const CheckedRun& checked) {
    return checked.run.flags & (VKGEMM_RECORD_SIZES | VKGEMM_RECORD_STRIDES);
}

/// The problem that is described, and the workspace of a plan for it that has the run's kernel and schedule.
struct Described {
    plan::Problem problem;
    uint64_t workspace;
};

// With the run's kernel, which all sizes of a range must have.
plan::Request request_of(const VkgemmPlan_T& plan, const plan::Choice& choice, const plan::Tile& tile) {
    plan::Request out = plan.request;
    out.kernel = choice.kernel->name;
    out.preferred_kernel.clear();
    out.tile = plan::to_text(tile);
    out.addresses = plan.plan.steps.binding == plan::Binding::addresses;
    out.descriptors = !out.addresses;
    out.dispatch_seconds = out.run_seconds = 0;
    return out;
}

// The run's problem as its dispatches have it.
plan::Problem normalised_run(const VkgemmPlan_T& plan, const plan::Problem& of_run) {
    if (plan.plan.problem.given.upTo & VKGEMM_UP_TO_STRIDES) return plan::normalise(of_run).problem;
    return plan::with_sizes(plan.plan.problem, plan::sizes_of(of_run)).normalised.problem;
}

/// Where sizes do not vary, more levels of the batch merge than in the run, and one level of more products has more
/// partial sums and packed matrices. So as few sizes vary on as give the dispatches the run's rows and columns; or, if
/// the kernel does not take all smaller ones, as few as give a plan at all: where in D a sum is changes none of its
/// bits. Refused if there is no such plan.
Result<Described> described(const VkgemmPlan_T& plan, const CheckedRun& checked, const plan::Tile& tile) {
    const plan::Problem &given = plan.plan.problem.given, &of_run = *checked.work.problem;
    const bool has_groups = given.grouping != VKGEMM_GROUPING_NONE;
    Described out{problem_of_run(plan, checked, has_groups), (*checked.work.slots)[VKGEMM_SLOT_WORKSPACE].bytes};
    plan::Problem& p = out.problem;
    if (p.packedA) p.packedA = plan.plan.steps.packed_keys[VKGEMM_SLOT_A];
    if (p.packedB) p.packedB = plan.plan.steps.packed_keys[VKGEMM_SLOT_B];
    if (plan.plan.buckets.empty() || has_groups || of_run.k == 0) return out;
    const plan::Problem run = normalised_run(plan, of_run);
    const plan::Choice& choice = *checked.work.choice;
    plan::Request request = request_of(plan, choice, tile);
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, batch = VKGEMM_UP_TO_BATCH;
    const uint32_t strides = given.upTo & VKGEMM_UP_TO_STRIDES;
    Status why;
    for (const bool same_rows : {true, false})
        for (const uint32_t varies :
             {uint32_t{0}, batch, m, n, m | batch, n | batch, m | n, m | n | batch, strides, given.upTo}) {
            p.upTo = varies;
            const auto prepared = plan::prepare(p);
            if (!prepared) continue;
            const plan::Problem& alone = prepared->normalised.problem;
            if (same_rows && (alone.m != run.m || alone.n != run.n)) continue;
            const plan::Schedule schedule = plan::resized(choice.schedule, *choice.kernel, choice.tile, alone);
            request.workspace_limit = std::max(out.workspace, schedule.workspace_bytes());
            if (const auto made = plan::make_plan(*plan.context->kernels, p, request); !made) {
                why = made.status();
                continue;
            }
            out.workspace = request.workspace_limit;
            return out;
        }
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   concat({"the run is not described, because no plan of these sizes has its kernel (", why.text,
                           "); a run of a plan whose sizes do not vary is"})};
}

// A value as the rest of a line.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

}  // namespace

plan::Problem problem_of_run(const VkgemmPlan_T& plan, const CheckedRun& checked, bool varies) {
    plan::Problem p = plan.plan.problem.given;
    if (has_own_sizes(checked)) {
        p = plan::restated(*checked.work.problem);
        if (p.batch == 1) p.a.batchStride = p.b.batchStride = p.c.batchStride = p.d.batchStride = 0;
        p.upTo = varies ? plan.plan.problem.given.upTo : 0;
    }
    return p;
}

Result<std::string> describe_run(const VkgemmPlan_T& plan, const CheckedRun& checked, const VkgemmRunData* data) {
    if (const char* why = why_not_described(plan, checked)) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    const plan::Steps& steps = plan.plan.steps;
    const plan::Choice& choice = *checked.work.choice;
    plan::Tile tile = choice.tile;
    // Of a range of sizes, which splits all of them by what was chosen for the largest.
    if (!plan.plan.buckets.empty()) tile.SPLIT = choice.schedule.split.reducer ? choice.schedule.split.slices : 1;
    const auto what = described(plan, checked, tile);
    if (!what) return what.status();
    const bool is_two = !plan.plan.gate_kernel.empty();
    const std::string gate_kernel = is_two ? plan.plan.gate_kernel + "+" : "";
    const std::string gate_tile = is_two ? plan.plan.gate_tile + "+" : "";
    std::string out = concat({"vkgemm-capture ",
                              VKGEMM_CAPTURE_FORMAT,
                              "\nversion ",
                              VKGEMM_VERSION_MAJOR,
                              ".",
                              VKGEMM_VERSION_MINOR,
                              ".",
                              VKGEMM_VERSION_PATCH,
                              "\ndevice ",
                              one_line(plan.context->caps.name),
                              "\ndriver ",
                              one_line(plan.context->caps.driver),
                              "\nproblem ",
                              plan::to_text(what->problem, checked.run.alpha, checked.run.beta),
                              "\nkernel ",
                              gate_kernel,
                              choice.kernel->name,
                              "\ntile ",
                              gate_tile,
                              plan::to_text(tile),
                              "\noperands ",
                              (steps.binding == plan::Binding::addresses ? "addresses" : "descriptors"),
                              "\nalignment ",
                              plan.plan.operand_alignment,
                              "\nworkspace ",
                              what->workspace,
                              "\n"});
    if (!data) return out;
    const auto rest = data_text(plan, checked, *data);
    return rest ? Result<std::string>(out + *rest) : rest;
}

}  // namespace vkgemm::vk
