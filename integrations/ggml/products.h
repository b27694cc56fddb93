// SPDX-License-Identifier: MIT
//
// From ggml's tensors to products of vkgemm: plain data, without Vulkan calls and without ggml's headers.
//
// ggml multiplies src0 (weights, M rows of K) by src1 (activations, N rows of K) into dst (N rows of M), for every
// index of the dimensions 2 and 3, where src0 may have fewer of both. For vkgemm that is D = A B with A = src1 (N x K),
// B = src0 transposed (K x M) and D = dst (N x M).
#ifndef VKGEMM_GGML_PRODUCTS_H
#define VKGEMM_GGML_PRODUCTS_H

#include <vkgemm/problem.h>
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>

namespace vkgemm::ggml {

/// A tensor as ggml describes it: elements and bytes from one to the next, for four dimensions.
struct Tensor {
    VkgemmType type = VKGEMM_TYPE_DEFAULT;  ///< VKGEMM_TYPE_DEFAULT: one that vkgemm does not have
    std::array<uint64_t, 4> ne{}, nb{};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;  ///< bytes, of element 0
};

/// One MUL_MAT, or with `ids` one MUL_MAT_ID:
///
///     dst[:, slot, token] = src0[:, :, ids[slot, token]] * src1[:, slot, token]
///
/// where src1 has one slot for all if its ne[1] is 1. `ids` has whole numbers of 32 bits; its type is not looked at.
struct MulMat {
    Tensor src0, src1, dst;
    const Tensor* ids = nullptr;
    bool is_precise = false;     ///< GGML_PREC_F32: nothing may be rounded to 16 bits
    bool is_rounding = false;    ///< ggml's own kernels would round weights of f32 to f16
    bool is_quantising = false;  ///< they would round src1 to 8 bits, 32 elements at a time
    /// What is added to the product, in turn, before it is written to dst. Without `ids`.
    std::array<Tensor, 2> fused{};
    uint32_t fused_count = 0;
};

/// Why a product is left to ggml. X(name, text)
#define VKGEMM_GGML_REASONS(X)                                                       \
    X(SERVED, "vkgemm")                                                              \
    X(TYPE, "a type that vkgemm does not multiply")                                  \
    X(SHAPE, "sizes that do not belong together")                                    \
    X(STRIDES, "a matrix without a contiguous dimension, or with rows that overlap") \
    X(PARTS, "more products than one node may record")                               \
    X(ALIGNMENT, "an offset that vkgemm's types do not allow")                       \
    X(EXPERTS, "a MUL_MAT_ID of a form that index lists cannot state")               \
    X(LIMIT, "an operand of 2^31 elements, or another limit of vkgemm")              \
    X(PLAN, "no plan of vkgemm")                                                     \
    X(RUN, "operands that vkgemm refuses, such as a dst that overlaps a source")     \
    X(CACHE, "the cache of plans is full")                                           \
    X(SCRATCH, "scratch memory that is too small")                                   \
    X(FUSED, "fused with operators that vkgemm does not join to a product")          \
    X(HADAMARD, "a Hadamard matrix, for which ggml has a fast transform")            \
    X(SLOWER, "ggml was faster when both were timed")                                \
    X(TRIAL, "ggml's turn while both are timed")                                     \
    X(UNTIMED, "the device cannot time both")
enum class Reason : uint32_t {
#define VKGEMM_ROW(name, text) name,
    VKGEMM_GGML_REASONS(VKGEMM_ROW)
#undef VKGEMM_ROW
        COUNT
};
const char* text_of(Reason reason);

/// Products that differ only in where their operands begin: `count` of them, bytes apart. `ratio` neighbours share a
/// matrix of B.
struct Level {
    uint64_t count = 1, a = 0, b = 0, d = 0, ratio = 1;
};

/// A problem, and the products that are recorded with its plan.
struct Products {
    VkgemmProblem problem{};       ///< complete but for `upTo`
    uint64_t rows = 0;             ///< N of the run, problem.m if that is no bound
    std::array<Level, 4> loops{};  ///< with a ratio of 1
    uint32_t parts = 1;            ///< the product of their counts
    uint64_t rounded_rows = 0;     ///< rows of src1 that are rounded to the problem's type of A first; 0: none
    uint64_t rounded_apart = 0;    ///< elements from one of them to the next, before
    uint32_t alignment = 16;
    int32_t residual = -1, bias = -1;  ///< which of MulMat::fused the epilogue's operands are; below 0: none
};

inline constexpr uint32_t most_parts = 256;

/// Activations may be rounded to 16 bits from this many rows on, N as ggml counts them. It rounds none beside 16-bit
/// weights in fewer, and these are bound by the weights.
inline constexpr uint64_t fewest_rounded = 9;
inline constexpr uint64_t most_rounded = 65535;  ///< a work group for each, and every device takes so many

/// MUL_MAT as products. The problem's batch and outer batch hold two levels, `loops` the others.
Reason describe(const MulMat& x, Products& out);

/// MUL_MAT_ID as one product with groups: a group for each expert, whose rows are the pairs of token and slot. A single
/// token has a batch instead, of one product for each slot, whose matrices of src0 the ids choose; or, if those are
/// apart or it has one slot, a group for each slot.
Reason describe_experts(const MulMat& x, Products& out);

/// The type of 16 bits that rows of f32 may be rounded to beside these weights; VKGEMM_TYPE_DEFAULT: none.
VkgemmType rounded_type(const MulMat& x);
/// Rows of f32 beside weights of 16 bits become rows of their type, which are packed, for kernels that want one type;
/// beside blocks they become f16, which such kernels would round them to. ggml's kernels for VK_NV_cooperative_matrix2
/// have them rounded like that, too, and bf16 weights have it everywhere. Where those kernels round weights of f32 as
/// well, vkgemm's may. Does nothing where rows cannot be rounded, or where no kernel gains by it.
void round_rows(const MulMat& x, VkgemmType to, Products& out);

}  // namespace vkgemm::ggml
#endif
