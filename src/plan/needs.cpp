// SPDX-License-Identifier: MIT
#include "plan/needs.h"

#include <bit>

#include "plan/base/concat.h"
#include "plan/steps/buckets.h"
#include "plan/steps/grouped.h"
#include "plan/steps/parts.h"

namespace vkgemm::plan {
namespace {

// What the runtime itself can put to use, whatever the kernel.
constexpr FeatureSet runtime_features = need::push_descriptor | need::buffer_address | need::pipeline_robustness;

// The fewest features with which this problem finds a kernel, and all that its kernels use; or the reasons why none
// does.
Result<Needs> needs_of_sizes(const DeviceKernels& dev, const PreparedProblem& prepared, Request request,
                             Binding binding) {
    const Problem& p = prepared.normalised.problem;
    request.least = prepared.least ? &*prepared.least : nullptr;
    Needs out;
    bool found = false;
    for (const Candidate& x : list_candidates(dev, p, request, binding)) {
        if (x.why) continue;
        const FeatureSet needs = x.kernel->needs;
        if (x.kernel->module.is_native()) {  // never required, for another kernel computes the same
            out.optional |= needs;
            continue;
        }
        if (!found || std::popcount(needs) < std::popcount(out.required)) out.required = needs;
        out.optional |= needs;
        found = true;
    }
    if (!found) return select(dev, p, request, binding).status();
    return out;
}

// The problems for which a plan chooses kernels: ranges of sizes, parts of a problem that is too large, or itself.
std::vector<PreparedProblem> choices_of(const PreparedProblem& p, const DeviceCaps& caps, const Request& request,
                                        Binding binding) {
    std::vector<PreparedProblem> out;
    if (p.completed.upTo) {
        for (const SizeRange& range : size_ranges(p.completed, request.operand_alignment))
            out.push_back(in_range(range, p));
        return out;
    }
    for (const Normalised& part : parts_of(p.normalised, caps, binding)) {
        out.push_back(p);
        out.back().normalised = part;
    }
    return out;
}

// The same for all that a plan chooses.
Result<Needs> needs_of_one(const DeviceCaps& caps, const PreparedProblem& p, const Request& request) {
    Needs out;
    if (is_empty(p.completed)) return out;
    const DeviceKernels dev(caps);
    if (p.completed.grouping != VKGEMM_GROUPING_NONE) {
        const GroupedSearch search(p, request);
        const auto binding = choose_binding(caps, p.completed, search.request);
        return binding ? needs_of_sizes(dev, search.problem, search.request, *binding) : binding.status();
    }
    const auto binding = choose_binding(caps, p.completed, request);
    if (!binding) return binding.status();
    for (const PreparedProblem& choice : choices_of(p, caps, request, *binding)) {
        const Result<Needs> some = needs_of_sizes(dev, choice, request, *binding);
        if (!some) return some.status();
        out.required |= some->required;
        out.optional |= some->optional;
    }
    return out;
}

// Without what only makes it faster: a device that has push descriptors needs no addresses, though a CPU is faster with
// them.
DeviceCaps without_optional_addresses(const DeviceCaps& dev, bool addresses) {
    DeviceCaps out = dev;
    out.features &= ~need::buffer_address;
    return !addresses && choose_binding(out, {}) ? out : dev;
}

// What one problem requires of `least`, or, if buffers cannot reach so far, as addresses of `dev`; and all that its
// kernels use on `dev`.
Result<Needs> needs_either_way(const DeviceCaps& least, const DeviceCaps& dev, const PreparedProblem& p,
                               const Request& request) {
    Result<Needs> out = needs_of_one(least, p, request);
    if (!out && !request.addresses && !request.descriptors && (dev.features & need::buffer_address)) {
        Request by_address = request;
        by_address.addresses = true;
        const Result<Needs> other = needs_of_one(dev, p, by_address);
        if (!other) return out;
        out = other;
        out->required |= need::buffer_address;
    }
    if (const Result<Needs> all = needs_of_one(dev, p, request); out && all) out->optional |= all->optional;
    return out;
}

}  // namespace

Status about_problem(size_t index, Status why) {
    why.text = concat({"problems[", index, "]: ", why.text});
    return why;
}

Result<Needs> needs_of(const DeviceCaps& dev, std::span<const Problem> problems, bool addresses, bool descriptors) {
    Request request;
    request.addresses = addresses;
    request.descriptors = descriptors;
    const DeviceCaps least = without_optional_addresses(dev, addresses);
    const Result<Binding> binding = choose_binding(least, request);
    if (!binding) return binding.status();
    Needs out;
    out.required = *binding == Binding::descriptors ? need::push_descriptor : need::buffer_address;
    out.optional = runtime_features & dev.features;
    for (size_t i = 0; i < problems.size(); ++i) {
        const Result<PreparedProblem> problem = prepare(problems[i]);
        if (!problem) return about_problem(i, problem.status());
        const Result<Needs> one = needs_either_way(least, dev, *problem, request);
        if (!one) return about_problem(i, one.status());
        out.required |= one->required;
        out.optional |= one->optional;
    }
    if (problems.empty())
        for (const Kernel& k : kernels())
            if (fits_device(k, k.tile, dev)) out.optional |= k.needs;
    // A chain of products on the matrix units is faster with it.
    if (out.optional & need::coopmat) out.optional |= need::coopmat2_conversions & dev.features;
    // With the memory model, atomics of the host's own shaders that reach the whole device need it.
    if ((out.required | out.optional) & need::memory_model) out.optional |= need::memory_model_device & dev.features;
    out.optional &= ~out.required;
    return out;
}

}  // namespace vkgemm::plan
