/* SPDX-License-Identifier: MIT
 *
 * Types, kernels, device properties and decisions as data: completed problems, kernels with their tiles, every
 * candidate for a problem with its cost or the reason against it, and the rows of tuning files. The tool uses no other
 * access to the library. Part of vkgemm.h, whose general rules hold here too.
 *
 * No function here compiles a pipeline, allocates device memory or uses the GPU. Every function may be called from any
 * thread, but no other thread may use an object while it is destroyed. INVALID_ARGUMENT if a structSize is wrong, a
 * required pointer is NULL, or an index is not below its count.
 */
#ifndef VKGEMM_EXPLAIN_H
#define VKGEMM_EXPLAIN_H

#include <vkgemm/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Types and problems
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmTypeInfo {
    uint32_t structSize;
    uint32_t bytes;   /* of a block of blockElements; of an element of a plain type */
    const char* name; /* as in the text of a problem: "f16"; static */
    uint32_t isFloat;
    /* The type holds every whole number from 0 to 2^exactBits - 1 exactly; a block format does if its scales are 1. For
     * a floating-point type, these are the bits of the significand, including the implicit bit. */
    uint32_t exactBits;
    uint32_t blockElements; /* neighbours along k that form a block; 1 for a plain type */
    uint32_t alignment;     /* an operand of this type begins at a multiple of this many bytes */
} VkgemmTypeInfo;

/* `type` is any type except DEFAULT. */
VKGEMM_API VkgemmResult vkgemmGetTypeInfo(VkgemmType type, VkgemmTypeInfo* info);

/* Copies `problem` to `completed` and fills in every default: types, leading dimensions, batch strides. Set
 * completed->structSize first. A matrix that the whole batch shares, and every matrix if batch is 1, gets the stride
 * VKGEMM_BROADCAST. If C is D, `c` stays zero. Fails if the problem contradicts itself (INVALID_PROBLEM) or if its
 * types cannot be combined (UNSUPPORTED). Limits of vkgemm and of devices are not checked. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmCompleteProblem(const VkgemmProblem* problem, VkgemmProblem* completed,
                                              VkgemmError* error);

/* Checks the factors of a run as vkgemmRecord does, and converts them to the accumulator's type. An *alpha of 0 means 0
 * here, as with VKGEMM_RECORD_ZERO_ALPHA. If the result of *alpha is 0, A and B are not read; if that of *beta is 0, C
 * is not read. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmConvertFactors(const VkgemmProblem* problem, double* alpha, double* beta,
                                             VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Kernels and tiles
 * ---------------------------------------------------------------------------------------------------- */

/* One built-in kernel, which is one row of the kernel table. The strings are valid as long as the library is loaded. */
typedef struct VkgemmKernelInfo {
    uint32_t structSize;
    /* a and b are DEFAULT if the kernel takes any types and block formats, and E4M3 if it takes E4M3 or E5M2 for each.
     * d is DEFAULT if D may be f32, f16 or bf16, and with sums in i32 also i8. */
    VkgemmType a, b, d, accumulate;
    uint32_t built;   /* 0: the shader compiler of this build could not compile it */
    uint32_t helper;  /* 1: it prepares operands for another kernel or adds slices of K, and cannot be forced by name */
    const char* name; /* as in VkgemmPlanOptions::kernel */
    const char* family;  /* "tiled" */
    const char* tile;    /* "WG=64,BM=8,BN=8,BK=8,TM=1,TN=1" */
    const char* needs;   /* short names of the device features that it needs, space-separated; "": none */
    const char* variant; /* of the family: "mxint8" of "gemv_blocks"; "": the plain one */
} VkgemmKernelInfo;

/* The number of built-in kernels, including those that were not built. */
VKGEMM_API uint32_t vkgemmKernelCount(void);

/* index is below vkgemmKernelCount(). */
VKGEMM_API VkgemmResult vkgemmGetKernel(uint32_t index, VkgemmKernelInfo* kernel);

