// SPDX-License-Identifier: MIT
#include "support/native_device.h"

#include <cstring>
#include <map>

#include "support/device.h"

namespace vkgemm::test {
namespace {

NativeMock* mock = nullptr;
std::map<VkCuFunctionNVX, std::string> names;
PFN_vkGetDeviceProcAddr real_device_function = nullptr;
PFN_vkGetPhysicalDeviceProperties2 real_properties = nullptr;
PFN_vkEnumerateDeviceExtensionProperties real_extensions = nullptr;
PFN_vkCmdPipelineBarrier real_barrier = nullptr;

constexpr const char* added[] = {VK_NVX_BINARY_IMPORT_EXTENSION_NAME, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME};

VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                          VkExtensionProperties* out) {
    uint32_t real = out ? *count - uint32_t(std::size(added)) : 0;
    const VkResult result = real_extensions(device, layer, &real, out);
    for (uint32_t i = 0; out && i < std::size(added); ++i) {
        out[real + i] = {};
        std::strcpy(out[real + i].extensionName, added[i]);
    }
    *count = real + uint32_t(std::size(added));
    return result;
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    auto* const chain = static_cast<VkBaseOutStructure*>(out->pNext);
    for (VkBaseOutStructure *at = chain, **link = reinterpret_cast<VkBaseOutStructure**>(&out->pNext); at;
         link = &at->pNext, at = at->pNext)  // which the driver does not know
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV) {
            reinterpret_cast<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV*>(at)->shaderSMCount = mock->multiprocessors;
            *link = at->pNext;
        }
    real_properties(device, out);
    out->properties.vendorID = 0x10de;
    out->properties.driverVersion = mock->driver_version;
    out->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    std::strcpy(out->properties.deviceName, mock->name);
}

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice, const VkCuModuleCreateInfoNVX* info,
                                             const VkAllocationCallbacks*, VkCuModuleNVX* out) {
    ++mock->loads;
    const bool is_elf = info->dataSize > 4 && std::memcmp(info->pData, "\177ELF", 4) == 0;
    if (!is_elf || info->dataSize > mock->most_bytes) return mock->failure;
    ++mock->modules;
    *out = reinterpret_cast<VkCuModuleNVX>(uintptr_t(0x1000 + mock->loads));
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroy_module(VkDevice, VkCuModuleNVX module, const VkAllocationCallbacks*) {
    mock->modules -= module != VK_NULL_HANDLE;
}
VKAPI_ATTR VkResult VKAPI_CALL create_function(VkDevice, const VkCuFunctionCreateInfoNVX* info,
                                               const VkAllocationCallbacks*, VkCuFunctionNVX* out) {
    if (!mock->knows_functions) return mock->failure;
    ++mock->functions;
    *out = reinterpret_cast<VkCuFunctionNVX>(uintptr_t(0x2000 + names.size()));
    names[*out] = info->pName;
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroy_function(VkDevice, VkCuFunctionNVX function, const VkAllocationCallbacks*) {
    mock->functions -= function != VK_NULL_HANDLE;
}
VKAPI_ATTR void VKAPI_CALL launch(VkCommandBuffer, const VkCuLaunchInfoNVX* info) {
    NativeLaunch seen{.function = names[info->function],
                      .groups = info->gridDimX,
                      .invocations = info->blockDimX,
                      .shared_bytes = info->sharedMemBytes,
                      .parameters = uint32_t(info->paramCount),
                      .args = {}};
    std::memcpy(&seen.args, info->pParams[0], sizeof seen.args);
    if (info->gridDimY != 1 || info->gridDimZ != 1 || info->blockDimY != 1 || info->blockDimZ != 1 || info->extraCount)
        seen.function += " with more than one dimension";
    mock->launches.push_back(seen);
    mock->commands.push_back("launch");
}
VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                                   VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier* memory,
                                   uint32_t buffer_count, const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                                   const VkImageMemoryBarrier* images) {
    mock->commands.push_back("barrier");
    real_barrier(commands, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}
VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) {
    mock->commands.push_back("dispatch");
}

template <class Function, class Mock>
PFN_vkVoidFunction instead(Function& real, PFN_vkVoidFunction found, Mock* function) {
    real = reinterpret_cast<Function>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

// Objects that the driver does not have cannot have names.
VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice, const VkDebugUtilsObjectNameInfoEXT*) { return VK_SUCCESS; }

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkCreateCuModuleNVX")) return reinterpret_cast<PFN_vkVoidFunction>(create_module);
    if (is("vkDestroyCuModuleNVX")) return reinterpret_cast<PFN_vkVoidFunction>(destroy_module);
    if (is("vkCreateCuFunctionNVX")) return reinterpret_cast<PFN_vkVoidFunction>(create_function);
    if (is("vkDestroyCuFunctionNVX")) return reinterpret_cast<PFN_vkVoidFunction>(destroy_function);
    if (is("vkCmdCuLaunchKernelNVX")) return reinterpret_cast<PFN_vkVoidFunction>(launch);
    if (is("vkSetDebugUtilsObjectNameEXT")) return reinterpret_cast<PFN_vkVoidFunction>(set_name);
    if (is("vkCmdDispatch")) return reinterpret_cast<PFN_vkVoidFunction>(dispatch);
    const PFN_vkVoidFunction found = real_device_function(device, name);
    if (is("vkCmdPipelineBarrier")) return instead(real_barrier, found, barrier);
    return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    const PFN_vkVoidFunction found = device().getInstanceProcAddr()(instance, name);
    if (is("vkGetDeviceProcAddr")) return instead(real_device_function, found, device_function);
    if (is("vkGetPhysicalDeviceProperties2")) return instead(real_properties, found, properties);
    if (is("vkEnumerateDeviceExtensionProperties")) return instead(real_extensions, found, extensions);
    return found;
}

void keep_log(void* user, VkgemmSeverity, const char* text) {
    static_cast<NativeMock*>(user)->log += text + std::string("\n");
}

}  // namespace

NativeMock::NativeMock() { mock = this; }
NativeMock::~NativeMock() { mock = nullptr; }

VkgemmContextInfo NativeMock::context_info(std::vector<const char*>& extensions, VkQueueFlags flags) {
    const host::Device& d = device();
    extensions.assign(d.enabledExtensions().begin(), d.enabledExtensions().end());
    extensions.push_back(VK_NVX_BINARY_IMPORT_EXTENSION_NAME);
    VkgemmContextInfo info = test::context_info();
    info.getInstanceProcAddr = instance_function;
    info.enabledExtensions = extensions.data();
    info.enabledExtensionCount = uint32_t(extensions.size());
    info.log = keep_log;
    info.logUser = this;
    info.queueFlags = flags;
    return info;
}

}  // namespace vkgemm::test
