// SPDX-License-Identifier: MIT
// Shared memory in 16-byte chunks of PER_CHUNK elements, as the shader and the host count it: a tile whose rows are
// LENGTH elements long.
#ifndef VKGEMM_PACK_FRAGMENTS_SHARED_MEMORY_H
#define VKGEMM_PACK_FRAGMENTS_SHARED_MEMORY_H

#define PACK_FRAGMENTS_CHUNKS(ROWS, LENGTH, PER_CHUNK) ((ROWS) * ((LENGTH) / (PER_CHUNK) + 1))

#endif
