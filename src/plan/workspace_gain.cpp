// SPDX-License-Identifier: MIT
#include "plan/workspace_gain.h"

#include <cmath>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/tile_terms.h"

namespace vkgemm::plan {
namespace {

constexpr double worth_a_word = 1.1;     // times the cost
constexpr double about_the_same = 1.05;  // times the cost: then the smaller workspace is the better advice
constexpr int smaller_ones = 2;          // that are tried, each a quarter of the one before

uint64_t workspace_of(const Plan& plan) { return plan.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes; }

bool is_native(const Plan& plan) { return VKGEMM_HAS_NATIVE && plan.choice.kernel->module.is_native(); }

// The plan with a workspace of at most `bytes`.
Result<Plan> plan_within(uint64_t bytes, const DeviceKernels& device, const Problem& given, Request request) {
    request.workspace_limit = bytes;
    return make_plan(device, given, request);
}

// The cost of `without`, divided by that of `with`. A shader and machine code that has no factor of its tile
// (tile_terms.h) are compared without terms.
double cost_ratio(const DeviceKernels& device, const Plan& without, const Plan& with, const Request& request) {
    const Choice& native = is_native(with) ? with.choice : without.choice;
    if (is_native(without) == is_native(with) || find_tile_terms(*native.kernel, native.tile, device.caps()))
        return without.cost / with.cost;
    Request plain = request;
    plain.corrected = false;
    const auto before = make_plan(device, without.problem.given, plain);
    const auto after = plan_within(workspace_of(with), device, without.problem.given, plain);
    return before && after ? before->cost / after->cost : 1;
}

// "2.1", or "24" where nothing follows the point.
std::string in_tenths(uint64_t tenths) {
    const std::string whole = concat({tenths / 10});
    return tenths % 10 ? concat({whole, ".", tenths % 10}) : whole;
}

}  // namespace

std::optional<WorkspaceGain> workspace_gain(const DeviceKernels& device, const Plan& plan, const Request& request) {
    if (plan.is_pack || !plan.choice.kernel || plan.choice.schedule.problem.batchInvariant ||
        request.workspace_limit >= largest_useful_workspace)
        return std::nullopt;
    const Problem& given = plan.problem.given;
    auto with = plan_within(largest_useful_workspace, device, given, request);
    if (!with || workspace_of(*with) <= request.workspace_limit || !(with->cost > 0)) return std::nullopt;
    for (int i = 0; i < smaller_ones; ++i) {
        const uint64_t bytes = workspace_of(*with) / 4;
        if (bytes <= request.workspace_limit) break;
        auto smaller = plan_within(bytes, device, given, request);
        if (!smaller || is_native(*smaller) != is_native(*with) || smaller->cost > about_the_same * with->cost ||
            workspace_of(*smaller) <= request.workspace_limit)
            break;
        with = std::move(smaller);
    }
    const double factor = cost_ratio(device, plan, *with, request);
    if (!(factor >= worth_a_word)) return std::nullopt;
    return WorkspaceGain{.kernel = with->choice.kernel,
                         .bytes = workspace_of(*with),
                         .factor = factor,
                         .slices = with->choice.schedule.split.slices};
}

std::string to_text(const WorkspaceGain& gain) {
    const bool small = gain.bytes < uint64_t{1} << 20;
    const uint64_t tenths = div_up(gain.bytes * 10, uint64_t{1} << (small ? 10 : 20));
    const uint64_t factor = static_cast<uint64_t>(std::llround(10 * gain.factor));
    const std::string split = gain.slices > 1 ? concat({" with K in ", gain.slices, " slices"}) : "";
    return concat({"a workspace of ", gain.bytes, " bytes (", in_tenths(tenths), (small ? " KiB" : " MiB"), ") allows ",
                   gain.kernel->name, split, ": predicted ", in_tenths(factor), " times faster"});
}

}  // namespace vkgemm::plan
