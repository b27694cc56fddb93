// SPDX-License-Identifier: MIT
// What the families of the matrix units share: the types that they multiply and add up in.
#ifndef VKGEMM_MATRIX_GLSL
#define VKGEMM_MATRIX_GLSL

#ifndef UNIT_A  // else operands are split into parts of this type, see coopmat_split.glsl
#define UNIT_A TYPE_A
#define UNIT_B TYPE_B
#endif
#define FOUR_OF(bits) VKGEMM_PASTE(ACC, _four)(bits)
#define f32_four(bits) uintBitsToFloat(bits)
#define f16_four(bits) uintBitsToFloat(bits)
#define i32_four(bits) ivec4(bits)

#ifdef VKGEMM_EMULATED
#include "common/matrix_emulated.glsl"
#else
// What the matrix units multiply, and what they add up in.
#define f16_unit float16_t
#define bf16_unit bfloat16_t
#define i8_unit int8_t
#define u8_unit uint8_t
#define f32_sum float
#define f16_sum float16_t
#define i32_sum int
#define A_UNIT VKGEMM_PASTE(UNIT_A, _unit)
#define B_UNIT VKGEMM_PASTE(UNIT_B, _unit)
#define SUM VKGEMM_PASTE(ACC, _sum)

#define A_MATRIX coopmat<A_UNIT, gl_ScopeSubgroup, MM, MK, gl_MatrixUseA>
#define B_MATRIX coopmat<B_UNIT, gl_ScopeSubgroup, MK, MN, gl_MatrixUseB>
#define SUMS coopmat<SUM, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator>
#define FINISHING coopmat<acc_t, gl_ScopeSubgroup, MM, MN, gl_MatrixUseAccumulator>  // sums, for the epilogue
#define NO_SUMS SUMS(SUM(0))
#define TO_SUMS(x) SUMS(x)
#define TO_FINISHING(x) FINISHING(x)
#define ROWS gl_CooperativeMatrixLayoutRowMajor
#define COLUMNS gl_CooperativeMatrixLayoutColumnMajor

// Which subgroup of the work group this is, and which invocation of it.
#define SUBGROUP gl_SubgroupID
#define LANE gl_SubgroupInvocationID

// Waits until what the subgroup wrote to shared memory is there.
void wait_for_subgroup() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}
// Has the subgroup work, if others of the group may have none? Then they do not wait for each other.
#define HAS_WORK(condition) (condition)
#endif

#endif
