/* SPDX-License-Identifier: MIT
 *
 * The plan, which computes one problem, and recording it into a command buffer. Part of vkgemm.h, whose general rules
 * hold here too.
 */
#ifndef VKGEMM_PLAN_H
#define VKGEMM_PLAN_H

#include <vkgemm/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * The plan. It does not change after it was created, except that vkgemmCompilePlan compiles its pipelines.
 * ---------------------------------------------------------------------------------------------------- */

typedef enum VkgemmPlanFlagBits {
    VKGEMM_PLAN_CAPTURE_STATISTICS = 1, /* create pipelines with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR and
                                           ..._CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR; needs pipelineExecutableInfo */
    VKGEMM_PLAN_DRY = 2,          /* a dry plan: it compiles nothing and cannot be recorded, but it reports sizes and
                                     accesses and checks runs */
    VKGEMM_PLAN_IGNORE_TUNED = 4, /* ignore tuned rows: the cost model chooses */
    /* Do not compile yet. The plan can be recorded after vkgemmCompilePlan (engine.h), or at once if the context has
     * all of its pipelines already. */
    VKGEMM_PLAN_DEFER_COMPILE = 8,
    /* Refuse the plan (NOT_COMPILED) if the context lacks one of its pipelines. Set at most one of DRY, DEFER_COMPILE
     * and FAIL_ON_COMPILE. */
    VKGEMM_PLAN_FAIL_ON_COMPILE = 16,
    VKGEMM_PLAN_NO_NATIVE = 32, /* choose among the shaders only, as on a device without native kernels */
    VKGEMM_PLAN_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmPlanFlagBits;

typedef struct VkgemmPlanOptions {
    uint32_t structSize;
    uint32_t flags; /* VkgemmPlanFlagBits */
    const void* pNext;

    /* NULL: the nearest tuned row chooses the kernel; if no row is near, the cost model does. A name forces that
     * kernel; if it cannot compute the problem, the plan is refused with the reason. The environment variable
     * VKGEMM_KERNEL forces a kernel on plans that name none; if that kernel cannot compute the problem, the usual
     * choice is used (FALLBACK_USED). */
    const char* kernel;

    /* May be NULL. Replaces constants of the kernel's tile: "BM=128,BN=64". Every rule of the family is checked. */
    const char* tile;

    VkgemmOperandKind operands;

    /* A promise about the offset (or address) of every matrix operand: it is a multiple of this many bytes. A power of
     * two, at most 2^20. 0 means 16, which allows the fastest kernels. Values below the element size are raised to
     * it. */
    uint32_t operandAlignment;

    /* The largest workspace that you are willing to provide, in bytes; 0: none. A workspace makes two kinds of product
     * faster: with a small D and a long K, K can be split among work groups (64 MiB is plenty); and if A or B cannot
     * be read in chunks of 16 bytes, it can be copied into a better layout first (which takes slightly more than its
     * size). VkgemmPlanInfo::requiredBytes[VKGEMM_SLOT_WORKSPACE] is the size that the plan needs. */
    uint64_t workspaceLimit;

    /* The longest time that one dispatch should take, in seconds: for example 0.5 for a watchdog of 2 s, or 0.004
     * beside a frame. 0: no limit. A pass that is estimated to take longer is recorded as several dispatches, each of
     * which runs a part of the work groups; D has the same bits. A work group is never divided, and a pass has at most
     * 4096 dispatches. vkgemmRecordDispatches (engine.h) spreads them over frames. */
    double dispatchSeconds;

    /* The measured time of a run at the largest sizes, in seconds. It replaces the estimate behind dispatchSeconds. 0:
     * use the estimate, which is too high on most devices and then causes more dispatches than necessary. */
    double runSeconds;
} VkgemmPlanOptions;

/* Checks whether vkgemmCreatePlan would accept options->kernel (required). Compiles nothing. On refusal, error->text
 * has every reason. If problem is NULL, only the kernel, its tile and the device are checked, and nothing that depends
 * on sizes and types. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem,
                                          const VkgemmPlanOptions* options, VkgemmError* error);

/* Checks the problem, chooses a kernel, and compiles its pipelines. FALLBACK_USED: the plan was created, but not with
 * the kernel that VKGEMM_KERNEL names. *plan is NULL on failure. options and error may be NULL. Any thread. If two
 * threads need the same pipeline, one compiles it and the other waits.
 *
 * Plans of a context share pipelines. There is one pipeline for each combination of kernel, tile and the constants that
 * the problem sets (layout, alignment, edges, epilogue). Sizes, factors and the bounds of a clamp are arguments, so new
 * values need no new pipeline. Pipelines live until the context is destroyed, or until vkgemmTrimPipelines. */
VKGEMM_API VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem,
                                         const VkgemmPlanOptions* options, VkgemmPlan* plan, VkgemmError* error);

