// SPDX-License-Identifier: MIT
// How much an invocation of peak.comp or a subgroup of peak_matrix.comp does in one trip of its loop, and an invocation
// of peak_copy.comp in all. C++ and GLSL read this file.
#ifndef VKGEMM_PEAK_H
#define VKGEMM_PEAK_H
#define PEAK_CHAINS 8   // independent sums
#define PEAK_ROUNDS 16  // multiply-adds of each: the loop itself takes no time beside them
#define PEAK_CHUNKS 4   // of 16 bytes
#endif
