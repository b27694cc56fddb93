// SPDX-License-Identifier: MIT
// The data types. A type is a word of rows.def (TYPE_A, TYPE_B, TYPE_D, ACC) and one block here: how it is stored,
// what a value of it is once loaded, and the two conversions between them. A type without arithmetic of its own (bf16)
// differs in the conversions and nowhere else.
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
#define f32_load4(x) (x)
#define f32_store4(x) (x)
#define f32_factor(name) uintBitsToFloat(args.name)

// i32: sums wrap around
#define i32_bytes 4
#define i32_stored int
#define i32_stored4 ivec4
#define i32_value int
#define i32_value4 ivec4
#define i32_load(x) (x)
#define i32_store(x) (x)
#define i32_load4(x) (x)
#define i32_store4(x) (x)
#define i32_factor(name) int(args.name)

// f16: as ACC, only the matrix units add up in it, and everything after them is f32
#define f16_value float
#define f16_value4 vec4
#define f16_factor(name) uintBitsToFloat(args.name)
#define f16_bytes 2
#define f16_stored float16_t
#define f16_stored4 f16vec4
#define f16_load(x) (x)
#define f16_store(x) (x)
#define f16_load4(x) (x)
#define f16_store4(x) (x)

// f64: an operand of no other type is summed in it. 16 bytes, which is what is read or written at a time, hold two.
#define f64_bytes 8
#define f64_stored double
#define f64_stored4 dvec2
#define f64_value double
#define f64_value4 dvec4
#define f64_load(x) (x)
#define f64_store(x) (x)
#define f64_load4(x) (x)
#define f64_factor(name) packDouble2x32(uvec2(args.name, args.name##_high))

// bf16: the upper half of an f32; stored only, and as an integer, so that the device needs no bf16 arithmetic
#define bf16_bytes 2
#define bf16_stored uint16_t
#define bf16_stored4 u16vec4
#define bf16_load(x) uintBitsToFloat(uint(x) << 16)
#define bf16_store(x) bf16_bits(x)
#define bf16_load4(x) uintBitsToFloat(uvec4(x) << 16)
#define bf16_store4(four) uvec4(bf16_bits((four).x), bf16_bits((four).y), bf16_bits((four).z), bf16_bits((four).w))
uint bf16_bits(float x) {  // round to nearest, ties to even; a NaN stays one
    const uint bits = floatBitsToUint(x);
    return isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// i8, u8: stored only, summed in i32
#define i8_bytes 1
#define i8_stored int8_t
#define i8_stored4 i8vec4
#define i8_load(x) (x)
#define i8_store(x) (x)
#define i8_load4(x) (x)
#define i8_store4(x) (x)
#define u8_bytes 1
#define u8_stored uint8_t
#define u8_stored4 u8vec4
#define u8_load(x) (x)
#define u8_store(x) (x)
#define u8_load4(x) (x)
#define u8_store4(x) (x)

// mixed: any type or block format, in words (mixed.glsl). A and B both have it, and VKGEMM_MIXED is defined.
#define mixed_bytes 4
#define mixed_stored uint
#define mixed_stored4 uvec4

// The same by the name of a type. LOAD and STORE take one element, LOAD4 and STORE4 take four.
#define VKGEMM_PASTE_EXPANDED(a, b) a##b
#define VKGEMM_PASTE(a, b) VKGEMM_PASTE_EXPANDED(a, b)
#define BYTES(type) VKGEMM_PASTE(type, _bytes)
#define STORED(type) VKGEMM_PASTE(type, _stored)
#define STORED4(type) VKGEMM_PASTE(type, _stored4)
#define LOAD(type, x) acc_t(VKGEMM_PASTE(type, _load)(x))
#define LOAD4(type, x) acc4_t(VKGEMM_PASTE(type, _load4)(x))
#define STORE(type, x) STORED(type)(VKGEMM_PASTE(type, _store)(x))
#define STORE4(type, x) STORED4(type)(VKGEMM_PASTE(type, _store4)(x))

// What products are summed in: one value, and four.
#define acc_t VKGEMM_PASTE(ACC, _value)
#define acc4_t VKGEMM_PASTE(ACC, _value4)

// Which parts a module needs for its types. The build defines macros such as TYPE_D_IS_F32 (shaders/CMakeLists.txt).
#ifdef ACC_IS_F64
#define SUMS_IN_F64  // its operands are of f64 alone
#elif !defined(ACC_IS_I32)
#define SUMS_IN_F32  // at the latest in the epilogue
#endif
#ifdef TYPE_D_IS_F32
#define D_IN_WORDS
#elif defined(TYPE_D_IS_SCALED)
#define SCALED_D
#endif

// The type that the epilogue computes in. A scaled product sums whole numbers, and FORMAT_D is the type of D.
#ifdef SCALED_D
#define out_t float
#define out4_t vec4
#define FACTOR(name) f32_factor(name)  // alpha or beta
#else
#define out_t acc_t
#define out4_t acc4_t
#define FACTOR(name) VKGEMM_PASTE(ACC, _factor)(name)
#endif
#define LOAD_OUT(type, x) out_t(VKGEMM_PASTE(type, _load)(x))

#endif
