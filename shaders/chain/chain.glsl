// SPDX-License-Identifier: MIT
// What the shaders of chains share: constants, arguments, and the steps after a sum. A matrix is at an address. Nothing
// outside it is touched. A module for fewer layers defines MOST_LAYERS, and takes fewer bytes of push constants.
#ifndef VKGEMM_CHAIN_GLSL
#define VKGEMM_CHAIN_GLSL
#ifndef VKGEMM_ADDRESSES
#define VKGEMM_ADDRESSES
#endif
#include "common/extensions.glsl"
#include "common/types.glsl"
#include "chain/args.h"
#include "../include/vkgemm/tables.h"
#ifndef MOST_LAYERS
#define MOST_LAYERS CHAIN_LAYERS
#endif

const uint VKGEMM_STEP_NONE = 0;
#define VKGEMM_ROW(name, number, text, accumulators, operand, shape, meaning) const uint name = number;
VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, is_float, accumulator, result) const uint name = number;
VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW

#define X(id, name, meaning) layout(constant_id = id) const uint name = 1;
VKGEMM_TILE_CONSTANTS(X)
CHAIN_CONSTANTS(X)
#undef X
#define X(id, name, meaning)                              \
    layout(constant_id = id) const uint name##_0 = 0;     \
    layout(constant_id = id + 1) const uint name##_1 = 0; \
    layout(constant_id = id + 2) const uint name##_2 = 0; \
    layout(constant_id = id + 3) const uint name##_3 = 0; \
    layout(constant_id = id + 4) const uint name##_4 = 0; \
    layout(constant_id = id + 5) const uint name##_5 = 0;
CHAIN_LAYER_CONSTANTS(X)
#undef X
layout(local_size_x_id = 0) in;  // WG

layout(push_constant, std430) uniform Push { uint args[CHAIN_ARGUMENT_WORDS(MOST_LAYERS)]; };
const uint ARG_B = 0, ARG_BIAS = 2, ARG_RESIDUAL = 2, ARG_D = 4, ARG_ALPHA = 6;
uvec2 address(uint layer, uint what) {
    const uint at = CHAIN_HEADER_WORDS + layer * CHAIN_LAYER_WORDS + what;
    return uvec2(args[at], args[at + 1]);
}
float alpha_of(uint layer) { return uintBitsToFloat(args[CHAIN_HEADER_WORDS + layer * CHAIN_LAYER_WORDS + ARG_ALPHA]); }
#define ADDRESS_A uvec2(args[0], args[1])
uint counted_rows;
#define ROWS_OF_A (COUNTED != 0 ? counted_rows : args[2])

// One layer: its number, and its constants. EACH_LAYER(X) is X(layer) for each of them. It is no loop, because NVIDIA's
// driver does not unroll one, and then keeps rows in memory: ten times as slow. All functions that take a layer are
// inlined, so its members are constants there.
struct Layer {
    uint number, k, n, flags, ldb, ldd, step_low, step_high, b_chunk;
};
#define LAYER(l, k) \
    Layer(l, k, WIDTH_##l, FLAGS_##l, LDB_##l, LDD_##l, STEP_LOW_##l, STEP_HIGH_##l, B_CHUNK_##l)
#define IF_LAYER(X, l, k) \
    if (l < LAYERS) X(LAYER(l, k))
#define EACH_OF_FOUR(X)      \
    IF_LAYER(X, 0, INPUTS);  \
    IF_LAYER(X, 1, WIDTH_0); \
    IF_LAYER(X, 2, WIDTH_1); \
    IF_LAYER(X, 3, WIDTH_2)
#if MOST_LAYERS == 4
#define EACH_LAYER(X) EACH_OF_FOUR(X)
#else
#define EACH_LAYER(X)        \
    EACH_OF_FOUR(X);         \
    IF_LAYER(X, 4, WIDTH_3); \
    IF_LAYER(X, 5, WIDTH_4)
#endif

layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer Words { uint at[]; };
#ifndef TYPE_A_IS_F32
layout(buffer_reference, std430, buffer_reference_align = 2) restrict buffer Halves { uint16_t at[]; };
#endif

// The element of a bias: of f32, or also of f16 or bf16 where the device must store 16 bits for A.
float bias_element(const Layer l, uint col) {
    const uvec2 at = address(l.number, ARG_BIAS);
#ifndef TYPE_A_IS_F32
    const uint type = l.flags >> CHAIN_TYPE_SHIFT;
    if (type == VKGEMM_TYPE_F32) return uintBitsToFloat(Words(at).at[col]);
    const uint bits = uint(Halves(at).at[col]);
    return type == VKGEMM_TYPE_F16 ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
#else
    return uintBitsToFloat(Words(at).at[col]);
#endif
}

// The derivative of ReLU by its result, which is as D, is the step of a layer without a bias.
bool has_residual(const Layer l) { return (l.flags & CHAIN_STEP) == VKGEMM_STEP_DRELU; }

// The step after the bias. NaN stays NaN, which min, max and clamp do not promise.
float activated(const Layer l, float x) {
    float y = x;
    switch (l.flags & CHAIN_STEP) {
        case VKGEMM_STEP_RELU: y = floatBitsToInt(x) <= int(0xff800000) ? 0.0 : x; break;  // from -0 to -infinity
        case VKGEMM_STEP_GELU: y = x / (1.0 + exp2(x * (-2.3022081985 - 0.1029432396 * (x * x)))); break;
        case VKGEMM_STEP_SILU: y = x / (1.0 + exp2(-1.4426950409 * x)); break;
        case VKGEMM_STEP_LEAKY_RELU: y = x > 0 ? x : uintBitsToFloat(l.step_low) * x; break;
        case VKGEMM_STEP_CLAMP: y = isnan(x) ? x : clamp(x, uintBitsToFloat(l.step_low), uintBitsToFloat(l.step_high));
    }
    return y;
}

// First of all in main(). Where rows are counted, LAYERS is below MOST_LAYERS; elsewhere the index stays inside, too.
void count_rows() {
    if (COUNTED != 0) counted_rows = min(args[2], Words(address(LAYERS % MOST_LAYERS, ARG_B)).at[0]);
}

// How many of `count` places from `first` on exist.
uint count_inside(uint first, uint count, uint all) { return first < all ? min(count, all - first) : 0; }

#endif
