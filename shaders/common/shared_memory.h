// SPDX-License-Identifier: MIT
// Shared memory that several families have, as the shader and the host count it. Rows begin in different banks.
#ifndef VKGEMM_COMMON_SHARED_MEMORY_H
#define VKGEMM_COMMON_SHARED_MEMORY_H

// Chunks of 16 bytes, PER_CHUNK elements each: rows LENGTH elements long, and an unused chunk behind each.
#define PADDED_CHUNKS(ROWS, LENGTH, PER_CHUNK) ((ROWS) * ((LENGTH) / (PER_CHUNK) + 1))
// Vectors of four: COUNT times eight, and an unused one behind every eight.
#define PADDED_EIGHTS(COUNT) ((COUNT)*9)

#endif
