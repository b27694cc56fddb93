// SPDX-License-Identifier: MIT
// Shared memory of split_int8, in pairs of words: a tile, whose rows are padded by one element.
#ifndef VKGEMM_SPLIT_INT8_SHARED_MEMORY_H
#define VKGEMM_SPLIT_INT8_SHARED_MEMORY_H
#define SPLIT_INT8_TILE(BM, BN) ((BM) * ((BN) + 1))
#endif
