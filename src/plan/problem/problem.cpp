// SPDX-License-Identifier: MIT
#include "plan/problem/problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/stored.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

Refusal broken(std::string why) { return {VKGEMM_ERROR_INVALID_PROBLEM, std::move(why)}; }

// An operand with the matrices that it has on both levels of the batch.
struct Batched {
    VkgemmSlot slot;
    Matrix& matrix;
    uint64_t rows, cols, batch, outer;
    uint64_t& outer_stride;
};

// Fills in ld and the strides of one operand. Returns the reason against it, or "".
std::string complete_matrix(const Batched& b) {
    Matrix& x = b.matrix;
    const auto [outer, inner] = stored(x, b.rows, b.cols);
    const std::string_view who = slot_name(b.slot);
    if (x.ld == 0) x.ld = inner ? inner : 1;
    if (x.ld < inner)
        return concat({"ld", who, " is ", x.ld, ", but a ", (x.layout == rowMajor ? "row" : "column"), " of ", who,
                       " has ", inner, " elements"});
    const auto too_long = [&] { return concat({"operand ", who, " spans more than 2^64 elements"}); };
    const auto one = times(x.ld, outer);
    if (x.batchStride == broadcast || b.batch <= 1) {
        x.batchStride = 0;
    } else if (x.batchStride == 0) {
        if (!one) return too_long();
        x.batchStride = *one;
    }
    if (b.outer_stride == broadcast || b.outer <= 1) {
        b.outer_stride = 0;
    } else if (b.outer_stride == 0) {
        const auto all = times(x.batchStride, b.batch);
        if (!one || !all) return too_long();
        b.outer_stride = std::max(*one, *all);
    }
    const Operand whole = {.slot = b.slot,
                           .matrix = &x,
                           .rows = b.rows,
                           .cols = b.cols,
                           .batch = b.batch,
                           .outer = b.outer,
                           .outer_stride = b.outer_stride};
    return span_elements(whole) ? "" : too_long();
}

// Brings the ratios of one level into their normal form: 1 where the level has one matrix anyway.
std::string complete_ratios(std::string_view level, uint64_t count, uint64_t& ratio_a, uint64_t& ratio_b,
                            uint64_t stride_a, uint64_t stride_b) {
    struct Ratio {
        std::string_view name;
        uint64_t &value, stride;
    };
    for (const Ratio& r : {Ratio{"_a", ratio_a, stride_a}, Ratio{"_b", ratio_b, stride_b}}) {
        if (count % r.value)
            return concat({level, "ratio", r.name, " is ", r.value, ", but ", (level.empty() ? "batch" : "outer"),
                           " is ", count, ": a ratio must divide it"});
        if (r.stride == broadcast) r.value = 1;
    }
    if (ratio_a > 1 && ratio_b > 1 && ratio_a != count && ratio_b != count)
        return concat({level, "ratio_a is ", ratio_a, " and ", level, "ratio_b is ", ratio_b,
                       "; of one level one of them must be 1"});
    return "";
}

// Matrices, not products, of a level: one if all share it, whose ratio then is 1.
uint64_t matrices(uint64_t count, uint64_t& ratio) {
    const uint64_t out = count / ratio;
    if (out == 1) ratio = 1;
    return out;
}

// D is written, so its matrices must not share elements.
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

// The same of both levels: each stride is at least what all smaller ones reach over.
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

void fill_types(Problem& p) {
    const auto fill = [](Type& type, Type by_default) {
        if (type == VKGEMM_TYPE_DEFAULT) type = by_default;
    };
    fill(p.a.type, f32);
    fill(p.b.type, p.a.type);
    const TypeInfo& leads = leading_type(p.a.type, p.b.type);
    fill(p.accumulate, leads.default_accumulator);
    fill(p.d.type, leads.default_result);
    fill(p.c.type, p.d.type);
    fill(p.biasType, default_factor_type(p.d.type)), fill(p.scaleType, default_factor_type(p.d.type));
    fill(p.residualType, p.d.type);
}

