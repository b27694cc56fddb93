// SPDX-License-Identifier: MIT
// Every type and block format as f32: what modules of mixed types (TYPE_A and TYPE_B `mixed`) read A and B with. A type
// is a row of VKGEMM_TYPE_ROWS and two cases here; docs/formats.md describes the blocks.
//
// Eight neighbours along memory, an octet, are decoded at a time, in two steps, so that arithmetic can run while memory
// answers: octet_of (mixed.glsl) loads the words that hold them, quad_of makes numbers of four of them. A number is the
// element itself, or, in formats whose blocks have a scale and nothing to add, the element without its scale:
// factors_of gives that, as two numbers to be multiplied by one after the other. All of it is exact in f32, except that
// a format with an offset rounds scale * code + offset once.
//
// A small whole number in the low bits of the fraction of 2^n is 2^n plus that number, so a code becomes a float by one
// `and`, one `or` and one subtraction, without a conversion.
#ifndef VKGEMM_FORMATS_GLSL
#define VKGEMM_FORMATS_GLSL

#include "formats/small_floats.glsl"

uint block_elements(uint type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) \
    if (type == number) return elements;
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    return 1;
}
uint block_bytes(uint type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) \
    if (type == number) return bytes;
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    return 4;
}

// What was loaded of an octet. code: the words with its codes, or its elements, from the one that holds the first byte
// on; high: likewise for further bits of the codes; scale: words with scales; past: bytes of the first word before the
// block. place: which octet of its block it is.
struct Octet {
    uint code[5], high[3], scale[3];
    uint past, place;
};

// The word that begins `by` bytes (0 to 4) after the beginning of `low`, which `high` follows. `step`: what `by` is a
// multiple of, 1 or 2.
uint word_between(uint low, uint high, uint by, uint step) {
    const uint bits = 8 * by & 31;
    const uint between = step == 2 ? low >> 16 | high << 16 : low >> bits | high << 1 << (31 - bits);
    return mix(step == 2 ? mix(between, low, by == 0) : between, high, by == 4);  // selects, where ?: may branch
}
float partat(uint word, uint byte) { return unpackHalf2x16(word >> (8 * byte)).x; }

// The numbers in the low bits of the four bytes of a word, at most 7 bits each, less `bias`.
vec4 small_numbers(uint word, uint bits, float bias) {
    return uintBitsToFloat(uvec4(word & bits | 0x4b000000u, word & bits << 8 | 0x47000000u,
                                 word & bits << 16 | 0x43000000u, word >> 8 & bits << 16 | 0x43000000u)) -
           (vec4(8388608, 32768, 128, 128) + bias);
}
vec4 signed_bytes(uint word) {
    word ^= 0x80808080u;
    return uintBitsToFloat(uvec4(word & 255u | 0x4b000000u, word & 0xff00u | 0x47000000u,
                                 word >> 16 & 255u | 0x4b000000u, word >> 24 | 0x4b000000u)) -
           vec4(8388736, 32896, 8388736, 8388736);
}

// Whole numbers with a scale and a zero point for a group of them: a block that begins with both, each f16 or each f32.
bool is_grouped(uint type) { return type >= VKGEMM_TYPE_U4_G32 && type <= VKGEMM_TYPE_I8_G128_F32; }
uint code_bits(uint type) { return (type - VKGEMM_TYPE_U4_G32) % 6 < 3 ? 4 : 8; }
uint scale_words(uint type) { return type < VKGEMM_TYPE_U4_G32_F32 ? 1 : 2; }
vec2 scale_and_zero(uint type, Octet x) {
    return scale_words(type) == 1 ? unpackHalf2x16(x.scale[0]) : uintBitsToFloat(uvec2(x.scale[0], x.scale[1]));
}
// Four 4-bit codes in the low half of a word, one after the other, as the low halves of four bytes.
uint spread(uint four) { return (four & 15u) | (four & 240u) << 4 | (four & 3840u) << 8 | (four & 61440u) << 12; }

