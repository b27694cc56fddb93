// SPDX-License-Identifier: MIT
//
// The adapter's own shaders, which are recorded before a product.
#ifndef VKGEMM_GGML_PASSES_H
#define VKGEMM_GGML_PASSES_H

#include <vkgemm/vkgemm.h>

#include <cstdint>
#include <span>

namespace vkgemm::ggml {

class Pass {
   public:
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// The pipeline was made.
    bool works() const { return pipeline_ != VK_NULL_HANDLE; }
    VkDeviceAddress address_of(VkBuffer buffer) const;
    /// Makes what passes wrote visible to the product that follows.
    void record_barrier(VkCommandBuffer commands) const;

   protected:
    /// `has_addresses`: bufferDeviceAddress is enabled on the device. A work group has `most_invocations`, or as many
    /// as the device allows.
    Pass(const VkgemmContextInfo& info, bool has_addresses, std::span<const uint32_t> code, uint32_t argument_bytes,
         uint32_t most_invocations);
    ~Pass();
    uint32_t invocations() const { return invocations_; }
    /// Records x times y work groups, without a barrier.
    void record(VkCommandBuffer commands, const void* arguments, uint32_t bytes, uint32_t x, uint32_t y) const;

   private:
    struct Makers {
        PFN_vkCreateShaderModule createShaderModule = nullptr;
        PFN_vkDestroyShaderModule destroyShaderModule = nullptr;
        PFN_vkCreatePipelineLayout createPipelineLayout = nullptr;
        PFN_vkCreateComputePipelines createComputePipelines = nullptr;
    };
    void make_pipeline(const Makers& make, std::span<const uint32_t> code, uint32_t argument_bytes);

    VkDevice device_;
    uint32_t invocations_ = 0;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    PFN_vkGetBufferDeviceAddress get_buffer_device_address_ = nullptr;
    PFN_vkCmdBindPipeline cmd_bind_pipeline_ = nullptr;
    PFN_vkCmdPushConstants cmd_push_constants_ = nullptr;
    PFN_vkCmdDispatch cmd_dispatch_ = nullptr;
    PFN_vkCmdPipelineBarrier cmd_pipeline_barrier_ = nullptr;
    PFN_vkDestroyPipeline destroy_pipeline_ = nullptr;
    PFN_vkDestroyPipelineLayout destroy_pipeline_layout_ = nullptr;
};

/// Turns ggml's ids of MUL_MAT_ID into the groups and index lists of a product (experts.comp).
class Experts : public Pass {
   public:
    static constexpr uint32_t most_experts = 1024;  ///< experts.comp counts them in shared memory
    static constexpr uint32_t most_invocations = 1024;
    struct Arguments {
        uint64_t ids, table, lists, apart;
        uint32_t experts, slots, tokens, slot_words, token_words;
        uint32_t unused = 0;
    };
    Experts(const VkgemmContextInfo& info, bool has_addresses);
    void record(VkCommandBuffer commands, const Arguments& arguments) const;
};

/// Rounds rows of f32 to f16 or bf16 (round.comp).
class Rounding : public Pass {
   public:
    static constexpr uint32_t most_invocations = 256;
    struct Arguments {
        uint64_t from, to;  ///< addresses, multiples of 16 and of 8
        uint32_t fours;     ///< of a row, and of `to` from one row to the next
        uint32_t apart;     ///< fours of `from` from one row to the next
        uint32_t is_bf16;
        uint32_t unused = 0;
    };
    Rounding(const VkgemmContextInfo& info, bool has_addresses);
    void record(VkCommandBuffer commands, const Arguments& arguments, uint32_t rows) const;
};

}  // namespace vkgemm::ggml
#endif
