// SPDX-License-Identifier: MIT
// The first pass `pack_fragments` for operands of any type: they are decoded and rounded to f16. Their rows in memory
// are a multiple of eight elements. pack_fragments.glsl has the picture.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define PARTS 1
#define UNIT_A f16
#define UNIT_B f16
#include "pack_fragments/pack_fragments.glsl"
