// SPDX-License-Identifier: MIT
// The first pass `pack_fragments` for f32: each element becomes three bf16 parts.
// pack_fragments.glsl has the picture.
#extension GL_GOOGLE_include_directive : require
#define VKGEMM_MATRIX_UNITS
#define UNIT_A bf16
#define UNIT_B bf16
#define PARTS 3
#include "pack_fragments/pack_fragments.glsl"
