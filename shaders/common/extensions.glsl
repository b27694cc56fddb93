// SPDX-License-Identifier: MIT
// The GLSL extensions of all shaders. A shader includes this file first, directly or through gemm.glsl. A shader that
// uses the matrix units defines VKGEMM_MATRIX_UNITS before that, one with packed dot products VKGEMM_PACKED_DOTS.
// CMakeLists.txt tries exactly these lines on the compiler.
#ifndef VKGEMM_EXTENSIONS_GLSL
#define VKGEMM_EXTENSIONS_GLSL
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#ifdef VKGEMM_ADDRESSES
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#endif
#ifdef VKGEMM_MATRIX_UNITS
#extension GL_KHR_memory_scope_semantics : require
#ifndef VKGEMM_EMULATED
#extension GL_KHR_cooperative_matrix : require
#endif
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_bfloat16 : require
#pragma use_vulkan_memory_model
#endif
#ifdef VKGEMM_PACKED_DOTS
#extension GL_EXT_integer_dot_product : require
#endif
#ifdef VKGEMM_TRACE
#extension GL_KHR_shader_subgroup_basic : require
#ifdef TRACE_MEMORY_MODEL  // device scope is a feature of its own where the memory model is enabled
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#endif
#endif
#endif
