// SPDX-License-Identifier: MIT
// Shared memory of tiled, vec4 and block, in elements of the accumulator's type, as the shader and the host count it.
#ifndef VKGEMM_LADDER_SHARED_MEMORY_H
#define VKGEMM_LADDER_SHARED_MEMORY_H

// of tiled and vec4
#define TILED_A(BM, BN, BK) ((BM) * (BK))
#define TILED_B(BM, BN, BK) ((BK) * (BN))
#define BLOCK_PAD 4  // elements between two k, against bank conflicts; 4 keeps every vec4 on 16 bytes
#define BLOCK_A(BM, BN, BK) ((BK) * ((BM) + BLOCK_PAD))
#define BLOCK_B(BM, BN, BK) ((BK) * ((BN) + BLOCK_PAD))

#endif
