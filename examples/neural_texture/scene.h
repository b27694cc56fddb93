// SPDX-License-Identifier: MIT
// What is drawn: a turning torus above a plane, whose material the network knows. The torus is rasterised; then
// the network runs on the pixels that see a surface, then every pixel is lit.
#pragma once
#include <memory>

#include "network.h"

namespace renderer {

class Scene {
   public:
    Scene(Gpu& gpu, const Network& network);
    ~Scene();
    /// (Re)makes everything that depends on the screen's size. The device must be idle.
    void resize(VkExtent2D size);
    /// Adds the passes of one picture. Left of `split` (0 to 1) the network colours it, right of it the reference. With
    /// `whole`, the network runs on all pixels of the screen, whatever they see.
    void draw(Graph& graph, float time, float split, bool whole);

    VkExtent2D size() const { return size_; }
    const Image& screen() const { return screen_; }
    const Buffer& counted() const { return counted_; }  // what the last picture counted

   private:
    void make_pipeline();
    void draw_visibility(VkCommandBuffer commands, float time) const;

    Gpu& gpu_;
    const Network& network_;
    VkPipeline pipeline_ = VK_NULL_HANDLE, compact_ = VK_NULL_HANDLE, shade_ = VK_NULL_HANDLE;
    VkExtent2D size_{};
    std::unique_ptr<Arena> memory_{};
    std::unique_ptr<Inference> inference_{};
    Image depth_{}, screen_{};
    Buffer rows_{}, counted_{};
};

}  // namespace renderer
