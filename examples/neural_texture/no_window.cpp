// SPDX-License-Identifier: MIT
#include "window.h"

namespace renderer {

std::vector<const char*> window_extensions() {
    fail("--window needs GLFW, which was not found when this program was configured (Debian: libglfw3-dev)");
}
std::unique_ptr<Window> make_window(Gpu&, VkExtent2D) { return nullptr; }

}  // namespace renderer
