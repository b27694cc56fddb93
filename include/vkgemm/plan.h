/* SPDX-License-Identifier: MIT
 *
 * The plan, which computes one problem, and how to record it into a command buffer. This header is part of vkgemm.h,
 * and the general rules there hold here too.
 */
#ifndef VKGEMM_PLAN_H
#define VKGEMM_PLAN_H

#include <vkgemm/context.h>
#include <vkgemm/groups.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * The plan. After its creation a plan never changes, except that vkgemmCompilePlan compiles its pipelines.
 * ---------------------------------------------------------------------------------------------------- */

typedef enum VkgemmPlanFlagBits {
    VKGEMM_PLAN_CAPTURE_STATISTICS = 1, /* create pipelines with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR and
                                           ..._CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR; needs pipelineExecutableInfo */
    VKGEMM_PLAN_DRY = 2,          /* a dry plan: it compiles nothing and cannot be recorded, but it reports sizes and
                                     accesses and checks runs */
    VKGEMM_PLAN_IGNORE_TUNED = 4, /* ignore tuned rows: the cost model chooses */
    /* Do not compile yet. You can record the plan after vkgemmCompilePlan (engine.h), or at once if the context already
     * has all pipelines of the plan. */
    VKGEMM_PLAN_DEFER_COMPILE = 8,
    /* Refuse the plan (NOT_COMPILED) if the context lacks one of its pipelines. Set at most one of DRY, DEFER_COMPILE
     * and FAIL_ON_COMPILE. */
    VKGEMM_PLAN_FAIL_ON_COMPILE = 16,
    VKGEMM_PLAN_NO_NATIVE = 32, /* choose among the shaders only, as on a device without native kernels */
    /* Each run also counts the indices that it skips, in its VkgemmGroupReport (groups.h): with INDEXED in the dispatch
     * that checks the table, with SELECTED in one of its own, for which the plan needs a workspace. It has no effect on
     * problems without indices. */
    VKGEMM_PLAN_COUNT_INDICES = 64,
    VKGEMM_PLAN_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmPlanFlagBits;

typedef struct VkgemmPlanOptions {
    uint32_t structSize;
    uint32_t flags; /* VkgemmPlanFlagBits */
    const void* pNext;

    /* The name of the kernel to use. If that kernel cannot compute the problem, the plan is refused with the reason.
     * NULL: the nearest tuned row (VkgemmContextInfo::tunedRows) chooses the kernel, or the cost model if no row is
     * near. The environment variable VKGEMM_KERNEL forces a kernel on plans that name none. If that kernel cannot
     * compute the problem, vkgemm makes its usual choice (FALLBACK_USED).
     * "FIRST+SECOND" computes a pair as two products, A * B2 by FIRST and A * B by SECOND. Other problems and sizes
     * that vary are then refused (UNSUPPORTED). */
    const char* kernel;

    /* May be NULL. Replaces constants of the kernel's tile: "BM=128,BN=64" (docs/kernels.md). If the tile breaks a rule
     * of the kernel's family, the plan is refused (TILE). For two kernels it is
     * "FIRST+SECOND" too, and either part may be empty. */
    const char* tile;

    VkgemmOperandKind operands;

    /* You promise that the offset (or address) of every matrix operand is a multiple of this many bytes. A run that
     * breaks the promise is refused (OPERAND). The value is a power of two, at most 2^20. 0 means 16, which allows the
     * fastest kernels. A value below the element size counts as the element size. */
    uint32_t operandAlignment;

    /* The largest workspace that you are willing to provide, in bytes; 0: none. Runs that write a VkgemmGroupReport
     * need a small one at any limit. A workspace makes two kinds of product faster. If D is small and k is large, work
     * groups can share the sum over k (64 MiB is plenty). If vkgemm cannot read A or B in chunks of 16 bytes, it can
     * first copy that operand into a better layout (the copy is slightly larger than the operand). The plan may need
     * less: VkgemmPlanInfo::requiredBytes[VKGEMM_SLOT_WORKSPACE] is the size that it needs. */
    uint64_t workspaceLimit;

    /* The longest time that one dispatch should take, in seconds: for example 0.5 for a watchdog of 2 s, or 0.004
     * beside a frame. 0: no limit. If the estimated time of a pass (packing A or B, the product, or adding slices of K)
     * is longer, the pass is recorded as several dispatches, each with a part of the work groups. The bits of D do not
     * change. vkgemm never divides a work group, and a pass has at most 4096 dispatches. A plan with such a limit has
     * no native kernels (native.h). vkgemmRecordDispatches (engine.h) spreads the dispatches over frames. */
    double dispatchSeconds;

    /* The measured time of a run at the largest sizes, in seconds. With it, dispatchSeconds needs no estimate. 0: use
     * the estimate, which is too high on most devices and then causes more dispatches than necessary. */
    double runSeconds;
} VkgemmPlanOptions;

/* Checks whether vkgemmCreatePlan would accept options->kernel (required). Compiles nothing. On refusal, error->text
 * has every reason. If problem is NULL, the call checks only the kernel and its tile on this device, and nothing that
 * depends on sizes or types. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem,
                                          const VkgemmPlanOptions* options, VkgemmError* error);

/* Checks the problem, chooses a kernel, and compiles its pipelines. FALLBACK_USED: the plan was created, but not with
 * the kernel that VKGEMM_KERNEL names. *plan is NULL on failure. options and error may be NULL. Any thread. If two
 * threads need the same pipeline, one compiles it and the other waits.
 *
 * Plans of a context share pipelines. There is one pipeline for each combination of kernel, tile and the constants that
 * the problem sets (layout, alignment, whether D is divided into whole tiles, epilogue). Sizes, factors and the bounds
 * of a clamp are arguments, so new values need no new pipeline. The context owns the pipelines until it is destroyed,
 * or until vkgemmTrimPipelines destroys those that no plan uses. */
VKGEMM_API VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem,
                                         const VkgemmPlanOptions* options, VkgemmPlan* plan, VkgemmError* error);

