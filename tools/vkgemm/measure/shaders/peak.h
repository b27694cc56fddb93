// SPDX-License-Identifier: MIT
// What the measuring shaders and roofline.cpp agree on; compiled by both languages.
#ifndef VKGEMM_PEAK_H
#define VKGEMM_PEAK_H

// How much an invocation of peak.comp or a subgroup of peak_matrix.comp does in a trip, and an invocation of
// peak_copy.comp in all.
// Sums that do not wait for one another: of matrix units, and plain ones. A driver for the CPU multiplies, then adds: 8
// wait for latency there, and 14 no longer fit its registers.
#define PEAK_CHAINS 8
#define PEAK_SUMS 12
#define PEAK_ROUNDS 16  // multiply-adds of each; enough to hide the loop's own cost
#define PEAK_CHUNKS 4   // of 16 bytes

// Specialization constants.
#define PEAK_WG 0  // invocations of a work group
#define PEAK_MM 8  // rows, columns and depth of a product of the matrix units
#define PEAK_MN 9
#define PEAK_MK 10

// Bindings of set 0.
#define PEAK_FROM 0
#define PEAK_TO 1
#define PEAK_BINDINGS 2

#ifdef __cplusplus
#    include <cstdint>
using PeakWord = std::uint32_t;
#else
#    define PeakWord uint
#endif

struct PeakArgs {
    PeakWord trips;   // of peak_copy.comp: chunks to copy
    PeakWord factor;  // bits of two numbers of the accumulator's type that keep the sums moving
    PeakWord term;
};
#endif
