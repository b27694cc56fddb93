// SPDX-License-Identifier: MIT
// Kernels in machine code: loaded and launched by VK_NVX_binary_import (docs/native.md).
#pragma once
#include <mutex>
#include <string>
#include <unordered_map>

#include "plan/steps/steps.h"
#include "vk/functions.h"

#ifndef VKGEMM_HAS_NATIVE
#    error "VKGEMM_HAS_NATIVE is not defined, and what follows depends on it"
#endif

namespace vkgemm::vk {

struct Device;

/// Loads what the device's driver accepts. Every module is loaded once, when a function of it is first asked for, and
/// stays while it has a function. Safe from several threads. Without VKGEMM_HAS_NATIVE it refuses everything.
class NativeModules {
   public:
#if VKGEMM_HAS_NATIVE
    NativeModules() = default;
    NativeModules(const NativeModules&) = delete;
    NativeModules& operator=(const NativeModules&) = delete;
    ~NativeModules();
    void init(const Device& device) { device_ = &device; }  // which must outlive this
#else
    void init(const Device&) {}
#endif

    /// The function of a step's kernel for the layouts of its A and B.
    plan::Result<VkCuFunctionNVX> get(const plan::Step&);
    /// Destroys a function, and its module with the last one.
    void release(const plan::Module&, VkCuFunctionNVX);

#if VKGEMM_HAS_NATIVE
   private:
    struct Entry {
        VkCuModuleNVX module = VK_NULL_HANDLE;
        uint32_t functions = 0;
    };
    plan::Result<VkCuModuleNVX> load(const plan::Module&);
    void free_unused(const plan::Module&);  // a loaded module, if it has no function; the mutex is held

    const Device* device_ = nullptr;
    std::mutex mutex_;
    std::unordered_map<const plan::Module*, Entry> entries_;
#endif
};

/// The architecture whose machine code the device loads, as DeviceCaps::native_code has it: found by loading an empty
/// kernel, which a device of another architecture refuses. 0 if the functions of the extension are missing. All other
/// machine code is loaded for plans only, because loading and freeing it in a second device can lose the first one.
uint32_t native_code_of(const Device&);

/// Launches one step. `args` have addresses.
void launch(const DeviceFunctions&, VkCommandBuffer, const plan::Step&, VkCuFunctionNVX, const abi::GemmArgs& args,
            uint32_t multiprocessors);

}  // namespace vkgemm::vk
