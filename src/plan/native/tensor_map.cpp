// SPDX-License-Identifier: MIT
#include "plan/native/tensor_map.h"

#include <bit>

namespace vkgemm::plan {

namespace {

// Of word 1. The engine only copies, so it is told the size of an element and not its type.
constexpr uint64_t rank_3 = uint64_t{2} << 4;
constexpr uint64_t swizzle_128 = uint64_t{3} << 13, promote_to_128_in_l2 = uint64_t{2} << 17;
constexpr uint64_t unsigned_of(uint32_t bytes) {  // u8, u16, u32 and u64 are types 0, 1, 2 and 4
    constexpr uint64_t number[] = {0, 1, 2, 4};
    return number[std::countr_zero(bytes)] << 7;
}

constexpr uint64_t low_word(uint64_t x) { return x & 0xffffffff; }
constexpr uint64_t two(uint64_t low, uint64_t high) { return low_word(low) | high << 32; }

}  // namespace

// NVIDIA does not document the bits. They are those that the instruction tensormap.replace writes on sm_90a, field by
// field, and equal what cuTensorMapEncodeTiled makes. Sizes are kept less 1, strides in units of 16 bytes.
native::TensorMap tensor_map(const TensorShape& s) {
    const uint64_t down = s.strides[0] / 16, deep = s.strides[1] / 16;
    native::TensorMap map{};
    uint64_t* w = map.words;
    w[0] = s.address;
    w[1] = two(rank_3 | unsigned_of(s.element_bytes) | swizzle_128 | promote_to_128_in_l2, down);
    w[2] = low_word(deep);
    w[3] = two(0, down >> 32 | deep >> 32 << 4);
    w[4] = two(s.sizes[0] - 1, s.sizes[1] - 1);
    w[5] = s.sizes[2] - 1;
    w[6] = uint64_t{s.box[0] - 1} << 56;
    w[7] = s.box[1] - 1;
    w[8] = uint64_t{s.box[0]} * s.box[1] * s.element_bytes;
    w[9] = native::swizzle_bytes;
    return map;
}

}  // namespace vkgemm::plan
