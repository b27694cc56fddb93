// SPDX-License-Identifier: MIT
// All parts together, and what a program does with them.
#pragma once
#include "frames.h"
#include "picture.h"

namespace renderer {

/// The command line.
struct Options {
    Settings settings{};
    uint32_t steps = 2000, steps_per_frame = 1;
    VkExtent2D size{1280, 720};
    float split = 0.5f, floor = 0;
    std::string out{}, inject{}, bench{};
    bool whole_screen = false, graph = false, window = false, check_gradients = false;
};
/// Ends the program with code 2 at an option that it does not know or a value that is out of range, and with 0 after
/// --help.
Options parse(int count, char** arguments);

struct Renderer {
    static constexpr uint32_t side = 224;  // of a picture of the texture

    Options options;
    Gpu& gpu;
    Graph graph;
    Network network;
    Frames frames;
    Arena memory;
    Inference texture;  // for pictures of it
    Buffer pictures, pictures_read;
    VkPipeline sample, picture;

    Renderer(Gpu& gpu, const Options& options);
    Snapshot snapshot(uint32_t step);
};

/// Each returns the exit code of the program.
int run(Renderer& r);
int check_gradients(Renderer& r);
int bench(Gpu& gpu, Options options);

}  // namespace renderer
