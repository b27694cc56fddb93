// SPDX-License-Identifier: MIT
// Two frames in flight: while the GPU works on one, the next is recorded.
#pragma once
#include "scene.h"

namespace renderer {

/// What the host learns of a frame when it has ended.
struct Finished {
    uint32_t steps = 0;         // until its end
    bool trained = false;       // otherwise it has no loss
    double loss = 0, psnr = 0;  // of the batch of its last step, before that step
    uint32_t rows = 0;          // that the network coloured
    Times times{};
};

class Frames {
   public:
    static constexpr uint32_t in_flight = 2, queries = 256;

    Frames(Gpu& gpu, const Network& network);
    ~Frames();
    struct Frame {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;
        VkSemaphore acquired = VK_NULL_HANDLE;
        VkQueryPool times = VK_NULL_HANDLE;
        Buffer losses{}, counted{};
        uint32_t steps = 0;
        uint64_t number = 0;  // of the graph
        bool submitted = false, trained = false, drawn = false;
    };
    /// Waits for the frame before the last one and fills `finished` with it; false if there was none. Then current()
    /// may be recorded.
    bool begin(const Graph& graph, Finished& finished);
    Frame& current() { return frames_[next_]; }
    /// Records the graph's passes and submits them, behind `wait` and before `signal`, which may be null.
    void submit(Graph& graph, VkSemaphore wait = VK_NULL_HANDLE, VkSemaphore signal = VK_NULL_HANDLE);
    /// At the end: the same without a new frame, for one frame after the other.
    bool finish(const Graph& graph, Finished& finished);
    /// Does the graph's passes outside any frame, waits for them, and returns their times.
    Times now(Graph& graph);
    /// From now on a submission ends as on a device that is lost.
    void lose() { lost_ = true; }

   private:
    bool collect(const Graph& graph, Frame& frame, Finished& finished) const;
    void begin(Frame& frame) const;
    void submit(Frame& frame, Graph& graph, VkSemaphore wait, VkSemaphore signal);

    Gpu& gpu_;
    const Network& network_;
    Arena memory_;
    std::array<Frame, in_flight + 1> frames_{};  // the last one is for now()
    uint32_t next_ = 0;
    bool lost_ = false;
};

}  // namespace renderer
