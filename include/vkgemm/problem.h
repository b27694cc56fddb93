/* SPDX-License-Identifier: MIT
 *
 * Problems and results: the part of the API that needs no Vulkan header. This header is part of vkgemm.h, and the
 * general rules there hold here too.
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

/* Negative: the call failed, and nothing was created or recorded. Positive: the call succeeded only in part, or not as
 * you asked. */
typedef enum VkgemmResult {
    VKGEMM_SUCCESS = 0,
    VKGEMM_FALLBACK_USED = 1,           /* VKGEMM_KERNEL could not be followed; VkgemmError::text has the reason */
    VKGEMM_INCOMPLETE = 2,              /* your array, text or memory was too small, and holds what fits; or a group of
                                           a table is larger than the plan, and only what fits is computed */
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

/* Describes a failure. Zero-initialise the struct. Every call overwrites it; after VKGEMM_SUCCESS the text is empty.
 * The size of this struct never changes, because it must be usable even if every other struct is unreadable. */
typedef struct VkgemmError {
    int32_t vkResult; /* of the Vulkan call that failed; otherwise VK_SUCCESS (0) */
    char text[1024];  /* UTF-8, null-terminated, one line; ends with " ..." if it does not fit */
} VkgemmError;

/* The name of a result without its prefix: "success", "unsupported". Returns a static string, never NULL. Any
 * thread. */
VKGEMM_API const char* vkgemmResultName(VkgemmResult result);

/* ----------------------------------------------------------------------------------------------------
 * The problem: what to compute. It is plain data without handles. You state the buffers when you record a plan.
 * ---------------------------------------------------------------------------------------------------- */

/* Element types and block formats. Integer sums wrap around.
 *
 * e4m3, e5m2 and the block formats are types for A and B only (elsewhere UNSUPPORTED). A block holds elements that are
 * neighbours along k. k, leading dimensions and strides still count elements, and must be multiples of the number of
 * elements in a block (otherwise UNSUPPORTED). A block of u4_gN, i8_gN or u8_gN has N codes, a scale and a zero point.
 * An element is scale * (code - zero point). The scale and the zero point are f16, or f32 if the name ends in _f32.
 * docs/formats.md describes every format byte by byte. */
typedef enum VkgemmType {
    /* The default depends on the operand. A: f32. B: A's type. C: D's type. D and the accumulator depend on the type of
     * A, or on that of B if only B is floating-point. For f32, fp8 and block formats, both are f32. For f16 and bf16, D
     * has that type and the accumulator is f32. For f64, both are f64. For i32, i8 and u8, both are i32. */
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

/* A value of batchStride and outerStride: all products of that level share one matrix. Not allowed for D. */
#define VKGEMM_BROADCAST UINT64_MAX

/* The layout of a matrix, in elements from the operand's offset. For column-major matrices, read "column" for "row".
 * The size of this struct never changes, because VkgemmProblem contains it by value.
 *
 * Large matrices. ld is at most 2^31 - 1. One dispatch can reach 2^31 - 1 elements of an operand, or as many bytes as
 * one descriptor spans. vkgemm divides a problem with larger operands along m, n and the batch into several dispatches
 * (VkgemmPlanInfo::dispatchCount). If A is column-major or B is row-major, that may not suffice, because the k rows of
 * B (or columns of A) span too many elements. vkgemm then also divides k, but only if D has the accumulator's type,
 * batchInvariant is 0, and there is no residual. It does not divide problems with varying sizes, groups or packed
 * operands. A problem that is too large and cannot be divided is refused (LIMIT).
 *
 * Batches of D. The matrices of D must not share elements. There are two valid arrangements: each matrix begins after
 * the end of the previous one; or the matrices are side by side in one wide matrix, with batchStride >= the length of a
 * row and ld >= (batch - 1) * batchStride + that length. Other interleavings are refused. With an outer batch, sort ld,
 * batchStride and outerStrideD by size: each stride must be at least as long as the range of elements that the smaller
 * strides span. */
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
     * bound is four times the default one. Infinities and NaN propagate, with two exceptions (docs/accuracy.md). vkgemm
     * uses f32 arithmetic instead if the device has no suitable matrix units, if matrix units would be slower, or if
     * you allow no workspace. */
    VKGEMM_ACCURACY_F32_SPLIT = 1,
    /* For A, B and D in f32. Each element is split into two f16 numbers, which is faster than three bf16. The error of
     * an element of D is relative to the largest element in its row of A times the largest in its column of B. An
     * element of at most 2^-39 times the largest in that row or column may count as 0. vkgemm uses F32_SPLIT instead if
     * that is faster. */
    VKGEMM_ACCURACY_F32_SPLIT_ROWS = 2,
    /* For A and B of different types, fp8, or a block format. vkgemm may round elements to a type that the matrix units
     * multiply. This is the 16-bit type of A or B if one of them has such a type, and otherwise f16, in which numbers
     * above 65504 become infinite. Sums are as exact as by default, except that native kernels sum e4m3 and e5m2 less
     * exactly. By default, elements are multiplied unrounded. */
    VKGEMM_ACCURACY_NARROW = 3,
    /* Like NARROW. In addition, if one operand has a block format and the other is floating-point with few rows, vkgemm
     * may round the floating-point operand to MXINT8. Each 32 neighbours along k then become 8-bit integers times one
     * power of two, and their products are summed as integers. The rounding error of an element is at most 1/127 of the
     * largest of its 32. If one of the 32 is an infinity or NaN, every element of D that depends on them is NaN. If all
     * 32 are below 2^-120, they count as 0. The formats from q8_0 to q6_k have such kernels. Other formats are
     * multiplied as for NARROW. */
    VKGEMM_ACCURACY_MXINT8 = 4,
    /* For A, B, C and D in f64. Whole numbers are made of the rows of A and the columns of B, and 15 products of int8
     * give their product modulo 15 numbers, which determines it. The error of an element of D is relative to the norms
     * of its row of A and its column of B, and the bound is at most that of f64 arithmetic. Every device gives the same
     * bits, and none needs shaderFloat64. Infinities and NaN propagate. A workspace is required. There are no pairs and
     * no groups (otherwise UNSUPPORTED). With a packed operand, upTo, batchInvariant, or a step that reads a residual,
     * k is at most 131072 (otherwise LIMIT). */
    VKGEMM_ACCURACY_F64_SPLIT = 5,
    /* Like F64_SPLIT with 18 products of int8 instead of 15, which takes a fifth more workspace: for rows of A or
     * columns of B whose elements differ much in size. The error relative to the norms is 2500 times smaller. */
    VKGEMM_ACCURACY_F64_SPLIT_WIDE = 6,
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
    VKGEMM_SLOT_INDICES = 9,  /* the lists of indices: see VkgemmGrouping */
    VKGEMM_SLOT_SCALARS = 10, /* VkgemmScalars */
    VKGEMM_SLOT_B2 = 11,      /* the second B of a pair, and its bias: see VkgemmStepKind */
    VKGEMM_SLOT_BIAS2 = 12,
    VKGEMM_SLOT_COUNT = 13, /* number of slots in this header; VkgemmPlanInfo::slotCount is that of the library */
    VKGEMM_SLOT_MAX_ENUM = 0x7fffffff
} VkgemmSlot;

/* The epilogue: steps that change each element of the product before it is stored in D. The steps run in the order
 * given. tables.h lists all kinds with their formulas. A problem may have each kind at most once, at most one bias and
 * at most one scale (otherwise INVALID_PROBLEM).
 *
 * Operands. Bias and scale have m elements (ROW), n elements (COL) or one element (ALL). CLAMP_ROW and CLAMP_COL read
 * pairs of a lower and an upper bound from the scale's operand, in its type: bounds 2 i and 2 i + 1 are for row or
 * column i. A problem with one of these clamps therefore must not have a scale (INVALID_PROBLEM). If a lower bound
 * exceeds its upper bound, D is unspecified; vkgemm does not check the bounds. The residual has the layout, ld and
 * batchStride of D. If it has D's type, it may be D itself.
 *
 * DRELU is the derivative of ReLU, for a product of gradients. Its residual is the result or the argument of the ReLU.
 * Where the residual is 0 or less, the element of D becomes 0, even if it was NaN. Elsewhere, and where the residual is
 * NaN, the element is unchanged. A problem cannot have both DRELU and RESIDUAL (INVALID_PROBLEM).
 *
 * Gates. GATE_RELU, GATE_GELU and GATE_SILU multiply the element by an activation of the residual. RESIDUAL, DRELU and
 * the gates read one operand, so a problem has at most one of them. Two plans compute a pair: the first stores
 * G = A * B2 + bias2, and the second has the steps bias and gate, with G as its residual, which may be its D.
 *
 * Pairs. With PAIR_RELU, PAIR_GELU or PAIR_SILU, one plan computes both products: the element x of A * B is multiplied
 * by an activation of the element y of A * B2 (SwiGLU: PAIR_SILU). B2 is an operand of its own with B's type, layout,
 * leading dimension and strides; halves of one stored matrix are one buffer at two offsets. The pair is the first step,
 * or the second after a bias, which has another operand (bias2, like the bias) for y. alpha applies to both products:
 *
 *     D = steps((alpha * A * B + bias) * activation(alpha * A * B2 + bias2))
 *
 * x and y have the accumulator's type until they are multiplied. D is row-major. There are no C, no step that reads a
 * residual, no groups, no packed B, and no quantised product (otherwise UNSUPPORTED).
 *
 * Arithmetic. Steps with FLOATS in tables.h are computed in the accumulator's type, which must be floating-point.
 * Quantised products (see below) may have these steps too, and compute them in f32. GELU is
 * 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Leaky ReLU with a slope of 0 is ReLU: it makes -infinity 0.
 *
 * Types. By default bias, scale, residual and C have D's type. To give them another type, set biasType, scaleType,
 * residualType or c.type. If sums are f32 or f16, each of these operands may be f32, f16 or bf16, whatever D's type is.
 * A 16-bit operand whose type differs from D's is read in words: it must begin at a multiple of 4 bytes, and its length
 * is rounded up to a multiple of 4. In a quantised product (see below) it is read element by element: it may begin at
 * any multiple of 2 bytes, and its length is not rounded up. With a table of groups, C and the residual have D's type.
 *
 * Quantised products. If A and B are i8, D may be f32, f16, bf16 or i8. The whole epilogue is then f32, including alpha
 * and beta:
 *
 *     D = convert(steps(alpha * f32(sum) + beta * C))
 *
 * The conversion rounds once, to the nearest number of D's type, ties to even; only to f16 may a device round toward 0
 * instead, as Vulkan allows. Conversion to i8 saturates at -128 and 127, and makes NaN 0. f32(sum) is rounded if the
 * magnitude of the sum exceeds 2^24. Bias and scale are f32, f16 or bf16 (default: f32 if D is i8, otherwise D's type),
 * and C and the residual may also be i8. A bias may also be i32; it must then be the first step, and is added to the
 * sum as an integer: alpha * f32(sum + bias).
 *
 * Zero points. Let A have scale sa and zero point za, let column j of B have scale sb[j], and let t[j] be the sum of
 * the elements of that column. The product of the represented values is sa sb[j] (sum - za t[j]). Compute it with the
 * steps bias=col scale=col, an i32 bias of -za t[j] and a scale of sa sb[j]. If there is also a bias f[j], and D has
 * scale 1 and zero point zd, use the steps scale=col bias=col, a scale of sa sb[j] and a bias of f[j] + zd - sa sb[j]
 * za t[j]. */
typedef enum VkgemmStepKind {
    VKGEMM_STEP_NONE = 0, /* an unset step; refused if its index is below epilogueCount (INVALID_ARGUMENT) */
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) name = (number),
    VKGEMM_STEP_ROWS(VKGEMM_ROW) /* VKGEMM_STEP_BIAS_ROW, ..., VKGEMM_STEP_CLAMP: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_STEP_MAX_ENUM = 0x7fffffff
} VkgemmStepKind;

/* The size of this struct never changes, because VkgemmProblem contains it by value. */
typedef struct VkgemmEpilogueStep {
    VkgemmStepKind kind;
    float low, high; /* clamp: the bounds, low <= high. Leaky ReLU: low is the slope below 0. Others ignore both */
} VkgemmEpilogueStep;

/* Never changes, because fields follow `epilogue` in VkgemmProblem. */
#define VKGEMM_MAX_EPILOGUE_STEPS 4

/* Scalars of a run in device memory (VkgemmScalars). The run reads factors that earlier work on the GPU computed, and
 * writes facts about D.
 *
 * Sums must be f32 or f16, or A and B must be i8 with a D other than i32. There must be no groups. The device must have
 * bufferDeviceAddress, because such a plan reads operands by address (VkgemmPlanInfo::usesAddresses). vkgemmCreatePlan
 * refuses anything else (UNSUPPORTED), unknown bits (INVALID_ARGUMENT), and BETA without a C (INVALID_PROBLEM). Two
 * runs that write the same VkgemmScalars need a barrier between them. */
typedef enum VkgemmScalarFlagBits {
    /* alpha replaces VkgemmRun::alpha. If alpha is 0, the product counts as 0 even if A or B holds NaN. The run must
     * state A and B in any case. */
    VKGEMM_SCALARS_ALPHA = 1,
    /* beta replaces VkgemmRun::beta; the problem must have a C. If beta is 0, NaN in C does not reach D. */
    VKGEMM_SCALARS_BETA = 2,
    /* low and high replace the bounds of the clamp step. If a problem has a clamp step and any other of these bits, it
     * must also have this bit. */
    VKGEMM_SCALARS_CLAMP = 4,
    /* nonFinite becomes 1 if the run stores a NaN or an infinity, and is otherwise unchanged. Set it to 0 before the
     * run. */
    VKGEMM_SCALARS_MONITOR = 8,
    /* largest becomes the maximum of its old value and of every |x| that the run stores. Set it to 0 before the run. x
     * is an element of D before it is rounded to D's type, so |x| may exceed 65504 although D is f16. Infinity exceeds
     * every number, and NaN exceeds infinity. If vulkanMemoryModel is enabled, this bit needs
     * vulkanMemoryModelDeviceScope too (otherwise UNSUPPORTED). */
    VKGEMM_SCALARS_LARGEST = 16,
    VKGEMM_SCALARS_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmScalarFlagBits;

/* This struct is in device memory, at a multiple of 4 bytes. A run touches only the members whose flag is set. The size
 * of this struct never changes. */
typedef struct VkgemmScalars {
    float alpha, beta;
    float low, high;    /* low <= high; otherwise an element becomes one of the two */
    uint32_t nonFinite; /* 1: a NaN or an infinity was stored (or, if D is i8, was converted to i8) */
    float largest;      /* at least 0, or NaN */
} VkgemmScalars;

/* Sizes that vary from run to run. The problem has the largest value of each size. The plan serves every value from 0
 * to the largest, and each run states its own sizes (VKGEMM_RECORD_SIZES). vkgemmCreatePlan divides the sizes into a
 * few ranges, and chooses and compiles a kernel, its tile and its split of K for each range. Recording a size for the
 * first time compiles and allocates nothing.
 *
 * Leading dimensions and strides do not vary, unless `upTo` has VKGEMM_UP_TO_STRIDES. If they are 0, they are dense for
 * the largest sizes, and a smaller matrix uses the beginning of each row of the largest one. If the length of rows
 * varies, state leading dimensions and strides that are multiples of 16 bytes, so that rows can be read 16 bytes at a
 * time. */
typedef enum VkgemmUpToFlagBits {
    VKGEMM_UP_TO_M = 1,
    VKGEMM_UP_TO_N = 2,
    VKGEMM_UP_TO_K = 4,
    VKGEMM_UP_TO_BATCH = 8,
    /* Not a size: each run may state its own leading dimensions and strides (VKGEMM_RECORD_STRIDES), of any value that
     * VkgemmMatrix allows. The values in the problem are typical ones. The plan has one kernel for runs whose leading
     * dimensions and strides are all multiples of 16 bytes (f64: 32 bytes), and one for other runs. vkgemm then neither
     * merges levels of the batch nor packs operands, so products may be slower. Refused with groups, packed operands or
     * batchInvariant (UNSUPPORTED). */
    VKGEMM_UP_TO_STRIDES = 16,
    VKGEMM_UP_TO_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmUpToFlagBits;

/* The leading dimensions and strides of one run, in elements, by the rules of VkgemmMatrix and VkgemmProblem. 0 means
 * dense for the sizes of the run or, with VKGEMM_RECORD_KEEP_STRIDES, the problem's stride. VKGEMM_BROADCAST shares one
 * matrix of A, B or C, but is refused for an operand that has a ratio above 1 (INVALID_ARGUMENT). A leading dimension
 * smaller than a row is refused, and so are matrices of D that share elements (both INVALID_PROBLEM). Operands that one
 * dispatch cannot reach are refused too (LIMIT), because such a run is not divided. The values of C are read only for
 * VKGEMM_C_SEPARATE. The size of this struct never changes, because VkgemmRun contains it by value. */
typedef struct VkgemmRunStrides {
    uint64_t lda, ldb, ldc, ldd;
    uint64_t batchStrideA, batchStrideB, batchStrideC, batchStrideD;
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
} VkgemmRunStrides;

/* Many products in one dispatch. Their sizes and offsets are in device memory, and earlier work on the GPU may have
 * written them there. With a table, a small dispatch that checks it comes first. A table of one group serves a single
 * product whose size the GPU computes. */
typedef enum VkgemmGrouping {
    VKGEMM_GROUPING_NONE = 0,
    /* `batch` products, each described by a VkgemmGroup. The problem has the largest sizes. Each group has its own
     * value of each size in `upTo`, and the problem's value of every other size. Batch strides are used only if the run
     * does not state the size of an operand: they then determine how far the operand reaches. Limits (UNSUPPORTED):
     * `batch` is at most 2^20, `upTo` has neither BATCH nor STRIDES, batchInvariant is 0. Packed
     * operands, scalars in memory, an outer batch and ratios are refused. */
    VKGEMM_GROUPING_TABLE = 1,
    /* As TABLE, with a list of indices for each group, for a mixture of experts. If x is index i of the list, row i of
     * the product is computed from row floor(x / indicesPerRow) of A, and stored in row x of D. C and the residual are
     * read from row x too. The problem's m is the number of rows of D, and also the largest number of indices of a
     * group. A has ceil(m / indicesPerRow) rows. A bias or scale of rows has one element for each row of D. `upTo` must
     * have m. A, C and D are row-major. If two groups store the same row, the result is unspecified. All groups
     * together have at most m indices; groups with further indices may be skipped. */
    VKGEMM_GROUPING_INDEXED = 2,
    /* As TABLE, but the offsets of a VkgemmGroup are device addresses in bytes, as in an array of pointers. A, B, C and
     * D are then not operands of the run; leave them zero. Addresses must be multiples of the element size (in a block
     * format: of 4; if rows are read 16 bytes at a time: of 16). A group with any other address is skipped. No other
     * check is possible: with a wrong address, the run reads or overwrites whatever is there. If A and B have different
     * types or a block format, matrices are read in whole words of 4 bytes. vkgemmGetPlanAccesses does not list this
     * memory, so you must record the barriers for it. A residual, also that of DRELU, is refused (UNSUPPORTED). */
    VKGEMM_GROUPING_ADDRESSES = 3,
    /* There is no table, but a batch of products of one size. If x is index i, product i multiplies by matrix x of B,
     * as one token of a mixture of experts selects its experts. VKGEMM_SLOT_INDICES has `batch` indices in device
     * memory. The matrices of B are b.batchStride apart (at most 4 GiB - 1). B has as many matrices as fit the size of
     * its operand, which the run must state. A product whose index is not below this number is skipped. The run is one
     * dispatch and needs no workspace, unless the plan has VKGEMM_PLAN_COUNT_INDICES. Limits (UNSUPPORTED): m or n is
     * at most 16, D is row-major, `batch` is 1 to 2^20, `upTo` and batchInvariant are 0, and there is no C, packed
     * operand, scalar in memory, outer batch or ratio. */
    VKGEMM_GROUPING_SELECTED = 4,
    VKGEMM_GROUPING_MAX_ENUM = 0x7fffffff
} VkgemmGrouping;

/* One product of a table, in device memory. A size above that of the problem is clamped to it. If the run has
 * VKGEMM_RECORD_SIZES, the run's sizes are the bounds instead. A group is skipped if its m or n is 0, if it reaches
 * outside its operands, or if it breaks a rule below. Whatever the table holds, a run reads and writes nothing outside
 * its operands, except with VKGEMM_GROUPING_ADDRESSES. The run counts the groups that it skips, by reason, in its
 * workspace (VkgemmGroupReport), and vkgemmCheckGroups explains a table that the host has. The size of this struct
 * never changes. */
typedef struct VkgemmGroup {
    uint32_t m, n, k;    /* used if `upTo` has them; otherwise those of the problem, or of the run, apply */
    uint32_t firstIndex; /* INDEXED: position of the first of its m indices in VKGEMM_SLOT_INDICES */
    /* 0: the problem's. A leading dimension is at least the length of a row, and in a block format a whole number of
     * blocks. The plan accesses rows 16 bytes at a time if operandAlignment is a multiple of 16 bytes, the problem's
     * rows, leading dimension and batch stride are multiples of 16 bytes (f64: 32 bytes), and the length of these rows
     * does not vary. Leading dimensions of groups must then be multiples of 16 bytes (f64: 32 bytes) too, and offsets
     * multiples of 16 bytes. VkgemmPlanInfo::groupAlignment has the numbers of a plan. If operandAlignment is below 16,
     * no plan has this rule. */
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
    uint64_t packedA, packedB; /* VKGEMM_PACKED_NONE, VKGEMM_PACKED_ANY or a key. `a` and `b` always describe the
                                  matrices before you pack them (vkgemmCreatePack) */
    uint32_t upTo;             /* VkgemmUpToFlagBits: what varies from run to run */
    VkgemmGrouping grouping;
    uint32_t indicesPerRow;  /* for VKGEMM_GROUPING_INDEXED: how many indices share a row of A; 0: 1 */
    uint32_t batchInvariant; /* 1: the bits of a row of D do not depend on m, on the number of products or on other
                                rows, among plans of the same library, device and options. vkgemm then chooses kernel,
                                tile and order of each sum without regard to these, and does not split K. Products may
                                be slower, most of all those with few rows. Not with groups. 0: as fast as possible */
    /* A second, outer level of the batch, and matrices that neighbouring products share. There are outerBatch * batch
     * products. For every j below outerBatch and every i below batch (divisions round down):
     *
     *     D[j][i] = epilogue(alpha * A[j / outerRatioA][i / ratioA] * B[j / outerRatioB][i / ratioB] + beta * C[j][i])
     *
     * For example, if 32 heads of queries (A) share 8 heads of keys (B), batch is 32 and ratioB is 4. A ratio must
     * divide the count of its level, and at most one of the two ratios of a level may exceed 1. The residual has the
     * strides of D. All products share one bias and one scale. If one dispatch cannot cover both levels, vkgemm records
     * several (VkgemmPlanInfo::dispatchCount), at most 4096 times as many. With an outer batch or a ratio there are no
     * groups.
     *
     * `batch` may vary (VKGEMM_UP_TO_BATCH), outerBatch may not: the level that varies is the inner one, whichever of
     * the two has the larger strides. The batch of a run is then a multiple of ratioA and ratioB (otherwise
     * INVALID_ARGUMENT), and one dispatch takes one of the products that share a matrix, over the whole batch. */
    uint64_t outerBatch; /* 0: 1 */
    /* The distance from one matrix of the outer level to the next, in elements. 0: dense. The next outer matrix then
     * begins where one more matrix of the inner level would begin, or one more row if the inner matrices are side by
     * side. VKGEMM_BROADCAST: all products share one matrix (not for D). */
    uint64_t outerStrideA, outerStrideB, outerStrideC, outerStrideD;
    uint64_t ratioA, ratioB;           /* how many consecutive products of the batch share a matrix; 0: 1 */
    uint64_t outerRatioA, outerRatioB; /* the same for the outer level; 0: 1 */

    /* Types of the epilogue's operands. 0: D's type, except that bias and scale are f32 if D is i8. See
     * VkgemmStepKind. */
    VkgemmType biasType, scaleType, residualType;
    uint32_t scalars; /* VkgemmScalarFlagBits: which members of VKGEMM_SLOT_SCALARS are used */
} VkgemmProblem;

/* A problem as one line of text, used by the tool, logs, tests and bug reports. Defaults are left out:
 *
 *     f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu
 *
 * docs/design.md has the grammar. alpha and beta belong to a run and not to the problem, but the text has them too, so
 * that one line is enough to repeat a run. A beta other than 0 implies c=d, unless c= is given. */

/* Parses `text`. alpha and beta may be NULL; if the text does not state them, they become 1 and 0. Set
 * problem->structSize first, as in any output struct. error may be NULL. Any thread.
 *
 * PARSE: the text is malformed; the error states the position of the character, counted from 1, and a word that would
 * fit. INVALID_PROBLEM: the problem contradicts itself. UNSUPPORTED: the text needs a field that the caller's version
 * of VkgemmProblem does not have. */
VKGEMM_API VkgemmResult vkgemmParseProblem(const char* text, VkgemmProblem* problem, double* alpha, double* beta,
                                           VkgemmError* error);

/* Writes the text of `problem`. On input, *size is the number of bytes that `text` has room for. On output, it is the
 * number of bytes needed, with the terminating null. text may be NULL, to ask for the size; *size is then ignored on
 * input. INCOMPLETE: the text was truncated. Any thread. */
VKGEMM_API VkgemmResult vkgemmFormatProblem(const VkgemmProblem* problem, double alpha, double beta, char* text,
                                            size_t* size);

#ifdef __cplusplus
}
#endif
#endif
