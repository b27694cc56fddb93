/* SPDX-License-Identifier: MIT
 *
 * Problems and results: the part of the API that needs no Vulkan header. Part of vkgemm.h, whose general rules hold
 * here too.
 */
#ifndef VKGEMM_PROBLEM_H
#define VKGEMM_PROBLEM_H

#include <stddef.h>
#include <stdint.h>
#include <vkgemm/tables.h>

#if defined(VKGEMM_STATIC)
#    define VKGEMM_API
#elif defined(_WIN32)
#    if defined(VKGEMM_BUILDING)
#        define VKGEMM_API __declspec(dllexport)
#    else
#        define VKGEMM_API __declspec(dllimport)
#    endif
#else
#    define VKGEMM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Results
 * ---------------------------------------------------------------------------------------------------- */

/* Negative: the call failed, and nothing was created or recorded. Positive: the call succeeded, with a reservation. */
typedef enum VkgemmResult {
    VKGEMM_SUCCESS = 0,
    VKGEMM_FALLBACK_USED = 1,           /* VKGEMM_KERNEL could not be followed; VkgemmError::text has the reason */
    VKGEMM_INCOMPLETE = 2,              /* the caller's array or text was too small; it holds what fits */
    VKGEMM_ERROR_INVALID_ARGUMENT = -1, /* a null pointer, a bad structSize, a value outside its enum */
    VKGEMM_ERROR_INVALID_PROBLEM = -2,  /* the problem contradicts itself: a leading dimension is too small, ... */
    VKGEMM_ERROR_UNSUPPORTED = -3,      /* valid, but this version or device cannot do it */
    VKGEMM_ERROR_LIMIT = -4,            /* a number exceeds a limit of the device or of vkgemm */
    VKGEMM_ERROR_TILE = -5,             /* a tile breaks rules of its family; the text lists all of them */
    VKGEMM_ERROR_OPERAND = -6,          /* an operand is missing, misaligned, too small, or overlaps D */
    VKGEMM_ERROR_WORKSPACE = -7,        /* the workspace is missing, misaligned or too small */
    VKGEMM_ERROR_MISSING_FUNCTION = -8, /* a required Vulkan function was not found */
    VKGEMM_ERROR_OUT_OF_MEMORY = -9,    /* host or device memory */
    VKGEMM_ERROR_DEVICE_LOST = -10,     /* the driver returned VK_ERROR_DEVICE_LOST */
    VKGEMM_ERROR_VULKAN = -11,          /* another Vulkan call failed: see VkgemmError::vkResult */
    VKGEMM_ERROR_PARSE = -12,           /* a text is malformed; VkgemmError::text names the position */
    VKGEMM_ERROR_NOT_COMPILED = -13,    /* a pipeline is not compiled, and this call must not compile it */
    VKGEMM_RESULT_MAX_ENUM = 0x7fffffff
} VkgemmResult;

/* Describes a failure. Zero-initialise it. Every call overwrites it; on success the text is empty. Its size never
 * changes, because it must be usable even if every other struct is unreadable. */
typedef struct VkgemmError {
    int32_t vkResult; /* of the Vulkan call that failed; otherwise VK_SUCCESS (0) */
    char text[1024];  /* UTF-8, null-terminated, one line; truncated if it does not fit */
} VkgemmError;

/* The name of a result without its prefix: "success", "unsupported". A static string, never NULL. Any thread. */
VKGEMM_API const char* vkgemmResultName(VkgemmResult result);

/* ----------------------------------------------------------------------------------------------------
 * The problem: what to compute. Plain data without handles; you state the buffers when you record a plan.
 * ---------------------------------------------------------------------------------------------------- */

/* Element types and block formats. Integer sums wrap around.
 *
 * e4m3, e5m2 and the block formats are types for A and B only (elsewhere UNSUPPORTED). A block holds neighbours along
 * k; k, leading dimensions and strides still count elements, and must be multiples of the block's size (UNSUPPORTED).
 * A block of u4_gN or i8_gN has N codes, a scale and a zero point, and an element is scale * (code - zero point); the
 * scale and the zero point are f16, or f32 if the name ends in _f32. docs/formats.md describes every format by the
 * byte. */