typedef enum VkgemmKernelRole {
    VKGEMM_KERNEL_PRODUCT = 0,  /* multiplies; only these kernels are chosen or can be forced */
    VKGEMM_KERNEL_REDUCER = 1,  /* adds the slices of a split K */
    VKGEMM_KERNEL_PACKER = 2,   /* copies an operand to the workspace in another layout */
    VKGEMM_KERNEL_LISTER = 3,   /* lists the tiles of a table of groups */
    VKGEMM_KERNEL_SPLITTER = 4, /* makes int8 of an operand of f64, for VKGEMM_ACCURACY_F64_SPLIT */
    VKGEMM_KERNEL_JOINER = 5,   /* makes f64 of the sums of products of int8 */
    VKGEMM_KERNEL_FINISHER = 6, /* applies alpha, beta, C and the epilogue to what a joiner made */
    VKGEMM_KERNEL_ROLE_MAX_ENUM = 0x7fffffff
} VkgemmKernelRole;

typedef struct VkgemmKernelTraits {
    uint32_t structSize;
    VkgemmKernelRole role;
    VkgemmAccuracy accuracy; /* it computes problems whose VkgemmProblem::accuracy is this or a higher value */
    uint32_t usesMatrixUnits;
    uint32_t packsFragments; /* 1: a product whose A and B another pass first packs in the workspace in the order of the
                                matrix units; or the packer that does it */
    uint32_t sharedBytes; /* shared memory that the shader declares for a work group; if it depends on the block format,
                             the least of all formats */
    uint32_t constantCount; /* for vkgemmGetTileConstant */
    uint32_t native;        /* 0: SPIR-V; 90: machine code for sm_90a, whose tile cannot be replaced */
} VkgemmKernelTraits;

/* One constant of a tile. */
typedef struct VkgemmTileConstant {
    uint32_t structSize;
    uint32_t value;
    const char* name;    /* "BM"; static */
    const char* meaning; /* "rows of D per work group"; static */
} VkgemmTileConstant;

/* `index` is as in vkgemmGetKernel. `tile` replaces constants of the kernel's tile, as VkgemmPlanOptions::tile does,
 * and may be NULL. TILE if it cannot be read or breaks a rule of the family. Limits of a device are not checked. error
 * may be NULL. */
VKGEMM_API VkgemmResult vkgemmGetKernelTraits(uint32_t index, const char* tile, VkgemmKernelTraits* traits,
                                              VkgemmError* error);

/* One constant of the same tile; `constant` is below VkgemmKernelTraits::constantCount. Count and order are the same
 * for every kernel, and a constant that the kernel does not use has the value 0. INVALID_ARGUMENT also if
 * vkgemmGetKernelTraits returns TILE. */
VKGEMM_API VkgemmResult vkgemmGetTileConstant(uint32_t index, const char* tile, uint32_t constant,
                                              VkgemmTileConstant* out);

/* Changes `like` as little as possible so that the kernel can compute it, and writes that to *problem. The problem gets
 * the kernel's types, accuracy and layouts, whole blocks, and, for a kernel that takes few rows or columns, as many as
 * its tile has. If the kernel takes mixed types, A becomes f16, and B keeps a block format; otherwise B becomes f32, or
 * q8_0 or q4_0 if the kernel takes only blocks. Batch, strides and epilogue are unchanged. Limits of a device are not
 * checked. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmGetKernelProblem(uint32_t index, const VkgemmProblem* like, VkgemmProblem* problem,
                                               VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * The device properties that choices depend on
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmDeviceCaps {
    uint32_t structSize;
    uint32_t isCpu;
    uint64_t features;                         /* that are enabled; bits as in vkgemmFeatureName */
    uint64_t maxStorageRange;                  /* bytes that one descriptor can span */
    uint32_t sharedBytes, maxInvocations;      /* of a work group */
    uint32_t maxGroupsX, maxGroupsY;           /* of a dispatch */
    uint32_t maxStorageBuffers;                /* per stage */
    uint32_t subgroupSize;                     /* the default; 0: unknown */
    uint32_t subgroupSizeMin, subgroupSizeMax; /* the range that a pipeline may require */
    uint32_t subgroupSizeCanBeRequired;        /* 1: compute pipelines may require a size */
    uint32_t matrixShapeCount;                 /* for vkgemmGetMatrixShape */
} VkgemmDeviceCaps;