/* Makes the plan that packs A or B for `product`, a plan whose packedA or packedB is not VKGEMM_PACKED_NONE. If an
 * operand stays the same, as weights do, pack it once: every product that reads it then records one pass less and
 * touches less memory.
 *
 *   1. Create the product's plan with packedB = VKGEMM_PACKED_ANY. VkgemmPlanInfo::packedB is the key of the layout
 *      that it reads.
 *   2. Call vkgemmCreatePack(plan, VKGEMM_SLOT_B, ...). VkgemmPlanInfo::requiredBytes of the result has the sizes of
 *      both matrices. Record it with b = the matrix as the problem describes it, d = the place for the packed matrix,
 *      alpha 1, beta 0, and no other operand. The flags work as for any plan.
 *   3. Record the product with b = the packed matrix. Plans for other sizes of A can read it too: create them with
 *      packedB = the key. A plan whose kernels read another layout is refused (UNSUPPORTED).
 *
 * The key covers everything that the bytes depend on: the layout, the size and type of the operand, the version of
 * vkgemm and, if the matrix units define the order of elements, the device and its driver. You can therefore keep
 * packed bytes in a file, together with their key.
 *
 * INVALID_ARGUMENT if `slot` is neither A nor B, or if that operand is not packed in `product`. The pack has the flags
 * of the product's plan, so the pack of a dry plan is dry. *pack is NULL on failure. error may be NULL. Any thread.
 * Destroy the pack like any plan; it may outlive `product`. */
VKGEMM_API VkgemmResult vkgemmCreatePack(VkgemmPlan product, VkgemmSlot slot, VkgemmPlan* pack, VkgemmError* error);

/* Wait first for every command buffer that was recorded with the plan. The context keeps the plan's pipelines. plan may
 * be NULL. Any thread, but no other thread may use the plan. */
VKGEMM_API void vkgemmDestroyPlan(VkgemmPlan plan);

/* The pointers are valid as long as the plan. If the problem has upTo, the values are for its largest sizes, unless
 * stated otherwise. */
typedef struct VkgemmPlanInfo {
    uint32_t structSize;
    uint32_t slotCount;            /* entries of requiredBytes */
    const char* kernel;            /* "" if the product is empty */
    const char* tile;              /* as in VkgemmKernelInfo */
    const uint64_t* requiredBytes; /* indexed by VkgemmSlot: the bytes that each operand needs from its offset on; 0:
                                      unused. The workspace is large enough for every run */
    uint64_t workspaceAlignment;   /* of the workspace's offset, in bytes */
    uint32_t operandAlignment; /* of the offsets of matrix operands, in bytes: what you promised, at least the element
                                  size. A packed operand always needs 16 */
    uint32_t usesAddresses;    /* 1: the shader reads operands through device addresses */
    uint32_t dispatchCount;    /* vkCmdDispatch calls of one recording: one for the product, one for each operand that
                                  it packs, one if it adds slices of K; several for each of these if dispatchSeconds or
                                  the size of the operands requires it. vkgemmCountDispatches (engine.h) counts those
                                  of a run, and vkgemmExplain has the kernels of smaller sizes */
    double flops;              /* 2 m n k, summed over all products */
    double errorBound;         /* |D - exact| <= errorBound * max|A| * max|B| * |alpha|, before beta C and the
                                  epilogue, if the device rounds to nearest and nothing underflows. 0 for integers (if
                                  D is i8: before the result is rounded to i8). Infinity if k is too large for any
                                  guarantee in the accumulator's type */
    double predictedCost;      /* of the cost model; only comparable for the same problem on the same device */
    uint64_t packedA, packedB; /* the keys of the layouts in which A and B must be packed; VKGEMM_PACKED_NONE: as the
                                  problem describes them */
    uint32_t pipelineCount;    /* different pipelines that the plan needs, for all sizes */
    uint32_t missingPipelines; /* how many of them the context has not compiled; also reported for a dry plan */
} VkgemmPlanInfo;

