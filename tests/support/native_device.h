// SPDX-License-Identifier: MIT
// device() as if it were an H200 with VK_NVX_binary_import, whose functions take note of what is loaded and launched,
// and run nothing.
#pragma once
#include <string>
#include <vector>

#include "native/native_args.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

struct NativeLaunch {
    std::string function;
    uint32_t groups, invocations, shared_bytes, parameters;
    native::NativeArgs args;
};

/// What the mock does, and what it saw. One at a time, on one thread.
struct NativeMock {
    // What the device is like.
    uint32_t driver_version = 580u << 22 | 159u << 14 | 4u << 6;
    const char* name = "NVIDIA H200";
    uint32_t multiprocessors = 132;
    size_t most_bytes =
        SIZE_MAX;                 // of a module that it loads: 0 refuses every one, as a device of another architecture
    bool knows_functions = true;  // otherwise functions of any name are missing
    VkResult failure = VK_ERROR_INITIALIZATION_FAILED;

    // What was called.
    int modules = 0, functions = 0;     // alive
    int loads = 0;                      // of modules, whether they succeeded or not
    std::vector<std::string> commands;  // "barrier", "dispatch", "launch"
    std::vector<NativeLaunch> launches;
    std::string log;

    /// For a context of this mock, on the family with these flags. `extensions` must outlive the call that takes it.
    VkgemmContextInfo context_info(std::vector<const char*>& extensions, VkQueueFlags flags);

    NativeMock();
    NativeMock(const NativeMock&) = delete;
    NativeMock& operator=(const NativeMock&) = delete;
    ~NativeMock();
};

}  // namespace vkgemm::test
