// SPDX-License-Identifier: MIT
#include "plan/problem/problem.h"

#include <algorithm>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

Refusal broken(std::string why) { return {VKGEMM_ERROR_INVALID_PROBLEM, std::move(why)}; }

std::optional<uint64_t> times(uint64_t a, uint64_t b) {
    if (a && b > UINT64_MAX / a) return std::nullopt;
    return a * b;
}
std::optional<uint64_t> plus(std::optional<uint64_t> a, std::optional<uint64_t> b) {
    if (!a || !b || *b > UINT64_MAX - *a) return std::nullopt;
    return *a + *b;
}

// The shape of a matrix in memory: `outer` rows (columns, if it is column-major) of `inner` contiguous elements.
struct Stored {
    uint64_t outer, inner;
};
Stored stored(const Matrix& x, uint64_t rows, uint64_t cols) {
    return x.layout == rowMajor ? Stored{rows, cols} : Stored{cols, rows};
}

// Fills in ld and batchStride of one matrix. Returns the reason against it, or "".
std::string complete_matrix(Matrix& x, std::string_view name, uint64_t rows, uint64_t cols, uint64_t batch) {
    const auto [outer, inner] = stored(x, rows, cols);
    const std::string who(name);
    if (x.ld == 0) x.ld = inner ? inner : 1;
    if (x.ld < inner)
        return concat({"ld", who, " is ", x.ld, ", but a ", (x.layout == rowMajor ? "row" : "column"), " of ", who,
                       " has ", inner, " elements"});
    const bool is_broadcast = x.batchStride == broadcast;
    if (is_broadcast || batch <= 1) {
        x.batchStride = 0;
    } else if (x.batchStride == 0) {
        const auto dense = times(x.ld, outer);
        if (!dense) return concat({who, " spans more than 2^64 elements"});
        x.batchStride = *dense;
    }
    if (!span_elements(x, rows, cols, batch)) return concat({who, " spans more than 2^64 elements"});
    return "";
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

std::string check_c(const Problem& p) {
    const bool described = p.c.ld || p.c.batchStride || p.c.layout != rowMajor;
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

// Why scalars cannot be in memory.
std::optional<Status> check_scalars(const Problem& p) {
    if (!p.scalars) return std::nullopt;
    const Type sums = finished_in(p);
    if (sums == f64 || !info(sums).is_float)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"scalars in memory are f32; sums of ", info(sums).name,
                                                         " have none, so leave `scalars` 0, or sum in f32"})};
    if (p.grouping != VKGEMM_GROUPING_NONE)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, "the groups of a table have no scalars in memory; leave `scalars` 0"};
    if ((p.scalars & VKGEMM_SCALARS_BETA) && p.cSource == VKGEMM_C_NONE)
        return broken("beta is in memory, but the problem has no C; set its cSource (c=d or c=separate in its line)");
    const bool clamps = std::any_of(p.epilogue.begin(), p.epilogue.end(),
                                    [](const EpilogueStep& s) { return info(s.kind).has_bounds(); });
    if ((p.scalars & VKGEMM_SCALARS_CLAMP) && !clamps)
        return broken("the bounds of a clamp are in memory, but the epilogue has none");
    if (clamps && !(p.scalars & VKGEMM_SCALARS_CLAMP))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "a clamp beside scalars in memory has its bounds there too: add VKGEMM_SCALARS_CLAMP"};
    return std::nullopt;
}

// The operands of the epilogue with a type of their own.
constexpr std::pair<std::string_view, VkgemmSlot> typed_operands[] = {{"C", VKGEMM_SLOT_C},
                                                                      {"the bias", VKGEMM_SLOT_BIAS},
                                                                      {"the scale", VKGEMM_SLOT_SCALE},
                                                                      {"the residual", VKGEMM_SLOT_RESIDUAL}};

bool has_operand(const Problem& p, VkgemmSlot slot) {
    if (slot == VKGEMM_SLOT_C) return p.cSource == VKGEMM_C_SEPARATE;
    return std::any_of(p.epilogue.begin(), p.epilogue.end(),
                       [&](const EpilogueStep& s) { return info(s.kind).operand == slot; });
}

