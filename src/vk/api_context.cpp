// SPDX-License-Identifier: MIT
// The public functions that make and destroy contexts.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "plan/base/concat.h"
#include "plan/device/disabled_kernels.h"
#include "vk/api_guard.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vkgemm/text.hpp"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

void vk::log(const VkgemmContext_T& context, VkgemmSeverity severity, const std::string& text) {
    if (context.log) context.log(context.log_user, severity, text.c_str());
}

namespace {

std::optional<Status> check_allocator(const VkAllocationCallbacks& a) {
    const auto refused = [](const char* why) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, std::string("VkgemmContextInfo::allocator ") + why};
    };
    if (!a.pfnAllocation) return refused("has no pfnAllocation");
    if (!a.pfnReallocation) return refused("has no pfnReallocation");
    if (!a.pfnFree) return refused("has no pfnFree");
    if (!a.pfnInternalAllocation != !a.pfnInternalFree)
        return refused("has one of pfnInternalAllocation and pfnInternalFree; set both or neither");
    return std::nullopt;
}

std::optional<Status> check_handles(const VkgemmContextInfo& i) {
    const auto null = [](const char* name) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"VkgemmContextInfo::", name, " is null"})};
    };
    if (!i.instance) return null("instance");
    if (!i.physicalDevice) return null("physicalDevice");
    if (!i.device) return null("device");
    if (!i.getInstanceProcAddr) return null("getInstanceProcAddr, which is vkGetInstanceProcAddr of your loader,");
    if (i.enabledExtensionCount && !i.enabledExtensions) return null("enabledExtensions (with a count above 0)");
    if (i.enabledFeatures && i.enabledFeatures->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmContextInfo::enabledFeatures has sType ", i.enabledFeatures->sType,
                                     "; the chain begins with a VkPhysicalDeviceFeatures2"})};
    constexpr uint32_t known = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT | VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED;
    if (i.flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmContextInfo::flags has unknown bits: ", i.flags & ~known})};
    return i.allocator ? check_allocator(*i.allocator) : std::nullopt;
}

// A name that the device does not list cannot have been given to vkCreateDevice, so it is a mistake here.
std::optional<Status> check_extensions(const VkgemmContextInfo& i, const std::vector<std::string>& of_device) {
    for (uint32_t n = 0; n < i.enabledExtensionCount; ++n) {
        const char* const name = i.enabledExtensions[n];
        const std::string where = plan::concat({"VkgemmContextInfo::enabledExtensions[", n, "] is "});
        if (!name) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({where, "null"})};
        if (std::find(of_device.begin(), of_device.end(), name) != of_device.end()) continue;
        const std::string_view near = nearestWord(name, of_device);
        return Refusal{
            VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({where, "'", name, "', which the physical device does not list; ",
                          (near.empty() ? "" : plan::concat({"did you mean '", near, "'? "})),
                          "List what you gave to vkCreateDevice, without extensions that only a layer provides"})};
    }
    return std::nullopt;
}

// Of VKGEMM_KERNEL or VKGEMM_NATIVE, the only ones that vkgemm reads; "" if it is not set, or not to be read.
std::string_view of_environment(const VkgemmContextInfo& info, const char* name) {
    const char* const value = info.flags & VKGEMM_CONTEXT_IGNORE_ENVIRONMENT ? nullptr : std::getenv(name);
    return value ? value : "";
}

// The caller's word, and the user's, who may turn native kernels off, or on where the caller left it to the table.
VkgemmNativeKernels native_kernels(const VkgemmContextInfo& info) {
    const std::string_view word = of_environment(info, "VKGEMM_NATIVE");
    if (word == "0") return VKGEMM_NATIVE_OFF;
    return word == "any" && info.nativeKernels == VKGEMM_NATIVE_VERIFIED ? VKGEMM_NATIVE_ANY_DRIVER
                                                                         : info.nativeKernels;
}

// What decides about kernels in machine code. The device is asked to load an empty one only if nothing else forbids
// them.
void read_native(const VkgemmContextInfo& info, VkgemmContext_T& context) {
    plan::DeviceCaps& caps = context.caps;
    caps.queue_flags = info.queueFlags;
    if (!VKGEMM_HAS_NATIVE) return;
    const VkgemmNativeKernels use = native_kernels(info);
    if (use == VKGEMM_NATIVE_OFF) caps.native_use = uint32_t(plan::NativeUse::off);
    if (use == VKGEMM_NATIVE_ANY_DRIVER) caps.native_use = uint32_t(plan::NativeUse::any_driver);
    caps.native_code = uint32_t(plan::Code::sm_90a);
    caps.native_code = plan::why_not_native(caps) ? 0 : vk::native_code_of(context.device);
}

// `skipped` gets a sentence for each line of the caller's that cannot be read.
Result<plan::TunedRows> tuned_rows(const char* of_caller, const plan::DeviceCaps& caps,
                                   std::vector<std::string>& skipped) {
    auto rows = plan::parse_tuned(of_caller ? of_caller : "", nullptr, &skipped);
    if (!rows) return rows.status();
    auto built_in = plan::parse_tuned(plan::built_in_tuned(), &caps);  // no other device's
    if (!built_in) return built_in.status();
    for (plan::TunedRow& row : *built_in) row.is_built_in = true;
    rows->insert(rows->end(), std::make_move_iterator(built_in->begin()), std::make_move_iterator(built_in->end()));
    return plan::TunedRows(plan::tuned_for(caps, std::move(*rows)));
}

