// SPDX-License-Identifier: MIT
// What the passes around products of int8 share: constants, arguments, and operands in words.
#ifndef VKGEMM_INT8_OPERANDS_GLSL
#define VKGEMM_INT8_OPERANDS_GLSL
#include "common/extensions.glsl"
#include "abi.h"
#include "common/moduli.h"

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
#undef X
#define X(id, name, meaning) layout(constant_id = id) const uint name = 0;
VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG
const bool WIDE = PRODUCTS == MODULI_WIDE;
layout(push_constant, std430) uniform Push { GemmArgs args; };

// WORDS declares an operand of such elements. AT is element i of it: a descriptor begins `first` elements before the
// operand (counted_in() in src/plan/steps has the unit of args).
#ifdef VKGEMM_ADDRESSES
#define WORDS(name, element, bytes, bind, access) \
    layout(buffer_reference, std430, buffer_reference_align = bytes) access buffer name##_words { element at[]; };
#define AT(name, first, i) name##_words(args.name).at[i]
#else
#define WORDS(name, element, bytes, bind, access) \
    layout(std430, set = 0, binding = bind) access buffer name##_block { element at[]; } name##_words;
#define AT(name, first, i) name##_words.at[(first) + (i)]
#endif

uint work_group() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

#endif
