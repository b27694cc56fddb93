// SPDX-License-Identifier: MIT
// A window and its swapchain, if the program was built with GLFW; otherwise --window is refused.
#pragma once
#include <memory>

#include "frames.h"

namespace renderer {

class Window {
   public:
    virtual ~Window() = default;
    virtual bool closed() = 0;
    /// Of the window's pixels, now; 0 x 0 while it is minimised.
    virtual VkExtent2D size() = 0;
    /// Adds the copy of `picture` to the graph, submits the frame, and shows it. A swapchain that is out of date is
    /// made anew; the frame is then not shown.
    virtual void present(Graph& graph, Frames& frames, const Image& picture) = 0;
};

std::vector<const char*> window_extensions();
std::unique_ptr<Window> make_window(Gpu& gpu, VkExtent2D size);

}  // namespace renderer
