// SPDX-License-Identifier: MIT
// What list_tiles counts of a table: VkgemmGroupReport, in words, with which the workspace begins. The list follows
// (abi.h). C++ and GLSL both compile this file; src/plan/steps/group_table.cpp compares it with the public struct.
#ifndef VKGEMM_REPORT_H
#define VKGEMM_REPORT_H

#define REPORT_COMPUTED 0
#define REPORT_EMPTY 1
#define REPORT_CLAMPED 2
#define REPORT_SKIPPED 3
#define REPORT_FIRST 4  // the first group that is skipped, its operand, and its fault
#define REPORT_FIRST_SLOT 5
#define REPORT_FIRST_FAULT 6
#define REPORT_INDICES 7  // how many indices have no row of D
#define REPORT_FAULTS 8   // how many groups are skipped for each fault
#define REPORT_WORDS 16

// A bit of TABLE_HAS beside those of abi.h: the product is not dispatched indirectly, and has max_groups_x work groups.
#define TABLE_DIRECT 128
// Another one: indices that have no row of D are counted.
#define TABLE_COUNTS 256

// VkgemmGroupFault
#define FAULT_NONE 0
#define FAULT_INDICES 1
#define FAULT_SHORT_LD 2
#define FAULT_MISALIGNED_LD 3
#define FAULT_MISALIGNED_OFFSET 4
#define FAULT_OUTSIDE 5
#define FAULT_TOO_LARGE 6
#define SLOT_INDICES 9  // VKGEMM_SLOT_INDICES

// The first group that is skipped, as one word that grows with its number, of which there are 2^20.
#define FIRST_SKIPPED(group, slot, fault) ((group) << 12 | (slot) << 8 | (fault))
#define FIRST_SKIPPED_GROUP(word) ((word) >> 12)
#define FIRST_SKIPPED_SLOT(word) ((word) >> 8 & 15u)
#define FIRST_SKIPPED_FAULT(word) ((word)&255u)

#endif