/* Makes the plan that packs A or B for `product`, a plan whose packedA or packedB is not VKGEMM_PACKED_NONE. If an
 * operand stays the same, as weights do, pack it once. The products that read it then skip a pass and touch less
 * memory.
 *
 *   1. Create the product's plan with packedB = VKGEMM_PACKED_ANY. VkgemmPlanInfo::packedB is the key of the layout
 *      that the product reads.
 *   2. Call vkgemmCreatePack(plan, VKGEMM_SLOT_B, ...). VkgemmPlanInfo::requiredBytes of the pack has the sizes of both
 *      matrices. Record the pack with b = the matrix as the problem describes it, d = the place for the packed matrix,
 *      alpha 1, beta 0, and no other operand. VkgemmRun::flags works as for any plan.
 *   3. Record the product with b = the packed matrix. Plans for other sizes of A can read the packed matrix too: create
 *      them with packedB = the key. If no kernel for such a plan reads this layout, the plan is refused (UNSUPPORTED).
 *
 * The key covers everything that the bytes depend on: the layout, the size and type of the operand, the version of
 * vkgemm and, if the matrix units define the order of elements, the device and its driver. You can therefore keep
 * packed bytes in a file, together with their key.
 *
 * INVALID_ARGUMENT if `slot` is neither A nor B, or if that operand is not packed in `product`. The pack has the flags
 * of the product's plan except VKGEMM_PLAN_CAPTURE_STATISTICS, so the pack of a dry plan is dry. *pack is NULL on
 * failure. error may be NULL. Any thread. Destroy the pack like any plan; it may outlive `product`. */
VKGEMM_API VkgemmResult vkgemmCreatePack(VkgemmPlan product, VkgemmSlot slot, VkgemmPlan* pack, VkgemmError* error);

/* First wait for every command buffer that was recorded with the plan. The context keeps the plan's pipelines. plan may
 * be NULL. Any thread, but no other thread may use the plan. */
VKGEMM_API void vkgemmDestroyPlan(VkgemmPlan plan);

/* The pointers are valid until the plan is destroyed; do not free them. If VkgemmProblem::upTo is not 0, the values are
 * those for the largest sizes, unless stated otherwise. */
