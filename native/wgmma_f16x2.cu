// SPDX-License-Identifier: MIT
// The entry points of f32 as two f16 parts: rows of A along k, columns of B along k.
#include "native/entry_point.cuh"
#include "native/wgmma_split.cuh"

namespace vkgemm::native {
namespace {

#define KERNEL(BN, STAGES) \
    ENTRY_POINT(_128x##BN##x64_nt) { SplitProduct<F16x2, BN, STAGES>(x, shared).run(); }
KERNEL(128, 6)
KERNEL(64, 6)

}  // namespace
}  // namespace vkgemm::native
