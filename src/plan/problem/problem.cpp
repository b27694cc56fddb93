// SPDX-License-Identifier: MIT
#include "plan/problem/problem.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/rules.h"
#include "plan/problem/stored.h"

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
    if (x.ld == 0) x.ld = inner ? inner : info(x.type).block;
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
std::string complete_ratios(std::string_view level, uint64_t count, bool varies, uint64_t& ratio_a, uint64_t& ratio_b,
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
    if (ratio_a > 1 && ratio_b > 1 && (varies || (ratio_a != count && ratio_b != count)))
        return concat({level, "ratio_a is ", ratio_a, " and ", level, "ratio_b is ", ratio_b,
                       "; of one level one of them must be 1"});
    return "";
}

// Matrices, not products, of a level: one if all share it, whose ratio then is 1. If their number varies, it stays: the
// kernel's batch is the number of matrices, which must not depend on the run in another way.
uint64_t matrices(uint64_t count, uint64_t& ratio, bool varies = false) {
    const uint64_t out = count / ratio;
    if (out == 1 && !varies) ratio = 1;
    return out;
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
    fill(p.biasType, default_factor_type(p.d.type));
    fill(p.scaleType, default_factor_type(p.d.type));
    fill(p.residualType, p.d.type);
}

// Fills in ratios, leading dimensions and strides. Returns the reason against them, or "".
std::string complete_levels(Problem& p) {
    const bool varies = (p.upTo & VKGEMM_UP_TO_BATCH) != 0;
    if (std::string why = complete_ratios("", p.batch, varies, p.ratioA, p.ratioB, p.a.batchStride, p.b.batchStride);
        !why.empty())
        return why;
    if (std::string why = complete_ratios("outer_", p.outerBatch, false, p.outerRatioA, p.outerRatioB, p.outerStrideA,
                                          p.outerStrideB);
        !why.empty())
        return why;
    uint64_t of_b = matrices(p.batch, p.ratioB, varies);
    if (p.grouping == VKGEMM_GROUPING_SELECTED) of_b = std::max<uint64_t>(of_b, 2);  // one product chooses from several
    const Batched a = {.slot = VKGEMM_SLOT_A,
                       .matrix = p.a,
                       .rows = p.m,
                       .cols = p.k,
                       .batch = matrices(p.batch, p.ratioA, varies),
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
    constexpr std::string_view names[] = {"f32",    "f32_split", "f32_split_rows", "narrow",
                                          "mxint8", "f64_split", "f64_split_wide"};
    return names[size_t(a)];
}

Result<Problem> complete(Problem p) {
    fill_types(p);
    for (uint64_t* count : {&p.outerBatch, &p.ratioA, &p.ratioB, &p.outerRatioA, &p.outerRatioB})
        if (*count == 0) *count = 1;
    if (std::string why = check_formats(p); !why.empty()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (p.accuracy >= VKGEMM_ACCURACY_NARROW) {
        if (!is_mixed(p) && !is_from_int8(p))
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
    if (p.cSource == VKGEMM_C_IS_D) {
        p.c = p.d;
        p.outerStrideC = p.outerStrideD;
    }
    const bool broadcast_d = p.d.batchStride == broadcast, broadcast_outer_d = p.outerStrideD == broadcast;
    if (std::string why = check_up_to(p, p.a.batchStride != broadcast, p.b.batchStride != broadcast); !why.empty())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    if (std::string why = complete_levels(p); !why.empty()) return broken(why);
    if (std::string why = check_result_stride(p, broadcast_d); !why.empty()) return broken(why);
    if (std::string why = check_outer_result_stride(p, broadcast_outer_d); !why.empty()) return broken(why);
    if (std::string why = check_epilogue(p); !why.empty()) return broken(why);
    if (const auto why = check_pair(p)) return *why;
    if (const auto why = check_operand_types(p)) return *why;
    if (const auto why = check_scalars(p)) return *why;
    if (const auto why = is_from_int8(p) ? check_from_int8(p) : std::nullopt) return *why;
    return p;
}

Problem restated(Problem p) {
    for (const auto& [m, ratio] :
         {std::pair{&p.a, p.ratioA}, {&p.b, p.ratioB}, {&p.c, uint64_t{1}}, {&p.d, uint64_t{1}}})
        if (m->batchStride == 0 && ratio == 1) m->batchStride = broadcast;
    for (uint64_t* stride : {&p.outerStrideA, &p.outerStrideB, &p.outerStrideC, &p.outerStrideD})
        if (*stride == 0 && p.outerBatch > 1) *stride = broadcast;
    if (p.cSource != VKGEMM_C_SEPARATE) {
        p.c = {.type = p.c.type};
        p.outerStrideC = 0;
    }
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
    if (p.n == 1 && !keep_b && p.b.layout == rowMajor && p.b.ld == 1) {
        p.b.layout = columnMajor;
        p.b.ld = p.k ? p.k : 1;
    }
    if (p.m == 1 && !keep_a && p.a.layout == columnMajor && p.a.ld == 1) {
        p.a.layout = rowMajor;
        p.a.ld = p.k ? p.k : 1;
    }
    if (is_empty(p)) return out;
    const bool varies = (p.upTo & VKGEMM_UP_TO_BATCH) != 0;
    out.repeated = varies ? levels_beside_batch(p) : levels_of(p);
    if (!loose) merge_levels(p, out.repeated);
    if (varies)
        give_kernel_batch(p, out.repeated);
    else
        give_kernel_level(p, out.repeated);
    if (is_from_int8(p)) take_level_from_kernel(p, out.repeated);
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
    if (out.upTo & VKGEMM_UP_TO_BATCH) out.batch = p.least->batch * std::max(out.ratioA, out.ratioB);
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
    for (uint64_t* key : {&p.packedA, &p.packedB})  // a key is of a layout for the problem's own m and batch
        if (*key != VKGEMM_PACKED_NONE) *key = VKGEMM_PACKED_ANY;
    return p;
}

std::optional<Status> unfit_levels(const Problem& p, const Normalised& normalised) {
    if (is_empty(p) || (normalised.repeated.count == 0 && !normalised.is_part)) return std::nullopt;
    if (normalised.problem.outerBatch > most_repetitions)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"the problem would take ", normalised.problem.outerBatch, " repetitions of ",
                               normalised.problem.m, "x", normalised.problem.n, "x", normalised.problem.k,
                               " batch=", normalised.problem.batch, "; the limit is ", most_repetitions,
                               ": place the matrices so that levels go on where others end, or split the batch"})};
    const auto odd = [&](VkgemmSlot slot, const Level& l) -> uint64_t {
        const auto step = slot == VKGEMM_SLOT_C          ? l.stride[2]
                          : slot == VKGEMM_SLOT_RESIDUAL ? l.stride[3]
                                                         : std::gcd(l.rows, l.columns);
        return is_read_in_words(p, slot) && step % 2 ? step : 0;
    };
    for (const auto& [name, slot] : {std::pair{"C", VKGEMM_SLOT_C},
                                     {"the residual", VKGEMM_SLOT_RESIDUAL},
                                     {"the bias", VKGEMM_SLOT_BIAS},  // of a pair both
                                     {"the scale", VKGEMM_SLOT_SCALE}}) {
        uint64_t step = odd(slot, normalised.begin);
        for (const Level& l : normalised.repeated) step = std::max(step, odd(slot, l));
        if (step)
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           concat({name, " has a type of 16 bits of its own, and the product is repeated every ", step,
                                   " of its elements; that must be an even number"})};
    }
    const auto& [step_a, step_b] = std::pair{normalised.problem.outerStrideA, normalised.problem.outerStrideB};
    const bool spread_a = p.packedA != VKGEMM_PACKED_NONE && (normalised.swapped ? step_b : step_a) != 0;
    const bool spread_b = p.packedB != VKGEMM_PACKED_NONE && (normalised.swapped ? step_a : step_b) != 0;
    if (spread_a || spread_b)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({(spread_a ? "A" : "B"),
                               " comes packed, but has matrices on several levels of the batch; one dispatch takes ",
                               normalised.problem.batch, " and ", normalised.problem.outerBatch,
                               " are needed; split the product, or leave it unpacked"})};
    return std::nullopt;
}