typedef struct VkgemmPlanInfo {
    uint32_t structSize;
    uint32_t slotCount;            /* entries of requiredBytes */
    const char* kernel;            /* "" if the product is empty; of a pair that is two products, the second's, and
                                      vkgemmDescribeRun states both */
    const char* tile;              /* of that kernel, as in VkgemmKernelInfo */
    const uint64_t* requiredBytes; /* indexed by VkgemmSlot: the bytes that each operand needs from its offset on; 0:
                                      unused. The workspace is large enough for every run */
    uint64_t workspaceAlignment;   /* of the workspace's offset, in bytes */
    uint32_t operandAlignment; /* the largest alignment that the offset of a matrix operand needs, in bytes. An operand
                                  needs what you promised, and at least its element size; a C or residual that is read
                                  in words (problem.h) needs at least 4, and a packed operand always 16 */
    uint32_t usesAddresses;    /* 1: the shader reads operands through device addresses */
    uint32_t dispatchCount;    /* how many dispatches one recording has: one for the product, one for each operand that
                                  the plan packs, one to add slices of K if the plan splits K, one to check the
                                  table of groups if there is one, and one to count the indices of SELECTED if the plan
                                  does. dispatchSeconds or large
                                  operands can require several for each of these. vkgemmCountDispatches (engine.h)
                                  counts the dispatches of a run. vkgemmExplain has the kernels for smaller sizes */
    double flops;              /* 2 m n k, summed over all products */
    double errorBound;         /* |D - exact| <= errorBound * max|A| * max|B| * |alpha|, before beta C and the
                                  epilogue, if the device rounds to nearest and nothing underflows. 0 for integers (if
                                  D is i8: before the result is rounded to i8). Infinity if k is too large for any
                                  guarantee in the accumulator's type */
    double predictedCost;      /* by the cost model, in no fixed unit: compare it only for one problem on one device */
    uint64_t packedA, packedB; /* the keys of the layouts in which you must pack A and B; VKGEMM_PACKED_NONE: do not
                                  pack the operand, store it as the problem describes it */
    uint32_t pipelineCount;    /* different pipelines that the plan needs, for all sizes */
    uint32_t missingPipelines; /* how many of these the context has not compiled; also reported for a dry plan */
    /* With a table of groups, by slot from A to D: groups need leading dimensions and offsets (with ADDRESSES:
     * addresses) that are multiples of so many bytes. 0: groups have no such matrix */
    uint32_t groupAlignment[4];
    /* What more workspace than VkgemmPlanOptions::workspaceLimit would bring, by the cost model: a plan whose
     * workspaceLimit is usefulWorkspace bytes has the kernel usefulKernel and costs usefulGain times less. 0, "" and 1
     * if no workspace of at most 1 GiB is worth it. Computed by the first call for this plan, which takes about as long
     * as planning without compiling; a caller whose structSize ends before these fields does not pay for it */
    uint64_t usefulWorkspace;
    double usefulGain;
    const char* usefulKernel;
} VkgemmPlanInfo;

/* Fails for a bad argument (INVALID_ARGUMENT), or if usefulWorkspace is asked for and host memory runs out. Any
 * thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanInfo(VkgemmPlan plan, VkgemmPlanInfo* info);

/* An operand that runs of the plan read or write, for a render graph or for your own barriers. The flags have the same
 * meaning in synchronization2. The size of this struct never changes. */
typedef struct VkgemmAccess {
    VkgemmSlot slot;
    VkPipelineStageFlags stage; /* always VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT */
    VkAccessFlags access;       /* VK_ACCESS_SHADER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT or both */
    VkDeviceSize size;          /* bytes, from the operand's offset */
} VkgemmAccess;

/* Lists the operands that any run of the plan may read or write; vkgemmGetRunAccesses (engine.h) does so for one run.
 * If C is D, one entry for D has both accesses.
 *
 * On input, *count is the number of entries that `accesses` has room for. On output, it is the number of accesses, at
 * most VkgemmPlanInfo::slotCount, even if fewer fit (INCOMPLETE). To ask for the number only, pass NULL as accesses.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanAccesses(VkgemmPlan plan, uint32_t* count, VkgemmAccess* accesses);

/* The pipelines of the plan's dispatches, in order, for VK_KHR_pipeline_executable_properties or a debugger. The
 * context owns the pipelines; do not destroy them. An empty product, or a plan that is not compiled, has no pipelines.
 * pipelines may be NULL; count is as in vkgemmGetPlanAccesses. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanPipelines(VkgemmPlan plan, uint32_t* count, VkPipeline* pipelines);

/* Writes, as text, why vkgemmCreatePlan chooses its kernel. The text begins with the kernel, its tile and its cost.
 * Then it names the tuned row that decided, or states why a near row or VKGEMM_KERNEL was not followed. Then it lists
 * every other built-in kernel, one a line, with its cost or the reason why it cannot be used. Compiles nothing.
 *
 * If no kernel can compute the problem, the text explains that (SUCCESS). An invalid problem, or invalid options, are
 * refused. text and size are as in vkgemmFormatProblem. options and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem,
                                      const VkgemmPlanOptions* options, char* text, size_t* size, VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Recording
 * ---------------------------------------------------------------------------------------------------- */

/* The place of one operand. VkgemmPlanOptions::operands alone decides which members to set, whatever the device. Any
 * other combination is refused (OPERAND):
 *   VKGEMM_OPERANDS_BUFFERS     buffer and offset; address must be 0
 *   VKGEMM_OPERANDS_ADDRESSES   either buffer and offset, or an address, to which offset is added
 *   VKGEMM_OPERANDS_DESCRIPTORS as BUFFERS
 * The size of this struct never changes. */
