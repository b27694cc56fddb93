// SPDX-License-Identifier: MIT
// f32 products from three bf16 parts each: of any f32, exactly.
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
#define UNIT_A bf16
#define UNIT_B bf16
#define PARTS 3
#include "coopmat_split.glsl"
