// SPDX-License-Identifier: MIT
// Into how many slices K is split.
#include <algorithm>
#include <cmath>

#include "plan/base/rounding.h"
#include "plan/choice/schedule_parts.h"

namespace vkgemm::plan {
namespace {

uint64_t most_workspace(const Schedule& schedule, const ScheduleSearch& search) {
    return std::min(
        {search.request.workspace_limit, search.dev().max_storage_range - search.dev().offset_alignment,
         max_span * std::min(info(schedule.problem.accumulate).bytes, info(schedule.problem.a.type).unit_bytes())});
}

Refusal too_much_workspace(const Schedule& schedule, const ScheduleSearch& search) {
    if (search.wording == Wording::code_alone) return {VKGEMM_ERROR_WORKSPACE, ""};
    std::string what = schedule.split.slices > 1 ? concat({schedule.split.slices, " slices of K"}) : "";
    if (schedule.a.in_workspace() || schedule.b.in_workspace())
        what += what.empty() ? "packed operands" : " and packed operands";
    return {VKGEMM_ERROR_WORKSPACE,
            concat({what, " want a workspace of ", schedule.workspace_bytes(),
                    " bytes; workspaceLimit, or the device, allows ", most_workspace(schedule, search)})};
}

// The cost of all passes, where those before the product cost `before`, with the reducer for the split; INFINITY if no
// kernel adds up the slices, or if the cost is not below `limit`.
double cost_below(double limit, double before, SplitK& split, const ProductCost& cost, const OperandEffects& operands,
                  const Problem& p, const ScheduleSearch& search) {
    const CostParts& weights = cost.weights();
    CostParts parts = cost.parts(split, operands);
    parts.passes = before / weights.passes;
    if (split.slices > 1) {
        if (cost.least_correction() * parts.weighted(weights) + cost.least_second_pass(split.slices) >= limit)
            return INFINITY;
        const DeviceKernels::Reducer reducer = search.device.find_reducer(p, split.slices);
        split.reducer = reducer.kernel;
        parts.passes += reducer.cost;
    }
    const double plain = parts.weighted(weights);
    if (cost.least_correction() * plain >= limit) return INFINITY;
    return plain * cost.correction(parts, split, operands);
}

}  // namespace

SplitK split_of(uint32_t wanted, const Tile& t, const Problem& p) {
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t chunk = std::max<uint64_t>(div_up(div_up(p.k, wanted), depth) * depth, depth);
    const auto slices = static_cast<uint32_t>(div_up(p.k, chunk));
    return slices < 2 ? SplitK{1, p.k, nullptr} : SplitK{slices, chunk, nullptr};
}

std::optional<Status> choose_split_k(Schedule& schedule, const Tile& t, const ProductCost& cost,
                                     const OperandEffects& operands, const ScheduleSearch& search) {
    const Problem& p = schedule.problem;
    if (is_pair(p) && t.SPLIT > 1)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED, {"sums up a pair in one slice of K; SPLIT must be 0 or 1"});
    const double before = schedule.cost;
    schedule.split = t.SPLIT > 1 ? split_of(t.SPLIT, t, p) : SplitK{1, p.k, nullptr};
    const double demanded =
        cost_below(t.SPLIT ? INFINITY : search.limit, before, schedule.split, cost, operands, p, search);
    if (schedule.split.slices > 1 && !schedule.split.reducer)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"no kernel adds up slices of K for these types on the device; SPLIT must be 0 or 1"});
    const uint64_t most = most_workspace(schedule, search);
    if (schedule.workspace_bytes() > most) return too_much_workspace(schedule, search);
    schedule.cost = demanded;
    if (t.SPLIT || !search.request.workspace_limit || p.batchInvariant || is_pair(p)) return std::nullopt;
    SplitK best = schedule.split;
    // The last slice may be shorter than a step; on a CPU each has two steps.
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t most_slices = search.dev().kind == DeviceKind::cpu ? p.k / (2 * depth) : div_up(p.k, depth);
    uint32_t last = 1;
    for (const uint32_t wanted : {2u,  3u,  4u,  5u,  6u,  7u,  8u,  10u,  12u,  14u,  16u,  20u,  24u, 28u,
                                  32u, 40u, 48u, 56u, 64u, 80u, 96u, 112u, 128u, 160u, 192u, 224u, 256u}) {
        if (last >= most_slices) break;
        SplitK& split = schedule.split = split_of(static_cast<uint32_t>(std::min<uint64_t>(wanted, most_slices)), t, p);
        if (split.slices == last) continue;
        last = split.slices;
        if (schedule.workspace_bytes() > most) break;
        const double limit = std::min(schedule.cost, search.limit);
        if (cost.least_correction() * before + cost.least_with(split.slices, operands.slowdown) >= limit) break;
        const double other = cost_below(limit, before, split, cost, operands, p, search);
        if (other < schedule.cost) {
            best = split;
            schedule.cost = other;
        }
    }
    schedule.split = best;
    return std::nullopt;
}

}  // namespace vkgemm::plan
