/* SPDX-License-Identifier: MIT
 *
 * Control for engines: when pipelines compile, which ranges a run touches, and how long a dispatch takes. Part of
 * vkgemm.h, whose general rules hold here too.
 */
#ifndef VKGEMM_ENGINE_H
#define VKGEMM_ENGINE_H

#include <vkgemm/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Pipelines, compiled ahead of time and on your own threads
 * ---------------------------------------------------------------------------------------------------- */

/* Compiles the missing pipelines of a plan that was created with VKGEMM_PLAN_DEFER_COMPILE. Afterwards the plan can be
 * recorded. SUCCESS at once if nothing is missing. On failure the plan is unchanged, and you may call again.
 * INVALID_ARGUMENT for a dry plan. error may be NULL. Any thread, also while other threads check, inspect or compile
 * the same plan. */
VKGEMM_API VkgemmResult vkgemmCompilePlan(VkgemmPlan plan, VkgemmError* error);

/* Writes the keys of the plan's pipelines as text, whether they are compiled or not: one key a line, each once. A key
 * states the version of vkgemm, the kernel, how operands reach it, and all constants:
 *
 *     0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 TRANS_B=1,ALIGNED=15,WHOLE=1
 *
 * Keep the lines in a file. On the next run, pass them to vkgemmCompilePipelines before any plan exists. text and size
 * are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanKeys(VkgemmPlan plan, char* text, size_t* size);

/* Writes the keys of all pipelines of the context, in alphabetical order, for example when a program ends. Pipelines
 * that capture statistics have no key. text and size are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPipelineKeys(VkgemmContext context, char* text, size_t* size);

/* Compiles the pipelines that `keys` lists: lines as above, in any order. '#' begins a comment, and a null ends the
 * text. Lines are independent of each other, so you may divide them among threads. A pipeline that exists is not
 * compiled again.
 *
 * A line that cannot be used is skipped: one that cannot be read (logged as a WARNING), and one of another version of
 * vkgemm or of a kernel that this device cannot run (logged as INFO). The message has the number of the line, the line
 * and the reason. The other lines are compiled, and the call succeeds. If the driver fails to compile a pipeline, the
 * call fails with the driver's reason. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCompilePipelines(VkgemmContext context, const char* keys, VkgemmError* error);

/* Checks whether vkgemmCompilePipelines would compile the line `key`. Compiles nothing. On refusal, the error has the
 * reason why the line would be skipped: PARSE if it cannot be read. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckPipelineKey(VkgemmContext context, const char* key, VkgemmError* error);

/* Destroys the pipelines that no plan and no chain uses. *destroyed receives their number, and may be NULL. A plan that
 * is not compiled uses no pipeline. Any thread, also while plans and chains are created, compiled and destroyed. As for
 * vkgemmDestroyPlan, command buffers that were recorded with destroyed plans and chains must have completed. */
VKGEMM_API VkgemmResult vkgemmTrimPipelines(VkgemmContext context, uint32_t* destroyed);

/* ----------------------------------------------------------------------------------------------------
 * The memory that a run touches, and the workspace of a program
 * ---------------------------------------------------------------------------------------------------- */

/* One operand of one run, as synchronization2 describes it: for a render graph or a VkBufferMemoryBarrier2. The size of
 * this struct never changes. */
typedef struct VkgemmRunAccess {
    VkgemmSlot slot;
    uint32_t reserved;           /* 0 */
    VkPipelineStageFlags2 stage; /* always VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT */
    VkAccessFlags2 access;       /* VK_ACCESS_2_SHADER_STORAGE_READ_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT or both */
    VkBuffer buffer;             /* VK_NULL_HANDLE if the run states an address */
    VkDeviceSize offset;         /* of the first byte in `buffer`; 0 without a buffer */
    VkDeviceSize size;           /* bytes from there on that the run may touch */
    VkDeviceAddress address;     /* of the first byte if VkgemmPlanInfo::usesAddresses is 1; otherwise 0 */
} VkgemmRunAccess;

/* Lists what vkgemmRecord would read and write with this run. Ranges are those of the run's sizes, and nothing outside
 * them is touched. Operands that the factors make unnecessary are left out: A and B if alpha is 0
 * (VKGEMM_RECORD_ZERO_ALPHA), and C if beta is 0. C and the residual have entries of their own even if they are D.
 *
 * The run is refused as by vkgemmCheckRun. accesses may be NULL; count is as in vkgemmGetPlanAccesses. The plan may be
 * dry or not compiled. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetRunAccesses(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count,
                                             VkgemmRunAccess* accesses, VkgemmError* error);

/* Computes the largest workspace that a plan for any of the problems needs with these options. One buffer of that size
 * serves all of them, with a barrier between two runs. If a problem has a table of groups, the buffer also needs
 * VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT. Its offset must be a multiple of the device's minStorageBufferOffsetAlignment
 * and of 16. Compiles nothing. A refusal names the problem: "problems[2]: ...". options and error may be NULL. Any
 * thread. */
VKGEMM_API VkgemmResult vkgemmQueryWorkspace(VkgemmContext context, const VkgemmProblem* problems,
                                             uint32_t problemCount, const VkgemmPlanOptions* options, uint64_t* bytes,
                                             VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * A run in parts, for frames that must not wait and for watchdogs
 * ---------------------------------------------------------------------------------------------------- */

/* Counts the dispatches that vkgemmRecord would record for this run. The number depends on the run's sizes and on
 * VkgemmPlanOptions::dispatchSeconds. The run is refused as by vkgemmCheckRun. The plan may be dry or not compiled.
 * error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCountDispatches(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count,
                                              VkgemmError* error);

/* Records `count` dispatches of the run (or as many as are left), beginning with dispatch `first`. Otherwise it works
 * like vkgemmRecord, which records all of them.
 *
 * Record the dispatches in order, each once, with the same run, by any number of calls, into command buffers that you
 * submit to one queue in that order. D then has the same bits as after one vkgemmRecord. Until the last dispatch has
 * completed, D is incomplete, and neither operands nor workspace may change.
 *
 * VKGEMM_RECORD_BARRIER_BEFORE takes effect only with dispatch 0, and VKGEMM_RECORD_BARRIER_AFTER only with the last
 * dispatch. A barrier between two passes is recorded before the first dispatch of the second pass.
 * VkgemmContextInfo::recorded is called only if one call records the whole run. INVALID_ARGUMENT if `first` is not
 * below the number of dispatches (0 is always allowed). */
VKGEMM_API VkgemmResult vkgemmRecordDispatches(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                               uint32_t first, uint32_t count, VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
