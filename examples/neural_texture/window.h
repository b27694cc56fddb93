// SPDX-License-Identifier: MIT
// A window, of GLFW, and its swapchain.
#pragma once
#include "renderer.h"

struct GLFWwindow;

namespace renderer {

class Window {
   public:
    /// The extensions of the instance that a window needs.
    static std::vector<const char*> extensions();
    Window(Gpu& gpu, vk::Extent2D size);
    ~Window();
    bool closed();
    /// Of the window's pixels, now; 0 x 0 while it is minimised.
    vk::Extent2D size();
    /// Adds the copy of the screen to the graph, submits the frame, and shows it. The frame is not shown if the window
    /// gives no image for a second, or if its swapchain is out of date, which is then made anew.
    void present(Renderer& renderer);

   private:
    void make_swapchain();
    void copy(const Graph::Commands& commands, const Renderer& from, vk::Image to) const;

    Gpu& gpu_;
    GLFWwindow* window_ = nullptr;
    vk::raii::SurfaceKHR surface_{nullptr};
    vk::raii::SwapchainKHR swapchain_{nullptr};
    vk::Extent2D extent_{};
    std::vector<vk::Image> images_{};
    std::vector<vk::raii::Semaphore> drawn_{};  // by image
};

}  // namespace renderer
