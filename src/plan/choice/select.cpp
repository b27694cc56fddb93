// SPDX-License-Identifier: MIT
#include "plan/choice/select.h"

#include <algorithm>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/choice/from_int8.h"
#include "plan/choice/unfit.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::plan {
namespace {

// The types that modules for mixed types do not decode.
std::string plain_only() {
    std::string out;
    for (const TypeInfo& t : type_info)
        if (!is_decoded(t.type)) out += concat({out.empty() ? "" : ", ", t.name});
    return out;
}

// Nothing serves: the one reason, when one kernel was asked for; else the reasons of the rows that have the types.
Refusal nothing_fits(const Problem& p, const Request& request, const std::vector<Candidate>& candidates) {
    std::string types, reasons;
    VkgemmResult kind = VKGEMM_ERROR_UNSUPPORTED;
    for (const Candidate& x : candidates) {
        if (request.kernel == x.kernel->name) return {x.why->code, concat({x.kernel->name, ": ", x.why->text})};
        if (!x.why) continue;  // would serve, but another kernel was asked for
        if (!x.kernel->module.is_product() || p.accuracy < x.kernel->module.family.accuracy) continue;
        const std::string words = types_of(x.kernel->module);
        if (!x.kernel->module.has_types_of(p)) {
            if (types.find(words) == std::string::npos) types += (types.empty() ? "" : ", ") + words;
        } else if (reasons.find(x.why->text) == std::string::npos) {
            if (reasons.empty()) kind = x.why->code;  // of the first row, which asks for least
            reasons += concat({(reasons.empty() ? "" : "; "), x.kernel->name, ": ", x.why->text});
        }
    }
    for (const Type t : {p.a.type, p.b.type})
        if (is_mixed(p) && !is_decoded(t))
            return {VKGEMM_ERROR_UNSUPPORTED,
                    concat({"no kernel of this library multiplies ", types_text(p), "; ", info(t).name,
                            " is multiplied with its own type only: give A and B the type ", info(t).name,
                            ", or neither of them"})};
    if (reasons.empty()) {
        if (types.find("mixed") != std::string::npos) types += concat({" (mixed: all but ", plain_only(), ")"});
        return {VKGEMM_ERROR_UNSUPPORTED,
                concat({"no kernel of this library multiplies ", types_text(p), "; those there are take ", types})};
    }
    return {kind, concat({"no kernel serves this problem on the device: ", reasons})};
}

// What a kernel is chosen for, and the rule for it.
struct Search {
    const DeviceKernels& device;
    const Problem& p;
    const Request& request;
    Binding binding;
    KernelRule rule = KernelRule(device.caps(), p, request, binding);
};
// The same search with another request, which must outlive it.
Search with_request(const Search& s, const Request& request) {
    return {.device = s.device, .p = s.p, .request = request, .binding = s.binding};
}

// The reason against a kernel, or the best of its schedules.
Candidate judge(const Kernel& k, const Search& s) {
    const Result<Tile> tile = with_constants(k.tile, s.request.tile);
    if (!tile) return {&k, tile.status(), {}};
    if (auto why = s.rule.unfit(k, *tile)) return {&k, std::move(why), {}};
    const Result<Schedule> best =
        best_schedule({k, *tile, KernelCost(k, *tile, s.device.caps())}, s.device, s.p, s.request);
    if (!best) return {&k, best.status(), {}};
    return {&k, std::nullopt, *best};
}

// Takes the kernel, which serves the problem, for the choice if it costs less than `limit`.
bool take_below(double limit, Choice& choice, const TiledKernel& k, const Search& s) {
    const auto schedule = schedule_below(limit, k, s.device, s.p, s.request);
    if (!schedule) return false;
    choice.kernel = &k.kernel;
    choice.tile = k.tile;
    choice.schedule = *schedule;
    return true;
}

TiledKernel with_own_tile(const DeviceKernels::Product& x) { return {*x.kernel, x.kernel->tile, x.cost}; }

bool serves(const DeviceKernels::Product& x, const Search& s) {
    return x.fits && s.rule.serves(*x.kernel, x.kernel->tile);
}

// For a choice among all kernels with their own tiles. They are tried in the order of what they promise: the costs of
// the first ones are the limit, by which the promises of most others rule them out.
void take_cheapest_of(bool with_native, Choice& choice, const Search& s) {
    const auto products = s.device.products(s.p);
    std::vector<std::pair<double, size_t>> promises;
    promises.reserve(products.size());
    for (size_t i = 0; i < products.size(); ++i) {
        const DeviceKernels::Product& x = products[i];
        if (x.fits && (with_native || !x.kernel->module.is_native()) && s.rule.may_serve(x.kernel->module))
            promises.emplace_back(least_cost(with_own_tile(x), s.device, s.p, s.request), i);
    }
    std::ranges::make_heap(promises, std::ranges::greater{});
    double least = INFINITY;
    size_t chosen = products.size();
    while (!promises.empty() && promises.front().first <= least) {
        const size_t i = promises.front().second;
        std::ranges::pop_heap(promises, std::ranges::greater{});
        promises.pop_back();
        // Of those that cost the same, the earlier one in the table is preferred.
        const double limit = i < chosen && chosen < products.size() ? std::nextafter(least, INFINITY) : least;
        if (!serves(products[i], s) || !take_below(limit, choice, with_own_tile(products[i]), s)) continue;
        least = choice.schedule.cost;
        chosen = i;
    }
}

Request without_terms(Request request) {
    request.corrected = false;
    return request;
}

// Machine code without factors of its tiles (tile_terms.h) has costs that compare with those of shaders without terms.
bool has_unfitted_native(const Search& s) {
    return VKGEMM_HAS_NATIVE && std::ranges::any_of(s.device.products(s.p), [&](const DeviceKernels::Product& x) {
               return x.kernel->module.is_native() && !x.cost.terms && serves(x, s);
           });
}

// Whether machine code without factors is taken is decided without shaders' terms, and which shader is, with them.
void take_cheapest_of_all(Choice& choice, const Search& s) {
    if (!s.request.corrected || !has_unfitted_native(s)) return take_cheapest_of(true, choice, s);
    const Request plain = without_terms(s.request);
    take_cheapest_of(true, choice, with_request(s, plain));
    if (!choice.kernel || choice.kernel->module.is_native()) return;
    choice.kernel = nullptr;
    take_cheapest_of(false, choice, s);
}

// How much more than the cheapest kernel this one, which fits the device, costs, predicted: at least 1. 1 if it cannot
// compute the problem.
double cost_ratio(const TiledKernel& k, const Search& s) {
    Choice own, least;
    if (!s.rule.serves(k.kernel, k.tile) || !take_below(INFINITY, own, k, s)) return 1;
    take_cheapest_of_all(least, s);
    return least.kernel ? std::max(1.0, own.schedule.cost / least.schedule.cost) : 1;
}

// Takes the kernel and tile of the nearest tuned row, if they can compute this problem and the row's measurement is
// likely to hold for it. A row corrects an error of the cost model, and this error is about the same for neighbours of
// the row's problem. So if the model predicts that the row's kernel falls behind others here (as with one more round of
// work groups), but not for the row's own problem, the row is not followed.
void follow_tuned(Choice& choice, const Search& s) {
    constexpr double most_behind = 1.05;  // of the ratios of costs
    if (!s.request.kernel.empty() || !s.request.tile.empty() || !s.request.tuned) return;
    const TunedRow* row = s.request.tuned->nearest(s.p, s.request.operand_alignment);  // of p's types and accuracy
    if (!row) return;
    choice.tuned_unfit = row;
    const KernelCost cost(*row->found, row->found_tile, s.device.caps());
    const TiledKernel of_row{*row->found, row->found_tile, cost};
    if (sizes_of(s.p) != sizes_of(row->problem)) {
        Request measured = s.request;
        if (row->is_built_in) measured.native = Request::Native::excluded;
        const double here = cost_ratio(of_row, with_request(s, measured));
        if (here > most_behind) {
            const Search of_its_problem = {
                .device = s.device, .p = row->problem, .request = measured, .binding = s.binding};
            if (here > most_behind * cost_ratio(of_row, of_its_problem)) return;
        }
    }
    if (!s.rule.serves(of_row.kernel, of_row.tile) || !take_below(INFINITY, choice, of_row, s)) return;
    choice.tuned = row;
    choice.tuned_unfit = nullptr;
}

// Takes a native kernel in place of a built-in row's, if it costs less.
void prefer_native(Choice& choice, const Search& s) {
    if (!VKGEMM_HAS_NATIVE || !choice.tuned || !choice.tuned->is_built_in) return;
    Choice plain;
    const KernelCost cost(*choice.kernel, choice.tile, s.device.caps());
    const Request request = has_unfitted_native(s) ? without_terms(s.request) : s.request;
    if (!take_below(INFINITY, plain, {*choice.kernel, choice.tile, cost}, with_request(s, request))) return;
    double least = plain.schedule.cost;
    for (const DeviceKernels::Product& x : s.device.products(s.p))
        if (x.kernel->module.is_native() && serves(x, s) && take_below(least, choice, with_own_tile(x), s)) {
            least = choice.schedule.cost;
            choice.tuned = nullptr;
        }
}

void take_cheapest(Choice& choice, const Search& s) {
    const Request& request = s.request;
    if (request.kernel.empty() && request.tile.empty()) return take_cheapest_of_all(choice, s);
    double limit = INFINITY;
    for (const DeviceKernels::Product& x : s.device.products(s.p)) {
        const Kernel& k = *x.kernel;
        if (!request.kernel.empty() && request.kernel != k.name) continue;
        const Tile tile = *with_constants(k.tile, request.tile);  // select() has read it
        if (request.tile.empty() ? !x.fits : !fits_device(k, tile, s.device.caps())) continue;
        if (!s.rule.serves(k, tile)) continue;
        if (take_below(limit, choice, {k, tile, KernelCost(k, tile, s.device.caps())}, s)) limit = choice.schedule.cost;
    }
}

}  // namespace

