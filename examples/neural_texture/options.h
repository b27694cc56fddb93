// SPDX-License-Identifier: MIT
// The command line.
#pragma once
#include <string>

#include "network.h"

namespace renderer {

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

}  // namespace renderer
