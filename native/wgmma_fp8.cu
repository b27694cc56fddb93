// SPDX-License-Identifier: MIT
// The entry points of e4m3 and e5m2, which FORMAT_A, FORMAT_B and FORMAT_D choose at run time: a module of each pair of
// types and each D would weigh twelve times as much.
#include "native/entry_point.cuh"
#include "native/wgmma.cuh"

namespace vkgemm::native {
namespace {

#define KERNEL(BN, STAGES) \
    ENTRY_POINT(_128x##BN##x128_nt) { Product<fp8, floating, 128, BN, STAGES, true, true>(x, shared).run(); }
KERNEL(256, 4)
KERNEL(128, 6)
KERNEL(64, 8)

}  // namespace
}  // namespace vkgemm::native
