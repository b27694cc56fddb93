/* SPDX-License-Identifier: MIT
 *
 * vkgemm: matrix multiplication for Vulkan, recorded into your own command buffer.
 *
 *     D = epilogue(alpha * op(A) * op(B) + beta * C)         for each of `batch` matrices
 *
 * Include this file to get the whole C API. docs/embedding.md walks through it with code. Its parts:
 *
 *   problem.h   VkgemmProblem: what to compute. VkgemmResult and VkgemmError: how a call ended
 *   context.h   vkgemmQueryNeeds: which extensions and features to enable before vkCreateDevice.
 *               vkgemmCreateContext: borrows your VkDevice
 *   plan.h      vkgemmCreatePlan: checks a problem, chooses a kernel and compiles it (the slow call).
 *               vkgemmRecord: adds the work to your command buffer, as often as you like, from any thread
 *   chain.h     VkgemmChain: several products in a row, where D of one is A of the next, as one object
 *   groups.h    VkgemmGroupReport: which groups of a table a run computed, and why it skipped others
 *   engine.h    control over when pipelines compile, which ranges a run touches, and how long a dispatch takes
 *   debug.h     the barriers that a frame lacks, and a run as a file that the tool repeats
 *   explain.h   kernels, tiles, device properties, and the choice of a kernel, all as data
 *   native.h    whether plans may choose kernels in machine code
 *   tables.h    the rows of the element types and of the steps of an epilogue
 *
 * General rules:
 *   - vkgemm creates no queue, submits nothing, allocates no device memory, never prints, never aborts, and keeps no
 *     mutable global state. vkgemmCreateContext reads two environment variables, VKGEMM_KERNEL and VKGEMM_NATIVE,
 *     unless VKGEMM_CONTEXT_IGNORE_ENVIRONMENT is set.
 *   - No call raises a floating-point exception on your thread, whatever the driver does: the traps and flags of fenv.h
 *     are afterwards what they were before. During the call, your callbacks included, nothing traps.
 *   - You keep every handle that you pass in: vkgemm never destroys one. Destroy objects in this order: plans, their
 *     context, the device. Before you destroy a plan, wait for the command buffers that were recorded with it.
 *   - Every failure has a code. If you pass a VkgemmError, the call writes a sentence to it: the wrong value, the limit
 *     and what would work.
 *   - vkgemm reads input structs, and the strings and arrays that they point to, only during the call, unless the
 *     comment of a field states otherwise.
 *   - A pointer may be NULL only if its comment allows it. Any other NULL is refused (INVALID_ARGUMENT).
 *   - "Any thread" means that several threads may call the function at the same time, with the same context or plan.
 *   - Sizes, strides and leading dimensions count elements. Names that end in Offset, Size or Bytes count bytes.
 *   - Codes are written without their prefix: INVALID_ARGUMENT is VKGEMM_ERROR_INVALID_ARGUMENT.
 *   - The headers include vulkan_core.h. If you use volk, define VK_NO_PROTOTYPES first.
 *
 * How structs grow without breaking your program:
 *   - Input and output structs begin with structSize. Set it to sizeof the struct and zero-initialise the rest: 0 is
 *     the default of every other field. Later versions add fields only at the end of a struct.
 *   - If your program is older than the library, its structs are smaller. Missing input fields have their defaults,
 *     and an output struct is filled as far as it reaches.
 *   - If your program is newer than the library, its structs are larger. The call succeeds if the fields that the
 *     library lacks are 0; otherwise the call is refused (INVALID_ARGUMENT), and the text states both sizes. Output
 *     fields that the library lacks are set to 0.
 *   - All structs of one array must have the same structSize, which is also the distance in bytes from one to the next.
 *   - Input structs have a pNext for extensions. Every struct in such a chain begins with a VkgemmChainHeader. This
 *     version defines no such struct, so it refuses every chain (INVALID_ARGUMENT, with the type in the text).
 *   - Some structs have no structSize, because their size never changes. The comment of such a struct states this.
 */
#ifndef VKGEMM_H
#define VKGEMM_H

#define VKGEMM_VERSION_MAJOR 0
#define VKGEMM_VERSION_MINOR 2
#define VKGEMM_VERSION_PATCH 0
#define VKGEMM_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define VKGEMM_VERSION VKGEMM_MAKE_VERSION(VKGEMM_VERSION_MAJOR, VKGEMM_VERSION_MINOR, VKGEMM_VERSION_PATCH)

#include <vkgemm/chain.h>
#include <vkgemm/context.h>
#include <vkgemm/debug.h>
#include <vkgemm/engine.h>
#include <vkgemm/explain.h>
#include <vkgemm/native.h>
#include <vkgemm/plan.h>
#include <vkgemm/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the linked library, encoded as by VKGEMM_MAKE_VERSION. Any thread. */
VKGEMM_API uint32_t vkgemmVersion(void);

#ifdef __cplusplus
}
#endif
#endif
