// SPDX-License-Identifier: MIT
// A device that does nothing: functions of Vulkan that make handles, record nothing and may be called by any number of
// threads. What vkgemm does on such a device is the library's own work alone, without a driver.
#pragma once
#include <atomic>

#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

struct NullDevice {
    static inline std::atomic<int64_t> objects = 0;    // that exist
    static inline std::atomic<uint64_t> compiled = 0;  // pipelines in all
    static inline std::atomic<uint64_t> commands = 0;  // recorded in all
    /// Of a context on it, by addresses and by push descriptors. The pointers stay valid.
    static VkgemmContextInfo context_info();
    /// A command buffer; all threads may use one.
    static VkCommandBuffer command_buffer();
    /// A buffer that needs no memory.
    static VkBuffer buffer();
};

}  // namespace vkgemm::test
