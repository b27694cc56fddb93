// SPDX-License-Identifier: MIT
// Physical devices as DeviceInfo.
#include <algorithm>
#include <cstring>

#include "host/state.h"
#include "vkgemm/text.hpp"

namespace vkgemm::host {
namespace detail {
namespace {

/// The driver as people call it: llvmpipe's Vulkan driver is known as lavapipe, but names itself after its rasteriser.
std::string driver_text(const VkPhysicalDeviceDriverProperties& p) {
    std::string text = p.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ? "lavapipe" : p.driverName;
    if (p.driverInfo[0] != '\0') text += std::string(", ") + p.driverInfo;
    return text;
}

Status read_properties(const InstanceState& instance, VkPhysicalDevice device, DeviceInfo& info) {
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceSubgroupProperties subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = &subgroup;
    Result<bool> knows_driver = true;
    if (info.apiVersion < VK_API_VERSION_1_2)
        knows_driver = has_extension(instance, device, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
    if (!knows_driver) return knows_driver.status();
    if (*knows_driver) subgroup.pNext = &driver;
    instance.vk.vkGetPhysicalDeviceProperties2(device, &all);
    if (*knows_driver) info.driver = driver_text(driver);
    info.subgroupSize = subgroup.subgroupSize;
    return {};
}

/// The features that the library could use on the device, or why it cannot use the device.
void read_needs(const InstanceState& instance, VkPhysicalDevice device, DeviceInfo& info) {
    const Result<Needs> needs = queryNeeds({.instance = instance.handle,
                                            .physicalDevice = device,
                                            .apiVersion = usable_version(instance, info.apiVersion),
                                            .getInstanceProcAddr = open_loader()});
    if (!needs) {
        info.unfit = needs.status().text;
        return;
    }
    for (uint32_t bit = 0; bit < 64; ++bit) {
        if (!((needs->requiredFeatures | needs->optionalFeatures) >> bit & 1)) continue;
        if (const char* name = vkgemmFeatureName(bit)) info.uses += (info.uses.empty() ? "" : " ") + std::string(name);
    }
}

}  // namespace

uint32_t usable_version(const InstanceState& instance, uint32_t device_version) {
    return std::min(instance.api_version, device_version) & ~uint32_t{0xfff};  // a patch level promises nothing
}

uint32_t compute_family(const InstanceState& instance, VkPhysicalDevice device, uint32_t* timestamp_bits,
                        VkQueueFlags* flags) {
    uint32_t count = 0;
    instance.vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    instance.vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    uint32_t best = UINT32_MAX;
    int best_rank = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0) continue;
        const int rank =
            1 + 2 * (families[i].timestampValidBits > 0) + !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (rank <= best_rank) continue;
        best = i;
        best_rank = rank;
        *timestamp_bits = families[i].timestampValidBits;
    }
    if (flags && best != UINT32_MAX) *flags = families[best].queueFlags;
    return best;
}

uint32_t transfer_family(const InstanceState& instance, VkPhysicalDevice device, uint32_t& queues) {
    uint32_t count = 0;
    instance.vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    instance.vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    constexpr VkQueueFlags beside = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;  // a video queue copies, too
    for (uint32_t i = 0; i < count; ++i)
        if ((families[i].queueFlags & ~beside) == VK_QUEUE_TRANSFER_BIT && families[i].queueCount > 0) {
            queues = families[i].queueCount;
            return i;
        }
    queues = 0;
    return UINT32_MAX;
}

Result<bool> has_extension(const InstanceState& instance, VkPhysicalDevice device, std::string_view name) {
    const auto list = instance.vk.vkEnumerateDeviceExtensionProperties;
    std::vector<VkExtensionProperties> all;
    uint32_t count = 0;
    VkResult result;
    do {
        result = list(device, nullptr, &count, nullptr);
        all.resize(count);
        if (result == VK_SUCCESS && count > 0) result = list(device, nullptr, &count, all.data());
    } while (result == VK_INCOMPLETE);
    if (result != VK_SUCCESS) return failed(result, "vkEnumerateDeviceExtensionProperties");
    all.resize(count);
    return std::ranges::any_of(all, [&](const VkExtensionProperties& p) { return name == p.extensionName; });
}

Result<std::vector<VkPhysicalDevice>> physical_devices(const InstanceState& instance) {
    std::vector<VkPhysicalDevice> devices;
    uint32_t count = 0;
    VkResult result;
    do {
        result = instance.vk.vkEnumeratePhysicalDevices(instance.handle, &count, nullptr);
        devices.resize(count);
        if (result == VK_SUCCESS && count > 0)
            result = instance.vk.vkEnumeratePhysicalDevices(instance.handle, &count, devices.data());
    } while (result == VK_INCOMPLETE);
    if (result != VK_SUCCESS) return failed(result, "vkEnumeratePhysicalDevices");
    devices.resize(count);
    return devices;
}

DeviceInfo describe(const InstanceState& instance, VkPhysicalDevice device, uint32_t index) {
    VkPhysicalDeviceProperties basic{};
    instance.vk.vkGetPhysicalDeviceProperties(device, &basic);
    DeviceInfo info;
    info.index = index;
    info.name = basic.deviceName;
    info.kind = basic.deviceType;
    info.apiVersion = basic.apiVersion;
    info.vendorId = basic.vendorID;
    info.deviceId = basic.deviceID;
    info.sharedBytes = basic.limits.maxComputeSharedMemorySize;
    info.maxInvocations = basic.limits.maxComputeWorkGroupInvocations;
    VkPhysicalDeviceMemoryProperties memory{};
    instance.vk.vkGetPhysicalDeviceMemoryProperties(device, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            info.memoryBytes = std::max(info.memoryBytes, memory.memoryHeaps[i].size);

    info.driver = "version " + versionText(basic.driverVersion);
    if (usable_version(instance, info.apiVersion) < VK_API_VERSION_1_1) {
        info.unfit = "it offers Vulkan " + versionText(info.apiVersion) + ", and 1.1 is needed";
        return info;
    }
    if (const Status read = read_properties(instance, device, info); !read)
        info.unfit = read.text;
    else if (compute_family(instance, device, &info.timestampBits) == UINT32_MAX)
        info.unfit = "it has no queue family with compute";
    else
        read_needs(instance, device, info);
    return info;
}

}  // namespace detail

Result<std::vector<DeviceInfo>> listDevices() {
    const HoldFloatExceptions held;
    const auto instance = detail::create_instance(Validation::off, {});
    if (!instance) return instance.status();
    const auto devices = detail::physical_devices(**instance);
    if (!devices) return devices.status();
    std::vector<DeviceInfo> all;
    for (VkPhysicalDevice device : *devices)
        all.push_back(detail::describe(**instance, device, static_cast<uint32_t>(all.size())));
    return all;
}

}  // namespace vkgemm::host
