/* SPDX-License-Identifier: MIT
 *
 * Problems and results: the part of vkgemm.h that knows nothing of Vulkan. vkgemm.h includes it and states the rules
 * that hold for every function.
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

/* Negative: nothing was made or recorded. Positive: done, but with something to tell (in VkgemmError::text). */
typedef enum VkgemmResult {
    VKGEMM_SUCCESS = 0,
    VKGEMM_FALLBACK_USED = 1,           /* another kernel than VKGEMM_KERNEL asked for serves this problem */
    VKGEMM_INCOMPLETE = 2,              /* the array given was too small; it was filled as far as it goes */
    VKGEMM_ERROR_INVALID_ARGUMENT = -1, /* a null pointer, a wrong structSize, a word outside its enum */
    VKGEMM_ERROR_INVALID_PROBLEM = -2,  /* the problem contradicts itself: a leading dimension below a row, ... */
    VKGEMM_ERROR_UNSUPPORTED = -3,      /* a sound problem that this version or device cannot do; see the text */
    VKGEMM_ERROR_LIMIT = -4,            /* a number above a limit of the device or of vkgemm */
    VKGEMM_ERROR_TILE = -5,             /* a tile breaks a rule of its family; the text lists every broken rule */
    VKGEMM_ERROR_OPERAND = -6,          /* an operand is missing, misaligned, too small, or overlaps D */
    VKGEMM_ERROR_WORKSPACE = -7,        /* the workspace is missing, misaligned or too small */
    VKGEMM_ERROR_MISSING_FUNCTION = -8, /* a Vulkan function that must be there was not found */
    VKGEMM_ERROR_OUT_OF_MEMORY = -9,    /* host or device memory */
    VKGEMM_ERROR_DEVICE_LOST = -10,     /* VK_ERROR_DEVICE_LOST came back from the driver */
    VKGEMM_ERROR_VULKAN = -11,          /* another Vulkan call failed: see VkgemmError::vkResult */
    VKGEMM_ERROR_PARSE = -12,           /* text could not be read; the sentence names the character */
    VKGEMM_RESULT_MAX_ENUM = 0x7fffffff
} VkgemmResult;

/* The words behind a result. Zero-initialise it; calls overwrite it, also on success (text is then empty). Its size
 * never changes. */
typedef struct VkgemmError {
    int32_t vkResult; /* the VkResult of the Vulkan call that failed, otherwise VK_SUCCESS, which is 0 */
    char text[1024];  /* UTF-8, null-terminated, cut at the end if longer; one sentence or more, without a line end */
} VkgemmError;

/* The name of a result without prefix, "success" or "unsupported"; static; never NULL. Any thread. */
VKGEMM_API const char* vkgemmResultName(VkgemmResult result);

/* ----------------------------------------------------------------------------------------------------
 * The problem: what to compute, apart from where the data lies. Plain data, no Vulkan in it.
 * ---------------------------------------------------------------------------------------------------- */

/* Sums of integers wrap around, as unsigned arithmetic does. */
typedef enum VkgemmType {
    VKGEMM_TYPE_DEFAULT = 0, /* A: f32. B: A's type. D: A's type, but i32 for i8 and u8. C: D's type.
                                Accumulator: f32 for f16 and bf16, i32 for i8 and u8, otherwise A's type */
#define VKGEMM_ROW(name, number, text, bytes, digits, isFloat, accumulator, result) name = number,
    VKGEMM_TYPE_ROWS(VKGEMM_ROW) /* VKGEMM_TYPE_F32, F16, BF16, F64, I32, I8 and U8: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_TYPE_MAX_ENUM = 0x7fffffff
} VkgemmType;

typedef enum VkgemmLayout {
    VKGEMM_LAYOUT_ROW_MAJOR = 0,    /* element (r, c) at r * ld + c */
    VKGEMM_LAYOUT_COLUMN_MAJOR = 1, /* element (r, c) at c * ld + r: "transposed" in BLAS words */
    VKGEMM_LAYOUT_MAX_ENUM = 0x7fffffff
} VkgemmLayout;

/* As batchStride: every matrix of the batch is the same one. (Not for D.) */
#define VKGEMM_BROADCAST UINT64_MAX

/* How one matrix lies in its operand, counted in elements from the operand's offset. A "row" is a column here where the
 * layout is column-major. Its size never changes.
 *
 * No operand may span more than 2^31 - 1 elements, its whole batch counted (LIMIT): SPIR-V takes 32-bit indices as
 * signed.
 *
 * D is written, so its matrices must not share elements: each begins past the end of the one before, or they lie side
 * by side in one wide matrix, with batchStride >= the length of a row and ld >= (batch - 1) * batchStride + that
 * length. Any other way of interleaving them is refused in this version. */
typedef struct VkgemmMatrix {
    VkgemmType type;
    VkgemmLayout layout;
    uint64_t ld;          /* from one row to the next; 0: dense, no gap */
    uint64_t batchStride; /* from one matrix of the batch to the next; 0: ld times the number of stored rows, so
                             the next matrix begins where one more row of this one would, also with an ld that is wider
                             than a row; VKGEMM_BROADCAST: the same one again */
} VkgemmMatrix;

