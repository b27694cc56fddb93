/* SPDX-License-Identifier: MIT
 *
 * Chains: several products in a row, where D of one is A of the next, as in a small neural network. This header is part
 * of vkgemm.h, and the general rules there hold here too. docs/chains.md walks through it with code.
 */
#ifndef VKGEMM_CHAIN_H
#define VKGEMM_CHAIN_H

#include <vkgemm/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VkgemmChain_T* VkgemmChain;

#define VKGEMM_MAX_CHAIN_PRODUCTS 32

/* What a chain computes. `problems` has one problem for each product, in order.
 *
 * The D of a product is the A of the next one. Leave `a` of every problem but the first zero: it then has the type,
 * layout and strides of that D. If you set `a`, it must be the same matrix. The sizes must meet: k of a product is n of
 * the one before, and m and batch are those of the first product. Everything else may differ from product to product:
 * types, layouts of B, epilogue, C, residual.
 *
 * If the GPU counts the rows, all problems have grouping TABLE, a batch of 1, and upTo M. The first run then brings one
 * VkgemmGroup as `groups`, whose m all products have, up to m of the problem or of the run. Its n, k and firstIndex are
 * not read. Leave its leading dimensions and offsets 0: with others, the values of every D are unspecified. Operands
 * have the bytes of the largest m, and no VkgemmGroupReport is promised.
 *
 * Each refusal names the product, counted from 0. INVALID_PROBLEM: two products do not meet. UNSUPPORTED: a product has
 * other groups, packed operands, an outer batch, ratios, or other varying sizes than m. If m varies (VKGEMM_UP_TO_M),
 * it must vary in all products. */
typedef struct VkgemmChainProblem {
    uint32_t structSize;
    uint32_t problemCount; /* 1 to VKGEMM_MAX_CHAIN_PRODUCTS (more: LIMIT) */
    const void* pNext;
    const VkgemmProblem* problems;
    uint32_t kept;  /* bit i: D of product i is an operand of the run, and later work may read it. Any other D exists
                       only inside the chain, and a run must leave it zero. The last D is always an operand */
    uint32_t flags; /* VkgemmChainFlagBits */
} VkgemmChainProblem;

typedef enum VkgemmChainFlagBits {
    VKGEMM_CHAIN_SEPARATE = 1, /* one plan for each product, even if one dispatch could compute all of them */
    VKGEMM_CHAIN_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmChainFlagBits;

/* Decides how to compute the chain, and compiles its pipelines. If the device has a kernel that takes rows through all
 * products, the chain is one dispatch. Otherwise it is one plan for each product, with barriers between them, and the
 * values of D that are not kept go to the workspace. In both ways each D is rounded to its type before the next
 * product reads it, within the same bounds; sums may be added in another order. vkgemmExplainChain has the reason.
 *
 * `options` are those of each product's plan. options->kernel and options->tile, and VKGEMM_KERNEL in the environment,
 * choose kernels of single products, so a chain with one of them is one plan for each product. workspaceLimit limits
 * what a product may use beside the values of D. The flags DEFER_COMPILE, FAIL_ON_COMPILE and CAPTURE_STATISTICS are
 * refused (UNSUPPORTED). *chain is NULL on failure. options and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCreateChain(VkgemmContext context, const VkgemmChainProblem* problem,
                                          const VkgemmPlanOptions* options, VkgemmChain* chain, VkgemmError* error);

/* First wait for every command buffer that was recorded with the chain. chain may be NULL. */
VKGEMM_API void vkgemmDestroyChain(VkgemmChain chain);

/* `kernel` is valid until the chain is destroyed. */
typedef struct VkgemmChainInfo {
    uint32_t structSize;
    uint32_t isOneDispatch;                      /* 1: one dispatch computes all products; 0: each has a plan */
    const char* kernel;                          /* of that one dispatch; otherwise "" */
    uint64_t workspaceBytes, workspaceAlignment; /* that every run needs; 0 bytes: none */
    double flops;                                /* 2 m n k, summed over all products */
    uint32_t dispatchCount;                      /* of a recording at the largest sizes */
    uint32_t usesAddresses;                      /* as in VkgemmPlanInfo */
} VkgemmChainInfo;

VKGEMM_API VkgemmResult vkgemmGetChainInfo(VkgemmChain chain, VkgemmChainInfo* info);

/* An operand of one product that runs of the chain read or write. The size of this struct never changes. */
typedef struct VkgemmChainAccess {
    uint32_t product; /* UINT32_MAX: the workspace of the chain */
    VkgemmAccess access;
} VkgemmChainAccess;

/* Lists the operands that runs must bring, by product and slot, and the workspace as the last one if there is one. The
 * D that a product passes to the next one is listed only where it is written, and only if it is kept. `count` is as in
 * vkgemmGetPlanAccesses. */
VKGEMM_API VkgemmResult vkgemmGetChainAccesses(VkgemmChain chain, uint32_t* count, VkgemmChainAccess* accesses);

/* One run of a chain.
 *
 * `runs` has one VkgemmRun for each product. In each of them leave zero: the workspace; `a` and `groups`, except in the
 * first one; and `d`, if it is not kept. Their flags may be VKGEMM_RECORD_SIZES and VKGEMM_RECORD_ZERO_ALPHA. If one of
 * them states sizes, all must, with the same m.
 *
 * No operand may overlap the workspace (WORKSPACE), nor a D of another product (OPERAND), because one dispatch computes
 * the products at the same time. */
typedef struct VkgemmChainRun {
    uint32_t structSize;
    uint32_t flags; /* VKGEMM_RECORD_BARRIER_BEFORE and VKGEMM_RECORD_BARRIER_AFTER */
    const void* pNext;
    const VkgemmRun* runs;
    uint64_t runCount;       /* as many as there are products */
    VkgemmOperand workspace; /* set it if VkgemmChainInfo::workspaceBytes is not 0; if the GPU counts the rows, as a
                                buffer that also has VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT */
} VkgemmChainRun;

/* Checks a run without recording it; also of a dry chain. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckChainRun(VkgemmChain chain, const VkgemmChainRun* run, VkgemmError* error);

/* Adds the chain's dispatches to `commandBuffer`, with the barriers between them. Rules, and the state of the command
 * buffer that changes, are as for vkgemmRecord. A run that is refused records nothing. VkgemmRecordedFn states
 * how chains are reported. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmRecordChain(VkgemmChain chain, VkCommandBuffer commandBuffer, const VkgemmChainRun* run,
                                          VkgemmError* error);

/* Writes, as text, what vkgemmCreateChain decides and why: the kernel of all products, or the reason against one
 * dispatch and then the kernel of each product. Compiles nothing. text and size are as in vkgemmFormatProblem. options
 * and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmExplainChain(VkgemmContext context, const VkgemmChainProblem* problem,
                                           const VkgemmPlanOptions* options, char* text, size_t* size,
                                           VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
