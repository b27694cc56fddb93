/* SPDX-License-Identifier: MIT
 *
 * What vkgemm knows and decides, as data: types, completed problems, kernels and their tiles, the device's limits,
 * every candidate for a problem with its cost or the reason against it, and the rows of tuning files. The tool is
 * written with these functions alone. Included by vkgemm.h, whose general rules hold here too.
 *
 * Nothing here touches the GPU: no function compiles a pipeline or allocates device memory.
 *
 * Every function may be called from any thread, but no other thread may use an object while it is destroyed.
 * INVALID_ARGUMENT if a structSize is wrong, a pointer is NULL that may not be, or an index is not below its count.
 */
#ifndef VKGEMM_EXPLAIN_H
#define VKGEMM_EXPLAIN_H

#include "vkgemm/vkgemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Types and problems
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmTypeInfo {
    uint32_t structSize;
    uint32_t bytes;   /* of a block of blockElements; of an element of a plain type */
    const char* name; /* "f16", as problems in text have it; static */
    uint32_t isFloat;
    uint32_t exactBits; /* every whole number from 0 to 2^exactBits - 1 is exact; of a floating-point type: the bits of
                           its significand, the implicit one included; of a block format: where its scales are 1 */
    uint32_t blockElements; /* neighbours along k that are stored together; 1 for a plain type */
    uint32_t alignment;     /* an operand of this type begins at a multiple of so many bytes */
} VkgemmTypeInfo;

/* Of any type but DEFAULT. */
VKGEMM_API VkgemmResult vkgemmGetTypeInfo(VkgemmType type, VkgemmTypeInfo* info);

/* Copies `problem` to `completed`, whose structSize is set, with every default filled in: types, leading dimensions,
 * batch strides. A matrix that all of the batch share, and every matrix if batch is 1, gets the stride
 * VKGEMM_BROADCAST. If C is D, `c` stays 0. Refused if the problem contradicts itself (INVALID_PROBLEM) or if its types
 * do not go together (UNSUPPORTED); the limits of vkgemm and of devices are not checked. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmCompleteProblem(const VkgemmProblem* problem, VkgemmProblem* completed,
                                              VkgemmError* error);

/* Checks the factors of a run as vkgemmRecord does and converts them to the accumulator's type. Here an *alpha of 0
 * means 0, as with VKGEMM_RECORD_ZERO_ALPHA. If *alpha is 0 afterwards, A and B are not read; if *beta is, C is not.
 * error may be NULL. */
VKGEMM_API VkgemmResult vkgemmConvertFactors(const VkgemmProblem* problem, double* alpha, double* beta,
                                             VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Kernels and tiles
 * ---------------------------------------------------------------------------------------------------- */

/* One built-in kernel: a row KERNEL of a rows.def. The strings live as long as the library is loaded. */
typedef struct VkgemmKernelInfo {
    uint32_t structSize;
    VkgemmType a, b, d,
        accumulate;     /* a and b DEFAULT: any types and block formats; E4M3: that or E5M2, each; d DEFAULT:
                                       f32, f16 or bf16, or, from sums of i32, i8 */
    uint32_t built;     /* 0: the shader compiler of this build could not compile it */
    uint32_t helper;    /* 1: it only prepares operands for another kernel, or adds up the slices of K; it cannot be
                           asked for by name */
    const char* name;   /* as in VkgemmPlanOptions::kernel */
    const char* family; /* "tiled" */
    const char* tile;   /* "WG=64,BM=8,BN=8,BK=8,TM=1,TN=1" */
    const char* needs;  /* device features by their names in src/plan/device/features.def, space-separated; "": none */
} VkgemmKernelInfo;

/* The number of built-in kernels, with those that were not built. Any thread. */
VKGEMM_API uint32_t vkgemmKernelCount(void);

/* INVALID_ARGUMENT if index >= vkgemmKernelCount(). Any thread. */
VKGEMM_API VkgemmResult vkgemmGetKernel(uint32_t index, VkgemmKernelInfo* kernel);

typedef enum VkgemmKernelRole {
    VKGEMM_KERNEL_PRODUCT = 0, /* multiplies; the only role that can be chosen or named */
    VKGEMM_KERNEL_REDUCER = 1, /* adds the slices of a split K */
    VKGEMM_KERNEL_PACKER = 2,  /* copies an operand to the workspace in another layout */
    VKGEMM_KERNEL_LISTER = 3,  /* turns a table of groups into work groups */
    VKGEMM_KERNEL_ROLE_MAX_ENUM = 0x7fffffff
} VkgemmKernelRole;

typedef struct VkgemmKernelTraits {
    uint32_t structSize;
    VkgemmKernelRole role;
    VkgemmAccuracy accuracy; /* it serves problems whose VkgemmProblem::accuracy is this or a higher value */
    uint32_t usesMatrixUnits;
    uint32_t
        packsFragments;   /* of a product: A and B are first packed for it in the workspace; of a packer: it does so */
    uint32_t sharedBytes; /* shared memory of a work group, as the shader declares it; of a kernel that stages
                             blocks of B, for the format that takes the least */
    uint32_t constantCount; /* for vkgemmGetTileConstant */
    uint32_t native;        /* 0: SPIR-V; 90: machine code of sm_90a, for its own tile alone (VkgemmNativeKernels) */
} VkgemmKernelTraits;

/* One constant of a tile. */
typedef struct VkgemmTileConstant {
    uint32_t structSize;
    uint32_t value;
    const char* name;    /* "BM"; static */
    const char* meaning; /* "rows of D per work group"; static */
} VkgemmTileConstant;

/* `index` as in vkgemmGetKernel. `tile` replaces constants of the kernel's tile as VkgemmPlanOptions::tile does; it may
 * be NULL. TILE if it cannot be read or breaks a rule of the family; the limits of a device are not checked. error may
 * be NULL. */
VKGEMM_API VkgemmResult vkgemmGetKernelTraits(uint32_t index, const char* tile, VkgemmKernelTraits* traits,
                                              VkgemmError* error);

/* Constant number `constant` (below VkgemmKernelTraits::constantCount) of the same tile. The count and the order are
 * the same for every kernel; a constant that the kernel does not use has the value 0. INVALID_ARGUMENT also where
 * vkgemmGetKernelTraits returns TILE. */
VKGEMM_API VkgemmResult vkgemmGetTileConstant(uint32_t index, const char* tile, uint32_t constant,
                                              VkgemmTileConstant* out);

/* ----------------------------------------------------------------------------------------------------
 * The device, as choices see it
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmDeviceCaps {
    uint32_t structSize;
    uint32_t isCpu;
    uint64_t features;                         /* enabled ones; bits as in vkgemmFeatureName */
    uint64_t maxStorageRange;                  /* bytes that one descriptor spans */
    uint32_t sharedBytes, maxInvocations;      /* of a work group */
    uint32_t maxGroupsX, maxGroupsY;           /* of a dispatch */
    uint32_t maxStorageBuffers;                /* per stage */
    uint32_t subgroupSize;                     /* the default; 0: not known */
    uint32_t subgroupSizeMin, subgroupSizeMax; /* that a pipeline may require */
    uint32_t subgroupSizeCanBeRequired;        /* 1: by compute pipelines */
    uint32_t matrixShapeCount;                 /* for vkgemmGetMatrixShape */
} VkgemmDeviceCaps;

