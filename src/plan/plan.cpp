// SPDX-License-Identifier: MIT
#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/schedule_parts.h"
#include "plan/steps/grouped.h"
#include "plan/steps/pair.h"
#include "plan/steps/parts.h"

namespace vkgemm::plan {
namespace {

// What one unit of cost takes at most, in seconds: a cycle of a GPU's multiprocessor, or an operation of a CPU's
// thread. A multiprocessor of the device that the costs were measured on takes a seventh of it.
constexpr double seconds_per_cost = 4e-9;

double cost_of(const Steps& steps) {
    double out = 0;
    for (const Repeats& part : steps.parts) out += part.cost * part.count;
    return out;
}

double flops_of(const Problem& p) {
    return (is_pair(p) ? 4.0 : 2.0) * double(p.m) * double(p.n) * double(p.k) * double(p.batch) * double(p.outerBatch);
}

// Only f64 from int8 cannot do without a workspace.
std::optional<Status> lacks_workspace(const Problem& completed, const Steps& steps, const Request& request) {
    const uint64_t bytes = steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes;
    if (!is_from_int8(completed) || bytes <= request.workspace_limit) return std::nullopt;
    const bool whole = is_never_cut(completed);
    return Refusal{VKGEMM_ERROR_WORKSPACE,
                   concat({"accuracy=", accuracy_name(completed.accuracy), " needs a workspace of ", bytes, " bytes",
                           (whole ? "" : ", or of less for D in blocks"), "; workspaceLimit is ",
                           request.workspace_limit, (whole ? "" : ", too small for either"), ": raise it",
                           (whole ? "" : concat({", to ", bytes, " at most"}))})};
}

// A plan in the making.
struct Planner {
    const DeviceKernels& device;
    const Request& request;
    Plan plan;

    const DeviceCaps& caps() const { return device.caps(); }
    Result<Choice> choose(const PreparedProblem&, const Request&, Binding);
    std::optional<Status> plan_groups();
    std::optional<Status> plan_ranges();
    std::optional<Status> plan_parts();
    std::optional<Status> plan_pair();
    Result<Steps> as_two_products(Choice& gate, Choice&);
    std::optional<Status> plan_range(const SizeRange&, Request, Binding);
    void add_packs(const Normalised&);
    void limit_dispatches();
    std::optional<Status> plan_all();
};

// What was asked for; where it was only preferred and cannot serve, the free choice.
Result<Choice> Planner::choose(const PreparedProblem& p, const Request& asked, Binding binding) {
    if (!asked.kernel.empty() || asked.preferred_kernel.empty()) return select_for(device, p, asked, binding);
    Request forced = asked;
    forced.kernel = asked.preferred_kernel;
    Result<Choice> choice = select_for(device, p, forced, binding);
    if (choice) return choice;
    plan.fallback = concat({"VKGEMM_KERNEL was not followed: ", choice.status().text});
    return select_for(device, p, asked, binding);
}

// The plans of the operands that are packed ahead. `n` is the problem of the choice.
void Planner::add_packs(const Normalised& normalised) {
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B})
        if (plan.steps.packed_keys[slot])
            plan.packs[slot] = make_pack_steps(plan.choice, plan.problem.completed, normalised, slot, caps(), request);
}

// What comes packed has one layout for all ranges: the one that suits the first that is planned.
std::optional<Status> Planner::plan_range(const SizeRange& range, Request asked, Binding binding) {
    PreparedProblem& whole = plan.problem;
    asked.packs = !(whole.completed.upTo & VKGEMM_UP_TO_STRIDES);
    const PreparedProblem p = in_range(range, whole);
    auto choice = choose(p, asked, binding);
    if (!choice) {
        Status why = choice.status();
        why.text = concat({"for sizes ", to_text(range), ": ", why.text});
        return why;
    }
    if (const uint64_t key = choice->schedule.a.key) whole.normalised.problem.packedA = key;
    if (const uint64_t key = choice->schedule.b.key) whole.normalised.problem.packedB = key;
    plan.buckets.push_back(make_bucket(range, *choice, whole, p, caps(), asked));
    return lacks_workspace(whole.completed, plan.buckets.back().steps, request);
}

