// SPDX-License-Identifier: MIT
// The warp-group matrix units (wgmma): a warp group multiplies 64 rows of A by N columns of B over 32 bytes of k, both
// in shared memory, and adds to sums in its registers.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "native/hopper.cuh"

namespace vkgemm::native {

using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;

// The order in which the units see registers that an asm statement writes.
DEVICE void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until no more than `left` of the committed groups are under way.
template <int left>
DEVICE void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// Where an operand lies: lines of 128 bytes, swizzled, eight of them every 1024 bytes. If the lines do not run along k,
/// 64 elements are side by side in one, and the next 64 begin after the 64 lines of a step.
DEVICE uint64_t descriptor(uint32_t address, bool along_k) {
    const uint64_t begin = (address & 0x3ffff) >> 4, next_lines = 1024 >> 4, next_columns = along_k ? 1 : 8192 >> 4;
    const uint64_t swizzled_by_128 = 1;
    return begin | next_columns << 16 | next_lines << 32 | swizzled_by_128 << 62;
}
/// What to add to a descriptor for the next 16 of k: 32 bytes in a line, or 16 lines.
DEVICE constexpr uint64_t next_k(bool along_k) { return (along_k ? 32 : 16 * 128) >> 4; }

// The lists of registers: "%0,%1,..." and "+f"(d[0]), "+f"(d[1]), ...
#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define NAMES_32 TEN() TEN(1) TEN(2) "%30,%31"
#define NAMES_64 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63"
#define NAMES_96 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) "%90,%91,%92,%93,%94,%95"
#define NAMES_128 \
    TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120," \
    "%121,%122,%123,%124,%125,%126,%127"
#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define SUMS_32 SIXTEEN(0), SIXTEEN(16)
#define SUMS_64 SUMS_32, SIXTEEN(32), SIXTEEN(48)
#define SUMS_96 SUMS_64, SIXTEEN(64), SIXTEEN(80)
#define SUMS_128 SUMS_96, SIXTEEN(96), SIXTEEN(112)

/// run<a_along_k, b_along_k>(d, a, b, adds): d += A B, or d = A B if not `adds`, of operands given by their
/// descriptors. d holds, of 64 x 2 count sums, what wgmma gives a thread.
template <class Element, int count>
struct Multiply;
// Last the numbers of the operands that follow the sums.
#define MULTIPLY(element, columns, count, a, b, adding, a_turned, b_turned)                                       \
    template <>                                                                                                   \
    struct Multiply<element, count> {                                                                             \
        template <bool a_along_k, bool b_along_k>                                                                 \
        static DEVICE void run(float (&d)[count], uint64_t descriptor_a, uint64_t descriptor_b, bool adds) {      \
            asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #adding                                       \
                         ", 0;\nwgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." #element "." #element      \
                         " {" NAMES_##count "}, %" #a ", %" #b ", adds, 1, 1, %" #a_turned ", %" #b_turned ";\n}" \
                         : SUMS_##count                                                                           \
                         : "l"(descriptor_a), "l"(descriptor_b), "r"(uint32_t{adds}), "n"(!a_along_k),            \
                           "n"(!b_along_k));                                                                      \
        }                                                                                                         \
    };
#define EVERY_WIDTH(element)                        \
    MULTIPLY(element, 64, 32, 32, 33, 34, 35, 36)   \
    MULTIPLY(element, 128, 64, 64, 65, 66, 67, 68)  \
    MULTIPLY(element, 192, 96, 96, 97, 98, 99, 100) \
    MULTIPLY(element, 256, 128, 128, 129, 130, 131, 132)
EVERY_WIDTH(f16)
EVERY_WIDTH(bf16)
#undef EVERY_WIDTH
#undef MULTIPLY

/// After the last wait: keeps the compiler from reading sums before it.
template <int count>
DEVICE void take(float (&d)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

}  // namespace vkgemm::native
