// SPDX-License-Identifier: MIT
// How the module VKGEMM_MODULE declares the entry point of a tile: its name is the module's and the tile's.
#pragma once
#include "native/native_args.h"

#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
// Followed by the body, which has the arguments `x` and the work group's memory `shared`.
#define ENTRY_POINT(tile)                                \
    extern "C" __global__ void __launch_bounds__(384, 1) \
        PASTE(VKGEMM_MODULE, tile)(const __grid_constant__ NativeArgs x)

namespace vkgemm::native {
namespace {
extern __shared__ uint8_t shared[];
}  // namespace
}  // namespace vkgemm::native
