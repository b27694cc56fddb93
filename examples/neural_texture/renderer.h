// SPDX-License-Identifier: MIT
// All parts together, and what the program does with them.
#pragma once
#include "frames.h"
#include "picture.h"

namespace renderer {

/// The command line.
struct Options {
    Settings settings{};
    uint32_t steps = 2000, steps_per_frame = 1, inject = 0;  // inject: an Event, half-way
    VkExtent2D size{1280, 720};
    std::string out{};
    bool whole_screen = false, graph = false, window = false;
};
enum Event : uint32_t { nothing, resize, minimise, lose };

struct Renderer {
    static constexpr uint32_t side = 224;  // of a picture of the texture

    const Options options;
    Gpu& gpu;
    Graph graph;
    Network network;
    Frames frames;
    Scene scene;
    Arena memory;
    Inference texture;  // for pictures of it
    Buffer pictures, pictures_read;

    Renderer(Gpu& gpu, const Options& options);
    void resize(VkExtent2D size);
    /// Does the passes of one frame: some training steps, then a picture if there is a screen to draw on. Returns the
    /// steps until its end.
    uint32_t record_frame(uint32_t step, float time, bool minimised);
    /// What the texture looks like now. Waits for the device, as screenshot() does.
    Snapshot snapshot(uint32_t step);
    Picture screenshot();
};

/// Learns and draws until all steps are done or the window is closed.
void run(Renderer& r);

}  // namespace renderer
