// SPDX-License-Identifier: MIT
// The device's driver with other functions in the place of some.
#pragma once
#include <string_view>
#include <vector>

#include "api/api.h"

namespace vkgemm::test {

struct Mocked {
    std::string_view name;        // without KHR or EXT
    PFN_vkVoidFunction function;  // null: the driver has none
};
template <class R, class... A>
Mocked mocked(std::string_view name, R(VKAPI_PTR* function)(A...)) {
    return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

template <class>
struct Ignored;
template <class... A>
struct Ignored<void(VKAPI_PTR*)(A...)> {
    static VKAPI_ATTR void VKAPI_CALL call(A...) {}
};

/// `first`, and commands that do nothing: what comes before a dispatch, barriers, and labels.
inline std::vector<Mocked> with_idle_commands(std::vector<Mocked> first) {
    for (const Mocked& idle : {mocked("vkCmdBindPipeline", Ignored<PFN_vkCmdBindPipeline>::call),
                               mocked("vkCmdPushConstants", Ignored<PFN_vkCmdPushConstants>::call),
                               mocked("vkCmdPushDescriptorSet", Ignored<PFN_vkCmdPushDescriptorSetKHR>::call),
                               mocked("vkCmdPipelineBarrier", Ignored<PFN_vkCmdPipelineBarrier>::call),
                               mocked("vkCmdBeginDebugUtilsLabel", Ignored<PFN_vkCmdBeginDebugUtilsLabelEXT>::call),
                               mocked("vkCmdEndDebugUtilsLabel", Ignored<PFN_vkCmdEndDebugUtilsLabelEXT>::call)})
        first.push_back(idle);
    return first;
}

/// `functions` has static storage; of one name the first counts.
template <auto& functions>
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mocked_function(VkDevice d, const char* name) {
    std::string_view plain = name;
    if (plain.ends_with("KHR") || plain.ends_with("EXT")) plain.remove_suffix(3);
    for (const Mocked& x : functions)
        if (x.name == plain) return x.function;
    return reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"))(d, name);
}
template <auto& functions>
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mocked_loader(VkInstance instance, const char* name) {
    if (std::string_view(name) == "vkGetDeviceProcAddr")
        return reinterpret_cast<PFN_vkVoidFunction>(mocked_function<functions>);
    return device().getInstanceProcAddr()(instance, name);
}
template <auto& functions>
VkgemmContextInfo mocked_context_info() {
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = mocked_loader<functions>;
    return info;
}

}  // namespace vkgemm::test
