// SPDX-License-Identifier: MIT
// test_failing [--all] [--no-validation] [doctest's own arguments]: each call of Vulkan and each allocation fails once.
#include <doctest/doctest.h>

#include <cstdio>

#include "failing/counted.h"
#include "failing/scenario.h"
#include "support/device.h"

int main(int count, char** arguments) {
    using namespace vkgemm::test;
    if (!failing::stand_before_loader()) {
        std::fprintf(stderr, "there is no Vulkan loader\n");
        return 2;
    }
    int result = run_tests(count, arguments);
    failing::print_counts();
    if (const std::string left = failing::alive(); !left.empty()) {
        std::fprintf(stderr, "at the end there are %s\n", left.c_str());
        result = 1;
    }
    return result;
}
