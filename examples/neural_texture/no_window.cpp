// SPDX-License-Identifier: MIT
// In place of window.cpp if GLFW was not found: the program then has no window.
#include "window.h"

namespace renderer {

std::vector<const char*> Window::extensions() {
    fail("--window needs GLFW, which was not found when this program was configured (Debian: libglfw3-dev)");
}
Window::Window(Gpu& gpu, VkExtent2D) : gpu_(gpu) { extensions(); }
Window::~Window() = default;
bool Window::closed() { return true; }
VkExtent2D Window::size() { return {}; }
void Window::present(Renderer&) {}

}  // namespace renderer
