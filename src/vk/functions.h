// SPDX-License-Identifier: MIT
// The Vulkan functions that vkgemm calls: a private table, filled through the caller's vkGetInstanceProcAddr. One row
// a function.
#pragma once
#include <vulkan/vulkan_core.h>

#include "plan/base/result.h"

namespace vkgemm::vk {

// X(name, alternative): the alternative is asked for where the core name is not found; "" for none.
#define VKGEMM_INSTANCE_FUNCTIONS(X)       \
    X(GetPhysicalDeviceProperties2, "KHR") \
    X(GetPhysicalDeviceFeatures2, "KHR")   \
    X(EnumerateDeviceExtensionProperties, "")

#define VKGEMM_DEVICE_FUNCTIONS(X)    \
    X(CreateShaderModule, "")         \
    X(DestroyShaderModule, "")        \
    X(CreateDescriptorSetLayout, "")  \
    X(DestroyDescriptorSetLayout, "") \
    X(CreatePipelineLayout, "")       \
    X(DestroyPipelineLayout, "")      \
    X(CreateComputePipelines, "")     \
    X(DestroyPipeline, "")            \
    X(CmdBindPipeline, "")            \
    X(CmdPushConstants, "")           \
    X(CmdDispatch, "")                \
    X(CmdDispatchIndirect, "")        \
    X(CmdPipelineBarrier, "")

// These may be null; what needs them asks first.
#define VKGEMM_OPTIONAL_INSTANCE_FUNCTIONS(X) X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR, "")
#define VKGEMM_OPTIONAL_DEVICE_FUNCTIONS(X) \
    X(CmdPushDescriptorSet, "KHR")          \
    X(GetBufferDeviceAddress, "KHR")        \
    X(CmdDispatchBase, "KHR")               \
    X(CreateCuModuleNVX, "")                \
    X(DestroyCuModuleNVX, "")               \
    X(CreateCuFunctionNVX, "")              \
    X(DestroyCuFunctionNVX, "")             \
    X(CmdCuLaunchKernelNVX, "")             \
    X(SetDebugUtilsObjectNameEXT, "")       \
    X(CmdBeginDebugUtilsLabelEXT, "")       \
    X(CmdEndDebugUtilsLabelEXT, "")

struct InstanceFunctions {
#define X(name, alternative) PFN_vk##name name = nullptr;
    VKGEMM_INSTANCE_FUNCTIONS(X)
    VKGEMM_OPTIONAL_INSTANCE_FUNCTIONS(X)
#undef X
    PFN_vkGetDeviceProcAddr GetDeviceProcAddr = nullptr;
};

struct DeviceFunctions {
#define X(name, alternative) PFN_vk##name name = nullptr;
    VKGEMM_DEVICE_FUNCTIONS(X)
    VKGEMM_OPTIONAL_DEVICE_FUNCTIONS(X)
#undef X
};

plan::Result<InstanceFunctions> load_instance_functions(PFN_vkGetInstanceProcAddr, VkInstance);
plan::Result<DeviceFunctions> load_device_functions(const InstanceFunctions&, VkDevice);

/// A failed Vulkan call in the library's words.
plan::Refusal vulkan_refusal(VkResult, std::string_view call);

}  // namespace vkgemm::vk
