// SPDX-License-Identifier: MIT
// What is drawn: a turning torus above a plane, whose material the network knows. The torus is rasterised; then
// the network runs on the pixels that see a surface, then every pixel is lit.
#pragma once
#include "network.h"

namespace renderer {

class Scene {
   public:
    Scene(Gpu& gpu, const Network& network) : gpu_(gpu), network_(network) {}
    /// (Re)makes everything that depends on the screen's size. The device must be idle.
    void resize(vk::Extent2D size);
    /// Adds the passes of one picture. Left of `split` (0 to 1) the network colours it, right of it the reference. With
    /// `whole`, the network runs on all pixels of the screen, whatever they see.
    void draw(Graph& graph, float time, float split, bool whole);

    vk::Extent2D extent{};
    Buffer screen{};   // row by row, a pixel as in VK_FORMAT_B8G8R8A8_UNORM
    Buffer counted{};  // a Counted: of the last picture

   private:
    vk::Pipeline visibility_pipeline();
    void draw_visibility(const Graph::Commands& commands, float time);

    Gpu& gpu_;
    const Network& network_;
    std::unique_ptr<Inference> inference_{};
    Image depth_{};
    Buffer rows_{};
};

}  // namespace renderer
