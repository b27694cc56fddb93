// SPDX-License-Identifier: MIT
#include "plan/problem/rules.h"

#include <algorithm>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/problem/stored.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

// The blocks of a format extend along k and are whole.
std::string check_blocks(const Matrix& x, std::string_view name, Layout along_k, uint64_t k, uint64_t outer_stride) {
    const TypeInfo& type = info(x.type);
    if (type.is_plain()) return "";
    const auto blocks = [&] { return concat({name, " has blocks of ", type.block, " elements (", type.name, ")"}); };
    if (x.layout != along_k)
        return concat({blocks(), ", which lie along k: ", name, " must be ",
                       (along_k == rowMajor ? "row-major ('n' in layout=)" : "column-major ('t' in layout=)")});
    const bool strided = x.batchStride != broadcast;
    for (const auto& [what, value] : {std::pair{"k", k},
                                      {"its leading dimension", x.ld},
                                      {"its batch stride", strided ? x.batchStride : 0},
                                      {"its outer stride", outer_stride != broadcast ? outer_stride : 0}})
        if (value % type.block)
            return concat({blocks(), ", but ", what, " is ", value, ", not a multiple of that; pad it to ",
                           value + (type.block - value % type.block)});
    return "";
}

// Whether the batch is more than products of one level with a matrix each, or one for all.
bool has_levels(const Problem& p) {
    return p.outerBatch > 1 || p.ratioA > 1 || p.ratioB > 1 || p.outerRatioA > 1 || p.outerRatioB > 1;
}

// What a batch that selects matrices of B rules out.
std::string check_selected(const Problem& p) {
    constexpr std::string_view selects = "a batch that selects matrices of B ";
    if (p.batch == 0 || p.batch > most_groups_of_table)
        return concat({selects, "has 1 to ", most_groups_of_table, " products, not ", p.batch});
    if (std::min(p.m, p.n) > most_selected_side)
        return concat({selects, "has products of at most ", most_selected_side, " rows or columns; m is ", p.m,
                       " and n is ", p.n, ". VKGEMM_GROUPING_TABLE takes larger ones"});
    if (p.upTo) return concat({selects, "has fixed sizes; leave upTo (", p.upTo, ") 0"});
    if (p.cSource != VKGEMM_C_NONE) return concat({selects, "has no C; leave cSource 0, or use VKGEMM_GROUPING_TABLE"});
    if (p.d.layout != rowMajor) return concat({selects, "has a row-major D; VKGEMM_GROUPING_TABLE takes others"});
    if (p.batchInvariant) return concat({selects, "is not for batchInvariant; leave it 0"});
    if (has_levels(p))
        return concat({selects, "has one level; leave outerBatch (", p.outerBatch, ") and ratios (", p.ratioA, ", ",
                       p.ratioB, ") 0"});
    if (p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE)
        return concat({selects, "reads A and B as they are; neither may come packed"});
    return "";
}

}  // namespace

std::string check_result_stride(const Problem& p, bool broadcast_d) {
    if (p.batch <= 1 || p.m == 0 || p.n == 0) return "";
    if (broadcast_d) return concat({"D cannot be broadcast: ", p.batch, " products would be written to one place"});
    const uint64_t one = *span_elements(p.d, p.m, p.n, 1);
    if (p.d.batchStride >= one) return "";
    const uint64_t run = stored(p.d, p.m, p.n).inner;  // matrices side by side, as attention stores its heads
    const auto row_of_all = plus(times(p.batch - 1, p.d.batchStride), run);
    if (p.d.batchStride >= run && row_of_all && p.d.ld >= *row_of_all) return "";
    return concat({"stride_d is ", p.d.batchStride, ", but one D spans ", one, " elements, and ", p.batch,
                   " of them side by side do not fit a leading dimension of ", p.d.ld,
                   ": the batch would overwrite itself"});
}

std::string check_outer_result_stride(const Problem& p, bool broadcast_d) {
    if (p.outerBatch <= 1 || is_empty(p)) return "";
    if (broadcast_d) return concat({"D cannot be broadcast: ", p.outerBatch, " batches would be written to one place"});
    const auto [outer, inner] = stored(p.d, p.m, p.n);
    std::array<Strides, 3> steps = {Strides{p.d.ld, outer}, {p.d.batchStride, p.batch}, {p.outerStrideD, p.outerBatch}};
    uint64_t reach = inner;  // none is above the span of D, which fits 64 bits
    const auto stride = first_overlap(steps, reach);
    if (!stride) return "";
    return concat({"D's strides are ", p.d.ld, " (ld), ", p.d.batchStride, " (batch) and ", p.outerStrideD,
                   " (outer), but ", *stride, " is less than the ", reach,
                   " elements that the smaller ones reach over: the batch would overwrite itself"});
}

std::string check_c(const Problem& p) {
    const bool described = p.c.ld || p.c.batchStride || p.outerStrideC || p.c.layout != rowMajor;
    if (p.cSource == VKGEMM_C_NONE && described)
        return "C is described (ldc, stride or layout) but the problem has none; set its cSource (c=separate in its "
               "line)";
    if (p.cSource == VKGEMM_C_IS_D && described)
        return "C is D, so its ld, stride and layout are D's and must be left out";
    return "";
}

