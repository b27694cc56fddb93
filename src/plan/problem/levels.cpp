// SPDX-License-Identifier: MIT
#include "plan/problem/levels.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "plan/problem/epilogue.h"

namespace vkgemm::plan {
namespace {

constexpr size_t A = 0, B = 1, C = 2, D = 3;

// A level with ratios: products that share a matrix, and groups of these.
struct SharingLevel {
    Level inner, whole;
};

// At most one of the ratios is above 1.
SharingLevel split(uint64_t count, uint64_t ratio_a, uint64_t ratio_b, Level whole) {
    Level inner = whole;
    inner.count = std::max(ratio_a, ratio_b);
    for (const auto& [i, ratio] : {std::pair{A, ratio_a}, {B, ratio_b}})
        if (ratio > 1) inner.stride[i] = 0;
    whole.count = count / inner.count;
    for (const auto& [i, ratio] : {std::pair{A, ratio_a}, {B, ratio_b}, {C, uint64_t{1}}, {D, uint64_t{1}}})
        whole.stride[i] *= inner.count / ratio;
    return {inner, whole};
}

SharingLevel split_batch(const Problem& p) {
    return split(p.batch, p.ratioA, p.ratioB,
                 {1, {p.a.batchStride, p.b.batchStride, p.c.batchStride, p.d.batchStride}});
}

SharingLevel split_outer(const Problem& p) {
    return split(p.outerBatch, p.outerRatioA, p.outerRatioB,
                 {1, {p.outerStrideA, p.outerStrideB, p.outerStrideC, p.outerStrideD}});
}

// Does `outer` go on where `inner` ends?
bool chains(const Problem& p, const Level& inner, const Level& outer) {
    for (const size_t i : {A, B, C, D})
        if ((i != C || p.cSource != VKGEMM_C_NONE) && outer.stride[i] != inner.count * inner.stride[i]) return false;
    return true;
}

bool merge_two(const Problem& p, Levels& all) {
    for (size_t i = 0; i < all.count; ++i)
        for (size_t j = 0; j < all.count; ++j)
            if (i != j && chains(p, all.level[i], all.level[j])) {
                all.level[i].count *= all.level[j].count;
                all.remove(j);
                return true;
            }
    return false;
}

// The leading dimension of one matrix that holds those of a level one below the other, or, if it has more columns, side
// by side; nullopt: they do not lie like that.
std::optional<uint64_t> merged_ld(const Matrix& x, uint64_t rows, uint64_t cols, bool side_by_side, uint64_t count,
                                  uint64_t stride) {
    const bool by_rows = x.layout == rowMajor;
    const uint64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    if (by_rows == side_by_side) {  // the lines become longer
        if (stride != length || (lines > 1 && x.ld < count * length)) return std::nullopt;
        return std::max(x.ld, count * length);
    }
    if (lines == 1) return stride >= length ? std::optional(stride) : std::nullopt;
    return stride == x.ld * lines ? std::optional(x.ld) : std::nullopt;
}

bool reads_for_each(const Problem& p, bool columns) {
    return std::ranges::any_of(p.epilogue, [&](const EpilogueStep& s) {
        return columns ? info(s.kind).is_of_columns() : info(s.kind).is_of_rows();
    });
}

// One level into m (is_n: into n).
bool merge_into(Problem& p, const Level& level, bool is_n) {
    if (p.upTo & (is_n ? VKGEMM_UP_TO_N : VKGEMM_UP_TO_M) || level.stride[is_n ? A : B] != 0 || reads_for_each(p, is_n))
        return false;
    uint64_t& size = is_n ? p.n : p.m;
    if (size == 0 || level.count > ((uint64_t{1} << 31) - 1) / size) return false;
    Matrix& x = is_n ? p.b : p.a;
    const auto ld_x = merged_ld(x, is_n ? p.k : p.m, is_n ? p.n : p.k, is_n, level.count, level.stride[is_n ? B : A]);
    const auto ld_d = merged_ld(p.d, p.m, p.n, is_n, level.count, level.stride[D]);
    const bool has_c = p.cSource == VKGEMM_C_SEPARATE;
    const auto ld_c = has_c ? merged_ld(p.c, p.m, p.n, is_n, level.count, level.stride[C]) : ld_d;
    if (!ld_x || !ld_d || !ld_c) return false;
    x.ld = *ld_x;
    p.d.ld = *ld_d;
    if (has_c || p.cSource == VKGEMM_C_IS_D) p.c.ld = *ld_c;
    size *= level.count;
    return true;
}

bool merge_one(Problem& p, Levels& all) {
    for (const bool is_n : {false, true})
        for (size_t i = 0; i < all.count; ++i)
            if (merge_into(p, all.level[i], is_n)) {
                all.remove(i);
                return true;
            }
    return false;
}

// The greatest number that all strides of an operand are multiples of; 0: it does not move.
uint64_t common_step(const Levels& all, size_t operand) {
    uint64_t out = 0;
    for (const Level& l : all) out = std::gcd(out, l.stride[operand]);
    return out;
}

void set_outer_strides(Problem& p, const Levels& all) {
    p.outerStrideA = common_step(all, A);
    p.outerStrideB = common_step(all, B);
    p.outerStrideC = p.cSource == VKGEMM_C_NONE ? 0 : common_step(all, C);
    p.outerStrideD = common_step(all, D);
}

// The kernel's level becomes the problem's batch, and the others are repetitions.
void give_level(Problem& p, const Level& of_kernel, const Levels& others) {
    p.batch = of_kernel.count;
    p.a.batchStride = of_kernel.stride[A];
    p.b.batchStride = of_kernel.stride[B];
    p.c.batchStride = of_kernel.stride[C];
    p.d.batchStride = of_kernel.stride[D];
    p.outerBatch = 1;
    for (const Level& l : others) p.outerBatch *= l.count;
    set_outer_strides(p, others);
    p.ratioA = p.ratioB = p.outerRatioA = p.outerRatioB = 1;
}

}  // namespace

void Levels::add(const Level& l) {
    if (l.count > 1) level[count++] = l;
}

void Levels::remove(size_t i) {
    std::copy(level.begin() + i + 1, level.begin() + count, level.begin() + i);
    level[--count] = {};
}

Levels levels_of(const Problem& p) {
    Levels out;
    for (const auto& [inner, whole] : {split_batch(p), split_outer(p)}) {
        out.add(inner);
        out.add(whole);
    }
    return out;
}

Levels levels_beside_batch(const Problem& p) {
    Levels out;
    const SharingLevel outer = split_outer(p);
    for (const Level& l : {split_batch(p).inner, outer.inner, outer.whole}) out.add(l);
    return out;
}

void merge_levels(Problem& p, Levels& all) {
    while (merge_two(p, all) || merge_one(p, all)) {
    }
}

void take_level_from_kernel(Problem& p, Levels& all) {
    const Level kernels = {p.batch, {p.a.batchStride, p.b.batchStride, p.c.batchStride, p.d.batchStride}};
    if (p.batch > 1 || (p.upTo & VKGEMM_UP_TO_BATCH)) {
        std::copy_backward(all.begin(), all.end(), all.level.begin() + all.count + 1);
        all.level[0] = kernels;
        ++all.count;
    }
    p.outerBatch *= p.batch;
    p.batch = 1;
    for (Matrix* x : {&p.a, &p.b, &p.c, &p.d}) x->batchStride = 0;
    set_outer_strides(p, all);
}

void give_kernel_batch(Problem& p, const Levels& others) { give_level(p, split_batch(p).whole, others); }

void give_kernel_level(Problem& p, Levels& all) {
    const auto moves_packed = [&](const Level& l) {
        return (p.packedA != VKGEMM_PACKED_NONE && l.stride[A]) || (p.packedB != VKGEMM_PACKED_NONE && l.stride[B]);
    };
    Level chosen;
    size_t at = all.count;
    for (size_t i = 0; i < all.count; ++i) {
        const Level& l = all.level[i];
        if (at == all.count || std::pair{moves_packed(l), l.count} > std::pair{moves_packed(chosen), chosen.count}) {
            chosen = l;
            at = i;
        }
    }
    if (at != all.count) all.remove(at);
    give_level(p, chosen, all);
}

}  // namespace vkgemm::plan