// A choice for each range of sizes, the largest sizes first. The workspace becomes the largest of all.
std::optional<Status> Planner::plan_ranges() {
    const auto binding = choose_binding(caps(), plan.problem.completed, request);
    if (!binding) return binding.status();
    std::vector<SizeRange> ranges = size_ranges(plan.problem.completed, request.operand_alignment);
    std::ranges::reverse(ranges);
    for (const SizeRange& range : ranges)
        if (auto why = plan_range(range, request, *binding)) return why;
    std::ranges::reverse(plan.buckets);
    plan.choice = plan.buckets.back().choice;
    plan.steps = plan.buckets.back().steps;
    add_packs(in_range(plan.buckets.back().range, plan.problem).normalised);
    Requirement& of_all = plan.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)];
    for (const Bucket& b : plan.buckets)
        if (const auto& of_one = b.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)]; of_one.bytes > of_all.bytes)
            of_all = of_one;
    limit_dispatches();
    return std::nullopt;
}

// A choice for each part of the problem. What is reported of the plan is reported of the first part, the largest.
std::optional<Status> Planner::plan_parts() {
    const auto binding = choose_binding(caps(), plan.problem.completed, request);
    if (!binding) return binding.status();
    const std::vector<Normalised> parts = parts_of(plan.problem.normalised, caps(), *binding, request.workspace_limit);
    for (const Normalised& n : parts) {
        plan.problem.normalised = n;
        if (auto why = unfit_levels(plan.problem.completed, n)) return why;
        auto choice = choose(plan.problem, request, *binding);
        if (!choice) return choice.status();
        Steps steps = make_steps(*choice, plan.problem.completed, n, caps(), request);
        if (auto why = lacks_workspace(plan.problem.completed, steps, request)) return why;
        if (&n != parts.data()) {
            add_part(plan.steps, std::move(steps));
            continue;
        }
        plan.choice = *choice;
        plan.steps = std::move(steps);
    }
    plan.problem.normalised = parts[0];
    return std::nullopt;
}

// A pair as two products, or why it cannot be. `gate` and `choice` become those of the first and of the second.
Result<Steps> Planner::as_two_products(Choice& gate, Choice& choice) {
    const Problem& pair = plan.problem.completed;
    if (pair.batchInvariant || pair.packedA != VKGEMM_PACKED_NONE)  // which of both is cheaper depends on m
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({"a pair of two products wants ",
                               pair.batchInvariant ? "batchInvariant 0" : "an A that is not packed"})};
    if (gate_bytes(pair) > request.workspace_limit)
        return Refusal{VKGEMM_ERROR_WORKSPACE,
                       concat({"a pair of two products wants a workspace of at least ", gate_bytes(pair),
                               " bytes; workspaceLimit is ", request.workspace_limit, ": raise it"})};
    Request rest = request;
    rest.workspace_limit -= std::min(round_up(gate_bytes(pair), region_alignment), rest.workspace_limit);
    const auto binding = choose_binding(caps(), pair, request);
    if (!binding) return binding.status();
    const auto steps_of = [&](const Problem& given, const Request& asked, Choice& out,
                              std::string_view which) -> Result<Steps> {
        const auto refused = [&](Status why) {
            why.text = concat({"the ", which, " product of the pair: ", why.text});
            return why;
        };
        const auto p = prepare(given);
        if (!p) return refused(p.status());
        if (p->normalised.repeated.count || parts_of(p->normalised, caps(), *binding).size() > 1)
            return refused(Refusal{VKGEMM_ERROR_UNSUPPORTED, "is computed in parts, which a pair is not"});
        const auto chosen = choose(*p, asked, *binding);
        if (!chosen) return refused(chosen.status());
        out = *chosen;
        return make_steps(out, p->completed, p->normalised, caps(), asked);
    };
    Request of_gate = rest;
    if (!rest.gate_kernel.empty()) {
        of_gate.kernel = rest.gate_kernel;
        of_gate.tile = rest.gate_tile;
    }
    const Products products = products_of(pair);
    const auto first = steps_of(products.gate, of_gate, gate, "first");
    if (!first) return first.status();
    const auto second = steps_of(products.gated, rest, choice, "second");
    if (!second) return second.status();
    Steps out = join_products(pair, *first, *second, caps(), request);
    out.binding = *binding;
    return out;
}

// One dispatch that reads both matrices of B, or two products, whichever costs less.
std::optional<Status> Planner::plan_pair() {
    const bool must_be_two = !request.gate_kernel.empty();
    const std::optional<Status> why = must_be_two ? std::nullopt : plan_parts();
    Choice gate, choice;
    const auto two = as_two_products(gate, choice);
    if (!two) return must_be_two ? two.status() : why;
    if (!must_be_two && !why && cost_of(plan.steps) <= cost_of(*two)) return std::nullopt;
    plan.choice = choice;
    plan.steps = *two;
    plan.gate_kernel = gate.kernel->name;
    plan.gate_tile = to_text(gate.tile);
    return std::nullopt;
}

