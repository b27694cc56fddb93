// SPDX-License-Identifier: MIT
// Shared memory in elements of the accumulator's type, as the shader and the host count it.
#ifndef VKGEMM_SIMT_SHARED_MEMORY_H
#define VKGEMM_SIMT_SHARED_MEMORY_H

#define SIMT_TEAM 32  // invocations that share a part of D; a subgroup on most devices, but nothing depends on that
#define SIMT_PAD 4
#define SIMT_A(BM, BN, BK) ((BK) * ((BM) + SIMT_PAD))
#define SIMT_B(BM, BN, BK) ((BK) * ((BN) + SIMT_PAD))

#endif
