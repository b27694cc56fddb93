// SPDX-License-Identifier: MIT
// A window and its swapchain, if the program was built with GLFW; otherwise --window is refused.
#pragma once
#include "renderer.h"

struct GLFWwindow;

namespace renderer {

class Window {
   public:
    /// The extensions of the instance that a window needs.
    static std::vector<const char*> extensions();
    Window(Gpu& gpu, VkExtent2D size);
    ~Window();
    bool closed();
    /// Of the window's pixels, now; 0 x 0 while it is minimised.
    VkExtent2D size();
    /// Adds the copy of the screen to the graph, submits the frame, and shows it. A swapchain that is out of date is
    /// made anew; the frame is then not shown.
    void present(Renderer& renderer);

   private:
    void make_swapchain();
    void destroy_semaphores();
    void copy(VkCommandBuffer commands, const Scene& from, VkImage to) const;

    Gpu& gpu_;
    GLFWwindow* window_ = nullptr;
    VkSurfaceKHR surface_ = VK_NULL_HANDLE;
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    VkExtent2D extent_{};
    std::vector<VkImage> images_{};
    std::vector<VkSemaphore> drawn_{};  // by image
};

}  // namespace renderer
