// SPDX-License-Identifier: MIT
#include "plan/choice/binding.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/choice/device_kernels.h"

namespace vkgemm::plan {

Result<Binding> choose_binding(const DeviceCaps& dev, const Request& request) {
    const bool addresses = dev.features & need::buffer_address;
    const bool descriptors = (dev.features & need::push_descriptor) && dev.max_storage_buffers >= BIND_COUNT;
    if (request.addresses && !addresses)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       std::string("operands as device addresses need the feature bufferDeviceAddress, which is ") +
                           dev.not_there()};
    if (request.descriptors && !descriptors)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({"VKGEMM_OPERANDS_DESCRIPTORS needs push descriptors (VK_KHR_push_descriptor or Vulkan ",
                               "1.4), which are ", dev.not_there(), ", and ", BIND_COUNT,
                               " storage buffers a stage; the device has ", dev.max_storage_buffers})};
    if (request.descriptors) return Binding::descriptors;
    const bool cpu = dev.kind == DeviceKind::cpu;  // whose drivers test every access through a descriptor
    if (!request.addresses && descriptors && !(cpu && addresses)) return Binding::descriptors;
    if (addresses) return Binding::addresses;
    return Refusal{
        VKGEMM_ERROR_UNSUPPORTED,
        concat({"operands need push descriptors (VK_KHR_push_descriptor or Vulkan 1.4, with ", BIND_COUNT,
                " storage buffers a stage; the device has ", dev.max_storage_buffers,
                ") or the feature bufferDeviceAddress; neither is ", (dev.is_physical ? "offered" : "enabled")})};
}

namespace {

// Whether the device may run a kernel in machine code that has the types of the problem.
bool may_be_native(const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (!VKGEMM_HAS_NATIVE || request.native != Request::Native::allowed || request.descriptors ||
        !(dev.features & need::buffer_address) || p.batchInvariant ||
        why_not_native(dev))  // no native kernel is for batchInvariant
        return false;
    const auto names_native = [](const std::string& name) {
        const Kernel* const forced = find_kernel(name);
        return forced && forced->module.is_native();
    };
    if (!request.kernel.empty()) return names_native(request.kernel) || names_native(request.gate_kernel);
    return std::ranges::any_of(kernels(), [&](const Kernel& k) {
        const Module& m = k.module;
        return m.is_native() && m.is_product() && m.built() && p.accuracy >= m.family.accuracy && m.has_types_of(p);
    });
}

}  // namespace

Result<Binding> choose_binding(const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (request.descriptors && (p.scalars || p.grouping != VKGEMM_GROUPING_NONE))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       std::string(p.scalars ? "scalars in memory" : "groups") +
                           " are reached by address, which VKGEMM_OPERANDS_DESCRIPTORS rules out"};
    if (!p.scalars && may_be_native(dev, p, request)) return Binding::addresses;
    if (!p.scalars) return choose_binding(dev, request);
    if ((p.scalars & VKGEMM_SCALARS_LARGEST) && lacks_device_scope(dev.features))
        return Refusal{
            VKGEMM_ERROR_UNSUPPORTED,
            std::string("the largest |D| is found by atomics, which beside the feature vulkanMemoryModel need "
                        "vulkanMemoryModelDeviceScope, which is ") +
                dev.not_there() + "; leave VKGEMM_SCALARS_LARGEST out, or enable it"};
    if (dev.features & need::buffer_address) return Binding::addresses;
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   std::string("scalars in memory need the feature bufferDeviceAddress, which is ") + dev.not_there()};
}

}  // namespace vkgemm::plan
