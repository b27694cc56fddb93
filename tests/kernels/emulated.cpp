// SPDX-License-Identifier: MIT
#include "kernels/emulated.h"

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "plan/device/device_caps.h"
#include "plan/kernels/kernels.h"
#include "support/files.h"
#include "support/limited_device.h"
#include "vk/context.h"

namespace vkgemm::test {
namespace {

using Words = std::vector<uint32_t>;

std::string name_of_device;
plan::DeviceCaps emulated;           // whose matrix units are played
std::map<Words, Words> stand_ins;    // for the modules of the library
std::set<std::string_view> modules;  // their names
PFN_vkCreateShaderModule real_create = nullptr;

Words words_of(const std::string& path) {  // absolute
    const std::string bytes = file_text(path);
    Words out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), 4 * out.size());
    return out;
}

VKAPI_ATTR VkResult VKAPI_CALL create_stand_in(VkDevice device, const VkShaderModuleCreateInfo* info,
                                               const VkAllocationCallbacks* allocator, VkShaderModule* out) {
    VkShaderModuleCreateInfo changed = *info;
    if (const auto found = stand_ins.find(Words(info->pCode, info->pCode + info->codeSize / 4));
        found != stand_ins.end()) {
        changed.pCode = found->second.data();
        changed.codeSize = 4 * found->second.size();
    }
    return real_create(device, &changed, allocator, out);
}

void find_stand_ins(std::string_view module) {
    for (const char* variant : {"descriptors", "addresses"}) {
        const std::string name = std::string(module) + "_" + variant + ".spv";
        Words stand_in = words_of(VKGEMM_SPIRV_DIR "/emulated_" + name);
        if (stand_in.empty()) return;
        stand_ins.emplace(words_of(VKGEMM_SPIRV_DIR "/" + name), std::move(stand_in));
        modules.insert(module);
    }
}

PFN_vkVoidFunction function(const char* name, PFN_vkVoidFunction real) {
    if (std::strcmp(name, "vkCreateShaderModule") != 0) return real;
    real_create = reinterpret_cast<PFN_vkCreateShaderModule>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(create_stand_in);
}

void change(VkgemmContext_T& context) {
    plan::DeviceCaps& caps = context.caps;
    caps.matrix_shapes = emulated.matrix_shapes;
    caps.features |= emulated.features & (plan::need::matrix_f16 | plan::need::matrix_bf16 | plan::need::matrix_i8);
    caps.subgroup_size = emulated.subgroup_size;
    caps.subgroup_min = emulated.subgroup_min;
    caps.subgroup_max = emulated.subgroup_max;
    caps.subgroup_required = 1;
    caps.max_subgroups = emulated.max_subgroups;
    caps.shared_bytes = emulated.shared_bytes;
    for (const plan::Kernel& k : plan::kernels())
        if (k.module.family.uses_matrix_units && !is_emulated(k))
            caps.disabled.push_back({std::string(k.name), "nothing stands in for its matrix units"});
    context.device.requires_subgroups = false;  // the device's own size plays any
    context.kernels.emplace(caps);
}

}  // namespace

const std::string& emulated_device() { return name_of_device; }

bool is_emulated(const plan::Kernel& kernel) { return modules.contains(kernel.module.name); }

std::string emulate_matrices_of(const std::string& device) {
    const bool others = device == "others", deeper = device == "deeper";
    auto caps =
        plan::parse_device_caps(file_text("devices/" + (others || deeper ? std::string("h200") : device) + ".txt"));
    if (!caps) return caps.status().text;
    emulated = *std::move(caps);
    if (deeper) {  // of the device's own, without stand-ins: its compiler takes these matrices apart
        name_of_device = device;
        for (const plan::Kernel& kernel : plan::kernels())
            if (kernel.module.family.packs_fragments) modules.insert(kernel.module.name);
        mock_contexts({.function = nullptr, .change = [](VkgemmContext_T& context) {
                           context.caps.matrix_shapes = {{plan::f16, plan::f16, plan::f32, plan::f32, 8, 8, 16}};
                           context.kernels.emplace(context.caps);
                       }});
        return "";
    }
    if (others) {
        emulated.subgroup_max = 64;
        emulated.matrix_shapes = {{plan::f16, plan::f16, plan::f32, plan::f32, 16, 8, 16},    // NVIDIA
                                  {plan::f16, plan::f16, plan::f32, plan::f32, 8, 8, 8},      // Apple
                                  {plan::f16, plan::f16, plan::f32, plan::f32, 16, 16, 16}};  // AMD, subgroups of 64
    }
    if (emulated.matrix_shapes.empty()) return device + " has no matrix units";
    std::set<std::string_view> seen;
    for (const plan::Kernel& kernel : plan::kernels())
        if (seen.insert(kernel.module.name).second) find_stand_ins(kernel.module.name);
    if (stand_ins.empty()) return "this build has no stand-ins for matrix units (the target vkgemm_emulated)";
    name_of_device = device;
    mock_contexts({function, change});
    return "";
}

}  // namespace vkgemm::test
