// SPDX-License-Identifier: MIT
// The one place where a data type meets GLSL. A type is a word of modules.def (TYPE_A, TYPE_B, TYPE_D, ACC) and one block
// here: how it is stored, what a value of it is once loaded, and the pair of conversions between the two. A type without
// arithmetic of its own (bf16, packed blocks) differs in that pair and nowhere else.
#ifndef VKGEMM_TYPES_GLSL
#define VKGEMM_TYPES_GLSL

// f32
#define f32_bytes 4
#define f32_stored float
#define f32_stored4 vec4
#define f32_value float
#define f32_value4 vec4
#define f32_load(x) (x)
#define f32_store(x) (x)
#define f32_from_bits(bits) uintBitsToFloat(bits)

// i32: sums wrap around
#define i32_bytes 4
#define i32_stored int
#define i32_stored4 ivec4
#define i32_value int
#define i32_value4 ivec4
#define i32_load(x) (x)
#define i32_store(x) (x)
#define i32_from_bits(bits) int(bits)

// The words put together. load and store take one element or four.
#define VKGEMM_PASTE_EXPANDED(a, b) a##b
#define VKGEMM_PASTE(a, b) VKGEMM_PASTE_EXPANDED(a, b)
#define BYTES(type) VKGEMM_PASTE(type, _bytes)
#define STORED(type) VKGEMM_PASTE(type, _stored)
#define STORED4(type) VKGEMM_PASTE(type, _stored4)
#define LOAD(type, x) acc_t(VKGEMM_PASTE(type, _load)(x))
#define LOAD4(type, x) acc4_t(VKGEMM_PASTE(type, _load)(x))
#define STORE(type, x) STORED(type)(VKGEMM_PASTE(type, _store)(x))
#define STORE4(type, x) STORED4(type)(VKGEMM_PASTE(type, _store)(x))

// What products are summed in, alone and four at a time.
#define acc_t VKGEMM_PASTE(ACC, _value)
#define acc4_t VKGEMM_PASTE(ACC, _value4)
#define acc_from_bits(bits) VKGEMM_PASTE(ACC, _from_bits)(bits)

#endif
