// SPDX-License-Identifier: MIT
#include "plan/device/needs.h"

#include <bit>

namespace vkgemm::plan {
namespace {

// What the runtime itself can put to use, whatever the kernel.
constexpr FeatureSet runtime_features = need::push_descriptor | need::buffer_address | need::pipeline_robustness;

// The fewest features with which this problem finds a kernel, and all that its kernels use; or the reasons why none
// does.
Result<Needs> needs_of_one(const DeviceCaps& dev, const Problem& completed, const Request& request) {
    Needs out;
    if (is_empty(completed)) return out;
    const Problem p = normalise(completed).problem;
    bool found = false;
    for (const Candidate& x : list_candidates(dev, p, request)) {
        if (x.why) continue;
        const FeatureSet needs = x.kernel->needs;
        if (!found || std::popcount(needs) < std::popcount(out.required)) out.required = needs;
        out.optional |= needs;
        found = true;
    }
    if (!found) return select(dev, p, request).status();
    return out;
}

// As buffers; where those cannot reach so far, as addresses.
Result<Needs> needs_either_way(const DeviceCaps& dev, const Problem& completed, const Request& request) {
    Result<Needs> one = needs_of_one(dev, completed, request);
    if (one || request.addresses || !(dev.features & need::buffer_address)) return one;
    Request by_address = request;
    by_address.addresses = true;
    Result<Needs> other = needs_of_one(dev, completed, by_address);
    if (!other) return one;
    other->required |= need::buffer_address;
    return other;
}

}  // namespace

Status about_problem(size_t index, Status why) {
    why.text = "problems[" + std::to_string(index) + "]: " + why.text;
    return why;
}

Result<Needs> needs_of(const DeviceCaps& dev, std::span<const Problem> problems, bool addresses) {
    Request request;
    request.addresses = addresses;
    const Result<Binding> binding = choose_binding(dev, request);
    if (!binding) return binding.status();
    Needs out;
    out.required = *binding == Binding::descriptors ? need::push_descriptor : need::buffer_address;
    out.optional = runtime_features & dev.features;
    for (size_t i = 0; i < problems.size(); ++i) {
        const Result<Needs> one = needs_either_way(dev, problems[i], request);
        if (!one) return about_problem(i, one.status());
        out.required |= one->required;
        out.optional |= one->optional;
    }
    if (problems.empty())
        for (const Kernel& k : kernels())
            if (!unfit_device(k, k.tile, dev)) out.optional |= k.needs;
    out.optional &= ~out.required;
    return out;
}

}  // namespace vkgemm::plan
