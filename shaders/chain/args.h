// SPDX-License-Identifier: MIT
// The contract between host and the shaders of chains. C++ and GLSL both compile this file.
#ifndef VKGEMM_CHAIN_ARGS_H
#define VKGEMM_CHAIN_ARGS_H
#include "../constants.h"

#define CHAIN_LAYERS 6        // products of one dispatch, at most
#define CHAIN_WIDTH 64        // columns of A and of every D, at most: beyond it, separate products are faster,
#define CHAIN_MOST_WIDTH 128  // but for a tile of the matrix units that takes wider ones

// The specialization constants of chains. Those of the tile are of constants.h, with the ids and meanings that they
// have there: on the matrix units WG, WM, MM, MN, MK and SG, where WM is what a subgroup computes at once; otherwise
// WG, BM and BK. X(id, name, meaning).
#define CHAIN_CONSTANTS(X)                                                                \
    X(64, RESIDENT, "1: the weights of all layers are in shared memory; 0: those of one") \
    X(65, LAYERS, "products")                                                             \
    X(66, INPUTS, "columns of the first A")                                               \
    X(67, WIDE_ROWS, "1: the first A is read by whole vectors where all of one exists")   \
    X(68, LDA, "leading dimension of the first A")                                        \
    X(69, MAX_WIDTH, "the largest width, rounded up to MM, or to 4")                      \
    X(70, WEIGHT_CHUNKS, "16-byte chunks of shared memory for weights")                   \
    X(71, TRANS_A, "1: the first A is stored column-major")                               \
    X(72, COUNTED, "1: a VkgemmGroup in memory has the rows")
// And seven of each layer, one beside the other: the value of layer l has the id that is given here + l.
#define CHAIN_LAYER_CONSTANTS(X)                                              \
    X(128, WIDTH, "columns of D")                                             \
    X(136, FLAGS, "CHAIN_* bits")                                             \
    X(144, LDB, "leading dimension of B")                                     \
    X(152, LDD, "leading dimension of D")                                     \
    X(160, STEP_LOW, "bits of the f32 lower bound of a clamp, or of a slope") \
    X(168, STEP_HIGH, "bits of the f32 upper bound of a clamp")               \
    X(176, B_CHUNK, "the chunk of shared memory where B begins, on the matrix units")

// Of FLAGS.
#define CHAIN_STEP 15        // the step after the bias, a VKGEMM_STEP_* number; 0: none. DRELU has no bias before it
#define CHAIN_BIAS 16        // there is a bias of columns, which comes first
#define CHAIN_STORED 32      // D is stored
#define CHAIN_TRANS_B 64     // B is stored column-major
#define CHAIN_WIDE_B 128     // B is read by whole vectors, whose places are multiples of 16 bytes
#define CHAIN_WIDE 256       // D is written by whole vectors where all of one exists
#define CHAIN_TRANS_D 512    // D is stored column-major
#define CHAIN_TYPE_SHIFT 12  // above: the type of the bias, a VKGEMM_TYPE_* number

// Push constants: the address of A (low word first), the rows, a word of zero, and CHAIN_LAYER_WORDS words of each
// layer: the addresses of B, of the bias (or, with DRELU, of its residual) and of D, and the bits of the f32 alpha. If
// COUNTED, the rows are those at most, and the address of the VkgemmGroup is where that of B of a further layer would
// be, so that a module has one layer less.
#define CHAIN_HEADER_WORDS 4
#define CHAIN_LAYER_WORDS 7
#define CHAIN_ARGUMENT_WORDS(layers) (CHAIN_HEADER_WORDS + (layers)*CHAIN_LAYER_WORDS)

#ifdef __cplusplus
#    include <cstdint>
namespace vkgemm::plan {
enum ChainConstantId : std::uint32_t {
#    define X(id, name, meaning) CHAIN_ID_##name = (id),
    VKGEMM_TILE_CONSTANTS(X) CHAIN_CONSTANTS(X) CHAIN_LAYER_CONSTANTS(X)
#    undef X
};
}  // namespace vkgemm::plan
#endif
#endif
