/* SPDX-License-Identifier: MIT
 *
 * What became of the groups of a table: how many of them a run computes, and why it skips the others. This header is
 * part of vkgemm.h, and needs no Vulkan header.
 */
#ifndef VKGEMM_GROUPS_H
#define VKGEMM_GROUPS_H

#include <vkgemm/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a group is skipped. If it breaks several rules, one of them is counted. VkgemmGroup has the rules. */
typedef enum VkgemmGroupFault {
    VKGEMM_GROUP_FAULT_NONE = 0,
    VKGEMM_GROUP_FAULT_INDICES = 1,       /* INDEXED: firstIndex is beyond the indices, or all have more than m */
    VKGEMM_GROUP_FAULT_SHORT_LD = 2,      /* a leading dimension is smaller than a row */
    VKGEMM_GROUP_FAULT_MISALIGNED_LD = 3, /* a leading dimension is not a multiple of groupAlignment, or of a block */
    VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET = 4, /* the same of an offset or an address */
    VKGEMM_GROUP_FAULT_OUTSIDE = 5,           /* a matrix reaches outside its operand; not found with ADDRESSES */
    VKGEMM_GROUP_FAULT_TOO_LARGE = 6,         /* a matrix spans more than 2^31 - 1 elements */
    VKGEMM_GROUP_FAULT_MAX_ENUM = 0x7fffffff
} VkgemmGroupFault;

/* A run of a plan with a table (TABLE, INDEXED or ADDRESSES) writes this struct to the beginning of its workspace. The
 * struct stays there until another run uses the workspace. After VKGEMM_RECORD_BARRIER_AFTER, or a barrier of yours,
 * copy it with vkCmdCopyBuffer, or read it in a shader of yours. A run whose m, n or batch is 0 writes nothing.
 * vkgemmCheckGroups fills the same struct from a table that the host has, vkgemmCheckIndices from its indices too.
 *
 * `computed`, `empty` and `skipped` add up to the run's batch. An index beyond the rows of D, in the list of a group,
 * is skipped too. It is counted only if the plan has VKGEMM_PLAN_COUNT_INDICES. With that flag, a run with SELECTED
 * writes this struct too: a product whose index is not below the number of matrices of B is a skipped group. The size
 * of this struct never changes. */
typedef struct VkgemmGroupReport {
    uint32_t computed;     /* groups whose part of D is written */
    uint32_t empty;        /* groups whose m or n is 0 */
    uint32_t clamped;      /* of all groups but the empty ones, those with a size above its bound, or with more indices
                              than there are: nothing beyond the bounds is computed */
    uint32_t skipped;      /* groups that break a rule: nothing of their part of D is written */
    uint32_t firstSkipped; /* the number of the first of them; UINT32_MAX: there is none */
    uint32_t firstSlot;    /* its operand that breaks the rule, a VkgemmSlot */
    uint32_t firstFault;   /* the rule, a VkgemmGroupFault */
    /* INDEXED with VKGEMM_PLAN_COUNT_INDICES, and from vkgemmCheckIndices: indices, of computed groups, without a row
     * of D. Otherwise 0. */
    uint32_t skippedIndices;
    uint32_t faults[8]; /* by VkgemmGroupFault: how many groups are skipped for that reason */
} VkgemmGroupReport;

#ifdef __cplusplus
}
#endif
#endif
