// SPDX-License-Identifier: MIT
// The first pass `pack_fragments` for f32: each element becomes two f16 parts, scaled row by row.
// pack_fragments.glsl has the picture.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A f16
#define UNIT_B f16
#define PARTS 2
#define SCALED
#include "pack_fragments/pack_fragments.glsl"
