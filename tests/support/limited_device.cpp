// SPDX-License-Identifier: MIT
#include "support/limited_device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "support/device.h"
#include "vk/context.h"

namespace vkgemm::test {
namespace {

// While one thread makes a context, others may compile in theirs.
std::atomic<uint32_t> most_invocations = 0;  // of the context that is being made
std::atomic<PFN_vkGetPhysicalDeviceProperties2> real_properties = nullptr;
std::atomic<PFN_vkGetDeviceProcAddr> real_device_functions = nullptr;
std::atomic<PFN_vkSetDebugUtilsObjectNameEXT> real_name = nullptr;
std::set<std::string, std::less<>> names;
std::mutex names_mutex;
std::map<std::pair<uint32_t, uint32_t>, VkgemmContext> made;
std::mutex made_mutex;
Mock the_mock = {};

VKAPI_ATTR void VKAPI_CALL limited_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    real_properties.load()(device, out);
    if (most_invocations == 0) return;
    VkPhysicalDeviceLimits& limits = out->properties.limits;
    limits.maxComputeWorkGroupInvocations = std::min(limits.maxComputeWorkGroupInvocations, most_invocations.load());
    limits.minStorageBufferOffsetAlignment =
        256;  // the largest that Vulkan allows; the rest of an offset goes into the arguments
    out->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

VKAPI_ATTR VkResult VKAPI_CALL keep_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* info) {
    const std::lock_guard lock(names_mutex);
    names.insert(info->pObjectName);
    return real_name.load()(device, info);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_functions(VkDevice device, const char* name) {
    PFN_vkVoidFunction found = real_device_functions.load()(device, name);
    if (found && the_mock.function) found = the_mock.function(name, found);
    if (!found || std::strcmp(name, "vkSetDebugUtilsObjectNameEXT") != 0) return found;
    real_name = reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(keep_name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL limited_functions(VkInstance instance, const char* name) {
    const PFN_vkVoidFunction found = device().getInstanceProcAddr()(instance, name);
    if (found && std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_device_functions = reinterpret_cast<PFN_vkGetDeviceProcAddr>(found);
        return reinterpret_cast<PFN_vkVoidFunction>(device_functions);
    }
    if (!found || std::strncmp(name, "vkGetPhysicalDeviceProperties2", 30) != 0) return found;  // with or without KHR
    real_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(limited_properties);
}

void keep_problem(void*, const char* problem, VkgemmPlan, const VkgemmRun*) { last_recorded() = problem; }

VkgemmContext make(uint32_t invocations, uint32_t reach) {
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = limited_functions;
    info.recorded = keep_problem;
    most_invocations = invocations;
    VkgemmContext out = nullptr;
    VkgemmError error{};
    if (vkgemmCreateContext(&info, &out, &error) == VKGEMM_SUCCESS) {
        if (reach) out->caps.max_span = reach;
        if (reach && invocations) out->caps.max_storage_range = 4 * uint64_t{reach};
        if (the_mock.change) the_mock.change(*out);
        return out;
    }
    std::fprintf(stderr, "no context for %u invocations: %s\n", invocations, error.text);
    std::exit(2);
}

}  // namespace

void mock_contexts(const Mock& mock) { the_mock = mock; }

VkgemmContext limited_context(uint32_t invocations, uint32_t reach) {
    static const bool cleaned = (before_closing([] {
                                     for (const auto& [most, context] : made) vkgemmDestroyContext(context);
                                     made.clear();
                                 }),
                                 true);
    static_cast<void>(cleaned);
    const std::lock_guard lock(made_mutex);
    VkgemmContext& context = made[{invocations, reach}];
    if (!context) context = make(invocations, reach);
    return context;
}

void trim_contexts() {
    const std::lock_guard lock(made_mutex);
    for (const auto& [most, context] : made) vkgemmTrimPipelines(context, nullptr);
    vkgemmTrimPipelines(device().context().handle(), nullptr);
}

std::string& last_recorded() {
    static thread_local std::string text;
    return text;
}

std::optional<bool> limited_plan_made(std::string_view kernel) {
    if (!real_name.load()) return std::nullopt;
    const std::lock_guard lock(names_mutex);
    return names.contains("vkgemm " + std::string(kernel));
}

}  // namespace vkgemm::test