typedef struct VkgemmOperand {
    VkBuffer buffer;         /* needs VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, and also ..._SHADER_DEVICE_ADDRESS_BIT if
                                VkgemmPlanInfo::usesAddresses is 1; its memory then needs
                                VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT. Vulkan does not report a buffer's usage. If the
                                second bit is missing and the driver returns address 0, the run is refused; otherwise
                                only the validation layers can find the mistake */
    VkDeviceSize offset;     /* in bytes. A multiple of VkgemmPlanInfo::operandAlignment suits every matrix. The
                                workspace needs a multiple of VkgemmPlanInfo::workspaceAlignment. Bias and scale need a
                                multiple of their element size, or of 4 if they are read in words (problem.h) */
    VkDeviceSize size;       /* bytes that the operand may use from offset on; 0: not stated and not checked */
    VkDeviceAddress address; /* 0: not given */
} VkgemmOperand;

/* As a size of a run with VKGEMM_RECORD_SIZES: that of the problem. */
#define VKGEMM_SIZE_OF_PROBLEM UINT64_MAX

typedef enum VkgemmRecordFlagBits {
    VKGEMM_RECORD_BARRIER_BEFORE = 1, /* record a barrier that makes all earlier work on the queue visible to the run */
    VKGEMM_RECORD_BARRIER_AFTER = 2,  /* record a barrier that makes D visible to all later work on the queue. Reads by
                                         the host need your own barrier to VK_PIPELINE_STAGE_HOST_BIT */
    VKGEMM_RECORD_ZERO_ALPHA = 4,     /* alpha, which must be 0, means 0: the product is skipped */
    VKGEMM_RECORD_SIZES = 8,          /* the run states its own m, n, k and batch; 0 means 0 */
    VKGEMM_RECORD_STRIDES = 16,       /* the run states its own strides; upTo must have VKGEMM_UP_TO_STRIDES */
    VKGEMM_RECORD_KEEP_STRIDES = 32,  /* with RECORD_STRIDES: a stride of the run that is 0 is the problem's; without
                                         this flag, it is dense for the sizes of the run */
    VKGEMM_RECORD_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmRecordFlagBits;

/* One run of a plan: its operands, factors and, if they vary, sizes and strides.
 *
 * Overlap. No operand may overlap D or the workspace, with two exceptions. First, C and the residual may be exactly D
 * (same start, leading dimension, stride and layout). Second, rows of two operands may interleave, as sub-matrices of
 * one buffer do, if both have the same leading dimension in bytes. vkgemm compares buffer handles, or addresses if
 * VkgemmPlanInfo::usesAddresses is 1, so it does not detect two buffers that are bound to the same memory. Within one
 * buffer it finds every overlap. It also refuses some interleavings that share no element.
 *
 * Workspace. If two runs use the same workspace, they need a barrier between them: BARRIER_AFTER of the first run,
 * BARRIER_BEFORE of the second, or a barrier of yours. On two queues, they need a semaphore.
 *
 * Factors. If sums are f64, alpha and beta are used as they are. If sums have another floating-point type, alpha and
 * beta are rounded to the nearest f32. A finite value that f32 would round to infinity (1e300), or a nonzero value that
 * it would round to 0 (1e-60), is refused (INVALID_ARGUMENT). Infinities and NaN are accepted and propagate. If sums
 * are integers, alpha and beta must be whole numbers of 32 bits. */
typedef struct VkgemmRun {
    uint32_t structSize;
    uint32_t flags; /* VkgemmRecordFlagBits */
    const void* pNext;
    /* Set the operands whose VkgemmPlanInfo::requiredBytes is not 0. All others, also those below, must be 0 (OPERAND),
     * except the workspace; A, B and B2 if k is 0; and all if m, n or batch of the problem is 0. */
    VkgemmOperand a, b, c, d;
    VkgemmOperand bias, scale, residual, workspace;
    double alpha; /* 0 means 1, so that a forgotten alpha has no effect. For a true 0 also set
                     VKGEMM_RECORD_ZERO_ALPHA; A and B are then not read, but must be given */
    double beta;  /* 0: C is not read and may hold NaN. Must be 0 if the problem has no C */
    /* The sizes of this run, with VKGEMM_RECORD_SIZES. Without that flag, leave all 0: they are the problem's, the
     * largest. With it, state all four: a size that you leave 0 is 0, and VKGEMM_SIZE_OF_PROBLEM is the problem's. A
     * size that VkgemmProblem::upTo names is at most the problem's (otherwise LIMIT). Any other size equals the
     * problem's (otherwise INVALID_ARGUMENT). Operands need only the bytes for these sizes. If m, n or batch is 0, the
     * run needs no operand, and records only the barriers that `flags` asks for. */
    uint64_t m, n, k, batch;
    /* The groupings TABLE, INDEXED and ADDRESSES read `groups`, an array of `batch` VkgemmGroup. INDEXED and SELECTED
     * read `indices`, an array of uint32_t. Both arrays begin at multiples of 4 bytes. With TABLE and INDEXED, groups
     * may use `size` bytes of a matrix operand from its `offset` on; if `size` is 0, they may use what the problem's
     * batch would use with its strides. With TABLE, INDEXED and ADDRESSES, the workspace must be given as a buffer, and
     * that buffer also needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT. The run writes a VkgemmGroupReport to its start;
     * with SELECTED it does so if the plan has VKGEMM_PLAN_COUNT_INDICES, and an address serves too. */
    VkgemmOperand groups, indices;
    VkgemmOperand scalars; /* a VkgemmScalars, if VkgemmProblem::scalars is not 0 */
    /* With VKGEMM_RECORD_STRIDES; without that flag, all must be 0 (INVALID_ARGUMENT). A 0 is dense for the sizes of
     * the run, or with VKGEMM_RECORD_KEEP_STRIDES the problem's stride. */
    VkgemmRunStrides strides;
    VkgemmOperand b2, bias2; /* of a pair */
} VkgemmRun;

/* Checks a run without recording it. You can also check runs of a plan that is dry or not compiled. For any other plan,
 * SUCCESS means that vkgemmRecord accepts the run. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error);

/* Checks a table of groups before the run, if the host has it: `groups` has groupCount elements, as many as the run has
 * groups. Fills *report with what the run will write to the beginning of its workspace (VkgemmGroupReport), except
 * skippedIndices. report and error may be NULL.
 *
 * SUCCESS: every group is computed as it is. INCOMPLETE: none is skipped, but at least one has a size above its bound,
 * or more indices than there are; nothing beyond is computed, and the error states the first. OPERAND: at least one is
 * skipped; the error states which group is the first, the value that breaks a rule, and what would work. *report is
 * filled in all three cases. INVALID_ARGUMENT: the plan has no table, or groupCount is another number. The run is
 * refused as by vkgemmCheckRun. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckGroups(VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups,
                                          uint32_t groupCount, VkgemmGroupReport* report, VkgemmError* error);

/* Checks lists of indices before the run, if the host has them. With INDEXED, indexCount is the number of indices that
 * the operand of the run has; the call does what vkgemmCheckGroups does, and also fills report->skippedIndices. With
 * SELECTED, indexCount is the batch of the run, there is no table (NULL and 0), and *report is what the run writes with
 * VKGEMM_PLAN_COUNT_INDICES.
 *
 * OPERAND: also if an index of a group that is computed has no row of D, or no matrix of B; the error states the first.
 * INVALID_ARGUMENT: the plan has no indices, or a count is another number. Everything else is as vkgemmCheckGroups has
 * it. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckIndices(VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups,
                                           uint32_t groupCount, const uint32_t* indices, uint32_t indexCount,
                                           VkgemmGroupReport* report, VkgemmError* error);

/* Adds the plan's dispatches to `commandBuffer`, which must be in the recording state, outside a render pass, and for a
 * queue family with compute. The call submits nothing and takes no lock. If it succeeds, it has allocated nothing,
 * unless VkgemmContextInfo::recorded is set. error may be NULL. Any thread: several threads may record one plan at the
 * same time, into different command buffers.
 *
 * Refused, with nothing recorded: a run that vkgemmCheckRun refuses, a dry plan, a plan that is not compiled
 * (NOT_COMPILED), and a NULL commandBuffer. Every other run succeeds.
 *
 * The call changes this state of the command buffer: the compute pipeline; the push constants of all stages; and,
 * unless VkgemmPlanInfo::usesAddresses is 1, all descriptor sets of the compute bind point. Set your own again before
 * you use them. The graphics pipeline, its descriptor sets and all dynamic state are unchanged.
 *
 * Barriers between the plan's own dispatches are always recorded. Barriers before and after them are recorded only if
 * `flags` asks for them; vkgemmFindHazards (debug.h) finds those that a frame lacks. If the instance has
 * VK_EXT_debug_utils, a label with the problem and the kernel encloses the dispatches. */
VKGEMM_API VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                     VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
