// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/products.h"

#include <algorithm>
#include <optional>
#include <vkgemm/elements.hpp>

namespace vkgemm::ggml {
namespace {

bool isOneOf(VkgemmType type, std::initializer_list<VkgemmType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
}
bool isWeight(VkgemmType type) {
    return type != VKGEMM_TYPE_DEFAULT &&
           !isOneOf(type, {VKGEMM_TYPE_F64, VKGEMM_TYPE_I32, VKGEMM_TYPE_I8, VKGEMM_TYPE_U8});
}

// Bytes as elements; nothing if they are not whole blocks.
std::optional<uint64_t> inElements(VkgemmType type, uint64_t bytes) {
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
        const auto ld = count == 1 ? length : inElements(type, row);
        if (ld && *ld >= length) return VkgemmMatrix{.type = type, .layout = along, .ld = *ld, .batchStride = 0};
    }
    if (block.elements == 1 && (row == block.bytes || count == 1)) {
        const auto ld = length == 1 ? count : inElements(type, next);
        if (ld && *ld >= count) return VkgemmMatrix{.type = type, .layout = across, .ld = *ld, .batchStride = 0};
    }
    return std::nullopt;
}

// The four dimensions of the indices 2 and 3: those that src0 has, and those that share a matrix of it.
using Levels = std::array<Level, 4>;
Levels levelsOf(const MulMat& x) {
    const Tensor &w = x.src0, &y = x.src1, &d = x.dst;
    const uint64_t r2 = y.ne[2] / w.ne[2], r3 = y.ne[3] / w.ne[3];
    return {Level{.count = w.ne[3], .a = y.nb[3] * r3, .b = w.nb[3], .d = d.nb[3] * r3},
            Level{.count = r3, .a = y.nb[3], .b = 0, .d = d.nb[3]},
            Level{.count = w.ne[2], .a = y.nb[2] * r2, .b = w.nb[2], .d = d.nb[2] * r2},
            Level{.count = r2, .a = y.nb[2], .b = 0, .d = d.nb[2]}};
}

// Rows of src1 and dst that share a matrix of src0 become rows of one product if they are equally far apart.
void mergeRows(Levels& levels, uint64_t& rows, uint64_t& rowA, uint64_t& rowD) {
    for (size_t again = 0; again < levels.size(); ++again)
        for (Level& x : levels) {
            if (x.count == 1 || x.b != 0) continue;
            if (rows != 1 && (x.a != rows * rowA || x.d != rows * rowD)) continue;
            if (rows == 1) {
                rowA = x.a;
                rowD = x.d;
            }
            rows *= x.count;
            x = {};
        }
}

// Two levels become one if the outer one goes on where the inner one ends.
void mergeLevels(Levels& levels) {
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
void mergeRatios(Levels& levels) {
    for (Level& outer : levels)
        for (Level& inner : levels) {
            if (&outer == &inner || outer.count == 1 || inner.count == 1 || outer.b == 0 || inner.b != 0) continue;
            if (outer.ratio != 1 || outer.a != inner.count * inner.a || outer.d != inner.count * inner.d) continue;
            outer = {outer.count * inner.count, inner.a, outer.b, inner.d, inner.count};
            inner = {};
        }
}

bool isWhole(const Level& x, const VkgemmProblem& p) {
    return inElements(p.a.type, x.a) && inElements(p.b.type, x.b) && inElements(p.d.type, x.d);
}

uint64_t stride(VkgemmType type, uint64_t bytes) { return bytes ? *inElements(type, bytes) : VKGEMM_BROADCAST; }

// Whether no two matrices of D share an element (VkgemmMatrix): a stride is at least what all smaller ones reach over.
bool isDApart(const VkgemmProblem& p) {
    const bool isRowMajor = p.d.layout == VKGEMM_LAYOUT_ROW_MAJOR;
    std::array<std::array<uint64_t, 2>, 3> steps = {{{p.d.ld, isRowMajor ? p.m : p.n},
                                                     {p.d.batchStride, p.batch},
                                                     {p.outerStrideD, std::max<uint64_t>(p.outerBatch, 1)}}};
    std::sort(steps.begin(), steps.end());
    uint64_t reach = isRowMajor ? p.n : p.m;
    for (const auto& [apart, count] : steps) {
        if (count == 1) continue;
        if (apart < reach) return false;
        reach += (count - 1) * apart;
    }
    return true;
}

// The two longest levels that can be the batch and its outer level are; the others are loops.
void chooseBatch(Levels& levels, Products& out) {
    std::stable_sort(levels.begin(), levels.end(), [](const Level& x, const Level& y) { return x.count > y.count; });
    out.problem.batch = 1;
    for (Level& x : levels) {
        VkgemmProblem p = out.problem;
        if (x.count == 1 || p.outerBatch > 1 || !isWhole(x, p)) continue;
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
        if (isDApart(p)) {
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
std::optional<uint32_t> alignmentOf(const MulMat& x, const Products& p, bool isGrouped) {
    uint64_t a = x.src1.offset, b = x.src0.offset | (isGrouped ? x.src0.nb[2] : 0), d = x.dst.offset;
    for (uint32_t i = 0; i < x.fusedCount; ++i) d |= x.fused[i].offset;
    for (const Level& l : p.loops)
        if (l.count > 1) {
            a |= l.a;
            b |= l.b;
            d |= l.d;
        }
    const bool isMixed = x.src0.type != x.src1.type;  // such operands are read in words
    const uint64_t unitA = isMixed ? 4 : blockSize(x.src1.type).bytes,
                   unitB = isMixed ? 4 : blockSize(x.src0.type).bytes;
    if (a % unitA || b % unitB || d % 4) return std::nullopt;
    return (a | b | d) % 16 == 0 ? 16 : unitA == 2 ? 2 : 4;
}

VkgemmAccuracy accuracyOf(const MulMat& x) {
    if (x.isPrecise) return VKGEMM_ACCURACY_DEFAULT;
    if (x.isQuantising) return VKGEMM_ACCURACY_MXINT8;
    const uint64_t n = x.src1.ne[x.ids ? 2 : 1];
    if (x.src0.type != x.src1.type) return n < fewestRounded ? VKGEMM_ACCURACY_DEFAULT : VKGEMM_ACCURACY_NARROW;
    return x.src0.type == VKGEMM_TYPE_F32 ? VKGEMM_ACCURACY_F32_SPLIT_ROWS : VKGEMM_ACCURACY_DEFAULT;
}

bool areTypesFine(const MulMat& x) {
    return isWeight(x.src0.type) && isOneOf(x.src1.type, {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) &&
           x.dst.type == VKGEMM_TYPE_F32;
}
bool isEmpty(const Tensor& x) { return std::find(x.ne.begin(), x.ne.end(), 0u) != x.ne.end(); }

// A, B and D with `rows` rows.
Reason setMatrices(const MulMat& x, uint64_t rows, uint64_t rowA, uint64_t rowD, Products& out) {
    const uint64_t k = x.src0.ne[0], columns = x.src0.ne[1];
    const auto a = matrix(x.src1.type, k, x.src1.nb[0], rows, rowA, VKGEMM_LAYOUT_ROW_MAJOR);
    const auto b = matrix(x.src0.type, k, x.src0.nb[0], columns, x.src0.nb[1], VKGEMM_LAYOUT_COLUMN_MAJOR);
    const auto d = matrix(x.dst.type, columns, x.dst.nb[0], rows, rowD, VKGEMM_LAYOUT_ROW_MAJOR);
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
    p.accuracy = accuracyOf(x);
    out.rows = rows;
    return Reason::SERVED;
}

// What is added becomes the residual if it is placed like D, and one more a bias if D has a single row.
bool addFused(const MulMat& x, Products& out) {
    const Tensor& d = x.dst;
    const auto isLikeD = [&](const Tensor& f) {
        for (size_t i = 0; i < 4; ++i)
            if (d.ne[i] > 1 && f.nb[i] != d.nb[i]) return false;
        return f.ne == d.ne && f.type == d.type;
    };
    VkgemmProblem& p = out.problem;
    for (uint32_t i = 0; i < x.fusedCount; ++i) {
        if (!isLikeD(x.fused[i])) return false;
        const bool isRow = out.rows == 1 && p.batch == 1 && p.d.layout == VKGEMM_LAYOUT_ROW_MAJOR;
        if (out.residual < 0) {
            out.residual = int32_t(i);
            p.epilogue[p.epilogueCount++].kind = VKGEMM_STEP_RESIDUAL;
        } else if (out.bias < 0 && isRow && out.parts == 1) {
            out.bias = int32_t(i);
            p.epilogue[p.epilogueCount++].kind = VKGEMM_STEP_BIAS_COL;
        } else
            return false;
    }
    return true;
}

}  // namespace

const char* textOf(Reason reason) {
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
    if (!areTypesFine(x)) return Reason::TYPE;
    if (isEmpty(w) || isEmpty(y) || isEmpty(d)) return Reason::SHAPE;
    if (w.ne[0] != y.ne[0] || y.ne[2] % w.ne[2] || y.ne[3] % w.ne[3] || w.ne[0] % blockSize(w.type).elements ||
        d.ne != std::array<uint64_t, 4>{w.ne[1], y.ne[1], y.ne[2], y.ne[3]})
        return Reason::SHAPE;

    Levels levels = levelsOf(x);
    uint64_t rows = y.ne[1], rowA = y.nb[1], rowD = d.nb[1];
    const bool rowsAreContiguous = y.nb[0] == blockSize(y.type).bytes && d.nb[0] == blockSize(d.type).bytes;
    if (rowsAreContiguous) mergeRows(levels, rows, rowA, rowD);
    mergeLevels(levels);
    mergeRatios(levels);
    if (const Reason why = setMatrices(x, rows, rowA, rowD, out); why != Reason::SERVED) return why;
    chooseBatch(levels, out);
    uint64_t parts = 1;
    for (const Level& l : out.loops) parts = std::min<uint64_t>(parts * l.count, mostParts + 1u);
    if (parts > mostParts) return Reason::PARTS;
    out.parts = static_cast<uint32_t>(parts);
    if (!addFused(x, out)) return Reason::FUSED;
    const auto alignment = alignmentOf(x, out, false);
    if (!alignment) return Reason::ALIGNMENT;
    out.alignment = *alignment;
    return Reason::SERVED;
}

Reason describeExperts(const MulMat& x, Products& out) {
    out = {};
    const Tensor &w = x.src0, &y = x.src1, &d = x.dst, &ids = *x.ids;
    if (x.fusedCount) return Reason::FUSED;
    if (!areTypesFine(x)) return Reason::TYPE;
    if (isEmpty(w) || isEmpty(y) || isEmpty(d) || isEmpty(ids)) return Reason::SHAPE;
    const uint64_t slots = ids.ne[0], tokens = ids.ne[1];
    if (w.ne[0] != y.ne[0] || w.ne[0] % blockSize(w.type).elements || w.ne[3] != 1 || y.ne[2] != tokens ||
        y.ne[3] != 1 || ids.ne[2] != 1 || ids.ne[3] != 1 || d.ne != std::array<uint64_t, 4>{w.ne[1], slots, tokens, 1})
        return Reason::SHAPE;
    // Rows of src1 and dst must be equally far apart, because an index is multiplied by one leading dimension.
    const bool isShared = y.ne[1] == 1;
    const uint64_t rowA = isShared && tokens > 1 ? y.nb[2] : y.nb[1], rowD = slots == 1 ? d.nb[2] : d.nb[1];
    if (!isShared && (y.ne[1] != slots || (tokens > 1 && y.nb[2] != slots * y.nb[1]))) return Reason::EXPERTS;
    if (slots > 1 && tokens > 1 && d.nb[2] != slots * d.nb[1]) return Reason::EXPERTS;
    if (slots * tokens > INT32_MAX || ids.nb[0] % 4 || ids.nb[1] % 4 || ids.offset % 4) return Reason::EXPERTS;
    if (const Reason why = setMatrices(x, slots * tokens, rowA, rowD, out); why != Reason::SERVED) return why;
    VkgemmProblem& p = out.problem;
    // One row of A for all has no leading dimension of its own.
    if (p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR || p.d.layout != VKGEMM_LAYOUT_ROW_MAJOR) return Reason::STRIDES;
    const auto apart = inElements(w.type, w.nb[2]);
    if (!apart || (w.ne[2] > 1 && *apart == 0)) return Reason::STRIDES;
    p.b.batchStride = w.ne[2] > 1 ? *apart : 0;
    // What vkgemm's kernels of few rows take: whole blocks, or 16 bytes at a time.
    const bool isWide = (x.src0.offset | x.src1.offset | w.nb[1] | w.nb[2] | y.nb[1]) % 16 == 0;
    if (tokens == 1 && slots > 1 && ids.nb[0] == 4 && p.k % 32 == 0 && (w.type != y.type || isWide)) {
        p.grouping = VKGEMM_GROUPING_SELECTED;
        p.m = out.rows = 1;
        p.batch = slots;
        p.a.batchStride = isShared ? VKGEMM_BROADCAST : p.a.ld;
        p.d.batchStride = p.d.ld;
    } else {
        p.grouping = VKGEMM_GROUPING_INDEXED;
        p.upTo = VKGEMM_UP_TO_M;
        p.batch = tokens == 1 ? slots : w.ne[2];
        p.indicesPerRow = isShared ? static_cast<uint32_t>(slots) : 1;
    }
    if (p.accuracy == VKGEMM_ACCURACY_F32_SPLIT_ROWS)
        p.accuracy = VKGEMM_ACCURACY_DEFAULT;  // groups have no workspace for it
    const auto alignment = alignmentOf(x, out, true);
    if (!alignment) return Reason::ALIGNMENT;
    out.alignment = *alignment;
    return Reason::SERVED;
}

VkgemmType roundedType(const MulMat& x) {
    const VkgemmType weights = x.src0.type;
    if (weights == VKGEMM_TYPE_BF16) return weights;
    if (weights == VKGEMM_TYPE_F32 && !x.isRounding) return VKGEMM_TYPE_DEFAULT;
    const bool isF16 = isOneOf(weights, {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16}) || blockSize(weights).elements > 1;
    return isF16 ? VKGEMM_TYPE_F16 : VKGEMM_TYPE_DEFAULT;
}

void roundRows(const MulMat& x, VkgemmType to, Products& out) {
    VkgemmProblem& p = out.problem;
    const bool isGrouped = p.grouping != VKGEMM_GROUPING_NONE;
    if (x.src1.type != VKGEMM_TYPE_F32 || x.isPrecise || p.a.layout != VKGEMM_LAYOUT_ROW_MAJOR) return;
    // No pass decodes the blocks of groups, so their kernels gain nothing.
    if (isGrouped ? blockSize(x.src0.type).elements > 1 : p.batch > 1 || out.parts > 1) return;
    if ((isGrouped ? x.src1.ne[2] : out.rows) < fewestRounded) return;
    const uint64_t rows = isGrouped ? p.m / p.indicesPerRow : out.rows;
    if (rows > mostRounded || rows * p.a.ld > INT32_MAX) return;
    if (p.k % 8 || p.a.ld % 4 || x.src1.offset % 16) return;
    out.roundedRows = rows;
    out.roundedApart = p.a.ld;
    p.a.type = to;
    p.a.ld = p.k;
    p.accuracy = x.src0.type == to ? VKGEMM_ACCURACY_DEFAULT : VKGEMM_ACCURACY_NARROW;
}

}  // namespace vkgemm::ggml
