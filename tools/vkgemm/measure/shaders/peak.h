// SPDX-License-Identifier: MIT
// How much an invocation of peak.comp or a subgroup of peak_matrix.comp does in a trip, and an invocation of
// peak_copy.comp in all; compiled by both languages.
#ifndef VKGEMM_PEAK_H
#define VKGEMM_PEAK_H
#define PEAK_CHAINS 8   // sums that do not wait for one another
#define PEAK_ROUNDS 16  // multiply-adds of each: beside them the loop is nothing
#define PEAK_PIECES 4   // of 16 bytes
#endif