/* One product that the matrix units compute: m x n x k at subgroup scope. */
typedef struct VkgemmMatrixShape {
    uint32_t structSize;
    VkgemmType a, b, accumulate, result;
    uint32_t m, n, k;
} VkgemmMatrixShape;

/* vkgemmDescribeDevice writes these and more as text. */
VKGEMM_API VkgemmResult vkgemmGetDeviceCaps(VkgemmContext context, VkgemmDeviceCaps* caps);
VKGEMM_API VkgemmResult vkgemmGetMatrixShape(VkgemmContext context, uint32_t index, VkgemmMatrixShape* shape);

/* ----------------------------------------------------------------------------------------------------
 * The choice for one problem. vkgemmExplain writes this object as text.
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmExplanation_T* VkgemmExplanation;

/* Decides as vkgemmCreatePlan would with the same arguments, and keeps everything that was considered. A problem
 * that no kernel serves is explained too (SUCCESS, see VkgemmExplanationInfo::result); an invalid problem and
 * invalid options are refused. The object owns the strings that its getters return. *explanation is NULL on failure.
 * options and error may be NULL. */
VKGEMM_API VkgemmResult vkgemmCreateExplanation(VkgemmContext context, const VkgemmProblem* problem,
                                                const VkgemmPlanOptions* options, VkgemmExplanation* explanation,
                                                VkgemmError* error);

/* May be called after the context was destroyed. explanation may be NULL. */
VKGEMM_API void vkgemmDestroyExplanation(VkgemmExplanation explanation);

typedef struct VkgemmExplanationInfo {
    uint32_t structSize;
    VkgemmResult result;     /* of vkgemmCreatePlan: SUCCESS, FALLBACK_USED, or why no kernel serves */
    const char* resultText;  /* the sentence for it; "" on success */
    uint32_t isEmpty;        /* 1: m or n is 0: nothing is chosen and nothing runs */
    uint32_t chosen;         /* index of the chosen candidate; UINT32_MAX: none */
    uint32_t candidateCount; /* one for each built-in kernel, in the order of vkgemmGetKernel; 0 if isEmpty */
    uint32_t dispatchCount;
    uint32_t noteCount;
    uint32_t usesAddresses;  /* 1: operands reach the shader as device addresses; 0: as pushed descriptors */
    const char* tunedRow;    /* the row that decided; "": the cost model, or the options, did */
    uint64_t workspaceBytes; /* as VkgemmPlanInfo::requiredBytes has it */
} VkgemmExplanationInfo;

VKGEMM_API VkgemmResult vkgemmGetExplanationInfo(VkgemmExplanation explanation, VkgemmExplanationInfo* info);

