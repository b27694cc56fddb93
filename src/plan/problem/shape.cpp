// SPDX-License-Identifier: MIT
// How the matrices of a problem lie in memory.
#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/problem.h"
#include "plan/problem/stored.h"

namespace vkgemm::plan {

Result<Problem> of_run(Problem p, const Sizes& s, const VkgemmRunStrides& x) {
    p.m = s.m;
    p.n = s.n;
    p.k = s.k;
    p.batch = s.batch;
    p.a.ld = x.lda;
    p.b.ld = x.ldb;
    p.d.ld = x.ldd;
    p.a.batchStride = x.batchStrideA;
    p.b.batchStride = x.batchStrideB;
    p.d.batchStride = x.batchStrideD;
    p.outerStrideA = x.outerStrideA;
    p.outerStrideB = x.outerStrideB;
    p.outerStrideD = x.outerStrideD;
    if (p.cSource == VKGEMM_C_SEPARATE) {
        p.c.ld = x.ldc;
        p.c.batchStride = x.batchStrideC;
        p.outerStrideC = x.outerStrideC;
    }
    struct Shared {
        std::string_view name;
        uint64_t stride, ratio;
    };
    for (const auto& [name, stride, ratio] : {Shared{"batchStrideA", x.batchStrideA, p.ratioA},
                                              {"batchStrideB", x.batchStrideB, p.ratioB},
                                              {"outerStrideA", x.outerStrideA, p.outerRatioA},
                                              {"outerStrideB", x.outerStrideB, p.outerRatioB}})
        if (stride == broadcast && ratio > 1)
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                           concat({name, " of the run is VKGEMM_BROADCAST, but ", ratio,
                                   " products share a matrix of it already; make a plan without that ratio"})};
    return complete(p);
}

bool are_wide(const Problem& p) {
    return std::ranges::all_of(operands(p), [&](const Operand& x) {
        const TypeInfo& type = info(x.matrix->type);
        const uint64_t unit = wide_bytes(type.type);
        return (x.matrix == &p.c && p.cSource == VKGEMM_C_NONE) ||
               (type.bytes_of(x.matrix->ld) % unit == 0 && type.bytes_of(x.matrix->batchStride) % unit == 0 &&
                type.bytes_of(x.outer_stride) % unit == 0);
    });
}

uint64_t rows_of_a(const Problem& p) { return p.indicesPerRow ? div_up(p.m, p.indicesPerRow) : p.m; }

std::array<Operand, 4> operands(const Problem& p) {
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, k = VKGEMM_UP_TO_K;
    const auto ragged = [&](const Matrix& x, uint32_t rows, uint32_t cols) {
        return (p.upTo & (x.layout == rowMajor ? cols : rows)) != 0;
    };
    const bool loose = (p.upTo & VKGEMM_UP_TO_STRIDES) != 0;
    const auto like_d = [&](VkgemmSlot slot, const Matrix& x, uint64_t outer_stride) {
        return Operand{.slot = slot,
                       .matrix = &x,
                       .rows = p.m,
                       .cols = p.n,
                       .ragged = ragged(x, m, n),
                       .loose = loose,
                       .batch = p.batch,
                       .outer = p.outerBatch,
                       .outer_stride = outer_stride};
    };
    return {Operand{.slot = VKGEMM_SLOT_A,
                    .matrix = &p.a,
                    .rows = rows_of_a(p),
                    .cols = p.k,
                    .ragged = ragged(p.a, m, k),
                    .loose = loose,
                    .batch = p.batch / p.ratioA,
                    .outer = p.outerBatch / p.outerRatioA,
                    .outer_stride = p.outerStrideA},
            Operand{.slot = VKGEMM_SLOT_B,
                    .matrix = &p.b,
                    .rows = p.k,
                    .cols = p.n,
                    .ragged = ragged(p.b, k, n),
                    .loose = loose,
                    .batch = p.batch / p.ratioB,
                    .outer = p.outerBatch / p.outerRatioB,
                    .outer_stride = p.outerStrideB},
            like_d(VKGEMM_SLOT_C, p.c, p.outerStrideC), like_d(VKGEMM_SLOT_D, p.d, p.outerStrideD)};
}

std::string_view slot_name(VkgemmSlot s) {
    constexpr std::string_view names[] = {"a",         "b",      "c",       "d",       "bias", "scale", "residual",
                                          "workspace", "groups", "indices", "scalars", "b2",   "bias2"};
    return names[size_t(s)];
}

uint32_t wide_bytes(Type type) { return info(type).is_plain() ? std::max(16u, 4 * info(type).bytes) : 16; }

bool is_wide(const Operand& x, uint32_t operand_alignment) {
    const Matrix& m = *x.matrix;
    const TypeInfo& type = info(m.type);
    const uint64_t run = m.layout == rowMajor ? x.cols : x.rows, unit = wide_bytes(m.type);
    return operand_alignment % 16 == 0 && !x.loose && (x.padded || (!x.ragged && type.bytes_of(run) % unit == 0)) &&
           type.bytes_of(m.ld) % unit == 0 && type.bytes_of(m.batchStride) % unit == 0 &&
           type.bytes_of(x.outer_stride) % unit == 0;
}

bool has_pitches(const Operand& x, uint32_t operand_alignment) {
    const TypeInfo& type = info(x.matrix->type);
    return operand_alignment % 16 == 0 && !x.loose && type.bytes_of(x.matrix->ld) % 16 == 0 &&
           type.bytes_of(x.matrix->batchStride) % 16 == 0 && type.bytes_of(x.outer_stride) % 16 == 0;
}

bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

std::optional<uint64_t> first_overlap(std::span<Strides> all, uint64_t& reach, uint64_t below) {
    for (size_t i = 1; i < all.size(); ++i)
        for (size_t j = i; j > 0 && all[j].width < all[j - 1].width; --j) std::swap(all[j], all[j - 1]);
    for (const Strides& x : all) {
        if (x.count > 1 && x.width < reach + below) return x.width;
        if (x.count > 1) reach += (x.count - 1) * x.width;
    }
    return std::nullopt;
}

std::optional<uint64_t> span_elements(const Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch) {
    if (rows == 0 || cols == 0 || batch == 0) return 0;
    const auto [outer, inner] = stored(x, rows, cols);
    uint64_t span = inner;
    if (!add_steps(span, outer - 1, x.ld) || !add_steps(span, batch - 1, x.batchStride)) return std::nullopt;
    return span;
}

std::optional<uint64_t> span_elements(const Operand& x) {
    auto span = span_elements(*x.matrix, x.rows, x.cols, x.batch);
    if (span == 0 || x.outer == 0) return 0;
    if (span && !add_steps(*span, x.outer - 1, x.outer_stride)) return std::nullopt;
    return span;
}

}  // namespace vkgemm::plan