// Why an operand of the epilogue cannot have its type, which is not the one by default.
std::string check_operand_type(const Problem& p, std::string_view name, VkgemmSlot slot, Type type) {
    const std::string is = concat({name, " is ", info(type).name});
    const bool matrix = slot == VKGEMM_SLOT_C || slot == VKGEMM_SLOT_RESIDUAL;
    if (matrix && p.grouping != VKGEMM_GROUPING_NONE)
        return concat({is, ", but among the groups of a table it must have D's type, ", info(p.d.type).name});
    if (slot == VKGEMM_SLOT_BIAS && type == i32 && is_scaled(p)) {
        if (info(p.epilogue.begin()->kind).operand == slot) return "";
        return concat({is, " and is added to the sum itself, so it must be the first step"});
    }
    if (type == i8 && matrix && is_scaled(p)) return "";
    const bool open = info(finished_in(p)).is_float && finished_in(p) != f64;
    if (open && (type == f32 || type == f16 || type == bf16)) return "";
    const std::string others = !open                      ? std::string(info(p.d.type).name) + ", D's type"
                               : !is_scaled(p)            ? "f32, f16 or bf16"
                               : matrix                   ? "f32, f16, bf16 or i8"
                               : slot == VKGEMM_SLOT_BIAS ? "f32, f16, bf16 or i32"
                                                          : "f32, f16 or bf16";
    return concat({is, ", but beside sums of ", info(p.accumulate).name, " and a D of ", info(p.d.type).name,
                   " it must be ", others});
}

std::optional<Status> check_operand_types(const Problem& p) {
    for (const auto& [name, slot] : typed_operands) {
        const Type type = *epilogue_type(p, slot);
        const bool factor = slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE;
        if (type == (factor ? default_factor_type(p.d.type) : p.d.type)) continue;
        if (!has_operand(p, slot))
            return broken(concat({name, " has a type of its own, ", info(type).name, ", but the problem has none",
                                  (slot == VKGEMM_SLOT_C ? " beside D" : ""), "; leave it at its default"}));
        if (std::string why = check_operand_type(p, name, slot, type); !why.empty())
            return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    }
    return std::nullopt;
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
std::string check_blocks(const Matrix& x, std::string_view name, Layout along_k, uint64_t k) {
    const TypeInfo& type = info(x.type);
    if (type.is_plain()) return "";
    const std::string blocks = concat({name, " has blocks of ", type.block, " elements (", type.name, ")"});
    if (x.layout != along_k)
        return concat({blocks, ", which lie along k: ", name, " must be ",
                       (along_k == rowMajor ? "row-major ('n' in layout=)" : "column-major ('t' in layout=)")});
    const bool strided = x.batchStride != broadcast;
    for (const auto& [what, value] :
         {std::pair{"k", k}, {"its leading dimension", x.ld}, {"its batch stride", strided ? x.batchStride : 0}})
        if (value % type.block)
            return concat({blocks, ", but ", what, " is ", value, ", not a multiple of that; pad it to ",
                           value + (type.block - value % type.block)});
    return "";
}

std::string check_formats(const Problem& p) {
    for (const auto& [name, type] : {std::pair{"D", p.d.type}, {"C", p.c.type}, {"the accumulator", p.accumulate}})
        if (!info(type).is_plain())
            return concat({name, " cannot be ", info(type).name, "; only A and B can have a block format"});
    if (std::string why = check_blocks(p.a, "A", rowMajor, p.k); !why.empty()) return why;
    return check_blocks(p.b, "B", columnMajor, p.k);
}

// What is packed ahead has one size, and blocks are whole.
std::string check_up_to(const Problem& p, bool batched_a, bool batched_b) {
    const auto varies = [&](uint32_t bits) { return (p.upTo & bits) != 0; };
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, k = VKGEMM_UP_TO_K, batch = VKGEMM_UP_TO_BATCH;
    if (p.packedA != VKGEMM_PACKED_NONE && varies(m | k | (batched_a ? batch : 0)))
        return "A comes packed, so m, k and its batch cannot vary; leave them out of upTo, or A unpacked";
    if (p.packedB != VKGEMM_PACKED_NONE && varies(n | k | (batched_b ? batch : 0)))
        return "B comes packed, so n, k and its batch cannot vary; leave them out of upTo, or B unpacked";
    for (const auto& [name, type] : {std::pair{"A", p.a.type}, {"B", p.b.type}})
        if (varies(k) && !info(type).is_plain())
            return concat({"k cannot vary, because ", name, " has blocks of ", info(type).block, " elements along it (",
                           info(type).name, "); leave k out of upTo"});
    return "";
}

// What groups of a table rule out.
std::string check_grouping(const Problem& p) {
    if (p.grouping != VKGEMM_GROUPING_INDEXED && p.indicesPerRow)
        return concat({"indicesPerRow is ", p.indicesPerRow, ", but is for VKGEMM_GROUPING_INDEXED; leave it 0"});
    if (p.grouping == VKGEMM_GROUPING_NONE) return "";
    if (p.batch > most_groups_of_table)
        return concat({"a table has at most ", most_groups_of_table, " groups, not ", p.batch});
    if (p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE)
        return "the groups of a table read A and B as they are; neither may come packed";
    if (p.upTo & VKGEMM_UP_TO_BATCH)
        return "the number of groups cannot vary; leave it out of upTo, and let a group's m be 0 instead";
    if (p.grouping == VKGEMM_GROUPING_TABLE) return "";
    if (!(p.upTo & VKGEMM_UP_TO_M)) return "groups with indices have m of their own; add it to upTo";
    for (const auto& [name, x] : {std::pair{"A", &p.a}, {"C", &p.c}, {"D", &p.d}})
        if (x->layout != rowMajor) return concat({"indices choose rows, so ", name, " must be row-major"});
    return "";
}

Layout flipped(Layout l) { return l == rowMajor ? columnMajor : rowMajor; }

Problem transposed(Problem p) {
    std::swap(p.a, p.b);
    std::swap(p.packedA, p.packedB);
    std::swap(p.m, p.n);
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N;
    p.upTo = (p.upTo & ~(m | n)) | (p.upTo & m ? n : 0) | (p.upTo & n ? m : 0);
    for (Matrix* x : {&p.a, &p.b, &p.c, &p.d}) x->layout = flipped(x->layout);
    for (uint32_t i = 0; i < p.epilogue.count; ++i) p.epilogue.step[i].kind = transposed_step(p.epilogue.step[i].kind);
    return p;
}

// Whether a batch can be read as one tall product: all share one B, and in A, C and D the rows of all matrices are
// equally far apart.
bool is_one_tall_product(const Problem& p) {
    const auto runs_on = [&](const Matrix& x) { return x.layout == rowMajor && x.batchStride == x.ld * p.m; };
    if (p.upTo & (VKGEMM_UP_TO_M | VKGEMM_UP_TO_BATCH)) return false;
    if (p.batch <= 1 || p.b.batchStride != 0 || !runs_on(p.a) || !runs_on(p.d)) return false;
    if (p.cSource == VKGEMM_C_SEPARATE && !runs_on(p.c)) return false;
    for (const EpilogueStep& s : p.epilogue)
        if (info(s.kind).shape == StepShape::M) return false;  // each matrix of the batch reads the same m elements
    return p.m * p.batch < (uint64_t{1} << 31);
}

}  // namespace

