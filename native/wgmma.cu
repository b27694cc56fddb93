// SPDX-License-Identifier: MIT
// The entry points of the module VKGEMM_MODULE, which multiplies elements of type VKGEMM_A into a D of type VKGEMM_D.
#include "native/entry_point.cuh"
#include "native/wgmma.cuh"

namespace vkgemm::native {
namespace {

// `layout` has a letter for A (m x k) and one for B (k x n); n: row-major, t: column-major.
#define KERNEL(BM, BN, BK, layout, STAGES)                                                  \
    ENTRY_POINT(_##BM##x##BN##x##BK##_##layout) {                                           \
        constexpr bool a_along_k = #layout[0] == 'n', b_along_k = #layout[1] == 't';        \
        Product<VKGEMM_A, VKGEMM_D, BM, BN, STAGES, a_along_k, b_along_k>(x, shared).run(); \
    }
#define BYTES_OF_i8 1
#define BYTES_OF_f16 2
#define BYTES_OF_bf16 2
#define BYTES_OF_f64 8
// The matrix units want elements of one byte to run along k.
#if PASTE(BYTES_OF_, VKGEMM_A) == 8
KERNEL(128, 128, 16, nt, 6)
KERNEL(128, 64, 16, nt, 8)
#else
#    if PASTE(BYTES_OF_, VKGEMM_A) == 1
#        define EVERY_LAYOUT(BM, BN, STAGES) KERNEL(BM, BN, 128, nt, STAGES)
#    else
#        define EVERY_LAYOUT(BM, BN, STAGES) \
            KERNEL(BM, BN, 64, nn, STAGES)   \
            KERNEL(BM, BN, 64, nt, STAGES)   \
            KERNEL(BM, BN, 64, tn, STAGES)   \
            KERNEL(BM, BN, 64, tt, STAGES)
#    endif
EVERY_LAYOUT(128, 256, 4)
EVERY_LAYOUT(128, 128, 6)
EVERY_LAYOUT(128, 64, 8)
#    define IS_scaled 1
#    if !PASTE(IS_, VKGEMM_D)  // kernels that finish for four types weigh much, and these would be used least
EVERY_LAYOUT(128, 192, 4)
EVERY_LAYOUT(64, 128, 8)
#        if PASTE(BYTES_OF_, VKGEMM_A) == 2
EVERY_LAYOUT(64, 64, 12)
// boxes of a row-major B would have 64 columns
KERNEL(64, 32, 64, nt, 16)
KERNEL(64, 32, 64, tt, 16)
#        endif
#    endif
#endif

}  // namespace
}  // namespace vkgemm::native
