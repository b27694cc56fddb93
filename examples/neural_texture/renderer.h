// SPDX-License-Identifier: MIT
// All parts together, and what a program does with them.
#pragma once
#include "frames.h"
#include "picture.h"

namespace renderer {

/// The command line.
struct Options {
    Settings settings{};
    uint32_t steps = 2000, steps_per_frame = 1, psnr_floor = 0;
    VkExtent2D size{1280, 720};
    std::string out{}, inject{};
    bool whole_screen = false, graph = false, window = false, check_gradients = false, bench = false;
};

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
    /// What the texture looks like now. Waits for the device, as screenshot() does.
    Snapshot snapshot(uint32_t step);
    Picture screenshot();
};

/// Each returns the exit code of the program.
int run(Renderer& r);
int check_gradients(Renderer& r);
int bench(Renderer& r);

}  // namespace renderer
