// SPDX-License-Identifier: MIT
// The entry points of e4m3 and e5m2, which FORMAT_A, FORMAT_B and FORMAT_D choose at run time: a module of each pair of
// types and each D would weigh twelve times as much.
#include "native/wgmma.cuh"

namespace vkgemm::native {
namespace {

extern __shared__ uint8_t shared[];

#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
#define KERNEL(BN, STAGES)                                                               \
    extern "C" __global__ void __launch_bounds__(384, 1)                                 \
        PASTE(VKGEMM_MODULE, _128x##BN##x128_nt)(const __grid_constant__ NativeArgs x) { \
        Product<fp8, floating, 128, BN, STAGES, true, true>(x, shared).run();            \
    }
KERNEL(256, 4)
KERNEL(128, 6)
KERNEL(64, 8)

}  // namespace
}  // namespace vkgemm::native
