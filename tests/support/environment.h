// SPDX-License-Identifier: MIT
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>

namespace vkgemm::test {

/// What tests/faults/run sets: with VKGEMM_TESTS_ABORT the first failure ends the program, and VKGEMM_TESTS_CASE
/// filters the cases as doctest's --test-case does.
inline void take_environment(doctest::Context& context) {
    if (std::getenv("VKGEMM_TESTS_ABORT")) context.setOption("abort-after", 1);
    if (const char* const filter = std::getenv("VKGEMM_TESTS_CASE")) context.addFilter("test-case", filter);
}

}  // namespace vkgemm::test