typedef enum VkgemmType {
    /* A: f32. B: A's type. C: D's type. D and the accumulator follow the type of A, or of B if only B's is
     * floating-point: f32, fp8 and block formats give f32 for both; f16 and bf16 give D that type and the accumulator
     * f32; f64 gives f64 for both; i32, i8 and u8 give i32 for both. */
    VKGEMM_TYPE_DEFAULT = 0,
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, isFloat, accumulator, result) name = (number),
    VKGEMM_TYPE_ROWS(VKGEMM_ROW) /* VKGEMM_TYPE_F32, F16, ..., VKGEMM_TYPE_Q8_0, ...: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_TYPE_MAX_ENUM = 0x7fffffff
} VkgemmType;

typedef enum VkgemmLayout {
    VKGEMM_LAYOUT_ROW_MAJOR = 0,    /* element (r, c) at r * ld + c */
    VKGEMM_LAYOUT_COLUMN_MAJOR = 1, /* element (r, c) at c * ld + r; a transposed operand of BLAS */
    VKGEMM_LAYOUT_MAX_ENUM = 0x7fffffff
} VkgemmLayout;

/* As a batchStride or outerStride: all products of that level share one matrix. Not allowed for D. */
#define VKGEMM_BROADCAST UINT64_MAX

/* The layout of a matrix, in elements from the operand's offset. For column-major matrices, read "column" for "row".
 * The size of this struct never changes, because VkgemmProblem contains it by value.
 *
 * Large matrices. ld is at most 2^31 - 1. One dispatch can reach 2^31 - 1 elements of an operand, and the bytes that
 * one descriptor spans. A problem with larger operands is divided along m, n and the batch into several dispatches
 * (VkgemmPlanInfo::dispatchCount). It is divided along k only if A is column-major or B is row-major and their rows are
 * too far apart otherwise; D must then have the accumulator's type, batchInvariant must be 0, and there must be no
 * residual. Problems with varying sizes, groups or packed operands are not divided. What cannot be divided is refused
 * (LIMIT).
 *
 * Batches of D. The matrices of D must not share elements. There are two valid arrangements: each matrix begins after
 * the end of the previous one; or the matrices are side by side in one wide matrix, with batchStride >= the length of a
 * row and ld >= (batch - 1) * batchStride + that length. Other interleavings are refused. With an outer batch, sort ld,
 * batchStride and outerStrideD by size: each must be at least the extent that the smaller ones cover. */
typedef struct VkgemmMatrix {
    VkgemmType type;
    VkgemmLayout layout;
    uint64_t ld;          /* from one row to the next; 0: dense */
    uint64_t batchStride; /* from one matrix of the batch to the next; 0: ld times the number of rows;
                             VKGEMM_BROADCAST: one matrix for all. With ratioA or ratioB, from one shared matrix to the
                             next */
} VkgemmMatrix;

typedef enum VkgemmC {
    VKGEMM_C_NONE = 0,     /* no C; beta must be 0 at record time */
    VKGEMM_C_IS_D = 1,     /* C is the previous content of D and has its layout, ld and batchStride; leave `c` zero */
    VKGEMM_C_SEPARATE = 2, /* C is a separate operand, described by `c` */
    VKGEMM_C_MAX_ENUM = 0x7fffffff
} VkgemmC;