std::vector<Candidate> list_candidates(const DeviceKernels& device, const Problem& p, const Request& request) {
    return list_candidates(device, p, request, choose_binding(device.caps(), p, request));
}

std::vector<Candidate> list_candidates(const DeviceKernels& device, const Problem& p, const Request& request,
                                       const Result<Binding>& binding) {
    if (is_from_int8(p))
        return list_candidates(device, multiplied(p, device.caps()), request_for_multiplied(request, p, device.caps()),
                               binding);
    std::vector<Candidate> out;
    out.reserve(kernels().size());
    if (!binding) {
        for (const Kernel& k : kernels()) out.push_back({&k, binding.status(), {}});
        return out;
    }
    const Search search = {.device = device, .p = p, .request = request, .binding = *binding};
    for (const Kernel& k : kernels()) out.push_back(judge(k, search));
    return out;
}

Result<Choice> select(const DeviceKernels& device, const Problem& p, const Request& request) {
    const Result<Binding> binding = choose_binding(device.caps(), p, request);
    return binding ? select(device, p, request, *binding) : binding.status();
}

Result<Choice> select(const DeviceKernels& device, const Problem& p, const Request& request, Binding binding) {
    if (is_from_int8(p)) return select_from_int8(device, p, request, binding);
    if (!request.kernel.empty() && !find_kernel(request.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, unknown_kernel(request.kernel)};
    if (const Result<Tile> named = with_constants(Tile{}, request.tile); !named) return named.status();

    Choice choice;
    choice.binding = binding;
    const Search search = {.device = device, .p = p, .request = request, .binding = binding};
    if (!search.rule.is_too_large()) {
        follow_tuned(choice, search);
        prefer_native(choice, search);
        if (!choice.kernel) take_cheapest(choice, search);
    }
    if (!choice.kernel) return nothing_fits(p, request, list_candidates(device, p, request, binding));
    return choice;
}

Result<Choice> select_for(const DeviceKernels& device, const PreparedProblem& p, const Request& request,
                          Binding binding) {
    const Problem* const least = p.least ? &*p.least : nullptr;
    Request search = request;
    search.least = least;
    if (!p.completed.batchInvariant) return select(device, p.normalised.problem, search, binding);
    const Problem one_row = normalise(invariant_reference(smallest(p), 1)).problem;
    search.tuned = nullptr;
    search.least = &one_row;
    if (!request.kernel.empty()) search.workspace_limit = UINT64_MAX;  // that of `p` counts, and nothing is chosen
    Result<Choice> reference = select(device, normalise(invariant_reference(p.completed)).problem, search, binding);
    if (!reference) return reference;
    search.workspace_limit = request.workspace_limit;
    search.kernel = reference->kernel->name;
    search.least = least;
    return select(device, p.normalised.problem, search, binding);
}

std::string why_not_followed(const TunedRow& row, const DeviceKernels& device, const Problem& p,
                             const Request& request) {
    Request of_row = request;
    of_row.tile = row.tile;
    const auto binding = choose_binding(device.caps(), p, request);
    if (!binding) return binding.status().text;
    const Candidate x = judge(*row.found, {device, p, of_row, *binding});
    return concat({"the tuned row is not followed, ", row.text, ": ",
                   (x.why ? x.why->text
                          : "its kernel is predicted to fall behind others between the sizes of the row and these")});
}

}  // namespace vkgemm::plan
