/* SPDX-License-Identifier: MIT
 *
 * For engines, which decide when a pipeline is compiled. Included by vkgemm.h, whose general rules hold here too.
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

#ifdef __cplusplus
}
#endif
#endif