std::string check_epilogue(const Problem& p) {
    if (p.epilogue.count > VKGEMM_MAX_EPILOGUE_STEPS)
        return concat({"the epilogue has ", p.epilogue.count, " steps; the limit is ", VKGEMM_MAX_EPILOGUE_STEPS});
    std::array<bool, std::size(step_info) + 1> seen{};
    std::array<std::string_view, VKGEMM_SLOT_COUNT> reader{};
    for (const EpilogueStep& s : p.epilogue) {
        if (s.kind <= VKGEMM_STEP_NONE || size_t(s.kind) > std::size(step_info))
            return concat({"the epilogue has a step of kind ", int(s.kind), "; known are 1 to ", std::size(step_info)});
        const StepInfo& step = info(s.kind);
        if (seen[size_t(s.kind)]) return concat({"the epilogue has ", step.text, " twice; once is the limit"});
        seen[size_t(s.kind)] = true;
        if (step.operand != VKGEMM_SLOT_COUNT) {
            std::string_view& first = reader[size_t(step.operand)];
            if (!first.empty())
                return concat({"the epilogue has ", first, " and ", step.text,
                               ", which read one operand; leave one of them out"});
            first = step.text;
        }
        if (step.sums == StepSums::FLOATS && !info(finished_in(p)).is_float)
            return concat({step.text, " is for floating-point accumulators; this one is ", info(p.accumulate).name});
        const bool in_memory = (p.scalars & VKGEMM_SCALARS_CLAMP) != 0;
        if (step.has_bounds() && !in_memory && !(s.low <= s.high))
            return concat({step.text, " wants low <= high, not ", numberText(s.low), " and ", numberText(s.high)});
        if (step.has_slope() && !std::isfinite(s.low))
            return concat({step.text, " wants a finite slope, not ", numberText(s.low)});
    }
    return "";
}

std::string check_formats(const Problem& p) {
    for (const auto& [name, type] : {std::pair{"D", p.d.type}, {"C", p.c.type}, {"the accumulator", p.accumulate}})
        if (!info(type).is_plain() || is_fp8(type))
            return concat({name, " cannot be ", info(type).name, "; only A and B can have ",
                           (is_fp8(type) ? "floats of 8 bits" : "a block format")});
    if (std::string why = check_blocks(p.a, "A", rowMajor, p.k, p.outerStrideA); !why.empty()) return why;
    return check_blocks(p.b, "B", columnMajor, p.k, p.outerStrideB);
}

std::string check_up_to(const Problem& p, bool batched_a, bool batched_b) {
    const auto varies = [&](uint32_t bits) { return (p.upTo & bits) != 0; };
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, k = VKGEMM_UP_TO_K, batch = VKGEMM_UP_TO_BATCH;
    if (p.packedA != VKGEMM_PACKED_NONE && varies(m | k | (batched_a ? batch : 0)))
        return "A comes packed, so m, k and its batch cannot vary; leave them out of upTo, or A unpacked";
    if (p.packedB != VKGEMM_PACKED_NONE && varies(n | k | (batched_b ? batch : 0)))
        return "B comes packed, so n, k and its batch cannot vary; leave them out of upTo, or B unpacked";
    if (varies(VKGEMM_UP_TO_STRIDES)) {
        if (p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE)
            return "an operand comes packed, so strides cannot vary; leave strides out of upTo, or it unpacked";
        if (p.batchInvariant)
            return "strides cannot vary with batchInvariant, for they choose the kernel; leave strides out of upTo";
    }
    for (const auto& [name, type] : {std::pair{"A", p.a.type}, {"B", p.b.type}})
        if (varies(k) && !info(type).is_plain())
            return concat({"k cannot vary, because ", name, " has blocks of ", info(type).block, " elements along it (",
                           info(type).name, "); leave k out of upTo"});
    return "";
}

std::string check_grouping(const Problem& p) {
    if (p.grouping != VKGEMM_GROUPING_INDEXED && p.indicesPerRow)
        return concat({"indicesPerRow is ", p.indicesPerRow, ", but is for VKGEMM_GROUPING_INDEXED; leave it 0"});
    if (p.grouping == VKGEMM_GROUPING_NONE) return "";
    if (p.grouping == VKGEMM_GROUPING_SELECTED) return check_selected(p);
    if (p.batchInvariant)
        return "a kernel for groups is chosen by how large they may be; batchInvariant must be 0 with them";
    if (has_levels(p))
        return concat({"groups of a table have their own places; outerBatch (", p.outerBatch, ") and ratios (",
                       p.ratioA, ", ", p.ratioB, ") must be left 0; groups with the same offset share a matrix"});
    if (p.batch > most_groups_of_table)
        return concat({"a table has at most ", most_groups_of_table, " groups, not ", p.batch});
    if (p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE)
        return "the groups of a table read A and B as they are; neither may come packed";
    if (p.upTo & VKGEMM_UP_TO_STRIDES)
        return "the groups of a table have leading dimensions and places of their own; leave strides out of upTo";
    if (p.upTo & VKGEMM_UP_TO_BATCH)
        return "the number of groups cannot vary; leave it out of upTo, and let a group's m be 0 instead";
    if (p.grouping == VKGEMM_GROUPING_ADDRESSES)
        for (const EpilogueStep& s : p.epilogue)
            if (info(s.kind).shape == StepShape::MATRIX)
                return concat({"a table of addresses has none for a residual, which ", info(s.kind).text,
                               " reads; use VKGEMM_GROUPING_TABLE, or to add a matrix C with a beta of 1"});
    if (p.grouping != VKGEMM_GROUPING_INDEXED) return "";
    if (!(p.upTo & VKGEMM_UP_TO_M)) return "groups with indices have m of their own; add it to upTo";
    for (const auto& [name, x] : {std::pair{"A", &p.a}, {"C", &p.c}, {"D", &p.d}})
        if (x->layout != rowMajor) return concat({"indices choose rows, so ", name, " must be row-major"});
    return "";
}

}  // namespace vkgemm::plan