/* How exact a product must be. docs/accuracy.md has the error bounds. */
typedef enum VkgemmAccuracy {
    VKGEMM_ACCURACY_DEFAULT = 0, /* arithmetic in the accumulator's type, never less exact */
    /* For A, B and D in f32. Each element is split into three bf16 numbers, which the matrix units multiply. The error
     * bound is four times the default one. Infinities and NaN propagate, with two exceptions at the ends of the range.
     * f32 arithmetic is used instead if the device has no suitable matrix units, if they would be slower, or if no
     * workspace is allowed. */
    VKGEMM_ACCURACY_F32_SPLIT = 1,
    /* For A, B and D in f32. Each element is split into two f16 numbers, which is faster than three bf16. The error is
     * relative to the largest element of the row of A and of the column of B. Elements of at most 2^-39 times the
     * largest may count as 0. F32_SPLIT is used instead if it is faster. */
    VKGEMM_ACCURACY_F32_SPLIT_ROWS = 2,
    /* For A and B of different types, fp8, or a block format. Elements may be rounded to a type that the matrix units
     * multiply: to the 16-bit type of A or B if there is one, otherwise to f16, in which numbers above 65504 become
     * infinite. Sums are as exact as by default, except that native kernels sum e4m3 and e5m2 less exactly. Without
     * this flag elements are multiplied unrounded. */
    VKGEMM_ACCURACY_NARROW = 3,
    /* Like NARROW. In addition, if one operand has a block format and the other is floating-point with few rows, the
     * latter may be rounded to MXINT8: 32 neighbours along k become 8-bit integers times one power of two, and their
     * products are summed as integers. An element is off by up to 1/127 of the largest of its 32. One infinity or NaN
     * among 32 makes NaN of every element of D that depends on them, and 32 elements that are all below 2^-120 count as
     * 0. The formats from q8_0 to q6_k have such kernels; other formats are multiplied as for NARROW. */
    VKGEMM_ACCURACY_MXINT8 = 4,
    VKGEMM_ACCURACY_MAX_ENUM = 0x7fffffff
} VkgemmAccuracy;

/* The operands of a run. Later versions may add slots. */
typedef enum VkgemmSlot {
    VKGEMM_SLOT_A = 0,
    VKGEMM_SLOT_B = 1,
    VKGEMM_SLOT_C = 2,
    VKGEMM_SLOT_D = 3,
    VKGEMM_SLOT_BIAS = 4,
    VKGEMM_SLOT_SCALE = 5,
    VKGEMM_SLOT_RESIDUAL = 6,
    VKGEMM_SLOT_WORKSPACE = 7,
    VKGEMM_SLOT_GROUPS = 8,   /* the table of groups */
    VKGEMM_SLOT_INDICES = 9,  /* their index lists */
    VKGEMM_SLOT_SCALARS = 10, /* VkgemmScalars */
    VKGEMM_SLOT_COUNT = 11,   /* of this header; VkgemmPlanInfo::slotCount is the library's */
    VKGEMM_SLOT_MAX_ENUM = 0x7fffffff
} VkgemmSlot;