// The blocks of a format lie along k and are whole.
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

std::string check_formats(const Problem& p) {
    for (const auto& [name, type] : {std::pair{"D", p.d.type}, {"C", p.c.type}, {"the accumulator", p.accumulate}})
        if (!info(type).is_plain() || is_fp8(type))
            return concat({name, " cannot be ", info(type).name, "; only A and B can have ",
                           (is_fp8(type) ? "floats of 8 bits" : "a block format")});
    if (std::string why = check_blocks(p.a, "A", rowMajor, p.k, p.outerStrideA); !why.empty()) return why;
    return check_blocks(p.b, "B", columnMajor, p.k, p.outerStrideB);
}

// Whether the batch is more than products of one level with a matrix each, or one for all.
bool has_levels(const Problem& p) {
    return p.outerBatch > 1 || p.ratioA > 1 || p.ratioB > 1 || p.outerRatioA > 1 || p.outerRatioB > 1;
}

// What is packed ahead has one size, and blocks are whole.
std::string check_up_to(const Problem& p, bool batched_a, bool batched_b) {
    const auto varies = [&](uint32_t bits) { return (p.upTo & bits) != 0; };
    if (varies(VKGEMM_UP_TO_BATCH) && has_levels(p))
        return concat({"batch cannot vary with an outer batch (", p.outerBatch, ") or ratios (", p.ratioA, ", ",
                       p.ratioB, "); leave it out of upTo"});
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

// What a batch that selects matrices of B rules out.
std::string check_selected(const Problem& p) {
    constexpr std::string_view selects = "a batch that selects matrices of B ";
    if (p.batch == 0 || p.batch > most_groups_of_table)
        return concat({selects, "has 1 to ", most_groups_of_table, " products, not ", p.batch});
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

// What groups of a table rule out.
std::string check_grouping(const Problem& p) {
    if (p.grouping != VKGEMM_GROUPING_INDEXED && p.indicesPerRow)
        return concat({"indicesPerRow is ", p.indicesPerRow, ", but is for VKGEMM_GROUPING_INDEXED; leave it 0"});
    if (p.grouping == VKGEMM_GROUPING_NONE) return "";
    if (p.grouping == VKGEMM_GROUPING_SELECTED) return check_selected(p);
    if (p.batchInvariant)
        return "a kernel for groups is chosen by how large they may be; batchInvariant must be 0 with them";
    if (has_levels(p))
        return concat({"groups of a table have their own places; outerBatch (", p.outerBatch, ") and ratios (",
                       p.ratioA, ", ", p.ratioB, ") must be left 0"});
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

// Fills in ratios, leading dimensions and strides. Returns the reason against them, or "".
std::string complete_levels(Problem& p) {
    if (std::string why = complete_ratios("", p.batch, p.ratioA, p.ratioB, p.a.batchStride, p.b.batchStride);
        !why.empty())
        return why;
    if (std::string why =
            complete_ratios("outer_", p.outerBatch, p.outerRatioA, p.outerRatioB, p.outerStrideA, p.outerStrideB);
        !why.empty())
        return why;
    uint64_t of_b = matrices(p.batch, p.ratioB);
    if (p.grouping == VKGEMM_GROUPING_SELECTED) of_b = std::max<uint64_t>(of_b, 2);  // one product chooses from several
    const Batched a = {.slot = VKGEMM_SLOT_A,
                       .matrix = p.a,
                       .rows = p.m,
                       .cols = p.k,
                       .batch = matrices(p.batch, p.ratioA),
                       .outer = matrices(p.outerBatch, p.outerRatioA),
                       .outer_stride = p.outerStrideA};
    const Batched b = {.slot = VKGEMM_SLOT_B,
                       .matrix = p.b,
                       .rows = p.k,
                       .cols = p.n,
                       .batch = of_b,
                       .outer = matrices(p.outerBatch, p.outerRatioB),
                       .outer_stride = p.outerStrideB};
    const auto like_d = [&](VkgemmSlot slot, Matrix& x, uint64_t& outer_stride) {
        return Batched{.slot = slot,
                       .matrix = x,
                       .rows = p.m,
                       .cols = p.n,
                       .batch = p.batch,
                       .outer = p.outerBatch,
                       .outer_stride = outer_stride};
    };
    for (const Batched& x :
         {a, b, like_d(VKGEMM_SLOT_D, p.d, p.outerStrideD), like_d(VKGEMM_SLOT_C, p.c, p.outerStrideC)})
        if (std::string why = complete_matrix(x); !why.empty()) return why;
    return "";
}

Layout flipped(Layout l) { return l == rowMajor ? columnMajor : rowMajor; }

Problem transposed(Problem p) {
    std::swap(p.a, p.b);
    std::swap(p.outerStrideA, p.outerStrideB);
    std::swap(p.ratioA, p.ratioB);
    std::swap(p.outerRatioA, p.outerRatioB);
    std::swap(p.packedA, p.packedB);
    std::swap(p.m, p.n);
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N;
    p.upTo = (p.upTo & ~(m | n)) | (p.upTo & m ? n : 0) | (p.upTo & n ? m : 0);
    for (Matrix* x : {&p.a, &p.b, &p.c, &p.d}) x->layout = flipped(x->layout);
    for (uint32_t i = 0; i < p.epilogue.count; ++i) p.epilogue.step[i].kind = transposed_step(p.epilogue.step[i].kind);
    return p;
}

}  // namespace

std::string_view accuracy_name(VkgemmAccuracy a) {
    constexpr std::string_view names[] = {"f32", "f32_split", "f32_split_rows", "narrow", "mxint8"};
    return names[size_t(a)];
}

Result<Problem> complete(Problem p) {
    fill_types(p);
    for (uint64_t* count : {&p.outerBatch, &p.ratioA, &p.ratioB, &p.outerRatioA, &p.outerRatioB})
        if (*count == 0) *count = 1;
    if (std::string why = check_formats(p); !why.empty()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (p.accuracy >= VKGEMM_ACCURACY_NARROW) {
        if (!is_mixed(p))
            return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"the accuracy ", accuracy_name(p.accuracy),
                                                             " is for A and B of different types, not for two of ",
                                                             info(p.a.type).name, "; leave it at its default"})};
    } else if (p.accuracy != VKGEMM_ACCURACY_DEFAULT)
        for (const Type t : {p.a.type, p.b.type, p.accumulate, p.d.type})
            if (t != f32)
                return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                               concat({"the accuracy ", accuracy_name(p.accuracy), " is for f32 throughout, not for ",
                                       info(t).name, "; leave it at its default"})};
    if (std::string why = check_grouping(p); !why.empty()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (p.grouping == VKGEMM_GROUPING_INDEXED && p.indicesPerRow == 0) p.indicesPerRow = 1;
    if (std::string why = check_c(p); !why.empty()) return broken(why);
    if (p.cSource == VKGEMM_C_IS_D && p.c.type != p.d.type)
        return broken(concat({"C is D, so its type is D's, ", info(p.d.type).name, ", and must be left out"}));
    if (p.cSource == VKGEMM_C_IS_D) p.c = p.d, p.outerStrideC = p.outerStrideD;
    const bool broadcast_d = p.d.batchStride == broadcast, broadcast_outer_d = p.outerStrideD == broadcast;
    if (std::string why = check_up_to(p, p.a.batchStride != broadcast, p.b.batchStride != broadcast); !why.empty())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (std::string why = complete_levels(p); !why.empty()) return broken(why);
    if (std::string why = check_result_stride(p, broadcast_d); !why.empty()) return broken(why);
    if (std::string why = check_outer_result_stride(p, broadcast_outer_d); !why.empty()) return broken(why);
    if (std::string why = check_epilogue(p); !why.empty()) return broken(why);
    if (const auto why = check_operand_types(p)) return *why;
    if (const auto why = check_scalars(p)) return *why;
    return p;
}

