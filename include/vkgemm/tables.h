/* SPDX-License-Identifier: MIT
 *
 * The element types and the steps of an epilogue, one row each. The enums of problem.h, the library's parser, checks
 * and texts, and the constants of the shaders are all made from these rows. This file is compiled as C, C++ and GLSL.
 */
#ifndef VKGEMM_TABLES_H
#define VKGEMM_TABLES_H

/* X(enumerator, number, name, bytes, elements, digits, is float, default accumulator, default type of D)
 *
 * name: in the text of a problem, and the constant in vkgemm.hpp. bytes, elements: of a block. A plain type has one
 * element a block; a block format (docs/formats.md) has several. digits: whole numbers below 2^digits are exact; in a
 * block format, if its scales are 1. */
#define VKGEMM_TYPE_ROWS(X)                                                                       \
    X(VKGEMM_TYPE_F32, 1, f32, 4, 1, 24, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                     \
    X(VKGEMM_TYPE_F16, 2, f16, 2, 1, 11, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F16)                     \
    X(VKGEMM_TYPE_BF16, 3, bf16, 2, 1, 8, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_BF16)                   \
    X(VKGEMM_TYPE_F64, 4, f64, 8, 1, 53, 1, VKGEMM_TYPE_F64, VKGEMM_TYPE_F64)                     \
    X(VKGEMM_TYPE_I32, 5, i32, 4, 1, 31, 0, VKGEMM_TYPE_I32, VKGEMM_TYPE_I32)                     \
    X(VKGEMM_TYPE_I8, 6, i8, 1, 1, 7, 0, VKGEMM_TYPE_I32, VKGEMM_TYPE_I32)                        \
    X(VKGEMM_TYPE_U8, 7, u8, 1, 1, 8, 0, VKGEMM_TYPE_I32, VKGEMM_TYPE_I32)                        \
    X(VKGEMM_TYPE_Q8_0, 8, q8_0, 34, 32, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                  \
    X(VKGEMM_TYPE_Q4_0, 9, q4_0, 18, 32, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                  \
    X(VKGEMM_TYPE_Q4_1, 10, q4_1, 20, 32, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                 \
    X(VKGEMM_TYPE_Q5_0, 11, q5_0, 22, 32, 4, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                 \
    X(VKGEMM_TYPE_Q5_1, 12, q5_1, 24, 32, 4, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                 \
    X(VKGEMM_TYPE_Q4_K, 13, q4_k, 144, 256, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)               \
    X(VKGEMM_TYPE_Q5_K, 14, q5_k, 176, 256, 4, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)               \
    X(VKGEMM_TYPE_Q6_K, 15, q6_k, 210, 256, 5, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)               \
    X(VKGEMM_TYPE_IQ4_NL, 16, iq4_nl, 18, 32, 0, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_MXFP4, 17, mxfp4, 17, 32, 2, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)               \
    X(VKGEMM_TYPE_NVFP4, 18, nvfp4, 36, 64, 2, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)               \
    X(VKGEMM_TYPE_E4M3, 19, e4m3, 1, 1, 4, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                   \
    X(VKGEMM_TYPE_E5M2, 20, e5m2, 1, 1, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                   \
    X(VKGEMM_TYPE_I4, 21, i4, 16, 32, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)                     \
    X(VKGEMM_TYPE_U4_G32, 22, u4_g32, 20, 32, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_U4_G64, 23, u4_g64, 36, 64, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_U4_G128, 24, u4_g128, 68, 128, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)          \
    X(VKGEMM_TYPE_I8_G32, 25, i8_g32, 36, 32, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_I8_G64, 26, i8_g64, 68, 64, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_I8_G128, 27, i8_g128, 132, 128, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)         \
    X(VKGEMM_TYPE_U4_G32_F32, 28, u4_g32_f32, 24, 32, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_U4_G64_F32, 29, u4_g64_f32, 40, 64, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_U4_G128_F32, 30, u4_g128_f32, 72, 128, 3, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)  \
    X(VKGEMM_TYPE_I8_G32_F32, 31, i8_g32_f32, 40, 32, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_I8_G64_F32, 32, i8_g64_f32, 72, 64, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_I8_G128_F32, 33, i8_g128_f32, 136, 128, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32) \
    X(VKGEMM_TYPE_U8_G32, 34, u8_g32, 36, 32, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_U8_G64, 35, u8_g64, 68, 64, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)             \
    X(VKGEMM_TYPE_U8_G128, 36, u8_g128, 132, 128, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)         \
    X(VKGEMM_TYPE_U8_G32_F32, 37, u8_g32_f32, 40, 32, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_U8_G64_F32, 38, u8_g64_f32, 72, 64, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)     \
    X(VKGEMM_TYPE_U8_G128_F32, 39, u8_g128_f32, 136, 128, 7, 1, VKGEMM_TYPE_F32, VKGEMM_TYPE_F32)

/* X(enumerator, number, text, accumulators, operand, shape of the operand, meaning)
 *
 * text: in the text of a problem; LOW:HIGH follows "clamp=", and LOW follows "leaky=". accumulators: FLOATS or ANY.
 * operand: VKGEMM_SLOT_COUNT if the step reads none; two steps of a list must not read the same operand. shape: M, N or
 * ONE element; M_PAIRS or N_PAIRS of elements; a MATRIX like D; or matrices like those of B. y: the element of the
 * second product of a pair (problem.h). */
#define VKGEMM_STEP_ROWS(X)                                                                                            \
    X(VKGEMM_STEP_BIAS_ROW, 1, "bias=row", ANY, VKGEMM_SLOT_BIAS, M, "+ bias[row]")                                    \
    X(VKGEMM_STEP_BIAS_COL, 2, "bias=col", ANY, VKGEMM_SLOT_BIAS, N, "+ bias[column]")                                 \
    X(VKGEMM_STEP_SCALE_ROW, 3, "scale=row", ANY, VKGEMM_SLOT_SCALE, M, "* scale[row]")                                \
    X(VKGEMM_STEP_SCALE_COL, 4, "scale=col", ANY, VKGEMM_SLOT_SCALE, N, "* scale[column]")                             \
    X(VKGEMM_STEP_SCALE_ALL, 5, "scale=all", ANY, VKGEMM_SLOT_SCALE, ONE, "* scale[0]")                                \
    X(VKGEMM_STEP_RESIDUAL, 6, "residual", ANY, VKGEMM_SLOT_RESIDUAL, MATRIX, "+ residual[row][column]; may be D")     \
    X(VKGEMM_STEP_RELU, 7, "act=relu", ANY, VKGEMM_SLOT_COUNT, NONE, "max(x, 0); NaN stays NaN")                       \
    X(VKGEMM_STEP_GELU, 8, "act=gelu", FLOATS, VKGEMM_SLOT_COUNT, NONE, "GELU, in its tanh form")                      \
    X(VKGEMM_STEP_SILU, 9, "act=silu", FLOATS, VKGEMM_SLOT_COUNT, NONE, "x / (1 + exp(-x))")                           \
    X(VKGEMM_STEP_CLAMP, 10, "clamp=", FLOATS, VKGEMM_SLOT_COUNT, NONE, "min(max(x, low), high); NaN stays NaN")       \
    X(VKGEMM_STEP_LEAKY_RELU, 11, "leaky=", FLOATS, VKGEMM_SLOT_COUNT, NONE, "x above 0, otherwise low * x")           \
    X(VKGEMM_STEP_CLAMP_ROW, 12, "clamp=row", FLOATS, VKGEMM_SLOT_SCALE, M_PAIRS, "clamp=, by scale[2 row], [.. + 1]") \
    X(VKGEMM_STEP_CLAMP_COL, 13, "clamp=col", FLOATS, VKGEMM_SLOT_SCALE, N_PAIRS,                                      \
      "clamp=, by scale[2 column], [.. + 1]")                                                                          \
    X(VKGEMM_STEP_DRELU, 14, "act=drelu", ANY, VKGEMM_SLOT_RESIDUAL, MATRIX,                                           \
      "0 where residual[row][column] <= 0, else x")                                                                    \
    X(VKGEMM_STEP_GATE_RELU, 15, "gate=relu", ANY, VKGEMM_SLOT_RESIDUAL, MATRIX, "* ReLU of residual[row][column]")    \
    X(VKGEMM_STEP_GATE_GELU, 16, "gate=gelu", FLOATS, VKGEMM_SLOT_RESIDUAL, MATRIX, "* GELU of residual[row][column]") \
    X(VKGEMM_STEP_GATE_SILU, 17, "gate=silu", FLOATS, VKGEMM_SLOT_RESIDUAL, MATRIX, "* SiLU of residual[row][column]") \
    X(VKGEMM_STEP_PAIR_RELU, 18, "pair=relu", ANY, VKGEMM_SLOT_B2, B, "* ReLU of y")                                   \
    X(VKGEMM_STEP_PAIR_GELU, 19, "pair=gelu", FLOATS, VKGEMM_SLOT_B2, B, "* GELU of y")                                \
    X(VKGEMM_STEP_PAIR_SILU, 20, "pair=silu", FLOATS, VKGEMM_SLOT_B2, B, "* SiLU of y")

#endif
