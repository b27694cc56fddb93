// SPDX-License-Identifier: MIT
#include "plan/device/needs.h"

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
Result<Needs> needs_of_sizes(const DeviceKernels& dev, const Problem& p, const Request& request) {
    Needs out;
    bool found = false;
    for (const Candidate& x : list_candidates(dev, p, request)) {
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
    if (!found) return select(dev, p, request).status();
    return out;
}

// The same for all ranges of sizes, if they vary.
Result<Needs> needs_of_one(const DeviceCaps& caps, const Problem& completed, const Request& request) {
    Needs out;
    if (is_empty(completed)) return out;
    const DeviceKernels dev(caps);
    const Normalised n = normalise(completed);
    if (auto why = unfit_levels(completed, n)) return *why;
    if (completed.grouping != VKGEMM_GROUPING_NONE) {
        const GroupedSearch search(n.problem, request);
        return needs_of_sizes(dev, search.expected, search.request);
    }
    if (!completed.upTo) {
        const auto binding = choose_binding(caps, completed, request);
        if (!binding) return binding.status();
        for (const Normalised& part : parts_of(n, caps, *binding)) {
            Result<Needs> some = needs_of_sizes(dev, part.problem, request);
            if (!some) return some;
            out.required |= some->required, out.optional |= some->optional;
        }
        return out;
    }
    for (const SizeRange& range : size_ranges(completed, request.operand_alignment)) {
        const Problem least = at_least(range, n).problem;
        Request with = request;
        with.least = &least;
        Result<Needs> some = needs_of_sizes(dev, at_most(range, n).problem, with);
        if (!some) return some;
        out.required |= some->required, out.optional |= some->optional;
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
Result<Needs> needs_either_way(const DeviceCaps& least, const DeviceCaps& dev, const Problem& completed,
                               const Request& request) {
    Result<Needs> out = needs_of_one(least, completed, request);
    if (!out && !request.addresses && (dev.features & need::buffer_address)) {
        Request by_address = request;
        by_address.addresses = true;
        const Result<Needs> other = needs_of_one(dev, completed, by_address);
        if (!other) return out;
        out = other;
        out->required |= need::buffer_address;
    }
    if (const Result<Needs> all = needs_of_one(dev, completed, request); out && all) out->optional |= all->optional;
    return out;
}

}  // namespace

Status about_problem(size_t index, Status why) {
    why.text = concat({"problems[", index, "]: ", why.text});
    return why;
}

Result<Needs> needs_of(const DeviceCaps& dev, std::span<const Problem> problems, bool addresses) {
    Request request;
    request.addresses = addresses;
    const DeviceCaps least = without_optional_addresses(dev, addresses);
    const Result<Binding> binding = choose_binding(least, request);
    if (!binding) return binding.status();
    Needs out;
    out.required = *binding == Binding::descriptors ? need::push_descriptor : need::buffer_address;
    out.optional = runtime_features & dev.features;
    for (size_t i = 0; i < problems.size(); ++i) {
        const Result<Needs> one = needs_either_way(least, dev, problems[i], request);
        if (!one) return about_problem(i, one.status());
        out.required |= one->required;
        out.optional |= one->optional;
    }
    if (problems.empty())
        for (const Kernel& k : kernels())
            if (fits_device(k, k.tile, dev)) out.optional |= k.needs;
    // With the memory model, atomics of the host's own shaders that reach the whole device need it.
    if ((out.required | out.optional) & need::memory_model) out.optional |= need::memory_model_device & dev.features;
    out.optional &= ~out.required;
    return out;
}

}  // namespace vkgemm::plan
