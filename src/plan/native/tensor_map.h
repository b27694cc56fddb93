// SPDX-License-Identifier: MIT
// Tensor maps, which tell a Hopper GPU's copy engine where a matrix is, written on the host.
#pragma once
#include <array>
#include <cstdint>

#include "native/native_args.h"

namespace vkgemm::plan {

/// Matrices of equal size, one behind the other. The first dimension is the one whose elements are neighbours.
struct TensorShape {
    uint64_t address;                 // a multiple of 16 bytes
    uint32_t element_bytes;           // 1, 2, 4 or 8
    std::array<uint32_t, 3> sizes;    // elements, at least 1
    std::array<uint64_t, 2> strides;  // bytes of the second and third dimension, multiples of 16 below 2^40
    std::array<uint32_t, 2> box;      // elements copied at a time, at most 256; the first are 128 bytes
};

/// The map of `shape`, whose boxes lie swizzled by 128 bytes in shared memory. What is outside reads as 0.
native::TensorMap tensor_map(const TensorShape& shape);

}  // namespace vkgemm::plan
