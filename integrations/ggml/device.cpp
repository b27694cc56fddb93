// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/device.h"

#include <string_view>

namespace vkgemm::ggml {

bool has_native(VkgemmContext context, VkgemmType type, uint64_t workspace_limit) {
    VkgemmProblem problem{};
    problem.structSize = sizeof problem;
    problem.m = 512;
    problem.n = 4096;
    problem.k = 14336;
    problem.batch = 1;
    problem.a.type = problem.b.type = type;
    problem.d.type = VKGEMM_TYPE_F32;
    problem.b.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.flags = VKGEMM_PLAN_DEFER_COMPILE;  // unlike a dry plan it loads machine code
    options.workspaceLimit = workspace_limit;
    VkgemmPlan plan = nullptr;
    if (vkgemmCreatePlan(context, &problem, &options, &plan, nullptr) < 0) return false;
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    vkgemmGetPlanInfo(plan, &info);
    bool is_native = false;
    for (uint32_t i = 0; i < vkgemmKernelCount(); ++i) {
        VkgemmKernelInfo kernel{};
        kernel.structSize = sizeof kernel;
        VkgemmKernelTraits traits{};
        traits.structSize = sizeof traits;
        if (vkgemmGetKernel(i, &kernel) < 0 || std::string_view(kernel.name) != info.kernel) continue;
        if (vkgemmGetKernelTraits(i, nullptr, &traits, nullptr) >= 0) is_native = traits.native != 0;
    }
    vkgemmDestroyPlan(plan);
    return is_native;
}

bool has_addresses(const VkPhysicalDeviceFeatures2* enabled) {
    for (const auto* x = reinterpret_cast<const VkBaseInStructure*>(enabled); x; x = x->pNext) {
        if (x->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            return reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(x)->bufferDeviceAddress;
        if (x->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            return reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(x)->bufferDeviceAddress;
    }
    return false;
}

std::string device_of(const VkgemmContextInfo& info, Rounds rounds) {
    VkPhysicalDeviceProperties x{};
    const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        info.getInstanceProcAddr(info.instance, "vkGetPhysicalDeviceProperties"));
    get(info.physicalDevice, &x);
    return std::string(x.deviceName) + ", driver " + std::to_string(x.driverVersion) + ", vkgemm " +
           std::to_string(vkgemmVersion()) + ", rounds " + std::to_string(uint32_t(rounds));
}

}  // namespace vkgemm::ggml
