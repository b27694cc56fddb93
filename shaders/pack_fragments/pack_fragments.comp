// SPDX-License-Identifier: MIT
// The first pass `pack_fragments` for operands that the matrix units take as they are.
// pack_fragments.glsl has the picture.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define PARTS 1
#include "pack_fragments/pack_fragments.glsl"