std::string_view accuracy_name(VkgemmAccuracy a) {
    constexpr std::string_view names[] = {"f32", "f32_split", "f32_split_rows", "narrow"};
    return names[size_t(a)];
}

Result<Problem> complete(Problem p) {
    fill_types(p);
    if (std::string why = check_formats(p); !why.empty()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (p.accuracy == VKGEMM_ACCURACY_NARROW) {
        if (!is_mixed(p))
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           concat({"the accuracy narrow is for A and B of different types, not for two of ",
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
    if (p.cSource == VKGEMM_C_IS_D) p.c = p.d;
    const bool broadcast_d = p.d.batchStride == broadcast;
    if (std::string why = check_up_to(p, p.a.batchStride != broadcast, p.b.batchStride != broadcast); !why.empty())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    for (const std::string& why :
         {complete_matrix(p.a, "a", p.m, p.k, p.batch), complete_matrix(p.b, "b", p.k, p.n, p.batch),
          complete_matrix(p.d, "d", p.m, p.n, p.batch), complete_matrix(p.c, "c", p.m, p.n, p.batch)})
        if (!why.empty()) return broken(why);
    if (std::string why = check_result_stride(p, broadcast_d); !why.empty()) return broken(why);
    if (std::string why = check_epilogue(p); !why.empty()) return broken(why);
    if (const auto why = check_operand_types(p)) return *why;
    if (const auto why = check_scalars(p)) return *why;
    return p;
}

Problem restated(Problem p) {
    for (Matrix* m : {&p.a, &p.b, &p.c, &p.d})
        if (m->batchStride == 0) m->batchStride = broadcast;
    if (p.cSource != VKGEMM_C_SEPARATE) p.c = {.type = p.c.type};
    return p;
}

Normalised normalise(const Problem& completed) {
    Normalised out{completed, completed.d.layout == columnMajor};
    Problem& p = out.problem;
    if (out.swapped) p = transposed(p);
    if (p.grouping != VKGEMM_GROUPING_NONE) return out;  // whose places and leading dimensions are in memory
    // One row or column without gaps is the same memory in either layout. If it is k-contiguous, it can be read 16
    // bytes at a time.
    if (p.n == 1 && p.b.layout == rowMajor && p.b.ld == 1) p.b.layout = columnMajor, p.b.ld = p.k ? p.k : 1;
    if (p.m == 1 && p.a.layout == columnMajor && p.a.ld == 1) p.a.layout = rowMajor, p.a.ld = p.k ? p.k : 1;
    if (is_one_tall_product(p)) {
        p.m *= p.batch;
        p.batch = 1;
        p.a.batchStride = p.c.batchStride = p.d.batchStride = 0;
    }
    return out;
}

Problem with_sizes(Problem p, const Sizes& s) {
    p.m = s.m, p.n = s.n, p.k = s.k, p.batch = s.batch;
    return p;
}

Normalised with_sizes(const Normalised& n, const Problem& completed, const Sizes& s) {
    Normalised out = n;
    const bool tall = n.problem.batch == 1 && completed.batch > 1;  // then m and batch are those of the problem
    out.problem.m = tall ? n.problem.m : n.swapped ? s.n : s.m;
    out.problem.n = n.swapped ? s.m : s.n;
    out.problem.k = s.k;
    out.problem.batch = tall ? 1 : s.batch;
    return out;
}

uint64_t rows_of_a(const Problem& p) { return p.indicesPerRow ? div_up(p.m, p.indicesPerRow) : p.m; }

std::array<Operand, 4> operands(const Problem& p) {
    using namespace std::string_view_literals;  // whose lengths are known when this is compiled
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, k = VKGEMM_UP_TO_K;
    const auto ragged = [&](const Matrix& x, uint32_t rows, uint32_t cols) {
        return (p.upTo & (x.layout == rowMajor ? cols : rows)) != 0;
    };
    return {Operand{"A"sv, &p.a, rows_of_a(p), p.k, ragged(p.a, m, k)},
            {"B"sv, &p.b, p.k, p.n, ragged(p.b, k, n)},
            {"C"sv, &p.c, p.m, p.n, ragged(p.c, m, n)},
            {"D"sv, &p.d, p.m, p.n, ragged(p.d, m, n)}};
}

uint32_t wide_bytes(Type type) { return info(type).is_plain() ? std::max(16u, 4 * info(type).bytes) : 16; }

bool is_wide(const Operand& x, uint32_t operand_alignment) {
    const Matrix& m = *x.matrix;
    const TypeInfo& type = info(m.type);
    const uint64_t run = m.layout == rowMajor ? x.cols : x.rows, unit = wide_bytes(m.type);
    return operand_alignment % 16 == 0 && (x.padded || (!x.ragged && type.bytes_of(run) % unit == 0)) &&
           type.bytes_of(m.ld) % unit == 0 && type.bytes_of(m.batchStride) % unit == 0;
}

std::optional<Type> epilogue_type(const Problem& p, VkgemmSlot slot) {
    switch (slot) {
        case VKGEMM_SLOT_C:
            return p.c.type;
        case VKGEMM_SLOT_BIAS:
            return p.biasType;
        case VKGEMM_SLOT_SCALE:
            return p.scaleType;
        case VKGEMM_SLOT_RESIDUAL:
            return p.residualType;
        default:
            return std::nullopt;
    }
}

bool is_read_in_words(const Problem& p, VkgemmSlot slot) {
    const std::optional<Type> type = epilogue_type(p, slot);
    return type && *type != p.d.type && info(*type).bytes == 2 && !is_scaled(p);
}

bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

std::optional<uint64_t> span_elements(const Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch) {
    if (rows == 0 || cols == 0 || batch == 0) return 0;
    const auto [outer, inner] = stored(x, rows, cols);
    return plus(plus(times(batch - 1, x.batchStride), times(outer - 1, x.ld)), inner);
}

}  // namespace vkgemm::plan
