// SPDX-License-Identifier: MIT
//
// The pass that turns ggml's ids of MUL_MAT_ID into the groups and index lists of a product (experts.comp).
#ifndef VKGEMM_GGML_EXPERTS_H
#define VKGEMM_GGML_EXPERTS_H

#include <vkgemm/vkgemm.h>

#include <cstdint>

namespace vkgemm::ggml {

class Experts {
   public:
    static constexpr uint32_t mostExperts = 1024;  ///< experts.comp counts them in shared memory

    /// The arguments of experts.comp.
    struct Arguments {
        uint64_t ids, table, lists, apart;
        uint32_t experts, slots, tokens, slotWords, tokenWords;
        uint32_t unused = 0;
    };

    /// `hasAddresses`: bufferDeviceAddress is enabled on the device.
    Experts(const VkgemmContextInfo& info, bool hasAddresses);
    Experts(const Experts&) = delete;
    Experts& operator=(const Experts&) = delete;
    ~Experts();

    /// The pipeline was made.
    bool works() const { return pipeline_ != VK_NULL_HANDLE; }
    VkDeviceAddress addressOf(VkBuffer buffer) const;
    /// Records the pass and the barrier after it.
    void record(VkCommandBuffer commands, const Arguments& arguments) const;

   private:
    VkDevice device_;
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

}  // namespace vkgemm::ggml
#endif
