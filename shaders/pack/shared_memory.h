// SPDX-License-Identifier: MIT
// Shared memory in words, as the shader and the host count it: one for an element of up to 4 bytes, two for one of 8.
// A row has one cell more than the tile's, for the banks.
#ifndef VKGEMM_PACK_SHARED_MEMORY_H
#define VKGEMM_PACK_SHARED_MEMORY_H

#define PACK_CELLS(BM, BN, BYTES) ((BM) * ((BN) + 1) * ((BYTES) > 4 ? 2 : 1))

#endif
