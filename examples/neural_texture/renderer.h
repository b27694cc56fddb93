// SPDX-License-Identifier: MIT
// All parts together: a turning torus above a plane, whose material the network knows and learns. The torus is
// rasterised; then the network runs on the pixels that see a surface, then every pixel is lit. There are two frames in
// flight: while the GPU works on one, the next is recorded.
#pragma once
#include "network.h"

namespace renderer {

constexpr uint32_t milestones[] = {100, 1000, 5000};  // steps after which the texture is shown

struct Picture {
    uint32_t width, height;
    std::vector<uint32_t> rgba;  // red in the lowest byte
};

/// What the texture looked like after some steps.
struct Snapshot {
    struct Part {
        Picture network, reference, difference;
    };
    uint32_t step = 0;
    double psnr = 0;
    Part whole, detail;
};

/// What the host learns of a frame when it has ended.
struct Finished {
    uint32_t steps = 0;         // until its end
    bool trained = false;       // otherwise it has no loss
    double loss = 0, psnr = 0;  // of one point, on average over the batch of its last step, before that step
    uint32_t rows = 0;          // that the network coloured
    Times times{};              // of the GPU
};

/// What happens half-way, for tests.
enum Event : uint32_t { nothing, resize, minimise, lose, lose_in_wait };

/// The command line.
struct Options {
    Settings settings{};
    uint32_t steps = 2000, steps_per_frame = 1, inject = nothing;
    vk::Extent2D size{1280, 720};
    std::string out{};
    bool whole_screen = false, graph = false, window = false;
};

struct Frame {
    vk::raii::CommandBuffer commands{nullptr};
    vk::raii::Fence fence{nullptr};
    vk::raii::Semaphore acquired{nullptr};
    vk::raii::QueryPool queries{nullptr};
    Resource losses{}, counted{};
    Finished finished{};
    bool submitted = false, drawn = false;
};

class Renderer {
   public:
    static constexpr uint32_t side = 224;  // of a picture of the texture
    static constexpr uint32_t in_flight = 2;

    Renderer(Gpu& gpu, const Options& options);
    ~Renderer() { gpu.finish(); }
    /// (Re)makes everything that depends on the screen's size.
    void resize(vk::Extent2D size);
    /// Adds the passes of one picture. Left of `split` (0 to 1) the network colours it, right of it the reference. With
    /// `whole`, the network runs on all pixels of the screen, whatever they see.
    void draw(float time, float split, bool whole);
    Frame& current() { return frames_[next_]; }
    /// Waits until the current frame's last submission has ended; null if there was none.
    const Finished* wait();
    /// Adds the passes of one frame: some training steps, then a picture unless minimised. Returns the steps until its
    /// end.
    uint32_t add_frame(uint32_t step, float time, bool minimised);
    /// Records the graph's passes and submits them, behind `before` and with `after`, which may be null. Then the other
    /// frame is current.
    void submit(vk::Semaphore before = {}, vk::Semaphore after = {});
    void skip() { next_ = (next_ + 1) % in_flight; }
    /// Does the graph's passes outside any frame, waits for them, and returns their times.
    Times now();
    /// What the texture looks like now. Waits for the device, as screenshot() does.
    Snapshot snapshot(uint32_t step);
    Picture screenshot();

    const Options options;
    Gpu& gpu;
    Graph graph;
    Network network;
    vk::Extent2D extent{};    // of the screen
    Resource screen{};        // row by row, a pixel as in VK_FORMAT_B8G8R8A8_UNORM
    Resource counted{};       // a Counted: of the last picture
    uint32_t lost = nothing;  // lose: a submission ends as on a lost device; lose_in_wait: a wait for one does

   private:
    void draw_visibility(const Graph::Commands& commands, float time);
    void submit(Frame& frame, vk::Semaphore before, vk::Semaphore after);
    void wait_for(const Frame& frame) const;
    /// A square of the texture from (first, first) on, and its PSNR.
    std::pair<Snapshot::Part, double> texture(float first, float size);

    Resource depth_{}, rows_{};
    vk::raii::Pipeline visibility_{nullptr};
    std::unique_ptr<Inference> of_screen_{};
    Inference of_texture_;  // for pictures of it
    Resource pictures_, pictures_read_;
    vk::raii::CommandPool pool_;
    std::array<Frame, in_flight + 1> frames_{};  // the last one is for now()
    uint32_t next_ = 0;
};

}  // namespace renderer
