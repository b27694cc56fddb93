// SPDX-License-Identifier: MIT
// Two frames in flight: while the GPU works on one, the next is recorded.
#pragma once
#include "scene.h"

namespace renderer {

/// What the host learns of a frame when it has ended.
struct Finished {
    uint32_t steps = 0;         // until its end
    bool trained = false;       // otherwise it has no loss
    double loss = 0, psnr = 0;  // of one point, on average over the batch of its last step, before that step
    uint32_t rows = 0;          // that the network coloured
    Times times{};
};

struct Frame {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VkSemaphore acquired = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;
    Buffer losses{}, counted{};
    Times times{};
    uint32_t steps = 0;
    bool submitted = false, trained = false, drawn = false;
};

class Frames {
   public:
    static constexpr uint32_t in_flight = 2, queries = 256;

    Frames(Gpu& gpu, Graph& graph, const Network& network);
    ~Frames();
    Frame& current() { return frames_[next_]; }
    /// Waits until the current frame's last submission has ended and fills `finished` with it; false if there was none.
    bool wait(Finished& finished);
    /// Records the graph's passes and submits them, behind `before` and with `after`, which may be null. Then the other
    /// frame is current.
    void submit(VkSemaphore before = VK_NULL_HANDLE, VkSemaphore after = VK_NULL_HANDLE);
    void skip() { next_ = (next_ + 1) % in_flight; }
    /// Does the graph's passes outside any frame, waits for them, and returns their times.
    Times now();

    bool lost = false;  // a submission ends as on a device that is lost

   private:
    void submit(Frame& frame, VkSemaphore before, VkSemaphore after);

    Gpu& gpu_;
    Graph& graph_;
    const Network& network_;
    Arena memory_;
    std::array<Frame, in_flight + 1> frames_{};  // the last one is for now()
    uint32_t next_ = 0;
};

}  // namespace renderer