typedef enum VkgemmC {
    VKGEMM_C_NONE = 0,     /* no C: beta must be 0 when recording */
    VKGEMM_C_IS_D = 1,     /* C is what D holds before: layout, ld and stride are D's and those of `c` must be left 0 */
    VKGEMM_C_SEPARATE = 2, /* C is an operand of its own */
    VKGEMM_C_MAX_ENUM = 0x7fffffff
} VkgemmC;

/* How exact an f32 product must be. */
typedef enum VkgemmAccuracy {
    VKGEMM_ACCURACY_DEFAULT = 0,   /* arithmetic in the accumulator's type, never less */
    VKGEMM_ACCURACY_F32_SPLIT = 1, /* f32 throughout, from parts on matrix units, at a multiple of the speed and off the
                                      exact result by at most four times what the default may be (docs/accuracy.md); any
                                      f32, infinities and NaN too. Where a device has no suitable matrix units, or they
                                      would be slower, or no workspace is allowed, true f32 is computed */
    VKGEMM_ACCURACY_F32_SPLIT_ROWS = 2, /* the same at twice the speed, for an error that is measured by the largest
                                           elements of a row of A and of a column of B: what is below 2^-40 of them may
                                           count as 0. VKGEMM_ACCURACY_F32_SPLIT will do where that is faster */
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
    VKGEMM_SLOT_COUNT = 8, /* in this header; the library's is VkgemmPlanInfo::slotCount */
    VKGEMM_SLOT_MAX_ENUM = 0x7fffffff
} VkgemmSlot;

/* What happens to an element between the product and D. Steps run in the order given; a list holds each kind at most
 * once, at most one bias and at most one scale. Bias, scale and residual are operands of D's type; bias and scale have
 * m elements (ROW), n elements (COL) or one (ALL), and the residual has layout, ld and batchStride of D and may be D
 * itself. GELU is 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). GELU, SiLU and clamp are for floating-point
 * accumulators. */
typedef enum VkgemmStepKind {
    VKGEMM_STEP_NONE = 0, /* no step: refused within epilogueCount (INVALID_ARGUMENT) */
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) name = number,
    VKGEMM_STEP_ROWS(VKGEMM_ROW) /* VKGEMM_STEP_BIAS_ROW, ..., VKGEMM_STEP_CLAMP: see tables.h */
#undef VKGEMM_ROW
    VKGEMM_STEP_MAX_ENUM = 0x7fffffff
} VkgemmStepKind;

/* Its size never changes. */
typedef struct VkgemmEpilogueStep {
    VkgemmStepKind kind;
    float low, high; /* clamp: low <= high; ignored by other steps */
} VkgemmEpilogueStep;

#define VKGEMM_MAX_EPILOGUE_STEPS 4

typedef struct VkgemmProblem {
    uint32_t structSize;
    const void* pNext;
    uint64_t m, n, k; /* D is m x n, op(A) is m x k, op(B) is k x n.
                         m or n 0: an empty plan, which records nothing.
                         k 0: D = epilogue(beta C), and A and B may be missing */
    uint64_t batch;   /* 0 means 1 here, for zero is the default; for an empty batch leave the call out */
    VkgemmMatrix a, b, c, d;
    VkgemmC cSource;
    VkgemmType accumulate;
    VkgemmAccuracy accuracy;
    uint32_t epilogueCount; /* up to VKGEMM_MAX_EPILOGUE_STEPS; the first epilogueCount entries count */
    VkgemmEpilogueStep epilogue[VKGEMM_MAX_EPILOGUE_STEPS];
} VkgemmProblem;

/* The one-line text of a problem, the same everywhere (tool, logs, tests, bug reports), defaults left out:
 *
 *     f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu
 *
 * Full grammar: docs/design.md. alpha and beta belong to recording, not to the problem; they are in the text because a
 * line should say all that is needed to repeat a run. beta other than 0 implies c=d, unless c= says otherwise. */

/* Reads `text`. alpha and beta may be NULL; they get 1 and 0 where the text is silent. PARSE names the character
 * (counted from 1) and the word that would fit; INVALID_PROBLEM when the words are readable but contradict each other.
 * Set problem->structSize before the call, as in every output struct; a line that needs fields which your VkgemmProblem
 * is too old to have is refused (UNSUPPORTED). error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmParseProblem(const char* text, VkgemmProblem* problem, double* alpha, double* beta,
                                           VkgemmError* error);

/* Writes the line of `problem` with its terminating null. *size: in, the bytes at `text` (ignored when text is NULL);
 * out, the bytes needed, null included. text may be NULL, to ask for the size. INCOMPLETE when it was cut.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmFormatProblem(const VkgemmProblem* problem, double alpha, double beta, char* text,
                                            size_t* size);

#ifdef __cplusplus
}
#endif
#endif
