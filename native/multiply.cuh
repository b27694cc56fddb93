// SPDX-License-Identifier: MIT
// The warp-group matrix units (wgmma): a warp group multiplies 64 rows of A by N columns of B over 32 bytes of k, both
// in shared memory, and adds to sums in its registers.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "native/hopper.cuh"

namespace vkgemm::native {

using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;
using i8 = int8_t;
using i32 = int32_t;
using f64 = double;
/// In place of a type of A and B: e4m3 or e5m2, which the constants FORMAT_A and FORMAT_B say.
struct fp8 {
    uint8_t bits;
};
/// In place of a type of D: f32, f16, bf16 or i8, which the constant FORMAT_D says, made from sums of whole numbers.
struct scaled {};
/// The same but for i8, made from sums of f32.
struct floating {};

/// What products of A's elements are added up in.
template <class A>
using SumOf = std::conditional_t<std::is_same_v<A, i8>, i32, std::conditional_t<std::is_same_v<A, f64>, f64, f32>>;

// The order in which the units see registers that an asm statement writes.
DEVICE void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until no more than `left` of the committed groups are under way.
template <int left>
DEVICE void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// Where an operand lies: lines of 128 bytes, swizzled, eight of them every 1024 bytes. If the lines do not run along
/// k, 64 elements are side by side in one, and the next 64 begin after the 64 lines of a step.
DEVICE uint64_t descriptor(uint32_t address, bool along_k) {
    const uint64_t begin = (address & 0x3ffff) >> 4, next_lines = 1024 >> 4, next_columns = along_k ? 1 : 8192 >> 4;
    const uint64_t swizzled_by_128 = 1;
    return begin | next_columns << 16 | next_lines << 32 | swizzled_by_128 << 62;
}
/// What to add to a descriptor for the next 16 of k: 32 bytes in a line, or 16 lines.
DEVICE constexpr uint64_t next_k(bool along_k) { return (along_k ? 32 : 16 * 128) >> 4; }

// The lists of registers: "%0,%1,..." and "+f"(d[0]), "+f"(d[1]), ...
#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define NAMES_16 TEN() "%10,%11,%12,%13,%14,%15"
#define NAMES_32 TEN() TEN(1) TEN(2) "%30,%31"
#define NAMES_64 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63"
#define NAMES_96 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) "%90,%91,%92,%93,%94,%95"
#define NAMES_128 \
    TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120," \
    "%121,%122,%123,%124,%125,%126,%127"
#define FOUR(kind, i) kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3])
#define SIXTEEN(kind, i) FOUR(kind, i), FOUR(kind, i + 4), FOUR(kind, i + 8), FOUR(kind, i + 12)
#define SUMS_16(kind) SIXTEEN(kind, 0)
#define SUMS_32(kind) SIXTEEN(kind, 0), SIXTEEN(kind, 16)
#define SUMS_64(kind) SUMS_32(kind), SIXTEEN(kind, 32), SIXTEEN(kind, 48)
#define SUMS_96(kind) SUMS_64(kind), SIXTEEN(kind, 64), SIXTEEN(kind, 80)
#define SUMS_128(kind) SUMS_96(kind), SIXTEEN(kind, 96), SIXTEEN(kind, 112)

/// run<a_along_k, b_along_k>(d, a, b, adds): d += A B, or d = A B if not `adds`, of operands given by their
/// descriptors. d holds, of 64 x 2 count sums, what wgmma gives a thread.
template <class Element, int count>
struct Multiply;
#define CONSTRAINT_f32 "+f"
#define CONSTRAINT_i32 "+r"
#define MULTIPLY(element, sum, count, shape_and_types, places, ...)                                                  \
    template <>                                                                                                      \
    struct Multiply<element, count> {                                                                                \
        template <bool a_along_k, bool b_along_k>                                                                    \
        static DEVICE void run(sum (&d)[count], uint64_t a, uint64_t b, bool adds) {                                 \
            asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #places                                          \
                         ", 0;\n"                                                                                    \
                         "wgmma.mma_async.sync.aligned." shape_and_types " {" NAMES_##count "}, " __VA_ARGS__ ";\n}" \
                         : SUMS_##count(CONSTRAINT_##sum)                                                            \
                         : "r"(uint32_t{adds}), "l"(a), "l"(b), "n"(!a_along_k), "n"(!b_along_k));                   \
        }                                                                                                            \
    };