std::optional<Status> Planner::plan_groups() {
    const PreparedProblem& p = plan.problem;
    if ((has_table(p.completed) || request.count_indices) && !device.lister())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "a table of groups, and counting indices, need the kernel list_tiles, which does not fit this "
                       "device or is disabled"};
    const GroupedSearch search(p, request);
    const auto binding = choose_binding(caps(), search.problem.normalised.problem, search.request);
    if (!binding) return binding.status();
    auto choice = choose(search.problem, search.request, *binding);
    if (!choice) return choice.status();
    auto steps = has_table(p.completed)
                     ? make_grouped_steps(*choice, p.completed, p.normalised, device, search.request)
                     : make_selected_steps(*choice, p.completed, p.normalised, device, search.request);
    if (!steps) return steps.status();
    plan.choice = *choice;
    plan.steps = *steps;
    return std::nullopt;
}

// Cuts passes whose dispatches would take too long. The largest sizes take the time that the caller measured.
void Planner::limit_dispatches() {
    const double whole = cost_of(plan.steps);
    const double unit = request.run_seconds > 0 && whole > 0 ? request.run_seconds / whole : seconds_per_cost;
    const auto limit = [&](Steps& steps) {
        std::span<Step> rest = steps.steps;
        for (const Repeats& part : steps.parts) {
            plan::limit_dispatches(rest.first(part.steps), part.cost * unit, request.dispatch_seconds, caps());
            rest = rest.subspan(part.steps);
        }
    };
    limit(plan.steps);
    for (Bucket& b : plan.buckets) limit(b.steps);
    for (Steps& pack : plan.packs) limit(pack);
}

std::optional<Status> Planner::plan_all() {
    const PreparedProblem& p = plan.problem;
    if (is_empty(p.completed)) {
        plan.steps = make_steps(plan.choice, p.completed, p.normalised, caps(), request);
        return std::nullopt;
    }
    if (!request.gate_kernel.empty() && (!is_pair(p.completed) || p.completed.upTo))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "two kernels, joined by '+', are those of a pair whose sizes do not vary; name one"};
    if (p.completed.grouping != VKGEMM_GROUPING_NONE) return plan_groups();
    if (p.completed.upTo) return plan_ranges();
    if (auto why = is_pair(p.completed) ? plan_pair() : plan_parts()) return why;
    add_packs(p.normalised);
    limit_dispatches();
    return std::nullopt;
}

}  // namespace

Result<Plan> make_plan(const DeviceKernels& device, const Problem& given, const Request& request) {
    auto prepared = prepare(given);
    if (!prepared) return prepared.status();
    Planner planner = {device, request, {}};
    Plan& plan = planner.plan;
    plan.problem = *prepared;
    plan.operand_alignment = request.operand_alignment;
    plan.flops = flops_of(plan.problem.completed);
    if (auto why = planner.plan_all()) return *why;
    plan.cost = cost_of(plan.steps);
    return std::move(plan);
}

Result<Plan> plan_pack(const Plan& product, VkgemmSlot slot) {
    if (slot != VKGEMM_SLOT_A && slot != VKGEMM_SLOT_B)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       concat({"slot is ", int(slot), "; only A (0) and B (1) can be packed"})};
    const char* const name = slot == VKGEMM_SLOT_A ? "A" : "B";
    const Steps& steps = product.packs[slot];
    if (steps.steps.empty())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       concat({"this plan reads ", name, " as the problem describes it; make the plan with packed",
                               name, " = VKGEMM_PACKED_ANY or a key"})};
    Plan out;
    out.is_pack = true;
    out.problem = product.problem;
    out.problem.given.upTo = out.problem.completed.upTo = 0;  // what is packed has one size
    out.steps = steps;
    out.choice.kernel = steps.steps[0].kernel;
    out.choice.tile = steps.steps[0].tile;
    out.choice.binding = steps.binding;
    out.operand_alignment = product.operand_alignment;
    return out;
}

std::optional<Status> unfit_request(const DeviceCaps& caps, const Request& request) {
    const Kernel* const kernel = find_kernel(request.kernel);
    if (!kernel) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, unknown_kernel(request.kernel)};
    const auto binding = choose_binding(caps, request);
    if (!binding) return binding.status();
    if (!kernel->module.is_product()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, kernel->module.family.refuses({})};
    const auto tile = with_constants(kernel->tile, request.tile);
    if (!tile) return tile.status();
    if (auto why = unfit_device(*kernel, *tile, caps); why || request.gate_kernel.empty()) return why;
    Request of_gate = request;
    of_gate.kernel = std::exchange(of_gate.gate_kernel, {});
    of_gate.tile = request.gate_tile;
    return unfit_request(caps, of_gate);
}

}  // namespace vkgemm::plan
