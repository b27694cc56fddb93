// SPDX-License-Identifier: MIT
// f32 from two f16 parts: for elements of 0 and of magnitudes from 2^-14 to 65504.
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
#include "parts.glsl"
