// SPDX-License-Identifier: MIT
// All parts together, and what a program does with them.
#pragma once
#include "frames.h"
#include "options.h"
#include "picture.h"

namespace renderer {

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