float iq4_nl(uint code) {  // its sixteen values, -127, -104, ... 113, four in a word
    const bool second = (code & 4) != 0, third = (code & 8) != 0;
    const uint lower = mix(0xbfad9881u, 0xf6eaddcfu, second), upper = mix(0x26190d01u, 0x71594535u, second);
    return float(bitfieldExtract(int(mix(lower, upper, third)), 8 * int(code & 3), 8));
}

// Scale and offset of a sub-block of 32 of q4_k and q5_k: six bits each, of twelve bytes.
vec2 k_scales(uint halves, uvec3 scales, uint sub) {
    const uint by = 8 * (sub & 3);
    const uvec2 lower = scales.xy >> by, both = uvec2(scales.z) >> by + uvec2(0, 4);
    const uvec2 upper = both & 15u | (lower & 192u) >> 2;
    return unpackHalf2x16(halves) * vec2(mix(lower & 63u, upper, bvec2(sub >= 4)));
}
// The four bits of `word` from bit 4 * place on, as bit 4 of four bytes.
uint fifth_bits(uint word, uint place) {
    const uint four = word >> (4 * place);
    return (four & 1u) << 4 | (four & 2u) << 11 | (four & 4u) << 18 | (four & 8u) << 25;
}

vec4 quad_of(uint type, Octet x, uint part) {
    const bool second = part != 0;  // words are selected by it, because an array that it indexes may be in memory
    const uint low = mix(x.code[0], x.code[1], second), next = mix(x.code[1], x.code[2], second);
    uint nibbles = 0, by = 0;
    if (is_grouped(type)) {
        const float zero = scale_and_zero(type, x).y;
        if (code_bits(type) == 8) return signed_bytes(low) - zero;
        return small_numbers(spread(x.code[0] >> 16 * part), 15, 0) - zero;
    }
    switch (type) {
        case VKGEMM_TYPE_F32:
            return uintBitsToFloat(part == 0 ? uvec4(x.code[0], x.code[1], x.code[2], x.code[3])
                                              : uvec4(x.code[4], x.high[0], x.high[1], x.high[2]));
        case VKGEMM_TYPE_F16:
        case VKGEMM_TYPE_BF16: {
            const uvec3 three = mix(uvec3(x.code[0], x.code[1], x.code[2]), uvec3(x.code[2], x.code[3], x.code[4]),
                                    bvec3(second));
            const uint xy = word_between(three.x, three.y, x.past, 2), zw = word_between(three.y, three.z, x.past, 2);
            if (type == VKGEMM_TYPE_F16) return vec4(unpackHalf2x16(xy), unpackHalf2x16(zw));
            return uintBitsToFloat(uvec4(xy << 16, xy & 0xffff0000u, zw << 16, zw & 0xffff0000u));
        }
        case VKGEMM_TYPE_I8: return signed_bytes(word_between(low, next, x.past, 1));
        case VKGEMM_TYPE_U8: return signed_bytes(word_between(low, next, x.past, 1) ^ 0x80808080u) + 128.0;
        case VKGEMM_TYPE_E4M3: return e4m3_bytes(word_between(low, next, x.past, 1));
        case VKGEMM_TYPE_E5M2: return e5m2_bytes(word_between(low, next, x.past, 1));
        case VKGEMM_TYPE_I4: return small_numbers(spread(x.code[0] >> 16 * part) ^ 0x08080808u, 15, 8);
        case VKGEMM_TYPE_Q8_0: return signed_bytes(word_between(low, next, x.past + 2, 2));
        case VKGEMM_TYPE_Q4_0:
        case VKGEMM_TYPE_IQ4_NL:
        case VKGEMM_TYPE_Q5_0: by = x.past + 2; break;
        case VKGEMM_TYPE_MXFP4: by = x.past + 1; break;
        case VKGEMM_TYPE_Q6_K: by = x.past; break;
    }
    nibbles = word_between(low, next, by, type == VKGEMM_TYPE_MXFP4 ? 1 : 2);
    switch (type) {  // octets with the upper halves of their bytes
        case VKGEMM_TYPE_NVFP4: nibbles >>= 4 * (x.place & 1); break;
        case VKGEMM_TYPE_Q4_K:
        case VKGEMM_TYPE_Q5_K: nibbles >>= 4 * (x.place >> 2 & 1); break;
        case VKGEMM_TYPE_Q6_K: nibbles >>= 4 * (x.place >> 3 & 1); break;
        default: nibbles >>= 4 * (x.place >> 1 & 1); break;
    }
    switch (type) {
        case VKGEMM_TYPE_Q4_0: return small_numbers(nibbles, 15, 8);
        case VKGEMM_TYPE_Q4_1: {
            const vec2 dm = unpackHalf2x16(x.scale[0]);
            return small_numbers(nibbles, 15, 0) * dm.x + dm.y;
        }
        case VKGEMM_TYPE_Q5_0:
        case VKGEMM_TYPE_Q5_1: {
            const uint bits =
                type == VKGEMM_TYPE_Q5_1 ? x.scale[1] : word_between(x.scale[0], x.scale[1], x.past + 2, 2);
            nibbles = nibbles & 0x0f0f0f0fu | fifth_bits(bits, 2 * x.place + part);
            if (type == VKGEMM_TYPE_Q5_0) return small_numbers(nibbles, 31, 16);
            const vec2 dm = unpackHalf2x16(x.scale[0]);
            return small_numbers(nibbles, 31, 0) * dm.x + dm.y;
        }
        case VKGEMM_TYPE_Q5_K:
            nibbles = nibbles & 0x0f0f0f0fu | (mix(x.high[0], x.high[1], second) >> (x.place / 4) & 0x01010101u) << 4;
        case VKGEMM_TYPE_Q4_K: {
            const vec2 scales = k_scales(x.high[2], uvec3(x.scale[0], x.scale[1], x.scale[2]), x.place / 4);
            return small_numbers(nibbles, type == VKGEMM_TYPE_Q5_K ? 31 : 15, 0) * scales.x - scales.y;
        }
        case VKGEMM_TYPE_Q6_K: {
            const uint lower = mix(x.high[0], x.high[1], second), upper = mix(x.high[1], x.high[2], second);
            const uint two = word_between(lower, upper, x.past, 2) >> (2 * (x.place >> 2 & 3));
            return small_numbers(nibbles & 0x0f0f0f0fu | (two & 0x03030303u) << 4, 63, 32);
        }
        case VKGEMM_TYPE_IQ4_NL:
            return vec4(iq4_nl(nibbles & 15u), iq4_nl(nibbles >> 8 & 15u), iq4_nl(nibbles >> 16 & 15u),
                        iq4_nl(nibbles >> 24 & 15u));
    }
    return e2m1(nibbles);
}

vec2 factors_of(uint type, Octet x) {
    if (is_grouped(type)) return vec2(scale_and_zero(type, x).x, 1);
    switch (type) {
        case VKGEMM_TYPE_Q8_0:
        case VKGEMM_TYPE_Q4_0:
        case VKGEMM_TYPE_Q5_0:
        case VKGEMM_TYPE_IQ4_NL: return vec2(partat(x.scale[0], x.past), 1);
        case VKGEMM_TYPE_Q6_K: {
            const uint byte = x.past + (x.place >> 1 & 1) + (x.place >> 2 << 1);  // of sixteen, from scale[1]'s own on
            return vec2(partat(x.scale[0], x.past) * bitfieldExtract(int(x.scale[1]), 8 * int(byte & 3), 8), 1);
        }
        case VKGEMM_TYPE_MXFP4: return e8m0_factors(x.scale[0] >> (8 * x.past));
        case VKGEMM_TYPE_NVFP4: return vec2(16384, e4m3(x.scale[0] >> (8 * (x.place >> 1))));
    }
    return vec2(1);
}

#endif
