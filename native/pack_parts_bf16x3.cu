// SPDX-License-Identifier: MIT
// The entry points of the pass that splits f32 into three bf16 parts.
#include "native/pack_parts.cuh"

namespace vkgemm::native {
PACK_PARTS(pack_parts_bf16x3_16x128, Bf16Parts, 16, 128)
}  // namespace vkgemm::native
