// SPDX-License-Identifier: MIT
#include "vk/native.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "vk/pipelines.h"

#if VKGEMM_HAS_NATIVE
#    include "plan/native/arguments.h"
#    include "shaders/common/packed_module.h"
#    include "spirv/bytes.h"

namespace vkgemm::native::code {
extern const spirv::PackedModule probe;
}  // namespace vkgemm::native::code

namespace vkgemm::vk {
namespace {

using plan::Refusal;
using plan::Result;

bool is_packer(const plan::Step& s) { return s.kernel->module.role == plan::Role::packer; }

VkResult create_module(const Device& d, std::span<const uint8_t> code, VkCuModuleNVX& out) {
    VkCuModuleCreateInfoNVX info = {};
    info.sType = VK_STRUCTURE_TYPE_CU_MODULE_CREATE_INFO_NVX;
    info.dataSize = code.size();
    info.pData = code.data();
    return d.functions.CreateCuModuleNVX(d.handle, &info, d.allocator, &out);
}

Refusal refused_by_driver(VkResult result, const std::string& call) {
    Refusal out = vulkan_refusal(result, call);
    out.text += "; VKGEMM_PLAN_NO_NATIVE, or VKGEMM_NATIVE=0 in the environment, plans without native kernels";
    return out;
}

bool has_functions(const DeviceFunctions& f) {
    return f.CreateCuModuleNVX && f.CreateCuFunctionNVX && f.DestroyCuModuleNVX && f.DestroyCuFunctionNVX &&
           f.CmdCuLaunchKernelNVX;
}

}  // namespace

NativeModules::~NativeModules() {
    for (auto& [module, entry] : entries_)
        device_->functions.DestroyCuModuleNVX(device_->handle, entry.module, device_->allocator);
}

Result<VkCuModuleNVX> NativeModules::load(const plan::Module& m) {
    const auto code = spirv::unpack_bytes(m.packed());
    if (!code)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, plan::concat({"the machine code of ", m.name,
                                                               " in this library is damaged; build or install vkgemm "
                                                               "again"})};
    VkCuModuleNVX out = VK_NULL_HANDLE;
    const VkResult r = create_module(*device_, *code, out);
    if (r != VK_SUCCESS) return refused_by_driver(r, plan::concat({"vkCreateCuModuleNVX for ", m.name}));
    set_name(*device_, VK_OBJECT_TYPE_CU_MODULE_NVX, out, plan::concat({"vkgemm ", m.name}).c_str());
    return out;
}

Result<VkCuFunctionNVX> NativeModules::get(const plan::Step& step) {
    const plan::Module& m = step.kernel->module;
    const std::string name = plan::entry_point(step);
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[&m];
    if (!entry.module) {
        const Result<VkCuModuleNVX> made = load(m);
        if (!made) {
            entries_.erase(&m);
            return made.status();
        }
        entry.module = *made;
    }
    VkCuFunctionCreateInfoNVX info = {};
    info.sType = VK_STRUCTURE_TYPE_CU_FUNCTION_CREATE_INFO_NVX;
    info.module = entry.module;
    info.pName = name.c_str();
    VkCuFunctionNVX out = VK_NULL_HANDLE;
    const VkResult r = device_->functions.CreateCuFunctionNVX(device_->handle, &info, device_->allocator, &out);
    if (r != VK_SUCCESS) {
        free_unused(m);
        return refused_by_driver(r, plan::concat({"vkCreateCuFunctionNVX for ", name}));
    }
    set_name(*device_, VK_OBJECT_TYPE_CU_FUNCTION_NVX, out, plan::concat({"vkgemm ", name}).c_str());
    ++entry.functions;
    return out;
}

void NativeModules::release(const plan::Module& m, VkCuFunctionNVX function) {
    const std::lock_guard lock(mutex_);
    device_->functions.DestroyCuFunctionNVX(device_->handle, function, device_->allocator);
    --entries_.at(&m).functions;
    free_unused(m);
}

void NativeModules::free_unused(const plan::Module& m) {
    const auto found = entries_.find(&m);
    if (found->second.functions) return;
    device_->functions.DestroyCuModuleNVX(device_->handle, found->second.module, device_->allocator);
    entries_.erase(found);
}

uint32_t native_code_of(const Device& d) {
    if (!has_functions(d.functions) || native::code::probe.count == 0) return 0;
    const auto code = spirv::unpack_bytes({native::code::probe.words, native::code::probe.count});
    VkCuModuleNVX module = VK_NULL_HANDLE;
    if (!code || create_module(d, *code, module) != VK_SUCCESS) return 0;
    d.functions.DestroyCuModuleNVX(d.handle, module, d.allocator);
    return uint32_t(plan::Code::sm_90a);
}

void launch(const DeviceFunctions& f, VkCommandBuffer cmd, const plan::Step& step, VkCuFunctionNVX function,
            const abi::GemmArgs& args, uint32_t multiprocessors) {
    const native::NativeArgs parameter = plan::native_arguments(step, args);
    const void* const parameters[] = {&parameter};
    const plan::Module& m = step.kernel->module;
    VkCuLaunchInfoNVX info = {};
    info.sType = VK_STRUCTURE_TYPE_CU_LAUNCH_INFO_NVX;
    info.function = function;
    const uint64_t most = is_packer(step) ? UINT32_MAX : multiprocessors;  // a product's blocks take tile after tile
    info.gridDimX = static_cast<uint32_t>(std::min<uint64_t>(step.groups, most));
    info.gridDimY = info.gridDimZ = info.blockDimY = info.blockDimZ = 1;
    info.blockDimX = step.tile.WG;
    info.sharedMemBytes = m.shared_bytes(step.tile);
    info.paramCount = 1;
    info.pParams = parameters;
    f.CmdCuLaunchKernelNVX(cmd, &info);
}

}  // namespace vkgemm::vk

#else  // this build has no machine code, so no plan asks for it

namespace vkgemm::vk {

plan::Result<VkCuFunctionNVX> NativeModules::get(const plan::Step& s) {
    return plan::Refusal{VKGEMM_ERROR_UNSUPPORTED, plan::concat({"this build has no ", s.kernel->name})};
}
void NativeModules::release(const plan::Module&, VkCuFunctionNVX) {}
uint32_t native_code_of(const Device&) { return 0; }
void launch(const DeviceFunctions&, VkCommandBuffer, const plan::Step&, VkCuFunctionNVX, const abi::GemmArgs&,
            uint32_t) {}

}  // namespace vkgemm::vk
#endif