Problem restated(Problem p) {
    for (Matrix* m : {&p.a, &p.b, &p.c, &p.d})
        if (m->batchStride == 0) m->batchStride = broadcast;
    for (uint64_t* stride : {&p.outerStrideA, &p.outerStrideB, &p.outerStrideC, &p.outerStrideD})
        if (*stride == 0 && p.outerBatch > 1) *stride = broadcast;
    if (p.cSource != VKGEMM_C_SEPARATE) p.c = {.type = p.c.type}, p.outerStrideC = 0;
    for (Type* factor : {&p.biasType, &p.scaleType})  // which an older struct has no place for
        if (*factor == default_factor_type(p.d.type)) *factor = VKGEMM_TYPE_DEFAULT;
    if (p.residualType == p.d.type) p.residualType = VKGEMM_TYPE_DEFAULT;
    return p;
}

Normalised normalise(const Problem& completed) {
    Normalised out{completed, completed.d.layout == columnMajor};
    Problem& p = out.problem;
    if (out.swapped) p = transposed(p);
    if (p.grouping != VKGEMM_GROUPING_NONE) return out;  // whose places and leading dimensions are in memory
    // One row or column without gaps is the same memory in either layout. If it is k-contiguous, it can be read 16
    // bytes at a time.
    // Not where a row must not know how many others there are.
    const bool loose = (p.upTo & VKGEMM_UP_TO_STRIDES) != 0;  // nor where strides are not known
    const bool keep_a = loose || (p.batchInvariant && !out.swapped),
               keep_b = loose || (p.batchInvariant && out.swapped);
    if (p.n == 1 && !keep_b && p.b.layout == rowMajor && p.b.ld == 1) p.b.layout = columnMajor, p.b.ld = p.k ? p.k : 1;
    if (p.m == 1 && !keep_a && p.a.layout == columnMajor && p.a.ld == 1) p.a.layout = rowMajor, p.a.ld = p.k ? p.k : 1;
    if (p.upTo & VKGEMM_UP_TO_BATCH || is_empty(p)) return out;  // a batch that varies has one level
    out.repeated = levels_of(p);
    if (!loose) merge_levels(p, out.repeated);
    give_kernel_level(p, out.repeated);
    return out;
}

