// SPDX-License-Identifier: MIT
#include "plan/problem/problem.h"

namespace vkgemm::plan {
namespace {

using std::to_string;

Refusal broken(std::string why) { return {Refusal::problem, std::move(why)}; }

std::optional<uint64_t> times(uint64_t a, uint64_t b) {
    if (a && b > UINT64_MAX / a) return std::nullopt;
    return a * b;
}
std::optional<uint64_t> plus(std::optional<uint64_t> a, std::optional<uint64_t> b) {
    if (!a || !b || *b > UINT64_MAX - *a) return std::nullopt;
    return *a + *b;
}

// A matrix counted the way it is stored: `outer` runs of `inner` neighbouring elements.
struct Stored {
    uint64_t outer, inner;
};
Stored stored(const Matrix& x, uint64_t rows, uint64_t cols) {
    return x.layout == Layout::row_major ? Stored{rows, cols} : Stored{cols, rows};
}

// Fills in ld and stride of one matrix; the reason against it, or "".
std::string complete_matrix(Matrix& x, std::string_view name, uint64_t rows, uint64_t cols, uint64_t batch) {
    const auto [outer, inner] = stored(x, rows, cols);
    const std::string who(name);
    if (x.ld == 0) x.ld = inner ? inner : 1;
    if (x.ld < inner)
        return "ld" + who + " is " + to_string(x.ld) + ", but a " + (x.layout == Layout::row_major ? "row" : "column") +
               " of " + who + " has " + to_string(inner) + " elements";
    const bool is_broadcast = x.stride == broadcast;
    if (is_broadcast || batch <= 1) {
        x.stride = 0;
    } else if (x.stride == 0) {
        const auto dense = times(x.ld, outer);
        if (!dense) return who + " spans more than 2^64 elements";
        x.stride = *dense;
    }
    if (!span_elements(x, rows, cols, batch)) return who + " spans more than 2^64 elements";
    return "";
}

// D is written, so its matrices must not share elements, nor be one and the same.
std::string check_result_stride(const Problem& p, bool broadcast_d) {
    if (p.batch <= 1 || p.m == 0 || p.n == 0) return "";
    if (broadcast_d) return "D cannot be broadcast: " + to_string(p.batch) + " products would be written to one place";
    const uint64_t one = *span_elements(p.d, p.m, p.n, 1);
    if (p.d.stride >= one) return "";
    const uint64_t run = stored(p.d, p.m, p.n).inner;  // matrices side by side, as the heads of attention lie
    const auto row_of_all = plus(times(p.batch - 1, p.d.stride), run);
    if (p.d.stride >= run && row_of_all && p.d.ld >= *row_of_all) return "";
    return "stride_d is " + to_string(p.d.stride) + ", but one D spans " + to_string(one) + " elements, and " +
           to_string(p.batch) + " of them side by side do not fit a leading dimension of " + to_string(p.d.ld) +
           ": the batch would overwrite itself";
}

std::string check_c(const Problem& p) {
    const bool said = p.c.ld || p.c.stride || p.c.layout != Layout::row_major;
    if (p.c_source == CSource::none && said)
        return "C is described (ldc, stride or layout) but the problem has none; set its cSource (c=separate in its "
               "line)";
    if (p.c_source == CSource::is_d && said) return "C is D, so its ld, stride and layout are D's and must be left out";
    return "";
}

bool is_bias(StepKind k) { return k == StepKind::bias_row || k == StepKind::bias_col; }
bool is_scale(StepKind k) { return k == StepKind::scale_row || k == StepKind::scale_col || k == StepKind::scale_all; }
bool wants_float(StepKind k) { return k == StepKind::gelu || k == StepKind::silu || k == StepKind::clamp; }

std::string check_epilogue(const Problem& p) {
    int biases = 0, scales = 0;
    std::array<bool, 16> seen{};
    bool ended = false;
    for (const EpilogueStep& s : p.epilogue) {
        if (s.kind == StepKind::none) {
            ended = true;
            continue;
        }
        if (ended) return "the epilogue has a gap: a step follows an empty one";
        if (s.kind > StepKind::clamp) return "the epilogue has no step number " + to_string(int(s.kind));
        if (seen[size_t(s.kind)]) return "the epilogue names a step twice; each kind may stand once";
        seen[size_t(s.kind)] = true;
        biases += is_bias(s.kind), scales += is_scale(s.kind);
        if (wants_float(s.kind) && !info(*p.accumulate).is_float)
            return "GELU, SiLU and clamp are for floating-point sums; these are " +
                   std::string(info(*p.accumulate).name);
        if (s.kind == StepKind::clamp && !(s.low <= s.high))
            return "clamp wants low <= high, not " + to_string(s.low) + " and " + to_string(s.high);
    }
    if (biases > 1) return "the epilogue takes one bias, per row or per column, not both";
    if (scales > 1) return "the epilogue takes one scale: per row, per column or for all";
    return "";
}

void fill_types(Problem& p) {
    const Type a = p.a.type.value_or(Type::f32);
    p.a.type = a;
    if (!p.b.type) p.b.type = a;
    if (!p.accumulate) p.accumulate = info(a).default_accumulator;
    if (!p.d.type) p.d.type = info(a).default_result;
    if (!p.c.type) p.c.type = p.d.type;
}

Layout flipped(Layout l) { return l == Layout::row_major ? Layout::column_major : Layout::row_major; }

StepKind flipped(StepKind k) {
    switch (k) {
        case StepKind::bias_row:
            return StepKind::bias_col;
        case StepKind::bias_col:
            return StepKind::bias_row;
        case StepKind::scale_row:
            return StepKind::scale_col;
        case StepKind::scale_col:
            return StepKind::scale_row;
        default:
            return k;
    }
}

Problem transposed(Problem p) {
    std::swap(p.a, p.b);
    std::swap(p.m, p.n);
    for (Matrix* x : {&p.a, &p.b, &p.c, &p.d}) x->layout = flipped(x->layout);
    for (EpilogueStep& s : p.epilogue) s.kind = flipped(s.kind);
    return p;
}

// One B for all, and the rows of all A, C and D follow each other at one distance: then it is one tall product.
bool is_one_tall_product(const Problem& p) {
    const auto runs_on = [&](const Matrix& x) { return x.layout == Layout::row_major && x.stride == x.ld * p.m; };
    if (p.batch <= 1 || p.b.stride != 0 || !runs_on(p.a) || !runs_on(p.d)) return false;
    if (p.c_source == CSource::separate && !runs_on(p.c)) return false;
    if (has_step(p, StepKind::bias_row) || has_step(p, StepKind::scale_row)) return false;
    return p.m * p.batch < (uint64_t{1} << 31);
}

}  // namespace

std::string_view accuracy_name(Accuracy a) {
    constexpr std::string_view names[] = {"f32", "f32_split", "f32_split_rows"};
    return names[size_t(a)];
}

Result<Problem> complete(Problem p) {
    fill_types(p);
    if (p.accuracy != Accuracy::arithmetic)
        for (const Type t : {*p.a.type, *p.b.type, *p.accumulate, *p.d.type})
            if (t != Type::f32)
                return Refusal{Refusal::unsupported, "the accuracy " + std::string(accuracy_name(p.accuracy)) +
                                                         " is for f32 throughout, not for " +
                                                         std::string(info(t).name) + "; leave it at its default"};
    if (p.c.type != p.d.type)
        return Refusal{Refusal::unsupported,
                       "C must have D's type in this version: " + std::string(info(*p.c.type).name) + " is not " +
                           std::string(info(*p.d.type).name)};
    if (std::string why = check_c(p); !why.empty()) return broken(why);
    if (p.c_source == CSource::is_d) p.c = p.d;
    const bool broadcast_d = p.d.stride == broadcast;
    for (const std::string& why :
         {complete_matrix(p.a, "a", p.m, p.k, p.batch), complete_matrix(p.b, "b", p.k, p.n, p.batch),
          complete_matrix(p.d, "d", p.m, p.n, p.batch), complete_matrix(p.c, "c", p.m, p.n, p.batch)})
        if (!why.empty()) return broken(why);
    if (std::string why = check_result_stride(p, broadcast_d); !why.empty()) return broken(why);
    if (std::string why = check_epilogue(p); !why.empty()) return broken(why);
    return p;
}

Normalised normalise(const Problem& completed) {
    Normalised out{completed, completed.d.layout == Layout::column_major};
    Problem& p = out.problem;
    if (out.swapped) p = transposed(p);
    // One row or column without gaps is the same memory in either layout. If it is k-contiguous, it can be read 16 bytes
    // at a time.
    if (p.n == 1 && p.b.layout == Layout::row_major && p.b.ld == 1)
        p.b.layout = Layout::column_major, p.b.ld = p.k ? p.k : 1;
    if (p.m == 1 && p.a.layout == Layout::column_major && p.a.ld == 1)
        p.a.layout = Layout::row_major, p.a.ld = p.k ? p.k : 1;
    if (is_one_tall_product(p)) {
        p.m *= p.batch;
        p.batch = 1;
        p.a.stride = p.c.stride = p.d.stride = 0;
    }
    return out;
}

std::array<Operand, 4> operands(const Problem& p) {
    return {{{"A", &p.a, p.m, p.k}, {"B", &p.b, p.k, p.n}, {"C", &p.c, p.m, p.n}, {"D", &p.d, p.m, p.n}}};
}

bool is_wide(const Operand& x, uint32_t operand_alignment) {
    const Matrix& m = *x.matrix;
    const uint64_t bytes = info(*m.type).bytes, run = m.layout == Layout::row_major ? x.cols : x.rows;
    return operand_alignment % 16 == 0 && (m.padded || run * bytes % 16 == 0) && m.ld * bytes % 16 == 0 &&
           m.stride * bytes % 16 == 0;
}

bool has_step(const Problem& p, StepKind kind) {
    for (const EpilogueStep& s : p.epilogue)
        if (s.kind == kind) return true;
    return false;
}

bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

std::optional<uint64_t> span_elements(const Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch) {
    if (rows == 0 || cols == 0 || batch == 0) return 0;
    const auto [outer, inner] = stored(x, rows, cols);
    return plus(plus(times(batch - 1, x.stride), times(outer - 1, x.ld)), inner);
}

}  // namespace vkgemm::plan
