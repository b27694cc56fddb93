// SPDX-License-Identifier: MIT
// The entry points of f32 as two f16 parts: rows of A along k, columns of B along k.
#include "native/wgmma_split.cuh"

namespace vkgemm::native {
namespace {

extern __shared__ uint8_t shared[];

#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
#define KERNEL(BN, STAGES)                                                              \
    extern "C" __global__ void __launch_bounds__(384, 1)                                \
        PASTE(VKGEMM_MODULE, _128x##BN##x64_nt)(const __grid_constant__ NativeArgs x) { \
        SplitProduct<F16x2, BN, STAGES>(x, shared).run();                               \
    }
KERNEL(128, 6)
KERNEL(64, 6)

}  // namespace
}  // namespace vkgemm::native