// Last the numbers of the operands that follow the sums: the first says whether to add. Operands of one byte must run
// along k, and have no such bits.
#define HALVES(element, columns, count, adds, a, b, a_turned, b_turned)                   \
    MULTIPLY(element, f32, count, "m64n" #columns "k16.f32." #element "." #element, adds, \
             "%" #a ", %" #b ", adds, 1, 1, %" #a_turned ", %" #b_turned)
#define BYTES(columns, count, adds, a, b) \
    MULTIPLY(i8, i32, count, "m64n" #columns "k32.s32.s8.s8", adds, "%" #a ", %" #b ", adds")
#define FLOATS_OF_8_BITS(first, second, columns, count, adds, a, b)                             \
    MULTIPLY(first##_##second, f32, count, "m64n" #columns "k32.f32." #first "." #second, adds, \
             "%" #a ", %" #b ", adds, 1, 1")
#define EVERY_WIDTH(element)                      \
    HALVES(element, 32, 16, 16, 17, 18, 19, 20)   \
    HALVES(element, 64, 32, 32, 33, 34, 35, 36)   \
    HALVES(element, 128, 64, 64, 65, 66, 67, 68)  \
    HALVES(element, 192, 96, 96, 97, 98, 99, 100) \
    HALVES(element, 256, 128, 128, 129, 130, 131, 132)
EVERY_WIDTH(f16)
EVERY_WIDTH(bf16)
BYTES(64, 32, 32, 33, 34)
BYTES(128, 64, 64, 65, 66)
BYTES(192, 96, 96, 97, 98)
BYTES(256, 128, 128, 129, 130)
#define EVERY_WIDTH_OF_8_BITS(first, second)            \
    struct first##_##second {};                         \
    FLOATS_OF_8_BITS(first, second, 64, 32, 32, 33, 34) \
    FLOATS_OF_8_BITS(first, second, 128, 64, 64, 65, 66)
EVERY_WIDTH_OF_8_BITS(e4m3, e4m3)
EVERY_WIDTH_OF_8_BITS(e4m3, e5m2)
EVERY_WIDTH_OF_8_BITS(e5m2, e4m3)
EVERY_WIDTH_OF_8_BITS(e5m2, e5m2)
#undef EVERY_WIDTH_OF_8_BITS
#undef FLOATS_OF_8_BITS
#undef EVERY_WIDTH
#undef BYTES
#undef HALVES
#undef MULTIPLY

/// After the last wait: keeps the compiler from reading sums before it.
template <class Sum, int count>
DEVICE void take(Sum (&d)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Sum, i32>)
            asm volatile("" : "+r"(d[i])::"memory");
        else if constexpr (std::is_same_v<Sum, f64>)
            asm volatile("" : "+d"(d[i])::"memory");
        else
            asm volatile("" : "+f"(d[i])::"memory");
    }
}

template <class Types, int count>
DEVICE void multiply_line(f32 (&d)[count], uint64_t a, uint64_t b) {
    begin_multiplying();
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i)
        Multiply<Types, count>::template run<true, true>(d, a + i * next_k(true), b + i * next_k(true), i != 0);
    commit_products();
    wait_for_products<0>();
    take(d);
}
/// d = A B over 128 of k, of e4m3 or e5m2: bit 1 of `is_e5m2` is A's, bit 0 B's. It is done when this returns.
template <int count>
DEVICE void multiply_line(f32 (&d)[count], uint64_t a, uint64_t b, uint32_t is_e5m2) {
    switch (is_e5m2) {
        case 0:
            multiply_line<e4m3_e4m3>(d, a, b);
            break;
        case 1:
            multiply_line<e4m3_e5m2>(d, a, b);
            break;
        case 2:
            multiply_line<e5m2_e4m3>(d, a, b);
            break;
        default:
            multiply_line<e5m2_e5m2>(d, a, b);
    }
}

}  // namespace vkgemm::native