typedef enum VkgemmCandidateState {
    VKGEMM_CANDIDATE_CHOSEN = 0,
    VKGEMM_CANDIDATE_SERVES = 1,    /* could be used; it costs more, or another kernel was asked for or tuned */
    VKGEMM_CANDIDATE_REJECTED = 2,  /* cannot serve this problem on this device */
    VKGEMM_CANDIDATE_DISABLED = 3,  /* a self-test failed on this device (VkgemmContextInfo::disabledKernels) */
    VKGEMM_CANDIDATE_NOT_BUILT = 4, /* the shader compiler of this build could not compile it */
    VKGEMM_CANDIDATE_STATE_MAX_ENUM = 0x7fffffff
} VkgemmCandidateState;

#define VKGEMM_COST_PART_COUNT 5
/* Of the cost model. A tuned row of weights that was fitted to another version is skipped. */
#define VKGEMM_COST_MODEL_VERSION 5

typedef struct VkgemmCandidate {
    uint32_t structSize;
    uint32_t kernelIndex; /* as in vkgemmGetKernel */
    const char* kernel;
    VkgemmCandidateState state;
    const char* tile;        /* with the constants of options->tile; of the chosen one also those of the tuned row */
    double cost;             /* predicted; compares shaders, or native kernels, of an explanation. 0: cannot serve */
    uint32_t slices;         /* parts of K that are summed side by side; 1: K is not split. 0 if it cannot serve */
    uint32_t packedOperands; /* bit 1 << VKGEMM_SLOT_A, _B: first copied to the workspace in another layout */
    uint64_t workspaceBytes; /* that it would use of options->workspaceLimit */
    VkgemmResult reason;     /* why it cannot serve; SUCCESS if it can */
    uint32_t otherTypes;     /* 1: it multiplies other types than the problem has, and nothing else was looked at */
    const char* reasonText;  /* "" if it can */
    /* What `cost` consists of: the launch of the product, its steps of K, finishing and writing D, memory traffic, and
       other passes. `cost` is their sum, or, with a fitted model (tuned rows), each times its weight there. */
    double costParts[VKGEMM_COST_PART_COUNT];
} VkgemmCandidate;

VKGEMM_API VkgemmResult vkgemmGetCandidate(VkgemmExplanation explanation, uint32_t index, VkgemmCandidate* candidate);

/* One vkCmdDispatch of the plan. */
typedef struct VkgemmDispatch {
    uint32_t structSize;
    uint32_t kernelIndex; /* as in vkgemmGetKernel */
    const char* kernel;
    const char* tile;
    uint32_t groupsX, groupsY;
    uint32_t invocations; /* of a work group */
    uint32_t sharedBytes; /* of a work group, as the shader declares it */
    uint32_t slots;       /* bit 1 << VkgemmSlot: operands that it touches */
    uint32_t waits;       /* 1: a barrier separates it from the dispatches before it */
} VkgemmDispatch;

VKGEMM_API VkgemmResult vkgemmGetDispatch(VkgemmExplanation explanation, uint32_t index, VkgemmDispatch* dispatch);

/* A sentence about what was not followed: VKGEMM_KERNEL, a tuned row that is near. NULL beyond noteCount. */
VKGEMM_API const char* vkgemmGetNote(VkgemmExplanation explanation, uint32_t index);

/* ----------------------------------------------------------------------------------------------------
 * Files of tuned rows and of disabled kernels
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmRows_T* VkgemmRows;

typedef struct VkgemmRow {
    uint32_t structSize;
    const char* device; /* a part of the name of the devices that it is for */
    const char* kernel;
    const char* tile;   /* of a tuned row: constants to replace; may be "" */
    const char* reason; /* of a tuned row: why it is skipped on the context's device, "" if it is followed or without
                            a context. Of a disabled kernel: what the self-test found */
    const char* text;   /* the row as a line, without its comment */
} VkgemmRow;

/* Reads text as VkgemmContextInfo::tunedRows takes it. context may be NULL; with one, only the rows of its device
 * are kept. PARSE with the line number if a line cannot be read. *rows owns its strings; NULL on failure. error may
 * be NULL. */
VKGEMM_API VkgemmResult vkgemmReadTunedRows(VkgemmContext context, const char* text, VkgemmRows* rows,
                                            VkgemmError* error);

/* The same for VkgemmContextInfo::disabledKernels. */
VKGEMM_API VkgemmResult vkgemmReadDisabledKernels(const char* text, VkgemmRows* rows, VkgemmError* error);

VKGEMM_API void vkgemmDestroyRows(VkgemmRows rows); /* rows may be NULL */
VKGEMM_API uint32_t vkgemmGetRowCount(VkgemmRows rows);
VKGEMM_API VkgemmResult vkgemmGetRow(VkgemmRows rows, uint32_t index, VkgemmRow* row);

/* The tuned row nearest to `problem`, as a plan with this operandAlignment (0: 16) would find it; *index is
 * UINT32_MAX if none is near. *distance is 0 for a row of the same sizes; it may be NULL. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmFindTunedRow(VkgemmRows rows, const VkgemmProblem* problem, uint32_t operandAlignment,
                                           uint32_t* index, double* distance, VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