/* The epilogue: steps that change each element of the product before it is stored in D. They run in the order given.
 * tables.h lists them with their formulas. A list has each kind at most once, at most one bias and at most one scale
 * (INVALID_PROBLEM).
 *
 * Operands. Bias and scale have m elements (ROW), n elements (COL) or one element (ALL). CLAMP_ROW and CLAMP_COL read
 * pairs of a lower and an upper bound from the scale's operand, in its type: bounds 2 i and 2 i + 1 are for row or
 * column i. A list with one of these clamps therefore has no scale (INVALID_PROBLEM). If a lower bound exceeds its
 * upper bound, D is unspecified; nothing checks that. The residual has the layout, ld and batchStride of D. It may be D
 * itself if it has D's type.
 *
 * DRELU is the derivative of ReLU, for a product of gradients. Its residual is the result or the argument of the ReLU.
 * An element of D, even NaN, becomes 0 if the residual is 0 or less; otherwise it is unchanged, also if the residual is
 * NaN. A list cannot have both this step and RESIDUAL (INVALID_PROBLEM).
 *
 * Arithmetic. GELU, SiLU, clamps and leaky ReLU are computed in the accumulator's type, which must be floating-point,
 * or in f32 if integer sums are converted to another type of D (see below). GELU is
 * 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
 *
 * Types. By default bias, scale, residual and C have D's type. biasType, scaleType, residualType and c.type replace it.
 * If sums are f32 or f16, each of these operands may be f32, f16 or bf16, whatever D is. A 16-bit operand whose type
 * differs from D's must begin at a multiple of 4 bytes, and its length is rounded up to a multiple of 4. With a table
 * of groups, C and the residual have D's type.
 *
 * Quantised products. If A and B are i8, D may be f32, f16, bf16 or i8. The whole epilogue is then f32, including alpha
 * and beta:
 *
 *     D = convert(steps(alpha * f32(sum) + beta * C))
 *
 * Conversion to i8 rounds to the nearest integer, ties to even, and saturates at -128 and 127; NaN becomes 0. Bias and
 * scale are f32, f16 or bf16 (default: f32 if D is i8, otherwise D's type), and C and the residual may also be i8. A
 * bias of i32 must be the first step. It is added to the sum as an integer: alpha * f32(sum + bias).
 *
 * Zero points. Let A have scale sa and zero point za, let column j of B have scale sb[j], and let t[j] be the sum of
 * the elements of that column. The product of the represented values is sa sb[j] (sum - za t[j]). Compute it with the
 * steps bias=col scale=col, an i32 bias of -za t[j] and a scale of sa sb[j]. If there is also a bias f[j], and D has
 * scale 1 and zero point zd, use the steps scale=col bias=col, a scale of sa sb[j] and a bias of f[j] + zd - sa sb[j]
 * za t[j]. */
typedef enum VkgemmStepKind {
    VKGEMM_STEP_NONE = 0, /* an unset step; refused below epilogueCount (INVALID_ARGUMENT) */
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) name = (number),
    VKGEMM_STEP_ROWS(VKGEMM_ROW) /* VKGEMM_STEP_BIAS_ROW, ..., VKGEMM_STEP_CLAMP: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_STEP_MAX_ENUM = 0x7fffffff
} VkgemmStepKind;

/* The size of this struct never changes, because VkgemmProblem contains it by value. */
typedef struct VkgemmEpilogueStep {
    VkgemmStepKind kind;
    float low, high; /* of clamp: the bounds, low <= high; of leaky ReLU: low is the slope below 0; else ignored */
} VkgemmEpilogueStep;

/* Never changes, because fields follow `epilogue` in VkgemmProblem. */
#define VKGEMM_MAX_EPILOGUE_STEPS 4

/* Scalars of a run in device memory (VkgemmScalars): factors that earlier work on the GPU computed, and facts about D
 * that the run writes.
 *
 * Requirements: sums in f32 or f16, or i8 operands with a D other than i32; no groups; and a device with
 * bufferDeviceAddress, because such a plan reads operands by address (VkgemmPlanInfo::usesAddresses). Anything else is
 * refused when the plan is created (UNSUPPORTED), as are unknown bits (INVALID_ARGUMENT) and BETA without a C
 * (INVALID_PROBLEM). Two runs that write the same VkgemmScalars need a barrier between them. */
