// SPDX-License-Identifier: MIT
#include "vk/device.h"

#include <algorithm>
#include <optional>

#include "plan/base/concat.h"
#include "plan/device/verified_drivers.h"
#include "vk/features.h"

namespace vkgemm::vk {
namespace {

using plan::DeviceCaps;
using plan::Type;

std::optional<Type> type_of(VkComponentTypeKHR t) {
    switch (t) {
        case VK_COMPONENT_TYPE_FLOAT16_KHR:
            return f16;
        case VK_COMPONENT_TYPE_FLOAT32_KHR:
            return f32;
        case VK_COMPONENT_TYPE_FLOAT64_KHR:
            return f64;
        case VK_COMPONENT_TYPE_BFLOAT16_KHR:
            return bf16;
        case VK_COMPONENT_TYPE_SINT8_KHR:
            return i8;
        case VK_COMPONENT_TYPE_UINT8_KHR:
            return u8;
        case VK_COMPONENT_TYPE_SINT32_KHR:
            return i32;
        default:
            return std::nullopt;
    }
}

std::optional<Status> read_matrix_shapes(const InstanceFunctions& f, VkPhysicalDevice device, DeviceCaps& out) {
    constexpr const char* call = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    const auto query = f.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
    uint32_t count = 0;
    if (!(out.features & plan::need::coopmat) || !query) return std::nullopt;
    if (const VkResult r = query(device, &count, nullptr); r < VK_SUCCESS) return vulkan_refusal(r, call);
    VkCooperativeMatrixPropertiesKHR empty = {};
    empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    std::vector<VkCooperativeMatrixPropertiesKHR> rows(count, empty);
    if (const VkResult r = query(device, &count, rows.data()); r < VK_SUCCESS) return vulkan_refusal(r, call);
    rows.resize(std::min<size_t>(count, rows.size()));
    for (const VkCooperativeMatrixPropertiesKHR& r : rows) {
        const auto a = type_of(r.AType), b = type_of(r.BType), c = type_of(r.CType), result = type_of(r.ResultType);
        if (r.scope != VK_SCOPE_SUBGROUP_KHR || r.saturatingAccumulation || !a || !b || !c || !result) continue;
        out.matrix_shapes.push_back(
            {.a = *a, .b = *b, .accumulate = *c, .result = *result, .m = r.MSize, .n = r.NSize, .k = r.KSize});
    }
    return std::nullopt;
}

// Property structs that only some devices understand, chained where they do.
struct Properties {
    VkPhysicalDeviceProperties2 base = {};
    VkPhysicalDeviceSubgroupProperties subgroup = {};
    VkPhysicalDeviceSubgroupSizeControlProperties size_control = {};
    VkPhysicalDeviceDriverProperties driver = {};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm_nv = {};
    VkPhysicalDeviceShaderCoreProperties2AMD cores_amd = {};
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM cores_arm = {};

    template <class T>
    void chain(T& s, VkStructureType type) {
        s.sType = type;
        s.pNext = base.pNext;
        base.pNext = &s;
    }
};

std::optional<Status> query(const InstanceFunctions& f, VkPhysicalDevice device, uint32_t api_version, Properties& p) {
    const auto extensions = device_extensions(f, device);
    if (!extensions) return extensions.status();
    const auto has = [&](const char* e) {
        return std::find(extensions->begin(), extensions->end(), e) != extensions->end();
    };
    const uint32_t minor = VK_API_VERSION_MINOR(api_version);
    p.base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    p.chain(p.subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    if (minor >= 3 || has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
        p.chain(p.size_control, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    if (minor >= 2 || has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))
        p.chain(p.driver, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    if (has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
        p.chain(p.sm_nv, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
    if (has(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME))
        p.chain(p.cores_amd, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD);
    if (has(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME))
        p.chain(p.cores_arm, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM);
    f.GetPhysicalDeviceProperties2(device, &p.base);
    return std::nullopt;
}

plan::DeviceKind kind_of(VkPhysicalDeviceType t) {
    return t <= VK_PHYSICAL_DEVICE_TYPE_CPU ? static_cast<plan::DeviceKind>(t) : plan::DeviceKind::other;
}

std::string version_text(uint32_t v) { return plan::concat({VK_API_VERSION_MAJOR(v), ".", VK_API_VERSION_MINOR(v)}); }

}  // namespace

plan::Result<uint32_t> usable_version(const InstanceFunctions& f, VkPhysicalDevice device, uint32_t asked) {
    using plan::Refusal;
    if (asked < VK_API_VERSION_1_1)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       plan::concat({"apiVersion is ", version_text(asked), "; vkgemm needs Vulkan 1.1 or above"})};
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    f.GetPhysicalDeviceProperties2(device, &properties);
    const uint32_t offered = properties.properties.apiVersion;
    if (offered < VK_API_VERSION_1_1)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, plan::concat({properties.properties.deviceName, " offers Vulkan ",
                                                               version_text(offered), "; vkgemm needs 1.1 or above"})};
    return std::min(asked, offered);
}

plan::Result<DeviceCaps> read_device_caps(const InstanceFunctions& f, VkPhysicalDevice device, uint32_t api_version,
                                          plan::FeatureSet features) {
    Properties p;
    if (auto why = query(f, device, api_version, p)) return *why;
    const VkPhysicalDeviceProperties& base = p.base.properties;
    const VkPhysicalDeviceLimits& limits = base.limits;
    DeviceCaps out;
    out.name = base.deviceName;
    out.driver =
        std::string(p.driver.driverName) + (*p.driver.driverInfo ? plan::concat({" ", p.driver.driverInfo}) : "");
    out.vendor = base.vendorID;
    out.device = base.deviceID;
    out.driver_version = base.driverVersion;
    out.api_version = api_version;
    out.kind = kind_of(base.deviceType);
    out.features = features;
    out.shared_bytes = limits.maxComputeSharedMemorySize;
    out.max_invocations = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
    out.max_groups_x = limits.maxComputeWorkGroupCount[0];
    out.max_groups_y = limits.maxComputeWorkGroupCount[1];
    out.max_push_constant_bytes = limits.maxPushConstantsSize;
    out.max_storage_buffers = std::min({limits.maxPerStageDescriptorStorageBuffers,
                                        limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
    out.max_storage_range = limits.maxStorageBufferRange;
    out.offset_alignment = static_cast<uint32_t>(limits.minStorageBufferOffsetAlignment);
    out.subgroup_size = p.subgroup.subgroupSize;
    out.subgroup_min = p.size_control.minSubgroupSize ? p.size_control.minSubgroupSize : p.subgroup.subgroupSize;
    out.subgroup_max = p.size_control.maxSubgroupSize ? p.size_control.maxSubgroupSize : p.subgroup.subgroupSize;
    if (p.size_control.maxSubgroupSize) {
        out.subgroup_required = (p.size_control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
        out.max_subgroups = p.size_control.maxComputeWorkgroupSubgroups;
    }
    out.compute_units =
        std::max({p.sm_nv.shaderSMCount, p.cores_amd.activeComputeUnitCount, p.cores_arm.shaderCoreCount});
    if (VKGEMM_HAS_NATIVE)
        out.native_use = uint32_t(plan::is_verified(out) ? plan::NativeUse::verified : plan::NativeUse::unverified);
    if (auto why = read_matrix_shapes(f, device, out)) return *why;
    return out;
}

}  // namespace vkgemm::vk
