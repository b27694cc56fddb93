// SPDX-License-Identifier: MIT
// D, and the operands of the epilogue, each of which has D's type unless its FORMAT_* says another. gemm.glsl includes
// this. NAME_at(i) is element i of C, the bias, the scale or the residual. put_d(i, x) writes an element of D,
// put_d4(i, x) four of them, where i is a multiple of 4. NAME_at4(i) are four elements of a C or residual of D's type.
#ifndef VKGEMM_ELEMENTS_GLSL
#define VKGEMM_ELEMENTS_GLSL

// C and the residual may be D itself, so neither is readonly.
#define READ_OPERANDS(X)                         \
    X(c, BIND_C, FORMAT_C, )                     \
    X(bias, BIND_BIAS, FORMAT_BIAS, readonly)    \
    X(scale, BIND_SCALE, FORMAT_SCALE, readonly) \
    X(residual, BIND_RESIDUAL, FORMAT_RESIDUAL, )

// The bits of the least number that D cannot hold: what rounds to an infinity there.
#define f32_infinite 0x7f800000u
#define f16_infinite 0x477ff000u
#define bf16_infinite 0x7f7f8000u
#ifdef SCALED_D
#define INFINITE \
    (FORMAT_D == VKGEMM_TYPE_F16 ? f16_infinite : FORMAT_D == VKGEMM_TYPE_BF16 ? bf16_infinite : f32_infinite)
#else
#define INFINITE VKGEMM_PASTE(TYPE_D, _infinite)
#endif

#ifdef SCALED_D

// These modules require storage of 8 and 16 bits, so each type is read and written directly.
#define IN_EACH_TYPE(name, bind, access)     \
    OPERAND(name##_f32, f32, bind, access)   \
    OPERAND(name##_f16, f16, bind, access)   \
    OPERAND(name##_bf16, bf16, bind, access) \
    OPERAND(name##_i8, i8, bind, access)
IN_EACH_TYPE(d, BIND_D, )
OPERAND(bias_i32, i32, BIND_BIAS, readonly)  // added to the sum before anything else (finished() in epilogue.glsl)

#define X(name, bind, format, access)                                                              \
    IN_EACH_TYPE(name, bind, access)                                                               \
    float name##_at(uint i) {                                                                      \
        float x = 0;                                                                               \
        switch (format) {                                                                          \
            case VKGEMM_TYPE_F32: x = ONE_FROM(name##_f32, args.name, i); break;                   \
            case VKGEMM_TYPE_F16: x = LOAD_OUT(f16, ONE_FROM(name##_f16, args.name, i)); break;    \
            case VKGEMM_TYPE_BF16: x = LOAD_OUT(bf16, ONE_FROM(name##_bf16, args.name, i)); break; \
            case VKGEMM_TYPE_I8: x = float(int(ONE_FROM(name##_i8, args.name, i)));                \
        }                                                                                          \
        return x;                                                                                  \
    }
READ_OPERANDS(X)
#undef X
vec4 c_at4(uint i) { return vec4(0); }  // none has D's type
vec4 residual_at4(uint i) { return vec4(0); }

// Rounds to the nearest whole number, and to the even one of two that are equally near. NaN becomes 0.
ivec4 saturated(vec4 x) { return ivec4(clamp(mix(roundEven(x), vec4(0), isnan(x)), -128.0, 127.0)); }

void put_d(uint i, float x) {
    switch (FORMAT_D) {
        case VKGEMM_TYPE_F32: ONE_FROM(d_f32, args.d, i) = x; break;
        case VKGEMM_TYPE_F16: ONE_FROM(d_f16, args.d, i) = STORE(f16, x); break;
        case VKGEMM_TYPE_BF16: ONE_FROM(d_bf16, args.d, i) = STORE(bf16, x); break;
        case VKGEMM_TYPE_I8: ONE_FROM(d_i8, args.d, i) = STORE(i8, saturated(vec4(x)).x);
    }
}
void put_d4(uint i, vec4 x) {
    switch (FORMAT_D) {
        case VKGEMM_TYPE_F32: SET_FOUR(d_f32, f32, args.d, i, x) break;
        case VKGEMM_TYPE_F16: SET_FOUR(d_f16, f16, args.d, i, x) break;
        case VKGEMM_TYPE_BF16: SET_FOUR(d_bf16, bf16, args.d, i, x) break;
        case VKGEMM_TYPE_I8: SET_FOUR(d_i8, i8, args.d, i, saturated(x))
    }
}

#else

OPERAND(d, TYPE_D, BIND_D, )
#define X(name, bind, format, access) OPERAND(name, TYPE_D, bind, access)
READ_OPERANDS(X)
#undef X
void put_d(uint i, acc_t x) { ONE(d, i) = STORE(TYPE_D, x); }
void put_d4(uint i, acc4_t x) { SET_FOUR(d, TYPE_D, args.d, i, x) }
acc4_t c_at4(uint i) { return LOAD4(TYPE_D, FOUR(c, i)); }
acc4_t residual_at4(uint i) { return LOAD4(TYPE_D, FOUR(residual, i)); }

#ifdef SUMS_IN_F32

// An operand of another type than D's is read in words of 4 bytes, so that modules of f32 need no storage of 16 bits.
// The operand begins and ends at words. half_of is element i % 2 of the two that a word holds.
float half_of(uint word, uint type, uint i) {
    const uint bits = word >> 16 * (i & 1);
    return type == VKGEMM_TYPE_F16 ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}
#ifdef VKGEMM_ADDRESSES
#define IN_WORDS(begin, shift) begin
#else
#define IN_WORDS(begin, shift) (begin >> shift)  // elements
#endif
#ifdef D_IN_WORDS
#define X(name, bind, format, access)                                           \
    float name##_at(uint i) {                                                   \
        const uint shift = format == 0 ? 0 : 1;                                 \
        const float x = ONE_FROM(name, IN_WORDS(args.name, shift), i >> shift); \
        return format == 0 ? x : half_of(floatBitsToUint(x), format, i);        \
    }
#else
#define X(name, bind, format, access)                                                               \
    OPERAND(name##_words, i32, bind, access)                                                        \
    float name##_at(uint i) {                                                                       \
        const uint shift = format == VKGEMM_TYPE_F32 ? 0 : 1;                                       \
        float x;                                                                                    \
        if (format == 0) {                                                                          \
            x = LOAD(TYPE_D, ONE(name, i));                                                         \
        } else {                                                                                    \
            const uint word = uint(ONE_FROM(name##_words, IN_WORDS(args.name, shift), i >> shift)); \
            x = shift == 0 ? uintBitsToFloat(word) : half_of(word, format, i);                      \
        }                                                                                           \
        return x;                                                                                   \
    }
#endif
#else
#define X(name, bind, format, access) \
    acc_t name##_at(uint i) { return LOAD(TYPE_D, ONE(name, i)); }
#endif
READ_OPERANDS(X)
#undef X

#endif
#endif