// Logs what matters of a new context. `skipped` are lines of the caller's files that cannot be read.
void log_context(const VkgemmContext_T& context, const std::vector<plan::DisabledKernelRow>& disabled,
                 const std::vector<std::string>& skipped) {
    for (const std::string& text : skipped) vk::log(context, VKGEMM_SEVERITY_WARNING, text);
    if (!context.forced_kernel.empty() && !plan::find_kernel(context.forced_kernel))
        vk::log(context, VKGEMM_SEVERITY_WARNING,
                plan::concat({"VKGEMM_KERNEL: ", plan::unknown_kernel(context.forced_kernel)}));
    for (const std::string& text : plan::skipped_in_short(context.tuned.rows()))
        vk::log(context, VKGEMM_SEVERITY_INFO, text);
    for (const plan::DisabledKernelRow& row : disabled)
        if (!plan::find_kernel(row.kernel))
            vk::log(context, VKGEMM_SEVERITY_INFO,
                    plan::concat({"a self-test result is not followed: ", plan::unknown_kernel(row.kernel)}));
}

plan::FeatureSet uncounted_features(const VkgemmContextInfo& info, const plan::DeviceCaps& caps) {
    return vk::uncounted_features(info.enabledFeatures, {info.enabledExtensions, info.enabledExtensionCount},
                                  caps.api_version);
}

std::string uncounted_text(plan::FeatureSet features, const plan::DeviceCaps& caps) {
    return plan::concat({"enabledFeatures sets features that do not count at Vulkan 1.",
                         VK_API_VERSION_MINOR(caps.api_version), " without their extensions: ",
                         vk::needs_text(features), "; state the apiVersion and the enabledExtensions that you use"});
}

// Fills in what depends on the device; or why this device, with what was enabled on it, cannot be used.
std::optional<Status> read_device(const VkgemmContextInfo& info, VkgemmContext_T& context) {
    auto instance = vk::load_instance_functions(info.getInstanceProcAddr, info.instance);
    if (!instance) return instance.status();
    auto functions = vk::load_device_functions(*instance, info.device);
    if (!functions) return functions.status();
    const auto version = vk::usable_version(*instance, info.physicalDevice, info.apiVersion);
    if (!version) return version.status();
    const auto extensions = vk::device_extensions(*instance, info.physicalDevice);
    if (!extensions) return extensions.status();
    if (auto why = check_extensions(info, *extensions)) return why;

    plan::FeatureSet features =
        vk::enabled_features(info.enabledFeatures, {info.enabledExtensions, info.enabledExtensionCount}, *version);
    if (!functions->CmdPushDescriptorSet) features &= ~plan::need::push_descriptor;
    if (!functions->GetBufferDeviceAddress) features &= ~plan::need::buffer_address;
    auto caps = vk::read_device_caps(*instance, info.physicalDevice, *version, features);
    if (!caps) return caps.status();
    context.caps = *std::move(caps);
    if (context.caps.max_storage_buffers < BIND_COUNT)  // one decision, for choices and layouts alike
        context.caps.features = features & ~plan::need::push_descriptor;
    context.device.handle = info.device;
    context.device.functions = *functions;
    context.device.cache = info.pipelineCache;
    context.device.cache_externally_synchronized =
        info.pipelineCache && (info.flags & VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED);
    context.device.features = context.caps.features;
    context.device.requires_subgroups = context.caps.subgroup_required != 0;
    if (info.allocator) {
        context.allocator = *info.allocator;
        context.device.allocator = &context.allocator;
    }
    read_native(info, context);
    const auto binding = plan::choose_binding(context.caps, {});
    if (binding) return std::nullopt;
    const plan::FeatureSet hidden =
        uncounted_features(info, context.caps) & (plan::need::buffer_address | plan::need::push_descriptor);
    if (!hidden) return binding.status();
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   plan::concat({"operands need push descriptors or the feature bufferDeviceAddress, and ",
                                 uncounted_text(hidden, context.caps)})};
}

Result<std::unique_ptr<VkgemmContext_T>> make_context(const VkgemmContextInfo& info) {
    auto context = std::make_unique<VkgemmContext_T>();
    if (auto why = read_device(info, *context)) return *why;
    context->forced_kernel = of_environment(info, "VKGEMM_KERNEL");
    context->log = info.log;
    context->log_user = info.logUser;
    context->recorded = info.recorded;
    context->recorded_user = info.recordedUser;
    std::vector<std::string> skipped;
    const auto disabled = plan::parse_disabled_kernels(info.disabledKernels ? info.disabledKernels : "", &skipped);
    if (!disabled) return disabled.status();
    plan::mark_disabled(*disabled, context->caps);
    auto tuned = tuned_rows(info.tunedRows, context->caps, skipped);
    if (!tuned) return tuned.status();
    context->tuned = std::move(*tuned);
    context->caps.fitted = plan::fitted_weights(context->tuned.rows());
    context->kernels.emplace(context->caps);
    if (auto why = context->pipelines.init(context->device, context->caps.max_push_constant_bytes)) return *why;
    if (const plan::FeatureSet hidden = uncounted_features(info, context->caps))
        vk::log(*context, VKGEMM_SEVERITY_WARNING, uncounted_text(hidden, context->caps));
    log_context(*context, *disabled, skipped);
    return context;
}

}  // namespace

VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* given, VkgemmContext* context, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null: there is nowhere to put the result"});
        *context = nullptr;
        const auto info = vk::read_struct(given);
        if (!info) return vk::to_result(error, info.status());
        if (auto why = check_handles(*info)) return vk::to_result(error, *why);
        auto made = make_context(*info);
        if (!made) return vk::to_result(error, made.status());
        *context = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyContext(VkgemmContext context) { vk::destroy(context); }
