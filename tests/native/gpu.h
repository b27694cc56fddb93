// SPDX-License-Identifier: MIT
// A Vulkan device that launches cubins (VK_NVX_binary_import), as small as the harness can do with.
#pragma once
#include <volk.h>

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

/// Device memory that is addressed and nothing else.
struct Memory {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t address = 0, bytes = 0;
    void* mapped = nullptr;  // of memory that the host sees
};

class Gpu {
   public:
    Gpu();  // ends the process if there is no such device
    Memory allocate(uint64_t bytes, bool host) const;
    VkCuFunctionNVX function(const std::string& cubin, const std::string& name);

    void begin();
    void launch(VkCuFunctionNVX, uint32_t groups, uint32_t threads, uint32_t shared,
                std::vector<const void*> parameters, uint32_t groups_y = 1, uint32_t groups_z = 1) const;
    void fill(const Memory&, uint64_t offset, uint64_t bytes, uint32_t word) const;
    /// As an engine has between kernels, or one that also orders fills and the host, which takes longer.
    void barrier(bool between_kernels = false) const;
    void stamp(uint32_t number) const;
    void end() const;
    void submit() const;          // and waits, ten seconds at most
    double microseconds() const;  // between the stamps 0 and 1
    void run() {
        end();
        submit();
    }

   private:
    void find_physical();
    void make_commands(uint32_t family);
    VkInstance instance_{};
    VkPhysicalDevice physical_{};
    VkDevice device_{};
    VkQueue queue_{};
    VkCommandPool pool_{};
    VkCommandBuffer commands_{};
    VkFence fence_{};
    VkQueryPool stamps_{};
    double tick_ = 1;  // ns
    std::vector<std::pair<std::string, VkCuModuleNVX>> modules_;
};

[[noreturn]] void stop(const std::string& why);

}  // namespace harness