typedef enum VkgemmScalarFlagBits {
    /* alpha replaces VkgemmRun::alpha. If it is 0, the product counts as 0 even if A and B hold NaN. A and B must be
     * given in any case. */
    VKGEMM_SCALARS_ALPHA = 1,
    /* beta replaces VkgemmRun::beta; the problem must have a C. If it is 0, NaN in C does not reach D. */
    VKGEMM_SCALARS_BETA = 2,
    /* low and high replace the bounds of the clamp step. If a problem has that step and any other of these bits, it
     * must also have this one. */
    VKGEMM_SCALARS_CLAMP = 4,
    /* nonFinite becomes 1 if the run stores a NaN or an infinity, and is otherwise unchanged. Set it to 0 first. */
    VKGEMM_SCALARS_MONITOR = 8,
    /* largest becomes the maximum of its old value and of every |x| that the run stores. Set it to 0 first. x is an
     * element of D before it is rounded to D's type, so with an f16 D it may exceed 65504. Infinity exceeds every
     * number, and NaN exceeds infinity. If vulkanMemoryModel is enabled, this needs vulkanMemoryModelDeviceScope too
     * (UNSUPPORTED). */
    VKGEMM_SCALARS_LARGEST = 16,
    VKGEMM_SCALARS_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmScalarFlagBits;

/* In device memory, at a multiple of 4 bytes. Members whose flag is not set are not touched. The size of this struct
 * never changes. */
typedef struct VkgemmScalars {
    float alpha, beta;
    float low, high;    /* low <= high; otherwise the clamp returns one of the two */
    uint32_t nonFinite; /* 1: a NaN or an infinity was stored; if D is i8: before the conversion to i8 */
    float largest;      /* at least 0, or NaN */
} VkgemmScalars;

/* Sizes that vary from run to run. The plan serves every value from 0 to the problem's, and each run states its own
 * (VKGEMM_RECORD_SIZES). When the plan is created, a kernel, its tile and its split of K are chosen and compiled for
 * each of a few ranges of sizes. Recording a size for the first time compiles and allocates nothing.
 *
 * Leading dimensions and strides do not vary, unless `upTo` has VKGEMM_UP_TO_STRIDES. If they are 0, they are dense for
 * the largest sizes, so a smaller matrix occupies the beginning of each row of the largest one. If the length of rows
 * varies, state leading dimensions and strides that are multiples of 16 bytes, so that rows can be read 16 bytes at a
 * time. */
typedef enum VkgemmUpToFlagBits {
    VKGEMM_UP_TO_M = 1,
    VKGEMM_UP_TO_N = 2,
    VKGEMM_UP_TO_K = 4,
    VKGEMM_UP_TO_BATCH = 8,
    /* Not a size: each run may state its own leading dimensions and strides (VKGEMM_RECORD_STRIDES), of any value that
     * VkgemmMatrix allows. The problem's are typical values. The plan has one kernel for runs whose leading dimensions
     * and strides are all multiples of 16 bytes (f64: 32), and one for other runs. Levels of the batch are not merged
     * and no operand is packed first, which may cost speed. Refused with groups, packed operands or batchInvariant
     * (UNSUPPORTED). */
    VKGEMM_UP_TO_STRIDES = 16,
    VKGEMM_UP_TO_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmUpToFlagBits;

/* The leading dimensions and strides of one run, in elements, by the rules of VkgemmMatrix and VkgemmProblem. 0 means
 * dense for the sizes of the run, not the problem's stride. VKGEMM_BROADCAST shares one matrix of A, B or C, but is
 * refused for an operand that has a ratio above 1 (INVALID_ARGUMENT). Also refused: a leading dimension smaller than a
 * row, matrices of D that share elements (both INVALID_PROBLEM), and lengths that exceed the reach of one dispatch
 * (LIMIT), because such a run is not divided. C's are read only for VKGEMM_C_SEPARATE. The size of this struct never
 * changes, because VkgemmRun contains it by value. */
typedef struct VkgemmRunStrides {
    uint64_t lda, ldb, ldc, ldd;
    uint64_t batchStrideA, batchStrideB, batchStrideC, batchStrideD;
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
} VkgemmRunStrides;

/* Many products in one dispatch, whose sizes and places are in device memory, where earlier work on the GPU may have
 * written them. A table with one group also serves a single product whose size only the GPU has computed. */
typedef enum VkgemmGrouping {
    VKGEMM_GROUPING_NONE = 0,
    /* `batch` products, each described by a VkgemmGroup. The problem has the largest sizes. Each group has its own
     * value of the sizes in `upTo`, and the problem's value of the others. Batch strides only determine how far the
     * operands reach if the run does not state their size. */
    VKGEMM_GROUPING_TABLE = 1,
    /* As TABLE, with a list of indices for each group, as a mixture of experts needs it. Row i of the product is row
     * (index i / indicesPerRow) of A, and is stored in row (index i) of D; C and the residual are read from that row
     * too. The problem's m is the number of rows of D and the largest number of indices of a group. A has ceil(m /
     * indicesPerRow) rows. A bias or scale of rows has one element for each row of D. `upTo` must have m. A and D are
     * row-major. If two groups store the same row, the result is unspecified. */
    VKGEMM_GROUPING_INDEXED = 2,
    /* As TABLE, but the offsets of a VkgemmGroup are device addresses in bytes, as in an array of pointers. A, B, C and
     * D are then not operands of the run; leave them zero. Addresses are multiples of the element size (block formats:
     * 4; if rows are read 16 bytes at a time: 16); otherwise the group is skipped. No other check is possible: a wrong
     * address reads or overwrites whatever is there. If A and B have different types or a block format, matrices are
     * read in whole words of 4 bytes. The plan's accesses do not include this memory, so its barriers are your own.
     * There is no residual (UNSUPPORTED). */
    VKGEMM_GROUPING_ADDRESSES = 3,
    /* No table, but a batch of products of one size. Product i multiplies by matrix (index i) of B, as one token of a
     * mixture of experts selects its experts. VKGEMM_SLOT_INDICES has `batch` indices in device memory. The matrices of
     * B are b.batchStride apart (at most 4 GiB - 1). There are as many as fit the stated size of B's operand, or
     * `batch` if the size is 0; a product whose index is not below that number is skipped. This is one dispatch without
     * a workspace. Limits (UNSUPPORTED): m or n is at most 16, D is row-major, `batch` is 1 to 2^20, `upTo` and
     * batchInvariant are 0, and there is no C, packed operand, scalar in memory or outer batch. */
    VKGEMM_GROUPING_SELECTED = 4,
    VKGEMM_GROUPING_MAX_ENUM = 0x7fffffff
} VkgemmGrouping;

/* One product of a table, in device memory. Sizes above the problem's are clamped to it; if the run has
 * VKGEMM_RECORD_SIZES, the run's sizes are the bounds instead. A group is skipped if its m or n is 0, if it reaches
 * outside its operands, or if it breaks a rule below. Except with VKGEMM_GROUPING_ADDRESSES, nothing outside the
 * operands is read or written, whatever the table holds. The size of this struct never changes. */
typedef struct VkgemmGroup {
    uint32_t m, n, k;    /* used if `upTo` has them; otherwise those of the problem, or of the run, apply */
    uint32_t firstIndex; /* INDEXED: position of the first of its m indices in VKGEMM_SLOT_INDICES */
    /* 0: the problem's. If the plan accesses rows 16 bytes at a time (operandAlignment and the problem's rows, leading
     * dimension and batch stride are multiples of 16 bytes), these and the offsets must be multiples of 16 bytes. */
    uint32_t lda, ldb, ldc, ldd;
    uint64_t offsetA, offsetB, offsetC, offsetD; /* in elements from the beginning of the operand; in a block format, a
                                                    whole number of blocks; with ADDRESSES, device addresses. offsetC is
                                                    read only for VKGEMM_C_SEPARATE */
} VkgemmGroup;

/* Values of VkgemmProblem::packedA and packedB. Any other value is the key of a layout (VkgemmPlanInfo::packedA). */
#define VKGEMM_PACKED_NONE 0         /* the operand is stored as its VkgemmMatrix describes */
#define VKGEMM_PACKED_ANY UINT64_MAX /* you pack it before the run, in the layout that the plan chooses */

typedef struct VkgemmProblem {
    uint32_t structSize;
    const void* pNext;
    uint64_t m, n, k; /* D is m x n, op(A) is m x k, op(B) is k x n.
                         If m or n is 0, the plan is empty and records no dispatch.
                         If k is 0, D = epilogue(beta C), and A and B may be missing */
    uint64_t batch;   /* 0 means 1 */
    VkgemmMatrix a, b, c, d;
    VkgemmC cSource;
    VkgemmType accumulate;
    VkgemmAccuracy accuracy;
    uint32_t epilogueCount; /* used entries of `epilogue`, at most VKGEMM_MAX_EPILOGUE_STEPS */
    VkgemmEpilogueStep epilogue[VKGEMM_MAX_EPILOGUE_STEPS];
    uint64_t packedA, packedB; /* VKGEMM_PACKED_NONE, VKGEMM_PACKED_ANY or a key. `a` and `b` describe the matrices
                                  before they are packed (vkgemmCreatePack) */
    uint32_t upTo;             /* VkgemmUpToFlagBits: what varies from run to run */
    VkgemmGrouping grouping;
    uint32_t indicesPerRow;  /* for VKGEMM_GROUPING_INDEXED: how many indices share a row of A; 0: 1 */
    uint32_t batchInvariant; /* 1: the bits of a row of D do not depend on m, on the number of products or on other
                                rows, among plans of the same library, device and options. Kernel, tile and the order of
                                each sum are then chosen without regard to them, and K is not split, which may be
                                slower, most of all for few rows. Not with groups. 0: as fast as possible */
    /* A second, outer level of the batch, and matrices that neighbouring products share. There are outerBatch * batch
     * products. With j below outerBatch and i below batch:
     *
     *     D[j][i] = epilogue(alpha * A[j / outerRatioA][i / ratioA] * B[j / outerRatioB][i / ratioB] + beta * C[j][i])
     *
     * For example, if 32 heads of queries (A) share 8 heads of keys (B), batch is 32 and ratioB is 4. A ratio must
     * divide the count of its level, and at most one of the two ratios of a level may exceed 1. The residual is placed
     * like D. All products share one bias and one scale. Levels that one dispatch cannot cover become several
     * dispatches (VkgemmPlanInfo::dispatchCount), at most 4096 times as many. With an outer batch or a ratio, `batch`
     * cannot vary (upTo), and there are no groups. */
    uint64_t outerBatch; /* 0: 1 */
    /* From one matrix of the outer level to the next, in elements. 0: dense, which is where one more matrix of the
     * inner level would begin, or one more row if those matrices are side by side. VKGEMM_BROADCAST: one matrix for all
     * (not D). */
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
    uint64_t ratioA, ratioB;           /* how many consecutive products of the batch share a matrix; 0: 1 */
    uint64_t outerRatioA, outerRatioB; /* the same for the outer level; 0: 1 */

    /* Types of the epilogue's operands; 0: D's type, but f32 for bias and scale if D is i8. See VkgemmStepKind. */
    VkgemmType biasType, scaleType, residualType;
    uint32_t scalars; /* VkgemmScalarFlagBits: which members of VKGEMM_SLOT_SCALARS are used */
} VkgemmProblem;

/* A problem as one line of text, used by the tool, logs, tests and bug reports. Defaults are left out:
 *
 *     f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu
 *
 * docs/design.md has the grammar. The text also has alpha and beta, which belong to a run and not to the problem, so
 * that one line is enough to repeat a run. A beta other than 0 implies c=d, unless c= is given. */

/* Parses `text`. alpha and beta may be NULL; if the text does not state them, they become 1 and 0. Set
 * problem->structSize first, as in any output struct. error may be NULL. Any thread.
 *
 * PARSE: the text is malformed; the error names the character, counted from 1, and a word that would fit.
 * INVALID_PROBLEM: the problem contradicts itself. UNSUPPORTED: the text needs a field that the caller's version of
 * VkgemmProblem does not have. */
VKGEMM_API VkgemmResult vkgemmParseProblem(const char* text, VkgemmProblem* problem, double* alpha, double* beta,
                                           VkgemmError* error);

/* Writes the text of `problem`. *size is the bytes at `text` on input, and the bytes needed on output, including the
 * terminating null. text may be NULL, to ask for the size; *size is then ignored on input. INCOMPLETE: the text was
 * truncated. Any thread. */
VKGEMM_API VkgemmResult vkgemmFormatProblem(const VkgemmProblem* problem, double alpha, double beta, char* text,
                                            size_t* size);

#ifdef __cplusplus
}
#endif
#endif