/* Fails only for a bad argument (INVALID_ARGUMENT). Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanInfo(VkgemmPlan plan, VkgemmPlanInfo* info);

/* An operand that recording the plan reads or writes, for a render graph or for your own barriers. The flags have the
 * same meaning in synchronization2. The size of this struct never changes. */
typedef struct VkgemmAccess {
    VkgemmSlot slot;
    VkPipelineStageFlags stage; /* always VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT */
    VkAccessFlags access;       /* VK_ACCESS_SHADER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT or both */
    VkDeviceSize size;          /* bytes, from the operand's offset */
} VkgemmAccess;

/* Lists the operands that any run of the plan may read or write; vkgemmGetRunAccesses (engine.h) does so for one run.
 * If C is D, one entry for D has both accesses.
 *
 * *count: on input the entries at `accesses`, on output the number of accesses, at most VkgemmPlanInfo::slotCount.
 * accesses may be NULL, to ask for the number. INCOMPLETE if not all entries fit. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanAccesses(VkgemmPlan plan, uint32_t* count, VkgemmAccess* accesses);

/* The pipelines of the plan's dispatches, in order, for VK_KHR_pipeline_executable_properties or a debugger. The
 * context owns them. An empty product, or a plan that is not compiled, has none. pipelines may be NULL; count is as in
 * vkgemmGetPlanAccesses. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanPipelines(VkgemmPlan plan, uint32_t* count, VkPipeline* pipelines);

/* Writes as text why vkgemmCreatePlan chooses its kernel: the kernel with its tile and cost; the tuned row that
 * decided, or why a near row or VKGEMM_KERNEL was not followed; then, one a line, every other built-in kernel with its
 * cost or the reason against it. Compiles nothing.
 *
 * If no kernel can compute the problem, the text explains that (SUCCESS). A problem or options that are invalid are
 * refused. text and size are as in vkgemmFormatProblem. options and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem,
                                      const VkgemmPlanOptions* options, char* text, size_t* size, VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Recording
 * ---------------------------------------------------------------------------------------------------- */

/* The place of one operand. Which members to set depends on VkgemmPlanOptions::operands, in the same way on every
 * device; anything else is refused (OPERAND):
 *   VKGEMM_OPERANDS_BUFFERS     buffer and offset; address must be 0
 *   VKGEMM_OPERANDS_ADDRESSES   either buffer and offset, or an address, to which offset is added
 * The size of this struct never changes. */
typedef struct VkgemmOperand {
    VkBuffer buffer;         /* needs VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, and also ..._SHADER_DEVICE_ADDRESS_BIT if
                                VkgemmPlanInfo::usesAddresses is 1. Vulkan does not report a buffer's usage. If the
                                second bit is missing and the driver returns address 0, the run is refused; otherwise
                                only the validation layer can find the mistake */
    VkDeviceSize offset;     /* bytes. For matrices a multiple of VkgemmPlanInfo::operandAlignment, for the workspace of
                                workspaceAlignment, for bias and scale of the element size */
    VkDeviceSize size;       /* bytes that the operand may use from offset on; 0: not stated and not checked */
    VkDeviceAddress address; /* 0: not given */
} VkgemmOperand;

