// SPDX-License-Identifier: MIT
// A target for libFuzzer: FUZZ_TARGET is its function. How to build and run it: CONTRIBUTING.md.
#include <cstddef>
#include <cstdint>

#include "fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    vkgemm::test::fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
