// SPDX-License-Identifier: MIT
#include "support/null_device.h"

#include <cstring>
#include <string_view>
#include <thread>

namespace vkgemm::test {
namespace {

std::atomic<uintptr_t> last_handle = 0x1000;

template <class Handle>
Handle new_handle() {
    ++NullDevice::objects;
    return reinterpret_cast<Handle>(last_handle += 16);
}

template <class Info, class Handle>
VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice, const Info*, const VkAllocationCallbacks*, Handle* out) {
    *out = new_handle<Handle>();
    return VK_SUCCESS;
}
template <class Handle>
VKAPI_ATTR void VKAPI_CALL destroy(VkDevice, Handle handle, const VkAllocationCallbacks*) {
    if (handle) --NullDevice::objects;
}
VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice, VkPipelineCache, uint32_t count,
                                                const VkComputePipelineCreateInfo*, const VkAllocationCallbacks*,
                                                VkPipeline* out) {
    for (uint32_t i = 0; i < count; ++i) out[i] = new_handle<VkPipeline>();
    NullDevice::compiled += count;
    std::this_thread::yield();  // others come to wait for it
    return VK_SUCCESS;
}

template <class... A>
VKAPI_ATTR void VKAPI_CALL command(A...) {
    ++NullDevice::commands;
}
template <class Function>
struct Command;
template <class... A>
struct Command<void(VKAPI_PTR*)(A...)> {
    static constexpr auto function = command<A...>;
};

VKAPI_ATTR VkDeviceAddress VKAPI_CALL buffer_address(VkDevice, const VkBufferDeviceAddressInfo*) { return 1 << 30; }

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice, VkPhysicalDeviceProperties2* out) {
    VkPhysicalDeviceProperties& p = out->properties;
    p.apiVersion = VK_API_VERSION_1_3;
    p.vendorID = 0x1234;
    p.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    std::strcpy(p.deviceName, "no-op");
    p.limits.maxComputeSharedMemorySize = 49152;
    p.limits.maxComputeWorkGroupInvocations = 1024;
    for (uint32_t& size : p.limits.maxComputeWorkGroupSize) size = 1024;
    for (uint32_t& count : p.limits.maxComputeWorkGroupCount) count = 65535;
    p.limits.maxPushConstantsSize = 256;
    p.limits.maxPerStageDescriptorStorageBuffers = p.limits.maxDescriptorSetStorageBuffers = 64;
    p.limits.maxPerStageResources = 64;
    p.limits.maxStorageBufferRange = UINT32_MAX;
    p.limits.minStorageBufferOffsetAlignment = 16;
    for (auto* at = static_cast<VkBaseOutStructure*>(out->pNext); at; at = at->pNext)
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(at)->subgroupSize = 32;
}
VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice, VkPhysicalDeviceFeatures2*) {}
VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice, const char*, uint32_t* count, VkExtensionProperties* out) {
    if (out && *count > 0) {
        out[0] = {};
        std::strcpy(out[0].extensionName, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    }
    *count = 1;
    return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice, const char* name) {
    const std::string_view is = name;
#define OBJECT(Name, Info, Handle)                                                                 \
    if (is == "vkCreate" #Name) return reinterpret_cast<PFN_vkVoidFunction>(create<Info, Handle>); \
    if (is == "vkDestroy" #Name) return reinterpret_cast<PFN_vkVoidFunction>(destroy<Handle>);
    OBJECT(ShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
    OBJECT(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
    OBJECT(PipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
    if (is == "vkCreateComputePipelines") return reinterpret_cast<PFN_vkVoidFunction>(create_pipelines);
    if (is == "vkDestroyPipeline") return reinterpret_cast<PFN_vkVoidFunction>(destroy<VkPipeline>);
    if (is == "vkGetBufferDeviceAddress") return reinterpret_cast<PFN_vkVoidFunction>(buffer_address);
#define COMMAND(Name) \
    if (is == "vk" #Name) return reinterpret_cast<PFN_vkVoidFunction>(Command<PFN_vk##Name>::function);
    COMMAND(CmdBindPipeline)
    COMMAND(CmdPushConstants)
    COMMAND(CmdDispatch)
    COMMAND(CmdDispatchBase)
    COMMAND(CmdDispatchIndirect)
    COMMAND(CmdPipelineBarrier)
    COMMAND(CmdPushDescriptorSetKHR)
    return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance, const char* name) {
    const std::string_view is = name;
    if (is == "vkGetPhysicalDeviceProperties2") return reinterpret_cast<PFN_vkVoidFunction>(properties);
    if (is == "vkGetPhysicalDeviceFeatures2") return reinterpret_cast<PFN_vkVoidFunction>(features);
    if (is == "vkEnumerateDeviceExtensionProperties") return reinterpret_cast<PFN_vkVoidFunction>(extensions);
    if (is == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    return nullptr;
}

}  // namespace

VkCommandBuffer NullDevice::command_buffer() { return reinterpret_cast<VkCommandBuffer>(uintptr_t{0x40}); }
VkBuffer NullDevice::buffer() { return reinterpret_cast<VkBuffer>(uintptr_t{0x50}); }

VkgemmContextInfo NullDevice::context_info() {
    static const char* const names[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
    static VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .pNext = nullptr,
        .bufferDeviceAddress = VK_TRUE,
        .bufferDeviceAddressCaptureReplay = VK_FALSE,
        .bufferDeviceAddressMultiDevice = VK_FALSE};
    static const VkPhysicalDeviceFeatures2 enabled = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &addresses, .features = {}};
    VkgemmContextInfo info{};
    info.structSize = sizeof info;
    info.instance = reinterpret_cast<VkInstance>(uintptr_t{0x10});
    info.physicalDevice = reinterpret_cast<VkPhysicalDevice>(uintptr_t{0x20});
    info.device = reinterpret_cast<VkDevice>(uintptr_t{0x30});
    info.apiVersion = VK_API_VERSION_1_3;
    info.getInstanceProcAddr = instance_function;
    info.enabledFeatures = &enabled;
    info.enabledExtensions = names;
    info.enabledExtensionCount = 1;
    info.queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    return info;
}

}  // namespace vkgemm::test