typedef enum VkgemmRecordFlagBits {
    VKGEMM_RECORD_BARRIER_BEFORE = 1, /* record a barrier that makes all earlier work on the queue visible to the run */
    VKGEMM_RECORD_BARRIER_AFTER = 2,  /* record a barrier that makes D visible to all later work on the queue. Reads by
                                         the host need your own barrier to VK_PIPELINE_STAGE_HOST_BIT */
    VKGEMM_RECORD_ZERO_ALPHA = 4,     /* alpha is 0 and means 0: the product is skipped */
    VKGEMM_RECORD_SIZES = 8,          /* the run states its own m, n, k and batch; 0 means 0 */
    VKGEMM_RECORD_STRIDES = 16,       /* the run states its own strides; upTo must have VKGEMM_UP_TO_STRIDES */
    VKGEMM_RECORD_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmRecordFlagBits;

/* One run of a plan: its operands, factors and, if they vary, sizes and strides.
 *
 * Overlap. No operand may overlap D or the workspace, with two exceptions: C and the residual may be exactly D (same
 * start, leading dimension, stride and layout). Rows of two operands may interleave, as sub-matrices of one buffer do,
 * if both have the same leading dimension in bytes. The check compares buffer handles, or addresses if
 * VkgemmPlanInfo::usesAddresses is 1, so it does not detect two buffers that are bound to the same memory. Within one
 * buffer it finds every overlap. It also refuses some interleavings that share no element.
 *
 * Workspace. Two runs that use the same workspace need a barrier between them: BARRIER_BEFORE of the second run,
 * BARRIER_AFTER of the first, or your own. On two queues they need a semaphore.
 *
 * Factors. If sums are f64, alpha and beta are used as they are. For other floating-point sums they are rounded to the
 * nearest f32. A finite value that would become infinite there (1e300), and a nonzero value that would become 0
 * (1e-60), are refused (INVALID_ARGUMENT); infinities and NaN are accepted and propagate. For integer sums alpha and
 * beta must be whole numbers of 32 bits. */
typedef struct VkgemmRun {
    uint32_t structSize;
    uint32_t flags; /* VkgemmRecordFlagBits */
    const void* pNext;
    VkgemmOperand a, b, c, d;                       /* c only for VKGEMM_C_SEPARATE */
    VkgemmOperand bias, scale, residual, workspace; /* if VkgemmPlanInfo::requiredBytes is not 0 for them */
    double alpha; /* 0 means 1, so that a forgotten alpha has no effect. For a true 0 also set
                     VKGEMM_RECORD_ZERO_ALPHA; A and B are then not read, but must be given */
    double beta;  /* 0: C is not read and may hold NaN. Must be 0 if the problem has no C */
    /* The sizes of this run, with VKGEMM_RECORD_SIZES; otherwise 0. If upTo has the size, at most the problem's
     * (LIMIT); if not, equal to the problem's (INVALID_ARGUMENT). Operands need the bytes of these sizes. If m, n or
     * batch is 0, only the barriers that `flags` asks for are recorded, and no operand is needed. */
    uint64_t m, n, k, batch;
    /* `groups` is an array of `batch` VkgemmGroup, with grouping TABLE, INDEXED and ADDRESSES. `indices` is an array of
     * uint32_t, with INDEXED and SELECTED. Both begin at multiples of 4 bytes. With TABLE and INDEXED, the `size` of a
     * matrix operand limits what the groups may use, from its `offset` on; if it is 0, the limit is what the problem's
     * batch would use with its strides. With a table, the workspace must be given as a buffer, which also needs
     * VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT. */
    VkgemmOperand groups, indices;
    VkgemmOperand scalars;    /* a VkgemmScalars, if VkgemmProblem::scalars is not 0 */
    VkgemmRunStrides strides; /* with VKGEMM_RECORD_STRIDES; otherwise 0 (INVALID_ARGUMENT) */
} VkgemmRun;

/* Checks a run without recording it. If the plan is compiled and not dry, SUCCESS means that vkgemmRecord accepts the
 * run; other plans are checked too. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error);

/* Adds the plan's dispatches to `commandBuffer`, which must be in the recording state, outside a render pass, and for a
 * queue family with compute. It submits nothing, takes no lock and, unless VkgemmContextInfo::recorded is set,
 * allocates nothing when it succeeds. error may be NULL. Any thread: several threads may record one plan at the same
 * time, into different command buffers.
 *
 * Refused, with nothing recorded: a run that vkgemmCheckRun refuses, a dry plan, a plan that is not compiled
 * (NOT_COMPILED), and a NULL commandBuffer. Every other run succeeds.
 *
 * Changes this state of the command buffer: the compute pipeline; the push constants of all stages; and, unless
 * VkgemmPlanInfo::usesAddresses is 1, all descriptor sets of the compute bind point. Bind yours again before you use
 * them. The graphics pipeline, its descriptor sets and all dynamic state are unchanged.
 *
 * Barriers between the plan's own dispatches are always recorded. Barriers before and after them are recorded only if
 * `flags` asks for them. If the instance has VK_EXT_debug_utils, a label with the problem and the kernel encloses the
 * dispatches. */
VKGEMM_API VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                     VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