Result<PreparedProblem> prepare(const Problem& given) {
    auto completed = complete(given);
    if (!completed) return completed.status();
    PreparedProblem out = {.given = given, .completed = *completed, .normalised = normalise(*completed)};
    if (auto why = unfit_levels(out.completed, out.normalised)) return *why;
    return out;
}

Problem smallest(const PreparedProblem& p) {
    Problem out = p.completed;
    if (!p.least) return out;
    const bool swapped = p.normalised.swapped;
    if (out.upTo & VKGEMM_UP_TO_M) out.m = swapped ? p.least->n : p.least->m;
    if (out.upTo & VKGEMM_UP_TO_N) out.n = swapped ? p.least->m : p.least->n;
    if (out.upTo & VKGEMM_UP_TO_K) out.k = p.least->k;
    if (out.upTo & VKGEMM_UP_TO_BATCH) out.batch = p.least->batch;
    return out;
}

Problem invariant_reference(Problem p, uint64_t rows) {
    p.m = rows;
    p.batch = p.outerBatch = p.ratioA = p.ratioB = p.outerRatioA = p.outerRatioB = 1;
    p.outerStrideA = p.outerStrideB = p.outerStrideC = p.outerStrideD = 0;
    p.upTo &= ~uint32_t{VKGEMM_UP_TO_M | VKGEMM_UP_TO_BATCH};
    for (Matrix* x : {&p.a, &p.b, &p.c, &p.d}) x->batchStride = 0;
    for (Matrix* x : {&p.a, &p.c, &p.d})
        if (x->layout == columnMajor) x->ld = reference_rows;
    return p;
}

