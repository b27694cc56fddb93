// SPDX-License-Identifier: MIT
// f32 products from two f16 parts each, and a factor for each row of A and each column of B.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#define UNIT_A f16
#define UNIT_B f16
#define PARTS 2
#define SCALED
#include "coopmat_split.glsl"
