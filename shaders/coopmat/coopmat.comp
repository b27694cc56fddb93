// SPDX-License-Identifier: MIT
// coopmat.glsl with operands of the types that the matrix units multiply.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#include "coopmat/coopmat.glsl"
