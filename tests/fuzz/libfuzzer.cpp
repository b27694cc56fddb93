// SPDX-License-Identifier: MIT
// A program of libFuzzer for the function FUZZ_TARGET. CONTRIBUTING.md explains how to build and run it.
#include <cstddef>
#include <cstdint>

#include "fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    vkgemm::test::fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
