// SPDX-License-Identifier: MIT
// coopmat.glsl with operands of any types, decoded and rounded to f16 on their way to shared memory: eight at a time,
// along memory. So rows of both operands are a multiple of eight elements.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A f16
#define UNIT_B f16
#include "coopmat/coopmat.glsl"
