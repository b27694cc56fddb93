// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdlib>

/// With VKGEMM_TESTS_ABORT in the environment the first failure ends it.
int main(int count, char** arguments) {
    doctest::Context context(count, arguments);
    if (std::getenv("VKGEMM_TESTS_ABORT")) context.setOption("abort-after", 1);
    return context.run();
}