/* One product that the matrix units compute for a subgroup: m x n x k. */
typedef struct VkgemmMatrixShape {
    uint32_t structSize;
    VkgemmType a, b, accumulate, result;
    uint32_t m, n, k;
} VkgemmMatrixShape;

/* vkgemmDescribeDevice writes these properties and more as text. */
VKGEMM_API VkgemmResult vkgemmGetDeviceCaps(VkgemmContext context, VkgemmDeviceCaps* caps);
VKGEMM_API VkgemmResult vkgemmGetMatrixShape(VkgemmContext context, uint32_t index, VkgemmMatrixShape* shape);

/* ----------------------------------------------------------------------------------------------------
 * The choice for one problem, which vkgemmExplain writes as text
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmExplanation_T* VkgemmExplanation;

/* Decides as vkgemmCreatePlan would with the same arguments, and keeps every candidate that was considered. If no
 * kernel can compute the problem, the call succeeds and VkgemmExplanationInfo::result has the reason. An invalid
 * problem and invalid options are refused. The object owns the strings that its getters return. *explanation is NULL on
 * failure. options and error may be NULL. */
VKGEMM_API VkgemmResult vkgemmCreateExplanation(VkgemmContext context, const VkgemmProblem* problem,
                                                const VkgemmPlanOptions* options, VkgemmExplanation* explanation,
                                                VkgemmError* error);

/* The context may be destroyed already. explanation may be NULL. */
VKGEMM_API void vkgemmDestroyExplanation(VkgemmExplanation explanation);

typedef struct VkgemmExplanationInfo {
    uint32_t structSize;
    VkgemmResult result;     /* of vkgemmCreatePlan: SUCCESS, FALLBACK_USED, or the failure */
    const char* resultText;  /* the reason for that result; "" on success */
    uint32_t isEmpty;        /* 1: m or n is 0, so nothing is chosen and nothing runs */
    uint32_t chosen;         /* index of the chosen candidate; UINT32_MAX: none */
    uint32_t candidateCount; /* one for each built-in kernel, in the order of vkgemmGetKernel; 0 if isEmpty */
    uint32_t dispatchCount;
    uint32_t noteCount;
    uint32_t usesAddresses;   /* 1: the shader reads operands through device addresses; 0: through pushed descriptors */
    const char* tunedRow;     /* the tuned row that decided; "": the cost model or the options did */
    uint64_t workspaceBytes;  /* as in VkgemmPlanInfo::requiredBytes */
    uint64_t usefulWorkspace; /* as in VkgemmPlanInfo */
    double usefulGain;
    const char* usefulKernel;
    uint32_t groupAlignment[4]; /* as in VkgemmPlanInfo */
} VkgemmExplanationInfo;

VKGEMM_API VkgemmResult vkgemmGetExplanationInfo(VkgemmExplanation explanation, VkgemmExplanationInfo* info);

typedef enum VkgemmCandidateState {
    VKGEMM_CANDIDATE_CHOSEN = 0,
    VKGEMM_CANDIDATE_SERVES = 1,    /* could compute it, but costs more, or another kernel was forced or tuned */
    VKGEMM_CANDIDATE_REJECTED = 2,  /* cannot compute this problem on this device */
    VKGEMM_CANDIDATE_DISABLED = 3,  /* a self-test failed on this device (VkgemmContextInfo::disabledKernels) */
    VKGEMM_CANDIDATE_NOT_BUILT = 4, /* the shader compiler of this build could not compile it */
    VKGEMM_CANDIDATE_STATE_MAX_ENUM = 0x7fffffff
} VkgemmCandidateState;

