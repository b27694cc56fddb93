// SPDX-License-Identifier: MIT
// The pipeline of a traced module, with its descriptors: the operands of the library's own pipelines, and one more
// buffer that the trace goes to.
#pragma once
#include <array>
#include <memory>
#include <span>

#include "plan/steps/steps.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

class TracePipeline {
   public:
    static Result<TracePipeline> make(const host::Device& device, const plan::DeviceCaps& caps,
                                      const plan::Step& step, std::span<const uint32_t> code);
    /// Whole buffers, by BIND_*; the last is the trace.
    Status bind(const std::array<VkBuffer, BIND_COUNT + 1>& buffers);
    Status record(VkCommandBuffer commands, const plan::Step& step) const;

   private:
    struct Objects;  // destroyed together
    std::shared_ptr<Objects> objects_;
};

}  // namespace vkgemm::tool
