// SPDX-License-Identifier: MIT
#include "vk/shader_modules.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "spirv/unpack.h"

namespace vkgemm::vk {
namespace {

using plan::Binding;
using plan::Refusal;
using plan::Result;

constexpr size_t header_words = 5;

// Such a device may not have an atomic of device scope in a module, though none that is planned there runs it (the one
// for VKGEMM_SCALARS_LARGEST, whose result is not used).
void remove_atomics(std::vector<uint32_t>& spirv) {
    constexpr uint32_t op_nop = 1u << 16, op_atomic_u_max = 239;
    for (size_t at = header_words; at < spirv.size();) {
        const size_t words = std::max<size_t>(spirv[at] >> 16, 1);
        if ((spirv[at] & 0xffff) == op_atomic_u_max)
            std::fill_n(spirv.begin() + static_cast<std::ptrdiff_t>(at), std::min(words, spirv.size() - at), op_nop);
        at += words;
    }
}

// The size of work groups as a number. SPIR-V 1.6 has it as a specialization constant (LocalSizeId), for which a device
// must have maintenance4 enabled.
void set_local_size(std::vector<uint32_t>& spirv, uint32_t invocations) {
    constexpr uint32_t op_execution_mode = 16, op_execution_mode_id = 331;
    constexpr uint32_t local_size = 17, local_size_id = 38, words = 6;
    for (size_t at = header_words; at + words <= spirv.size(); at += std::max(spirv[at] >> 16, 1u)) {
        if (spirv[at] != (words << 16 | op_execution_mode_id) || spirv[at + 2] != local_size_id) continue;
        spirv[at] = words << 16 | op_execution_mode;
        spirv[at + 2] = local_size;
        spirv[at + 3] = invocations;
        spirv[at + 4] = spirv[at + 5] = 1;
        return;
    }
}

Refusal damaged(std::string_view name) {
    return {VKGEMM_ERROR_UNSUPPORTED,
            plan::concat({"the SPIR-V of ", name, " in this library is damaged; build or install vkgemm again"})};
}

Result<VkShaderModule> create(const Device& device, const std::vector<uint32_t>& code) {
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = code.size() * 4;
    info.pCode = code.data();
    VkShaderModule module = VK_NULL_HANDLE;
    const VkResult r = device.functions.CreateShaderModule(device.handle, &info, device.allocator, &module);
    if (r != VK_SUCCESS) return vulkan_refusal(r, "vkCreateShaderModule");
    return module;
}

}  // namespace

Result<VkShaderModule> make_module(const Device& device, const plan::Module& m, Binding binding, bool is_grouped) {
    const auto variant = is_grouped                        ? spirv::Variant::grouped
                         : binding == Binding::descriptors ? spirv::Variant::descriptors
                                                           : spirv::Variant::addresses;
    auto code = spirv::unpack(m.packed(), variant, plan::Module::packed_base());
    if (!code) return damaged(m.name);
    if (plan::lacks_device_scope(device.features)) remove_atomics(*code);
    return create(device, *code);
}

Result<VkShaderModule> make_module(const Device& device, const plan::ChainModule& m, uint32_t invocations) {
    // The packed file of a chain has its only variant in this place.
    auto code =
        spirv::unpack({m.embedded.words, m.embedded.count}, spirv::Variant::descriptors, plan::Module::packed_base());
    if (!code) return damaged(m.name);
    set_local_size(*code, invocations);
    return create(device, *code);
}

}  // namespace vkgemm::vk
