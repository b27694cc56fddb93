// SPDX-License-Identifier: MIT
// The keys of a plan's pipelines, which the library that wrote them must read.
#pragma once
#include <string>
#include <string_view>

#include "plan/steps/pipeline_key.h"
#include "vk/context.h"

namespace vkgemm::test {

/// Reads each key of the plan back. "" or what is wrong.
inline std::string unread_keys(VkgemmPlan plan) {
    size_t size = 0;
    if (vkgemmGetPlanKeys(plan, nullptr, &size) != VKGEMM_SUCCESS) return "no keys";
    std::string text(size, '\0');
    if (vkgemmGetPlanKeys(plan, text.data(), &size) != VKGEMM_SUCCESS) return "no keys";
    text.pop_back();
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n')), key = line.substr(line.find(' ') + 1);
        rest.remove_prefix(line.size() + 1);
        const auto read = plan::parse_pipeline_key(key);
        if (!read) return "a key of its own is refused: " + std::string(line) + ": " + read.status().text;
        if (to_text(*read) != key)
            return "a key is read as another one: " + to_text(*read) + ", not " + std::string(key);
        if (const auto why = unfit(*read, plan->context->caps))
            return "a key of its own does not fit: " + std::string(line) + ": " + why->text;
    }
    return "";
}

}  // namespace vkgemm::test
