// SPDX-License-Identifier: MIT
//
// Timestamps around what is recorded into a command buffer that somebody else submits, and that may never run.
#ifndef VKGEMM_GGML_STOPWATCH_H
#define VKGEMM_GGML_STOPWATCH_H

#include <vkgemm/vkgemm.h>

#include <array>
#include <optional>

namespace vkgemm::ggml {

/// Its functions are for one thread at a time, but stamp(), which is for any.
class Stopwatch {
   public:
    static constexpr uint32_t count = 256;  ///< timers; what is not read yet keeps one

    explicit Stopwatch(const VkgemmContextInfo& info);
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    /// The device has timestamps in every queue that computes.
    bool works() const { return works_; }
    /// A free timer; -1: there is none.
    int32_t take();
    /// Begins or ends the timer, in one command buffer or in two that run in this order.
    void stamp(VkCommandBuffer commands, int32_t timer, bool is_end) const;
    /// Microseconds, once they are known, and frees the timer then. No waiting.
    std::optional<double> read(int32_t timer);

   private:
    VkDevice device_;
    bool works_ = false;
    double microseconds_ = 0;  // of a tick
    VkQueryPool pool_ = VK_NULL_HANDLE;
    std::array<VkEvent, count> events_{};  // set behind the second timestamp: queries alone could be of an earlier use
    std::array<bool, count> is_taken_{};
    PFN_vkCmdResetQueryPool cmd_reset_query_pool_ = nullptr;
    PFN_vkCmdWriteTimestamp cmd_write_timestamp_ = nullptr;
    PFN_vkCmdSetEvent cmd_set_event_ = nullptr;
    PFN_vkCreateEvent create_event_ = nullptr;
    PFN_vkResetEvent reset_event_ = nullptr;
    PFN_vkGetEventStatus get_event_status_ = nullptr;
    PFN_vkGetQueryPoolResults get_query_pool_results_ = nullptr;
    PFN_vkDestroyEvent destroy_event_ = nullptr;
    PFN_vkDestroyQueryPool destroy_query_pool_ = nullptr;
};

}  // namespace vkgemm::ggml
#endif