#define VKGEMM_COST_PART_COUNT 5
/* The version of the cost model. Weights in tuned rows that were fitted to another version are skipped. */
#define VKGEMM_COST_MODEL_VERSION 6

typedef struct VkgemmCandidate {
    uint32_t structSize;
    uint32_t kernelIndex; /* as in vkgemmGetKernel */
    const char* kernel;
    VkgemmCandidateState state;
    const char* tile;        /* with the constants of options->tile and, for the chosen kernel, of the tuned row */
    double cost;             /* predicted; comparable among the shaders, or among the native kernels, of one
                                explanation. 0 if it cannot compute the problem */
    uint32_t slices;         /* parts of K that different work groups sum; 1: K is not split; 0: cannot compute it */
    uint32_t packedOperands; /* bits 1 << VKGEMM_SLOT_A and _B: operands that are first copied to the workspace */
    uint64_t workspaceBytes; /* how much of options->workspaceLimit it would use */
    VkgemmResult reason;     /* why it cannot compute the problem; SUCCESS if it can */
    uint32_t otherTypes;     /* 1: the types differ from the problem's, and nothing else was checked */
    const char* reasonText;  /* "" if it can */
    /* The parts of `cost`: launching the product, its steps along K, finishing and storing D, memory traffic, and other
     * passes. `cost` is their sum; if tuned rows have fitted weights, it is their weighted sum. */
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
    uint32_t slots;       /* bits 1 << VkgemmSlot: operands that it touches */
    uint32_t waits;       /* 1: a barrier separates it from the dispatches before it */
} VkgemmDispatch;

VKGEMM_API VkgemmResult vkgemmGetDispatch(VkgemmExplanation explanation, uint32_t index, VkgemmDispatch* dispatch);

/* A sentence about something that was not followed: VKGEMM_KERNEL or a near tuned row. NULL if index is not below
 * noteCount. */
VKGEMM_API const char* vkgemmGetNote(VkgemmExplanation explanation, uint32_t index);

/* ----------------------------------------------------------------------------------------------------
 * Files of tuned rows and of disabled kernels
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmRows_T* VkgemmRows;

typedef struct VkgemmRow {
    uint32_t structSize;
    const char* device; /* a part of the device's name */
    const char* kernel;
    const char* tile;   /* tuned row: the constants to replace; may be "" */
    const char* reason; /* tuned row: why the context's device skips it; "" if it does not, or without a context.
                           Disabled kernel: what the self-test found */
    const char* text;   /* the row as a line, without its comment */
} VkgemmRow;

/* Reads the format of VkgemmContextInfo::tunedRows. With a context, only the rows of its device are kept; context may
 * be NULL. PARSE, with the line number, if a line cannot be read; vkgemmCreateContext skips such a line. The object
 * owns the strings of its rows. *rows is NULL on failure. error may be NULL. */
VKGEMM_API VkgemmResult vkgemmReadTunedRows(VkgemmContext context, const char* text, VkgemmRows* rows,
                                            VkgemmError* error);

/* Reads the format of VkgemmContextInfo::disabledKernels; otherwise like vkgemmReadTunedRows. */
VKGEMM_API VkgemmResult vkgemmReadDisabledKernels(const char* text, VkgemmRows* rows, VkgemmError* error);

VKGEMM_API void vkgemmDestroyRows(VkgemmRows rows); /* rows may be NULL */
VKGEMM_API uint32_t vkgemmGetRowCount(VkgemmRows rows);
VKGEMM_API VkgemmResult vkgemmGetRow(VkgemmRows rows, uint32_t index, VkgemmRow* row);

/* Finds the tuned row that a plan for `problem` with this operandAlignment (0: 16) would follow. *index is UINT32_MAX
 * if no row is near. *distance is 0 for a row of the same sizes. distance and error may be NULL. */
VKGEMM_API VkgemmResult vkgemmFindTunedRow(VkgemmRows rows, const VkgemmProblem* problem, uint32_t operandAlignment,
                                           uint32_t* index, double* distance, VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif
