/* SPDX-License-Identifier: MIT
 *
 * Problems and results: the part of the API that needs no Vulkan headers. vkgemm.h includes this file and states the
 * rules that hold for every function and struct.
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

/* Negative: the call failed and nothing was created or recorded. Positive: the call succeeded, with a restriction. */
typedef enum VkgemmResult {
    VKGEMM_SUCCESS = 0,
    VKGEMM_FALLBACK_USED = 1,           /* VKGEMM_KERNEL was not followed; VkgemmError::text has the reason */
    VKGEMM_INCOMPLETE = 2,              /* the caller's array or text was too small; it holds what fits */
    VKGEMM_ERROR_INVALID_ARGUMENT = -1, /* a null pointer, a wrong structSize, a value outside its enum */
    VKGEMM_ERROR_INVALID_PROBLEM = -2,  /* the problem contradicts itself: a leading dimension below a row, ... */
    VKGEMM_ERROR_UNSUPPORTED = -3,      /* valid, but this version or device cannot do it; see the text */
    VKGEMM_ERROR_LIMIT = -4,            /* a number is above a limit of the device or of vkgemm */
    VKGEMM_ERROR_TILE = -5,             /* a tile breaks a rule of its family; the text lists every broken rule */
    VKGEMM_ERROR_OPERAND = -6,          /* an operand is missing, misaligned, too small, or overlaps D */
    VKGEMM_ERROR_WORKSPACE = -7,        /* the workspace is missing, misaligned or too small */
    VKGEMM_ERROR_MISSING_FUNCTION = -8, /* a required Vulkan function was not found */
    VKGEMM_ERROR_OUT_OF_MEMORY = -9,    /* host or device memory */
    VKGEMM_ERROR_DEVICE_LOST = -10,     /* the driver returned VK_ERROR_DEVICE_LOST */
    VKGEMM_ERROR_VULKAN = -11,          /* another Vulkan call failed: see VkgemmError::vkResult */
    VKGEMM_ERROR_PARSE = -12,           /* a text is malformed; VkgemmError::text names the character, line or byte */
    VKGEMM_ERROR_NOT_COMPILED = -13,    /* a pipeline is not compiled, and this call may not compile it */
    VKGEMM_RESULT_MAX_ENUM = 0x7fffffff
} VkgemmResult;

/* Describes a failure. Zero-initialise it; every call overwrites it, also on success (text is then empty). It has no
 * structSize because its size never changes: it is filled while another struct may be unreadable. */
typedef struct VkgemmError {
    int32_t vkResult; /* the VkResult of the Vulkan call that failed, otherwise VK_SUCCESS, which is 0 */
    char text[1024];  /* UTF-8, null-terminated, truncated if longer; one or more sentences in one line */
} VkgemmError;

/* The name of a result without its prefix: "success", "unsupported". A static string, never NULL. Any thread. */
VKGEMM_API const char* vkgemmResultName(VkgemmResult result);

/* ----------------------------------------------------------------------------------------------------
 * The problem: what to compute. Plain data, without handles; the buffers are given when a plan is recorded.
 * ---------------------------------------------------------------------------------------------------- */

/* Integer sums wrap around.
 *
 * e4m3, e5m2 and the block formats are types of A and B alone (UNSUPPORTED as any other). The blocks of a format lie
 * along k: those of u4_gN and i8_gN are a scale and a zero point, both f16 or (_f32) f32, and N codes; a number is
 * scale * (code - zero point). k, leading dimensions and strides are in elements, and multiples of the block; others
 * are refused with the number (UNSUPPORTED). docs/formats.md has the bytes of every format. */
typedef enum VkgemmType {
    VKGEMM_TYPE_DEFAULT = 0, /* A: f32. B: A's type. D: A's type, but i32 for i8 and u8. C: D's type.
                                Accumulator: f32 for f16 and bf16, i32 for i8 and u8, otherwise A's type. If A has
                                whole numbers and B has not, B's type gives D's and the accumulator's. A block
                                format: both are f32 */
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, isFloat, accumulator, result) name = (number),
    VKGEMM_TYPE_ROWS(VKGEMM_ROW) /* VKGEMM_TYPE_F32, F16, ..., VKGEMM_TYPE_Q8_0, ...: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_TYPE_MAX_ENUM = 0x7fffffff
} VkgemmType;

typedef enum VkgemmLayout {
    VKGEMM_LAYOUT_ROW_MAJOR = 0,    /* element (r, c) at r * ld + c */
    VKGEMM_LAYOUT_COLUMN_MAJOR = 1, /* element (r, c) at c * ld + r; what BLAS calls transposed */
    VKGEMM_LAYOUT_MAX_ENUM = 0x7fffffff
} VkgemmLayout;

/* A batchStride or an outerStride: all products of that level share one matrix. Not for D. */
#define VKGEMM_BROADCAST UINT64_MAX

/* The layout of a matrix in its operand, in elements from the operand's offset. "Row" means column if the layout is
 * column-major. The size of this struct never changes, because VkgemmProblem contains it by value.
 *
 * ld is at most 2^31 - 1. One dispatch reaches 2^31 - 1 elements of an operand, and as many bytes as one descriptor
 * does. A problem with larger ones is cut into several dispatches (VkgemmPlanInfo::dispatchCount), along m, n and the
 * batch. Along k it is cut only if rows of B, or columns of A, are too far apart for that, and then D has the
 * accumulator's type, no step is the residual and batchInvariant is 0. Sizes that vary, groups and operands that come
 * packed rule all of this out. What cannot be cut is refused (LIMIT).
 *
 * The matrices of D must not share elements. Either each begins past the end of the one before, or they are side by
 * side in one wide matrix, with batchStride >= the length of a row and ld >= (batch - 1) * batchStride + that length.
 * Any other interleaving is refused in this version. With an outer batch the strides of D (ld, batchStride and
 * outerStrideD) may have any order, but each must be at least what all smaller ones reach over. */
typedef struct VkgemmMatrix {
    VkgemmType type;
    VkgemmLayout layout;
    uint64_t ld;          /* from one row to the next; 0: dense */
    uint64_t batchStride; /* from one matrix of the batch to the next; 0: ld times the number of rows, so the next
                             matrix begins where one more row of this one would, even if ld is larger than a row;
                             VKGEMM_BROADCAST: one matrix for all. Products that share a matrix (ratioA, ratioB) count
                             as one here */
} VkgemmMatrix;

typedef enum VkgemmC {
    VKGEMM_C_NONE = 0,     /* no C; beta must be 0 at record time */
    VKGEMM_C_IS_D = 1,     /* C is the previous content of D, with its layout, ld and batchStride; leave `c` 0 */
    VKGEMM_C_SEPARATE = 2, /* C is an operand of its own */
    VKGEMM_C_MAX_ENUM = 0x7fffffff
} VkgemmC;

/* How exact an f32 product must be. */
typedef enum VkgemmAccuracy {
    VKGEMM_ACCURACY_DEFAULT = 0, /* arithmetic in the accumulator's type, never less */
    /* A, B and D are f32. Each element is split into three bf16, which the matrix units multiply. The error bound is
     * four times that of the default. Infinities and NaN propagate, with two exceptions at the ends of the range
     * (docs/accuracy.md has errors and speed). f32 arithmetic is used if the device has no suitable matrix units, if
     * they would be slower, or if no workspace is allowed. */
    VKGEMM_ACCURACY_F32_SPLIT = 1,
    /* Two f16 per element: faster again, but the error is relative to the largest elements of a row of A and of a
     * column of B, and elements of at most 2^-39 of those may count as 0. F32_SPLIT is used where that is faster. */
    VKGEMM_ACCURACY_F32_SPLIT_ROWS = 2,
    /* A and B have different types, or one has a block format. Their elements may be rounded, to a type that the matrix
     * units multiply: to the one of 16 bits that A or B has, otherwise to f16, where numbers beyond 65504 become
     * infinite. Sums are as exact as by default; those of e4m3 and e5m2 in a native kernel are less so
     * (docs/accuracy.md). Without it elements are multiplied as they are. */
    VKGEMM_ACCURACY_NARROW = 3,
    /* As NARROW, and a float beside a block format may be rounded to MXINT8 where it has few rows: each 32 elements
     * along k are whole numbers of 8 bits times a power of two, and products are summed in whole numbers. An element is
     * off by up to 1/127 of the largest of its 32. One infinity or NaN among the 32 makes NaN of every element of D
     * that they count for; 32 elements below 2^-120 count as 0. The formats from q8_0 to q6_k have such kernels; others
     * are multiplied as by NARROW (docs/accuracy.md). */
    VKGEMM_ACCURACY_MXINT8 = 4,
    VKGEMM_ACCURACY_MAX_ENUM = 0x7fffffff
} VkgemmAccuracy;

/* The operands of a run. A later version may add slots. */
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
    VKGEMM_SLOT_COUNT = 11,   /* in this header; the library's is VkgemmPlanInfo::slotCount */
    VKGEMM_SLOT_MAX_ENUM = 0x7fffffff
} VkgemmSlot;

/* The epilogue: what is applied to each element of the product before it is stored in D. Steps run in the order given.
 * A list has each kind at most once, at most one bias and at most one scale. Bias and scale have m elements (ROW), n
 * elements (COL) or one (ALL). The clamps by row and by column read pairs of a lower and an upper bound from the
 * scale's operand, in its type: 2 m or 2 n elements, bounds 2 i and 2 i + 1 for row or column i. So a list with one of
 * them has no scale, and none is for sums of whole numbers that stay whole (both INVALID_PROBLEM). Nobody checks that a
 * lower bound is at most the upper one: where it is above, D is unspecified. The residual has the layout, ld and
 * batchStride of D, and may be D itself if it has D's type. DRELU is the derivative of ReLU, for a product of
 * gradients: the residual is then the ReLU's result or its argument, and an element becomes 0, even from NaN, where the
 * residual is 0 or less; elsewhere, and where the residual is NaN, it stays what it is. A list has either this step or
 * the residual that is added (INVALID_PROBLEM with both). GELU, SiLU, clamp and leaky ReLU are computed in floating
 * point: in the accumulator's type, or in f32 if sums of whole numbers have a D of another type (below). GELU is 0.5 x
 * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
 *
 * Types. Bias, scale, residual and C have D's type, unless the problem gives them one of their own (biasType,
 * scaleType, residualType, c.type). If sums are f32 or f16, all of them may be f32, f16 or bf16, whatever D is. Such an
 * operand of 16 bits whose type is not D's begins at a multiple of 4 bytes, and its length is rounded up to one.
 * Among the groups of a table C and the residual have D's type.
 *
 * Sums of i8 in i32 may have a D of f32, f16, bf16 or i8. All of the epilogue is f32 then, alpha and beta too:
 *
 *     D = convert(steps(alpha * f32(sum) + beta * C))
 *
 * Converted to i8, a number becomes the nearest whole one (of two the even one), at least -128 and at most 127, and NaN
 * becomes 0. Bias and scale are f32, f16 or bf16, and by default f32 if D is i8; C and the residual may be i8 too. A
 * bias of i32 must be the first step, and is added to the sum as a whole number: alpha * f32(sum + bias).
 *
 * Zero points. Let A have the scale sa and zero point za, and column j of B the scale sb[j], and let s[j] be the sum
 * of that column's elements. The product of what they stand for is sa sb[j] (sum - za s[j]): the steps bias=col
 * scale=col with an i32 bias of -za s[j] and a scale of sa sb[j]. With a bias f[j] and a zero point zd of D it is the
 * steps scale=col bias=col with a bias of f[j] + zd - sa sb[j] za s[j]. */
typedef enum VkgemmStepKind {
    VKGEMM_STEP_NONE = 0, /* an unset step, refused within epilogueCount (INVALID_ARGUMENT) */
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) name = (number),
    VKGEMM_STEP_ROWS(VKGEMM_ROW) /* VKGEMM_STEP_BIAS_ROW, ..., VKGEMM_STEP_CLAMP: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_STEP_MAX_ENUM = 0x7fffffff
} VkgemmStepKind;

/* Its size never changes, because VkgemmProblem contains it by value. */
typedef struct VkgemmEpilogueStep {
    VkgemmStepKind kind;
    float low, high; /* clamp: low <= high; leaky ReLU: low is the slope below 0; ignored by other steps */
} VkgemmEpilogueStep;

/* Never changes, because fields follow `epilogue` in VkgemmProblem. */
#define VKGEMM_MAX_EPILOGUE_STEPS 4

/* Scalars of a run that are in memory, where earlier work on the GPU may have written them, and what a run notes there
 * of the D that it stores. For sums in f32 and f16, and for those of i8 whose D is not i32, in one product or a batch,
 * on devices with bufferDeviceAddress: the plan reads operands by address (VkgemmPlanInfo::usesAddresses). Anything
 * else is refused when the plan is made (UNSUPPORTED), unknown bits too (INVALID_ARGUMENT), and a beta in memory of a
 * problem without a C (INVALID_PROBLEM). Two runs that write one VkgemmScalars need a barrier between them. */
typedef enum VkgemmScalarFlagBits {
    /* alpha is read, in place of VkgemmRun::alpha. If it is 0 the product counts as 0, whatever NaN A and B hold, which
     * must be given. */
    VKGEMM_SCALARS_ALPHA = 1,
    /* beta is read; the problem has a C. If it is 0, NaN in C does not reach D, not even where C is D. */
    VKGEMM_SCALARS_BETA = 2,
    /* The bounds of the clamp are read, in place of its low and high. A clamp needs this bit if any other is set. */
    VKGEMM_SCALARS_CLAMP = 4,
    /* nonFinite is set to 1 if the run stores a NaN or an infinity, and otherwise left as it is: set it to 0 before. */
    VKGEMM_SCALARS_MONITOR = 8,
    /* largest becomes the largest |x| of what the run stores and of what it held before, so set it to 0 first. x is an
     * element of D before it is rounded to D's type: of an f16 D it may be above 65504. An infinity is above all
     * numbers, and a NaN above all else. Needs the feature vulkanMemoryModelDeviceScope where vulkanMemoryModel is
     * enabled (UNSUPPORTED). */
    VKGEMM_SCALARS_LARGEST = 16,
    VKGEMM_SCALARS_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmScalarFlagBits;

/* In device memory, at a multiple of 4 bytes. What the flags do not name is not touched. Its size never changes. */
typedef struct VkgemmScalars {
    float alpha, beta;
    float low, high;    /* low <= high; else the result of the clamp is one of them */
    uint32_t nonFinite; /* 1: a NaN or an infinity was stored; in a D of i8, a number that was one before */
    float largest;      /* see VKGEMM_SCALARS_LARGEST; at least 0, or NaN */
} VkgemmScalars;

/* Sizes that a plan does not fix: it serves every number from 0 to the problem's, and each run states its own
 * (VKGEMM_RECORD_SIZES). The kernel, its tile and how K is split are chosen for a few ranges of these sizes when the
 * plan is made, and every pipeline is compiled then; recording a size that was never seen compiles and allocates
 * nothing.
 *
 * Leading dimensions and strides are fixed, unless `upTo` has VKGEMM_UP_TO_STRIDES. Where they are left 0, they are
 * those of the largest sizes, so a smaller matrix occupies the beginning of each row, and of the memory, of the largest
 * one. If rows (columns, if column-major) of varying length should be read 16 bytes at a time, state leading dimensions
 * and strides that are multiples of 16 bytes. */
typedef enum VkgemmUpToFlagBits {
    VKGEMM_UP_TO_M = 1,
    VKGEMM_UP_TO_N = 2,
    VKGEMM_UP_TO_K = 4,
    VKGEMM_UP_TO_BATCH = 8,
    /* Not a size: a run may have leading dimensions and strides of its own (VKGEMM_RECORD_STRIDES), of any length that
     * VkgemmMatrix allows. Those of the problem are typical ones. There are kernels for runs whose leading dimensions
     * and strides are all multiples of 16 bytes (32 of f64), and for all others. Levels of the batch are not merged,
     * and no pass packs an operand, which may cost speed. With groups, operands that come packed and batchInvariant it
     * is refused when the plan is made (UNSUPPORTED). */
    VKGEMM_UP_TO_STRIDES = 16,
    VKGEMM_UP_TO_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmUpToFlagBits;

/* The leading dimensions and strides of one run, in elements, by the rules of VkgemmMatrix and VkgemmProblem: 0 is
 * dense for the sizes of the run, not the problem's stride. VKGEMM_BROADCAST shares one matrix of A, B or C, but not
 * where the problem has a ratio of that operand above 1 (INVALID_ARGUMENT). A leading dimension below a row, or
 * matrices of D that share elements, are refused (INVALID_PROBLEM), as are lengths that one dispatch does not reach
 * (LIMIT): nothing is cut. Those of C are read only if it is an operand of its own. Its size never changes, because
 * VkgemmRun contains it by value. */
typedef struct VkgemmRunStrides {
    uint64_t lda, ldb, ldc, ldd;
    uint64_t batchStrideA, batchStrideB, batchStrideC, batchStrideD;
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
} VkgemmRunStrides;

/* Many products in one dispatch, whose sizes and places are in memory that earlier work on the GPU may have written.
 * One group is enough for a product whose size only the GPU knows. */
typedef enum VkgemmGrouping {
    VKGEMM_GROUPING_NONE = 0,
    /* `batch` products, each described by a VkgemmGroup. The problem has the largest sizes; those in `upTo` are each
     * group's own, the others are the problem's. Batch strides only say how far the operands reach (VkgemmRun). */
    VKGEMM_GROUPING_TABLE = 1,
    /* The same, and each group has a list of indices, as a mixture of experts needs them: row i of the product is row
     * (index i / indicesPerRow) of A, and is written to row (index i) of D, C and the residual. m is the number of rows
     * of D, and the most indices of a group; A has m / indicesPerRow rows, rounded up. A bias or scale of rows has an
     * element for each row of D. `upTo` must have m. A and D are row-major. Two groups that write one row race. */
    VKGEMM_GROUPING_INDEXED = 2,
    /* Like TABLE, but the offsets of a VkgemmGroup are device addresses in bytes: matrices anywhere in memory, as
     * arrays of pointers have them. A, B, C and D are no operands of the run; leave them 0. An address is a multiple of
     * the element's size (of 4 in a block format, of 16 where rows are read 16 bytes at a time), else its group is left
     * out. Nothing else of it can be checked: a wrong one, or one of memory that was freed, reads or overwrites
     * whatever is there. Where A and B have different types or a block format, the words of 4 bytes that hold a matrix
     * are read whole. Access to that memory is not in the plan's accesses: its barriers are yours. There is no residual
     * (UNSUPPORTED). */
    VKGEMM_GROUPING_ADDRESSES = 3,
    /* No table: a batch of products of one size. Product i takes matrix number (index i) of B, and earlier work on the
     * GPU may have written the indices, as one token of a mixture of experts chooses its experts. VKGEMM_SLOT_INDICES
     * has `batch` of them. Matrices of B are b.batchStride apart, at most 4 GiB - 1, and as many as fit the size of B's
     * operand, or `batch` if that is 0. A product whose index is not below their number is left out. It is one dispatch
     * without a workspace. m or n is at most 16, D is row-major, `batch` is 1 to 2^20, `upTo` and batchInvariant are 0;
     * there is no C, packed operand, scalar in memory or second level of the batch (UNSUPPORTED). */
    VKGEMM_GROUPING_SELECTED = 4,
    VKGEMM_GROUPING_MAX_ENUM = 0x7fffffff
} VkgemmGrouping;

/* One product of a group, in device memory. Whatever the table holds, nothing outside the operands is read or written,
 * unless it has addresses (VKGEMM_GROUPING_ADDRESSES): sizes above the problem's, or the run's, count as those; a group
 * that is not inside its operands, or breaks the rules below, is left out, as one is whose m or n is 0. Its size never
 * changes. */
typedef struct VkgemmGroup {
    uint32_t m, n, k;            /* read where `upTo` has them; elsewhere the problem's, or the run's, count */
    uint32_t firstIndex;         /* INDEXED: the first of its m indices in VKGEMM_SLOT_INDICES */
    uint32_t lda, ldb, ldc, ldd; /* 0: the problem's. Where the plan reads or writes rows 16 bytes at a time (the
                                    problem's rows, leading dimension and batch stride are multiples of 16 bytes, and
                                    operandAlignment is), so must these be, and the offsets below */
    uint64_t offsetA, offsetB, offsetC, offsetD; /* elements from the operand's beginning, whole blocks in a block
                                                    format; or, with ADDRESSES, addresses in bytes. That of C is not
                                                    read where C is D or absent */
} VkgemmGroup;

/* Values of VkgemmProblem::packedA and packedB; any other value is the key of a layout, as VkgemmPlanInfo has it. */
#define VKGEMM_PACKED_NONE 0         /* the operand is stored as its VkgemmMatrix says */
#define VKGEMM_PACKED_ANY UINT64_MAX /* it is packed before the run, in the layout that suits the plan best */

typedef struct VkgemmProblem {
    uint32_t structSize;
    const void* pNext;
    uint64_t m, n, k; /* D is m x n, op(A) is m x k, op(B) is k x n.
                         If m or n is 0, the plan is empty and records no dispatch.
                         If k is 0, D = epilogue(beta C), and A and B may be missing */
    uint64_t batch;   /* 0 is the default and means 1; if the batch is empty, record nothing */
    VkgemmMatrix a, b, c, d;
    VkgemmC cSource;
    VkgemmType accumulate;
    VkgemmAccuracy accuracy;
    uint32_t epilogueCount; /* of entries of `epilogue` that are used; at most VKGEMM_MAX_EPILOGUE_STEPS */
    VkgemmEpilogueStep epilogue[VKGEMM_MAX_EPILOGUE_STEPS];
    uint64_t packedA, packedB; /* how A and B come to the run: VKGEMM_PACKED_NONE, VKGEMM_PACKED_ANY or a key. `a` and
                                  `b` describe the matrices before they were packed (vkgemmCreatePack) */
    uint32_t upTo; /* VkgemmUpToFlagBits: which of m, n, k and batch are the largest sizes and not the only ones,
                      and whether strides vary */
    VkgemmGrouping grouping;
    uint32_t indicesPerRow;  /* of A, for VKGEMM_GROUPING_INDEXED; 0: 1 */
    uint32_t batchInvariant; /* 1: a row of D has the same bits whatever m, the number of products and the other rows
                                are, for plans of one library, device and set of options: kernel, tile and the order of
                                each sum are chosen without regard to them, and K is not split. It may be slower,
                                most of all for few rows. Not with groups. 0: the fastest */
    /* A second level of the batch, and matrices that neighbouring products share. There are outerBatch * batch
     * products; number (j, i), with j below outerBatch and i below batch, is
     *
     *     D[j][i] = epilogue(alpha * A[j / outerRatioA][i / ratioA] * B[j / outerRatioB][i / ratioB] + beta * C[j][i])
     *
     * So ratioB is 4 if 32 heads of queries (A) share 8 of keys (B). A ratio divides the count of its level, and of
     * the two ratios of one level at most one is above 1. The residual is placed like D; all products have the same
     * bias and scale. Levels that one dispatch cannot take become several (VkgemmPlanInfo::dispatchCount), at most
     * 4096 times those of one. With an outer batch or a ratio the batch cannot vary (upTo); there are no groups. */
    uint64_t outerBatch; /* 0: 1 */
    /* Elements from one matrix of the outer level to the next; 0: dense, so the next one begins where one more matrix
     * of the inner level would, or, if those are side by side, one more row; VKGEMM_BROADCAST: one for all, not D */
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
    uint64_t ratioA, ratioB;           /* how many products in a row share a matrix; 0: 1 */
    uint64_t outerRatioA, outerRatioB; /* likewise of the outer level */

    /* Types of the epilogue's operands; 0: D's, but f32 for bias and scale if D is i8. See VkgemmStepKind. */
    VkgemmType biasType, scaleType, residualType;
    uint32_t scalars; /* VkgemmScalarFlagBits: what is in VKGEMM_SLOT_SCALARS */
} VkgemmProblem;

/* A problem as one line of text, as the tool, logs, tests and bug reports write it, without what is at its default:
 *
 *     f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu
 *
 * The grammar is in docs/design.md. alpha and beta are given at record time and are not part of the problem; the text
 * has them so that one line is enough to repeat a run. A beta other than 0 implies c=d, unless c= is given. */

/* Parses `text`. alpha and beta may be NULL; they become 1 and 0 if the text does not give them. PARSE: the error names
 * the character, counted from 1, and a word that would fit. INVALID_PROBLEM: the text is readable but contradicts
 * itself. Set problem->structSize before the call, as in every output struct. UNSUPPORTED: the text needs a field that
 * the caller's version of VkgemmProblem does not have. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmParseProblem(const char* text, VkgemmProblem* problem, double* alpha, double* beta,
                                           VkgemmError* error);

/* Writes the text of `problem`. *size: on input, the bytes at `text` (ignored if text is NULL); on output, the bytes
 * needed, including the terminating null. text may be NULL, to ask for the size. INCOMPLETE: the text was truncated.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmFormatProblem(const VkgemmProblem* problem, double alpha, double beta, char* text,
                                            size_t* size);

#ifdef __cplusplus
}
#endif
#endif
