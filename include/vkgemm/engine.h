/* SPDX-License-Identifier: MIT
 *
 * For engines, which decide when a pipeline is compiled and place barriers themselves. Included by vkgemm.h, whose
 * general rules hold here too.
 */
#ifndef VKGEMM_ENGINE_H
#define VKGEMM_ENGINE_H

#include "vkgemm/vkgemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Pipelines, ahead of time and on threads of your own
 * ---------------------------------------------------------------------------------------------------- */

/* Compiles what a plan with VKGEMM_PLAN_DEFER_COMPILE lacks; from then on it can be recorded. SUCCESS at once if
 * nothing is missing. After a failure the plan is as before, and the call may be repeated. INVALID_ARGUMENT for a dry
 * plan. error may be NULL. Any thread, also while others check, inspect or compile the same plan. */
VKGEMM_API VkgemmResult vkgemmCompilePlan(VkgemmPlan plan, VkgemmError* error);

/* The keys of the pipelines that the plan needs, compiled or not, as text: one a line, each once. A key names the
 * kernel, how operands reach it, and all constants:
 *
 *     0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8 TRANS_B=1,ALIGNED=15,WHOLE=1
 *
 * The number is the version of vkgemm. Keep the lines in a file, and on the next run give them to
 * vkgemmCompilePipelines before there is any plan. text and size are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanKeys(VkgemmPlan plan, char* text, size_t* size);

/* The same of all pipelines that the context has, in alphabetical order, so that a program can write one file when it
 * ends. Pipelines that capture statistics have no key. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPipelineKeys(VkgemmContext context, char* text, size_t* size);

/* Compiles the pipelines of `keys`: lines as above, in any order; '#' begins a comment, a null ends the text. Every
 * line stands for itself, so lines may be shared out among threads. Pipelines that exist are not compiled again.
 *
 * A line of another version of vkgemm, or of a kernel that this device cannot run, is ignored and logged. A line that
 * cannot be read is refused (PARSE) with its number, before anything is compiled. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCompilePipelines(VkgemmContext context, const char* keys, VkgemmError* error);

/* Destroys the pipelines that no plan uses; *destroyed is their number, and may be NULL. A plan that is not compiled
 * yet uses none. Those of a plan that was destroyed may go only when the command buffers that were recorded with it
 * have ended, as vkgemmDestroyPlan demands anyhow. Any thread, also while plans are made, compiled and destroyed. */
VKGEMM_API VkgemmResult vkgemmTrimPipelines(VkgemmContext context, uint32_t* destroyed);

/* ----------------------------------------------------------------------------------------------------
 * What a run touches, and how much workspace a program needs
 * ---------------------------------------------------------------------------------------------------- */

/* One operand of one run, in the words of synchronization2, for a render graph or a VkBufferMemoryBarrier2. Never
 * changes. */
typedef struct VkgemmRunAccess {
    VkgemmSlot slot;
    uint32_t reserved;           /* 0 */
    VkPipelineStageFlags2 stage; /* always VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT */
    VkAccessFlags2 access;       /* VK_ACCESS_2_SHADER_STORAGE_READ_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT or both */
    VkBuffer buffer;             /* of the operand; VK_NULL_HANDLE if the run states its address */
    VkDeviceSize offset;         /* of the first byte in `buffer`; 0 without one */
    VkDeviceSize size;           /* bytes from there on that may be touched */
    VkDeviceAddress address;     /* of the first byte, if VkgemmPlanInfo::usesAddresses; otherwise 0 */
} VkgemmRunAccess;

/* What vkgemmRecord would read and write with this run: its sizes, and only what its factors leave to be read. If alpha
 * is 0 (VKGEMM_RECORD_ZERO_ALPHA), A and B are left out; if beta is 0, so is C, and D that is C is written only. C and
 * the residual have entries of their own also if they are D. Nothing is touched outside [offset, offset + size).
 *
 * The run is refused as vkgemmCheckRun refuses it. accesses may be NULL; count is as in vkgemmGetPlanAccesses. The plan
 * may be dry, or not compiled yet. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetRunAccesses(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count,
                                             VkgemmRunAccess* accesses, VkgemmError* error);

/* The largest workspace that a plan for any of the problems needs with these options: the size of one buffer that all
 * of them can share, with a barrier between two runs. Its offset in the buffer is a multiple of the device's
 * minStorageBufferOffsetAlignment and of 16. Compiles nothing. A refusal names the problem: "problems[2]: ...".
 * options and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmQueryWorkspace(VkgemmContext context, const VkgemmProblem* problems,
                                             uint32_t problemCount, const VkgemmPlanOptions* options, uint64_t* bytes,
                                             VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * A run in parts, for frames that must not wait and for watchdogs
 * ---------------------------------------------------------------------------------------------------- */

/* The dispatches of this run: what vkgemmRecord would record. They depend on its sizes, and on
 * VkgemmPlanOptions::dispatchSeconds. The run is refused as vkgemmCheckRun refuses it. The plan may be dry, or not
 * compiled yet. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCountDispatches(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count,
                                              VkgemmError* error);

/* Records `count` of those dispatches, or as many as are left, from number `first` on; else as vkgemmRecord, which
 * records all. A run whose dispatches are recorded in their order, by any number of calls with the same run, into
 * command buffers that are submitted to one queue in that order, gives D the same bits as one call. Until the last one
 * has ended, D is incomplete, and operands and workspace must stay as they are.
 *
 * VKGEMM_RECORD_BARRIER_BEFORE takes effect with dispatch 0 only, VKGEMM_RECORD_BARRIER_AFTER with the last one only.
 * A barrier between passes is recorded by the call that records the first dispatch of the later one.
 * VkgemmContextInfo::recorded is called only if one call records the whole run. INVALID_ARGUMENT if `first` is not
 * below the number of dispatches (0 is allowed of a run without any). */
VKGEMM_API VkgemmResult vkgemmRecordDispatches(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                               uint32_t first, uint32_t count, VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
