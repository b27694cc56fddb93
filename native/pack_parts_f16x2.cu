// SPDX-License-Identifier: MIT
// The entry points of the pass that splits f32 into two f16 parts.
#include "native/pack_parts.cuh"

namespace vkgemm::native {
PACK_PARTS(pack_parts_f16x2_8x256, F16Parts, 8, 256)
}  // namespace vkgemm::native