std::optional<Status> unfit_levels(const Problem& p, const Normalised& n) {
    if (is_empty(p) || (n.repeated.count == 0 && !n.is_part)) return std::nullopt;
    if (n.problem.outerBatch > most_repetitions)
        return Refusal{
            VKGEMM_ERROR_LIMIT,
            concat({"the problem would take ", n.problem.outerBatch, " repetitions of ", n.problem.m, "x", n.problem.n,
                    "x", n.problem.k, " batch=", n.problem.batch, "; the limit is ", most_repetitions,
                    ": place the matrices so that levels go on where others end, or split the batch"})};
    const auto odd = [&](VkgemmSlot slot, const Level& l) -> uint64_t {
        const auto step = slot == VKGEMM_SLOT_C          ? l.stride[2]
                          : slot == VKGEMM_SLOT_RESIDUAL ? l.stride[3]
                                                         : std::gcd(l.rows, l.columns);
        return is_read_in_words(p, slot) && step % 2 ? step : 0;
    };
    for (const auto& [name, slot] : {std::pair{"C", VKGEMM_SLOT_C},
                                     {"the residual", VKGEMM_SLOT_RESIDUAL},
                                     {"the bias", VKGEMM_SLOT_BIAS},
                                     {"the scale", VKGEMM_SLOT_SCALE}}) {
        uint64_t step = odd(slot, n.begin);
        for (const Level& l : n.repeated) step = std::max(step, odd(slot, l));
        if (step)
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           concat({name, " has a type of 16 bits of its own, and the product is repeated every ", step,
                                   " of its elements; that must be an even number"})};
    }
    const auto& [step_a, step_b] = std::pair{n.problem.outerStrideA, n.problem.outerStrideB};
    const bool spread_a = p.packedA != VKGEMM_PACKED_NONE && (n.swapped ? step_b : step_a) != 0;
    const bool spread_b = p.packedB != VKGEMM_PACKED_NONE && (n.swapped ? step_a : step_b) != 0;
    if (spread_a || spread_b)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({(spread_a ? "A" : "B"),
                               " comes packed, but has matrices on several levels of the batch; one dispatch takes ",
                               n.problem.batch, " and ", n.problem.outerBatch,
                               " are needed; split the product, or leave it unpacked"})};
    return std::nullopt;
}

bool is_never_cut(const Problem& p) {
    return p.upTo || p.grouping != VKGEMM_GROUPING_NONE || p.packedA != VKGEMM_PACKED_NONE ||
           p.packedB != VKGEMM_PACKED_NONE;
}

bool adds_up_in_d(const Problem& p) {
    const auto reads_all = [](const EpilogueStep& s) { return info(s.kind).shape == StepShape::MATRIX; };
    return p.d.type == p.accumulate && !p.batchInvariant && std::ranges::none_of(p.epilogue, reads_all);
}

Problem with_sizes(Problem p, const Sizes& s) {
    p.m = s.m, p.n = s.n, p.k = s.k, p.batch = s.batch;
    return p;
}

Normalised with_sizes(const Normalised& n, const Sizes& s) {
    Normalised out = n;
    const Sizes now = {n.swapped ? s.n : s.m, n.swapped ? s.m : s.n, s.k, s.batch};
    const uint32_t varies = n.problem.upTo;  // what does not may have levels merged into it
    if (varies & VKGEMM_UP_TO_M) out.problem.m = now.m;
    if (varies & VKGEMM_UP_TO_N) out.problem.n = now.n;
    if (varies & VKGEMM_UP_TO_K) out.problem.k = now.k;
    if (varies & VKGEMM_UP_TO_BATCH) out.problem.batch = now.batch;
    return out;
}

}  // namespace vkgemm::plan
