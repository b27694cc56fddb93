// SPDX-License-Identifier: MIT
// The entry points of the module VKGEMM_MODULE, which multiplies elements of type VKGEMM_A into a D of type VKGEMM_D.
#include "native/wgmma.cuh"

namespace vkgemm::native {
namespace {

extern __shared__ uint8_t shared[];

#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
#define KERNEL(tile, layout, BM, BN, STAGES, a_along_k, b_along_k)                          \
    extern "C" __global__ void __launch_bounds__(384, 1)                                    \
        PASTE(VKGEMM_MODULE, _##tile##_##layout)(const __grid_constant__ NativeArgs x) {    \
        Product<VKGEMM_A, VKGEMM_D, BM, BN, STAGES, a_along_k, b_along_k>(x, shared).run(); \
    }
// A is m x k, B is k x n; n: row-major, t: column-major.
#define EVERY_LAYOUT(BM, BN, STAGES)                         \
    KERNEL(BM##x##BN##x64, nn, BM, BN, STAGES, true, false)  \
    KERNEL(BM##x##BN##x64, nt, BM, BN, STAGES, true, true)   \
    KERNEL(BM##x##BN##x64, tn, BM, BN, STAGES, false, false) \
    KERNEL(BM##x##BN##x64, tt, BM, BN, STAGES, false, true)
EVERY_LAYOUT(128, 256, 4)
EVERY_LAYOUT(128, 192, 4)
EVERY_LAYOUT(128, 128, 6)
EVERY_LAYOUT(128, 64, 8)
EVERY_LAYOUT(64, 128, 8)

}  // namespace
}  // namespace vkgemm::native
