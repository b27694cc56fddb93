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
    VkDeviceAddress addressOf(VkBuffer buffer) const;
    /// Makes what passes wrote visible to the product that follows.
    void recordBarrier(VkCommandBuffer commands) const;

   protected:
    /// `hasAddresses`: bufferDeviceAddress is enabled on the device. A work group has `mostInvocations`, or as many as
    /// the device allows.
    Pass(const VkgemmContextInfo& info, bool hasAddresses, std::span<const uint32_t> code, uint32_t argumentBytes,
         uint32_t mostInvocations);
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
    void makePipeline(const Makers& make, std::span<const uint32_t> code, uint32_t argumentBytes);

    VkDevice device_;
    uint32_t invocations_ = 0;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    PFN_vkGetBufferDeviceAddress getBufferDeviceAddress_ = nullptr;
    PFN_vkCmdBindPipeline cmdBindPipeline_ = nullptr;
    PFN_vkCmdPushConstants cmdPushConstants_ = nullptr;
    PFN_vkCmdDispatch cmdDispatch_ = nullptr;
    PFN_vkCmdPipelineBarrier cmdPipelineBarrier_ = nullptr;
    PFN_vkDestroyPipeline destroyPipeline_ = nullptr;
    PFN_vkDestroyPipelineLayout destroyPipelineLayout_ = nullptr;
};

/// Turns ggml's ids of MUL_MAT_ID into the groups and index lists of a product (experts.comp).
class Experts : public Pass {
   public:
    static constexpr uint32_t mostExperts = 1024;  ///< experts.comp counts them in shared memory
    static constexpr uint32_t mostInvocations = 1024;
    struct Arguments {
        uint64_t ids, table, lists, apart;
        uint32_t experts, slots, tokens, slotWords, tokenWords;
        uint32_t unused = 0;
    };
    Experts(const VkgemmContextInfo& info, bool hasAddresses);
    void record(VkCommandBuffer commands, const Arguments& arguments) const;
};

/// Rounds rows of f32 to f16 or bf16 (round.comp).
class Rounding : public Pass {
   public:
    static constexpr uint32_t mostInvocations = 256;
    struct Arguments {
        uint64_t from, to;  ///< addresses, multiples of 16 and of 8
        uint32_t fours;     ///< of a row, and of `to` from one row to the next
        uint32_t apart;     ///< fours of `from` from one row to the next
        uint32_t isBf16;
        uint32_t unused = 0;
    };
    Rounding(const VkgemmContextInfo& info, bool hasAddresses);
    void record(VkCommandBuffer commands, const Arguments& arguments, uint32_t rows) const;
};

}  // namespace vkgemm::ggml
#endif