bool is_never_cut(const Problem& p) {
    return p.upTo || p.grouping != VKGEMM_GROUPING_NONE || p.packedA != VKGEMM_PACKED_NONE ||
           p.packedB != VKGEMM_PACKED_NONE;
}

bool adds_up_in_d(const Problem& p) {
    const auto reads_all = [](const EpilogueStep& s) {
        return info(s.kind).shape == StepShape::MATRIX || info(s.kind).is_pair();
    };
    return p.d.type == p.accumulate && !p.batchInvariant && std::ranges::none_of(p.epilogue, reads_all);
}

Problem with_sizes(Problem p, const Sizes& s) {
    p.m = s.m;
    p.n = s.n;
    p.k = s.k;
    p.batch = s.batch;
    return p;
}

Normalised with_sizes(const Normalised& normalised, const Sizes& sizes) {
    Normalised out = normalised;
    const Sizes now = {normalised.swapped ? sizes.n : sizes.m, normalised.swapped ? sizes.m : sizes.n, sizes.k,
                       sizes.batch};
    const uint32_t varies = normalised.problem.upTo;  // what does not may have levels merged into it
    if (varies & VKGEMM_UP_TO_M) out.problem.m = now.m;
    if (varies & VKGEMM_UP_TO_N) out.problem.n = now.n;
    if (varies & VKGEMM_UP_TO_K) out.problem.k = now.k;
    if (!(varies & VKGEMM_UP_TO_BATCH)) return out;
    if (is_from_int8(out.problem)) {  // take_level_from_kernel()
        out.problem.outerBatch = out.problem.outerBatch / out.repeated.level[0].count * now.batch;
        out.repeated.level[0].count = now.batch;
    } else {
        out.problem.batch = now.batch;
    }
    return out;
}

}  // namespace vkgemm::plan
