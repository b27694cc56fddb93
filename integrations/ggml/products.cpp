// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/products.h"

#include <algorithm>
#include <optional>
#include <vkgemm/elements.hpp>

namespace vkgemm::ggml {
namespace {

bool is_one_of(VkgemmType type, std::initializer_list<VkgemmType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
}
bool is_weight(VkgemmType type) {
    return type != VKGEMM_TYPE_DEFAULT &&
           !is_one_of(type, {VKGEMM_TYPE_F64, VKGEMM_TYPE_I32, VKGEMM_TYPE_I8, VKGEMM_TYPE_U8});
}

// Bytes as elements; nothing if they are not whole blocks.
std::optional<uint64_t> in_elements(VkgemmType type, uint64_t bytes) {
    const BlockSize block = blockSize(type);
    if (bytes % block.bytes) return std::nullopt;
    return bytes / block.bytes * block.elements;
}

// A matrix of `count` rows, `row` bytes apart, with `length` elements, `next` bytes apart. `along` is the layout in
// which its rows are contiguous.
std::optional<VkgemmMatrix> matrix(VkgemmType type, uint64_t length, uint64_t next, uint64_t count, uint64_t row,
                                   VkgemmLayout along) {
    const BlockSize block = blockSize(type);
    const VkgemmLayout across = along == VKGEMM_LAYOUT_ROW_MAJOR ? VKGEMM_LAYOUT_COLUMN_MAJOR : VKGEMM_LAYOUT_ROW_MAJOR;
    if (next == block.bytes || length == 1) {
        const auto ld = count == 1 ? length : in_elements(type, row);
        if (ld && *ld >= length) return VkgemmMatrix{.type = type, .layout = along, .ld = *ld, .batchStride = 0};
    }
    if (block.elements == 1 && (row == block.bytes || count == 1)) {
        const auto ld = length == 1 ? count : in_elements(type, next);
        if (ld && *ld >= count) return VkgemmMatrix{.type = type, .layout = across, .ld = *ld, .batchStride = 0};
    }
    return std::nullopt;
}

// The four dimensions of the indices 2 and 3: those that src0 has, and those that share a matrix of it.
using Levels = std::array<Level, 4>;
Levels levels_of(const MulMat& x) {
    const Tensor &w = x.src0, &y = x.src1, &d = x.dst;
    const uint64_t r2 = y.ne[2] / w.ne[2], r3 = y.ne[3] / w.ne[3];
    return {Level{.count = w.ne[3], .a = y.nb[3] * r3, .b = w.nb[3], .d = d.nb[3] * r3},
            Level{.count = r3, .a = y.nb[3], .b = 0, .d = d.nb[3]},
            Level{.count = w.ne[2], .a = y.nb[2] * r2, .b = w.nb[2], .d = d.nb[2] * r2},
            Level{.count = r2, .a = y.nb[2], .b = 0, .d = d.nb[2]}};
}

// Rows of src1 and dst that share a matrix of src0 become rows of one product if they are equally far apart.
void merge_rows(Levels& levels, uint64_t& rows, uint64_t& row_a, uint64_t& row_d) {
    for (size_t again = 0; again < levels.size(); ++again)
        for (Level& x : levels) {
            if (x.count == 1 || x.b != 0) continue;
            if (rows != 1 && (x.a != rows * row_a || x.d != rows * row_d)) continue;
            if (rows == 1) {
                row_a = x.a;
                row_d = x.d;
            }
            rows *= x.count;
            x = {};
        }
}

// Two levels become one if the outer one goes on where the inner one ends.
void merge_levels(Levels& levels) {
    for (size_t again = 0; again < levels.size(); ++again)
        for (Level& outer : levels)
            for (Level& inner : levels) {
                if (&outer == &inner || outer.count == 1 || inner.count == 1) continue;
                const uint64_t n = inner.count;
                if (outer.a != n * inner.a || outer.b != n * inner.b || outer.d != n * inner.d) continue;
                inner.count *= outer.count;
                outer = {};
            }
}

// A level whose neighbouring products share a matrix of src0 becomes one with the level that it goes on with.
void merge_ratios(Levels& levels) {
    for (Level& outer : levels)
        for (Level& inner : levels) {
            if (&outer == &inner || outer.count == 1 || inner.count == 1 || outer.b == 0 || inner.b != 0) continue;
            if (outer.ratio != 1 || outer.a != inner.count * inner.a || outer.d != inner.count * inner.d) continue;
            outer = {outer.count * inner.count, inner.a, outer.b, inner.d, inner.count};
            inner = {};
        }
}

bool is_whole(const Level& x, const VkgemmProblem& p) {
    return in_elements(p.a.type, x.a) && in_elements(p.b.type, x.b) && in_elements(p.d.type, x.d);
}

uint64_t stride(VkgemmType type, uint64_t bytes) { return bytes ? *in_elements(type, bytes) : VKGEMM_BROADCAST; }

// Whether no two matrices of D share an element (VkgemmMatrix): a stride is at least what all smaller ones reach over.
bool is_d_apart(const VkgemmProblem& p) {
    const bool is_row_major = p.d.layout == VKGEMM_LAYOUT_ROW_MAJOR;
    std::array<std::array<uint64_t, 2>, 3> steps = {{{p.d.ld, is_row_major ? p.m : p.n},
                                                     {p.d.batchStride, p.batch},
                                                     {p.outerStrideD, std::max<uint64_t>(p.outerBatch, 1)}}};
    std::sort(steps.begin(), steps.end());
    uint64_t reach = is_row_major ? p.n : p.m;
    for (const auto& [apart, count] : steps) {
        if (count == 1) continue;
        if (apart < reach) return false;
        reach += (count - 1) * apart;
    }
    return true;
}

// The two longest levels that can be the batch and its outer level are; the others are loops.
void choose_batch(Levels& levels, Products& out) {
    std::stable_sort(levels.begin(), levels.end(), [](const Level& x, const Level& y) { return x.count > y.count; });
    out.problem.batch = 1;
    for (Level& x : levels) {
        VkgemmProblem p = out.problem;
        if (x.count == 1 || p.outerBatch > 1 || !is_whole(x, p)) continue;
        const uint64_t a = stride(p.a.type, x.a), b = stride(p.b.type, x.b), d = stride(p.d.type, x.d);
        if (p.batch == 1) {
            p.batch = x.count;
            p.a.batchStride = a;
            p.b.batchStride = b;
            p.d.batchStride = d;
            p.ratioB = x.ratio;
        } else {
            p.outerBatch = x.count;
            p.outerStrideA = a;
            p.outerStrideB = b;
            p.outerStrideD = d;
            p.outerRatioB = x.ratio;
        }
        if (is_d_apart(p)) {
            out.problem = p;
            x = {};
        }
    }
    for (Level& x : levels)
        if (x.ratio > 1) {  // a loop has no ratio
            Level& inner = *std::find_if(levels.begin(), levels.end(), [](const Level& y) { return y.count == 1; });
            inner = {x.ratio, x.a, 0, x.d};
            x = {x.count / x.ratio, x.a * x.ratio, x.b, x.d * x.ratio};
        }
    out.loops = levels;
}

// The most that every operand's beginning is a multiple of: 16, or what the types need. Nothing if they lack that.
std::optional<uint32_t> alignment_of(const MulMat& x, const Products& p, bool is_grouped) {
    uint64_t a = x.src1.offset, b = x.src0.offset | (is_grouped ? x.src0.nb[2] : 0), d = x.dst.offset;
    for (uint32_t i = 0; i < x.fused_count; ++i) d |= x.fused[i].offset;
    for (const Level& l : p.loops)
        if (l.count > 1) {
            a |= l.a;
            b |= l.b;
            d |= l.d;
        }
    const bool is_mixed = x.src0.type != x.src1.type;  // such operands are read in words
    const uint64_t unit_a = is_mixed ? 4 : blockSize(x.src1.type).bytes,
                   unit_b = is_mixed ? 4 : blockSize(x.src0.type).bytes;
    if (a % unit_a || b % unit_b || d % 4) return std::nullopt;
    return (a | b | d) % 16 == 0 ? 16 : unit_a == 2 ? 2 : 4;
}

VkgemmAccuracy accuracy_of(const MulMat& x) {
    if (x.is_precise) return VKGEMM_ACCURACY_DEFAULT;
    if (x.is_quantising) return VKGEMM_ACCURACY_MXINT8;
    const uint64_t n = x.src1.ne[x.ids ? 2 : 1];
    if (x.src0.type != x.src1.type) return n < fewest_rounded ? VKGEMM_ACCURACY_DEFAULT : VKGEMM_ACCURACY_NARROW;
    return x.src0.type == VKGEMM_TYPE_F32 ? VKGEMM_ACCURACY_F32_SPLIT_ROWS : VKGEMM_ACCURACY_DEFAULT;
}

bool are_types_fine(const MulMat& x) {
    return is_weight(x.src0.type) && is_one_of(x.src1.type, {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) &&
           x.dst.type == VKGEMM_TYPE_F32;
}
bool isEmpty(const Tensor& x) { return std::find(x.ne.begin(), x.ne.end(), 0u) != x.ne.end(); }

// A, B and D with `rows` rows.
Reason set_matrices(const MulMat& x, uint64_t rows, uint64_t row_a, uint64_t row_d, Products& out) {
    const uint64_t k = x.src0.ne[0], columns = x.src0.ne[1];
    const auto a = matrix(x.src1.type, k, x.src1.nb[0], rows, row_a, VKGEMM_LAYOUT_ROW_MAJOR);
    const auto b = matrix(x.src0.type, k, x.src0.nb[0], columns, x.src0.nb[1], VKGEMM_LAYOUT_COLUMN_MAJOR);
    const auto d = matrix(x.dst.type, columns, x.dst.nb[0], rows, row_d, VKGEMM_LAYOUT_ROW_MAJOR);
    if (!a || !b || !d) return Reason::STRIDES;
    VkgemmProblem& p = out.problem;
    p = {};
    p.structSize = sizeof p;
    p.m = rows;
    p.n = columns;
    p.k = k;
    p.a = *a;
    p.b = *b;
    p.d = *d;
    p.accumulate = VKGEMM_TYPE_F32;
    p.accuracy = accuracy_of(x);
    out.rows = rows;
    return Reason::SERVED;
}

// What is added becomes the residual if it is placed like D, and one more a bias if D has a single row.
bool add_fused(const MulMat& x, Products& out) {
    const Tensor& d = x.dst;
    const auto is_like_d = [&](const Tensor& f) {
        for (size_t i = 0; i < 4; ++i)
            if (d.ne[i] > 1 && f.nb[i] != d.nb[i]) return false;
        return f.ne == d.ne && f.type == d.type;
    };
    VkgemmProblem& p = out.problem;
    for (uint32_t i = 0; i < x.fused_count; ++i) {
        if (!is_like_d(x.fused[i])) return false;
        const bool is_row = out.rows == 1 && p.batch == 1 && p.d.layout == VKGEMM_LAYOUT_ROW_MAJOR;
        if (out.residual < 0) {
            out.residual = int32_t(i);
            p.epilogue[p.epilogueCount++].kind = VKGEMM_STEP_RESIDUAL;
        } else if (out.bias < 0 && is_row && out.parts == 1) {
            out.bias = int32_t(i);
            p.epilogue[p.epilogueCount++].kind = VKGEMM_STEP_BIAS_COL;
        } else
            return false;
    }
    return true;
}

}  // namespace

const char* text_of(Reason reason) {
    constexpr const char* texts[] = {
#define VKGEMM_ROW(name, text) text,
        VKGEMM_GGML_REASONS(VKGEMM_ROW)
#undef VKGEMM_ROW
    };
    return reason < Reason::COUNT ? texts[static_cast<size_t>(reason)] : "";
}

Reason describe(const MulMat& x, Products& out) {
    out = {};
    const Tensor &w = x.src0, &y = x.src1, &d = x.dst;
    if (!are_types_fine(x)) return Reason::TYPE;
    if (isEmpty(w) || isEmpty(y) || isEmpty(d)) return Reason::SHAPE;
    if (w.ne[0] != y.ne[0] || y.ne[2] % w.ne[2] || y.ne[3] % w.ne[3] || w.ne[0] % blockSize(w.type).elements ||
        d.ne != std::array<uint64_t, 4>{w.ne[1], y.ne[1], y.ne[2], y.ne[3]})
        return Reason::SHAPE;

    Levels levels = levels_of(x);
    uint64_t rows = y.ne[1], row_a = y.nb[1], row_d = d.nb[1];
    const bool rows_are_contiguous = y.nb[0] == blockSize(y.type).bytes && d.nb[0] == blockSize(d.type).bytes;
    if (rows_are_contiguous) merge_rows(levels, rows, row_a, row_d);
    merge_levels(levels);
    merge_ratios(levels);
    if (const Reason why = set_matrices(x, rows, row_a, row_d, out); why != Reason::SERVED) return why;
    choose_batch(levels, out);
    uint64_t parts = 1;
    for (const Level& l : out.loops) parts = std::min<uint64_t>(parts * l.count, most_parts + 1u);
    if (parts > most_parts) return Reason::PARTS;
    out.parts = static_cast<uint32_t>(parts);
    if (!add_fused(x, out)) return Reason::FUSED;
    const auto alignment = alignment_of(x, out, false);
    if (!alignment) return Reason::ALIGNMENT;
    out.alignment = *alignment;
    return Reason::SERVED;
}

Reason describe_experts(const MulMat& x, Products& out) {
    out = {};
    const Tensor &w = x.src0, &y = x.src1, &d = x.dst, &ids = *x.ids;
    if (x.fused_count) return Reason::FUSED;
    if (!are_types_fine(x)) return Reason::TYPE;
    if (isEmpty(w) || isEmpty(y) || isEmpty(d) || isEmpty(ids)) return Reason::SHAPE;
    const uint64_t slots = ids.ne[0], tokens = ids.ne[1];
    if (w.ne[0] != y.ne[0] || w.ne[0] % blockSize(w.type).elements || w.ne[3] != 1 || y.ne[2] != tokens ||
        y.ne[3] != 1 || ids.ne[2] != 1 || ids.ne[3] != 1 || d.ne != std::array<uint64_t, 4>{w.ne[1], slots, tokens, 1})
        return Reason::SHAPE;
    // Rows of src1 and dst must be equally far apart, because an index is multiplied by one leading dimension.
    const bool is_shared = y.ne[1] == 1;
    const uint64_t row_a = is_shared && tokens > 1 ? y.nb[2] : y.nb[1], row_d = slots == 1 ? d.nb[2] : d.nb[1];
    if (!is_shared && (y.ne[1] != slots || (tokens > 1 && y.nb[2] != slots * y.nb[1]))) return Reason::EXPERTS;
    if (slots > 1 && tokens > 1 && d.nb[2] != slots * d.nb[1]) return Reason::EXPERTS;
    if (slots * tokens > INT32_MAX || ids.nb[0] % 4 || ids.nb[1] % 4 || ids.offset % 4) return Reason::EXPERTS;
    if (const Reason why = set_matrices(x, slots * tokens, row_a, row_d, out); why != Reason::SERVED) return why;
    VkgemmProblem& p = out.problem;
    // One row of A for all has no leading dimension of its own.
    if (p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR || p.d.layout != VKGEMM_LAYOUT_ROW_MAJOR) return Reason::STRIDES;
    const auto apart = in_elements(w.type, w.nb[2]);
    if (!apart || (w.ne[2] > 1 && *apart == 0)) return Reason::STRIDES;
    p.b.batchStride = w.ne[2] > 1 ? *apart : 0;
    // What vkgemm's kernels of few rows take: whole blocks, or 16 bytes at a time.
    const bool is_wide = (x.src0.offset | x.src1.offset | w.nb[1] | w.nb[2] | y.nb[1]) % 16 == 0;
    if (tokens == 1 && slots > 1 && ids.nb[0] == 4 && p.k % 32 == 0 && (w.type != y.type || is_wide)) {
        p.grouping = VKGEMM_GROUPING_SELECTED;
        p.m = out.rows = 1;
        p.batch = slots;
        p.a.batchStride = is_shared ? VKGEMM_BROADCAST : p.a.ld;
        p.d.batchStride = p.d.ld;
    } else {
        p.grouping = VKGEMM_GROUPING_INDEXED;
        p.upTo = VKGEMM_UP_TO_M;
        p.batch = tokens == 1 ? slots : w.ne[2];
        p.indicesPerRow = is_shared ? static_cast<uint32_t>(slots) : 1;
    }
    if (p.accuracy == VKGEMM_ACCURACY_F32_SPLIT_ROWS)
        p.accuracy = VKGEMM_ACCURACY_DEFAULT;  // groups have no workspace for it
    const auto alignment = alignment_of(x, out, true);
    if (!alignment) return Reason::ALIGNMENT;
    out.alignment = *alignment;
    return Reason::SERVED;
}

VkgemmType rounded_type(const MulMat& x) {
    const VkgemmType weights = x.src0.type;
    if (weights == VKGEMM_TYPE_BF16) return weights;
    if (weights == VKGEMM_TYPE_F32 && !x.is_rounding) return VKGEMM_TYPE_DEFAULT;
    const bool is_f16 = is_one_of(weights, {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16}) || blockSize(weights).elements > 1;
    return is_f16 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_DEFAULT;
}

void round_rows(const MulMat& x, VkgemmType to, Products& out) {
    VkgemmProblem& p = out.problem;
    const bool is_grouped = p.grouping != VKGEMM_GROUPING_NONE;
    if (x.src1.type != VKGEMM_TYPE_F32 || x.is_precise || p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR) return;
    // No pass decodes the blocks of groups, so their kernels gain nothing.
    if (is_grouped ? blockSize(x.src0.type).elements > 1 : p.batch > 1 || out.parts > 1) return;
    if ((is_grouped ? x.src1.ne[2] : out.rows) < fewest_rounded) return;
    const uint64_t rows = is_grouped ? p.m / p.indicesPerRow : out.rows;
    if (rows > most_rounded || rows * p.a.ld > INT32_MAX) return;
    if (p.k % 8 || p.a.ld % 4 || x.src1.offset % 16) return;
    out.rounded_rows = rows;
    out.rounded_apart = p.a.ld;
    p.a.type = to;
    p.a.ld = p.k;
    p.accuracy = x.src0.type == to ? VKGEMM_ACCURACY_DEFAULT : VKGEMM_ACCURACY_NARROW;
}

}  // namespace vkgemm::ggml
