// SPDX-License-Identifier: MIT
#include "vk/functions.h"

#include "plan/base/concat.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

// The core name first, then the extension's: a driver may have either.
template <class Find>
PFN_vkVoidFunction find(const Find& get, const char* name, const char* alternative) {
    if (PFN_vkVoidFunction f = get(name)) return f;
    return *alternative ? get((std::string(name) + alternative).c_str()) : nullptr;
}

Refusal missing(const char* name, const char* alternative, const char* from) {
    return {VKGEMM_ERROR_MISSING_FUNCTION,
            plan::concat({"the function ", name,
                          (*alternative ? plan::concat({std::string(" (or "), name, alternative, ")"}) : ""),
                          " was not found through ", from})};
}

}  // namespace

Refusal vulkan_refusal(VkResult r, std::string_view call) {
    const bool memory = r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkgemmResult kind = memory                      ? VKGEMM_ERROR_OUT_OF_MEMORY
                              : r == VK_ERROR_DEVICE_LOST ? VKGEMM_ERROR_DEVICE_LOST
                                                          : VKGEMM_ERROR_VULKAN;
    const std::string_view meaning = r == VK_ERROR_OUT_OF_HOST_MEMORY     ? ": out of host memory"
                                     : r == VK_ERROR_OUT_OF_DEVICE_MEMORY ? ": out of device memory"
                                     : r == VK_ERROR_DEVICE_LOST          ? ": the device is lost"
                                                                          : "";
    return {kind, plan::concat({call, " failed with VkResult ", r, meaning}), r};
}

plan::Result<InstanceFunctions> load_instance_functions(PFN_vkGetInstanceProcAddr gipa, VkInstance instance) {
    const auto get = [&](const char* name) { return gipa(instance, name); };
    constexpr const char* from = "the vkGetInstanceProcAddr that was given";
    InstanceFunctions f;
#define X(name, alternative)                                                     \
    f.name = reinterpret_cast<PFN_vk##name>(find(get, "vk" #name, alternative)); \
    if (!f.name) return missing("vk" #name, alternative, from);
    VKGEMM_INSTANCE_FUNCTIONS(X)
    X(GetDeviceProcAddr, "")
#undef X
#define X(name, alternative) f.name = reinterpret_cast<PFN_vk##name>(find(get, "vk" #name, alternative));
    VKGEMM_OPTIONAL_INSTANCE_FUNCTIONS(X)
#undef X
    return f;
}

plan::Result<DeviceFunctions> load_device_functions(const InstanceFunctions& instance, VkDevice device) {
    const auto get = [&](const char* name) { return instance.GetDeviceProcAddr(device, name); };
    DeviceFunctions f;
#define X(name, alternative)                                                     \
    f.name = reinterpret_cast<PFN_vk##name>(find(get, "vk" #name, alternative)); \
    if (!f.name) return missing("vk" #name, alternative, "vkGetDeviceProcAddr");
    VKGEMM_DEVICE_FUNCTIONS(X)
#undef X
#define X(name, alternative) f.name = reinterpret_cast<PFN_vk##name>(find(get, "vk" #name, alternative));
    VKGEMM_OPTIONAL_DEVICE_FUNCTIONS(X)
#undef X
    return f;
}

}  // namespace vkgemm::vk
