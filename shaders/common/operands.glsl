// SPDX-License-Identifier: MIT
// How the elements of an operand are reached, one by one or by fours.
#ifndef VKGEMM_OPERANDS_GLSL
#define VKGEMM_OPERANDS_GLSL

// ONE(a, i) is element i of operand a; FOUR(a, i) elements i to i + 3, where i is a multiple of 4 (WIDE_* allows it),
// else the four that hold element i. SET_FOUR writes them. Four of f64 are two PAIRs of 16 bytes, number 0 and 1.
#ifdef VKGEMM_ADDRESSES
#define ALIGNED_TO(bytes) layout(buffer_reference, std430, buffer_reference_align = bytes)
#define OPERAND(name, type, bind, access)                                               \
    ALIGNED_TO(BYTES(type)) access buffer name##_one { STORED(type) at[]; };            \
    ALIGNED_TO(BYTES(type) < 8 ? 4 * BYTES(type) : 16) access buffer name##_four { STORED4(type) at[]; };
#define ONE_FROM(name, begin, i) name##_one(begin).at[i]
#define PAIR_FROM(name, begin, i, number) name##_four(begin).at[(i) / 4 * 2 + number]
#define VECTOR_FROM(name, begin, i) name##_four(begin).at[(i) / 4]
#else
#define OPERAND(name, type, bind, access)                                                                      \
    layout(std430, set = 0, binding = bind) access buffer name##_one_block { STORED(type) at[]; } name##_one;  \
    layout(std430, set = 0, binding = bind) access buffer name##_four_block { STORED4(type) at[]; } name##_four;
#define ONE_FROM(name, begin, i) name##_one.at[NOTED(name, begin.x + (i), 1)]
#define PAIR_FROM(name, begin, i, number) name##_four.at[NOTED(name, begin.x / 2 + (i) / 4 * 2 + number, 2)]
#define VECTOR_FROM(name, begin, i) name##_four.at[NOTED(name, (begin.x + (i)) / 4, 4)]
#endif
#ifdef SUMS_IN_F64
#define FOUR_FROM(name, begin, i) dvec4(PAIR_FROM(name, begin, i, 0), PAIR_FROM(name, begin, i, 1))
#define SET_FOUR(name, type, begin, i, four)     \
    {                                            \
        PAIR_FROM(name, begin, i, 0) = (four).xy; \
        PAIR_FROM(name, begin, i, 1) = (four).zw; \
    }
#else
#define FOUR_FROM(name, begin, i) VECTOR_FROM(name, begin, i)
#define SET_FOUR(name, type, begin, i, four) VECTOR_FROM(name, begin, i) = STORE4(type, four);
#endif
#define ONE(name, i) ONE_FROM(name, args.name, i)
#define FOUR(name, i) FOUR_FROM(name, args.name, i)

#endif
