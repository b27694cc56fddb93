// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/kernel_lookup.h"

namespace vkgemm::tool {
namespace {

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

}  // namespace

std::string types_of(const plan::Kernel& k) {
    const auto name = [](plan::Type t) { return std::string(plan::info(t).name); };
    return name(k.module.a) + "*" + name(k.module.b) + "+" + name(k.module.accumulate) + "->" + name(k.module.d);
}

bool has_types(const plan::Kernel& k, const Resolved& r) {
    return k.module.a == r.a.type && k.module.b == r.b.type && k.module.d == r.d.type &&
           k.module.accumulate == r.accumulate;
}

Result<std::vector<const plan::Kernel*>> find_kernels(const std::string& name, const Case* c,
                                                       std::vector<std::string_view> also) {
    std::vector<const plan::Kernel*> all;
    bool helper = false, family = false;
    for (const plan::Kernel& k : plan::kernels()) {
        also.push_back(k.module.family.name);
        if (k.name != name && k.module.family.name != name) continue;
        helper = !k.module.is_product();
        family = family || k.module.family.name == name;
        if (k.name == name || !c || has_types(k, resolve(c->problem))) all.push_back(&k);
    }
    if (helper) return usage("'" + name + "' only works beside another kernel, not by itself");
    if (!all.empty()) return all;
    return usage(family ? "no kernel of the family '" + name + "' has the types of " + c->text
                        : plan::unknown_kernel(name, also));
}

std::string problem_for(const plan::Kernel& k, uint64_t m, uint64_t n, uint64_t depth) {
    const bool few = k.module.family.name == "gemv";
    if (few && k.tile.BM <= k.tile.BN) m = k.tile.BM;
    if (few && k.tile.BN < k.tile.BM) n = k.tile.BN;
    const VkgemmAccuracy accuracy = k.module.family.accuracy;
    return types_of(k) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(depth) +
           (accuracy == VKGEMM_ACCURACY_DEFAULT ? "" : " accuracy=" + std::string(plan::accuracy_name(accuracy)));
}

uint64_t workspace_for(const plan::Kernel& k) { return k.module.family.packs_fragments ? workspace_limit : 0; }

std::vector<std::string> edge_problems(const plan::Kernel& k) {
    const uint64_t m = k.tile.BM, n = k.tile.BN, depth = k.tile.BK ? k.tile.BK : 16;
    std::vector<std::string> all = {
        problem_for(k, 2 * m, 2 * n, 2 * depth),
        problem_for(k, m + 1, n + 3, 3 * depth + 1) + " beta=1",
        problem_for(k, m + 8, 2 * n, 2 * depth + 16) + " batch=3 layout=tn",
        problem_for(k, m + 5, n + 7, depth + 5) + " layout=nt bias=col act=relu",
        problem_for(k, m + 16, n + 16, depth + 16) + " layout_d=t c=separate beta=1",
    };
    if (m > 1 && n > 1) all.push_back(problem_for(k, m - 1, n - 1, depth - 1) + " layout=tt");
    return all;
}

}  // namespace vkgemm::tool
