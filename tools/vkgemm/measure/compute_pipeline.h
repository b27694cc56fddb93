// SPDX-License-Identifier: MIT
// A compute pipeline of the tool's own, with storage buffers as descriptors and push constants: for measuring and
// tracing, where the library's plans do not serve.
#pragma once
#include <memory>
#include <span>
#include <utility>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

struct PipelineInfo {
    std::span<const uint32_t> code;                          // SPIR-V with an entry point "main"
    std::vector<std::pair<uint32_t, uint32_t>> constants{};  // specialization constants: id and value
    uint32_t bindings = 1;                                   // storage buffers at 0, 1, ... of set 0
    uint32_t push_bytes = 0;                                 // push constants
    uint32_t subgroup_size = 0;                              // that is required; 0: none
    bool full_subgroups = false;                             // required as well
    bool sliced = false;                                     // a record() may begin at another group than the first
};

/// Work groups of a dispatch: `x` times `y`, from (first_x, first_y) on.
struct Groups {
    uint32_t x, y = 1, first_x = 0, first_y = 0;
};

class ComputePipeline {
   public:
    static Result<ComputePipeline> make(const host::Device& device, const PipelineInfo& info);
    /// Whole buffers, one for each binding.
    Status bind(std::span<const VkBuffer> buffers);
    Status record(VkCommandBuffer commands, std::span<const std::byte> push, const Groups& groups) const;

   private:
    struct Objects;  // destroyed together
    std::shared_ptr<Objects> objects_;
};

}  // namespace vkgemm::tool
