// SPDX-License-Identifier: MIT
#include "measure/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "measure/exact_elements.h"
#include "measure/in_parallel.h"
#include "measure/numbers.h"

namespace vkgemm::tool {
namespace {

constexpr uint64_t all_limit = uint64_t{1} << 27;       // multiply-adds up to which every element is computed here
constexpr uint64_t sample_budget = uint64_t{1} << 27;   // multiply-adds spent on sampled rows and columns
constexpr uint64_t work_of_thread = uint64_t{1} << 20;  // multiply-adds, or elements, that are worth a thread

std::string place(uint64_t batch, uint64_t row, uint64_t col, uint64_t batches) {
    std::string text = "D[" + std::to_string(row) + "][" + std::to_string(col) + "]";
    return batches > 1 ? text + " of matrix " + std::to_string(batch) : text;
}

std::string number_text(double value) {
    return value == std::floor(value) && std::fabs(value) < 1e15 ? std::to_string(static_cast<int64_t>(value))
                                                                 : std::to_string(value);
}

bool is_poison(Type type, uint32_t bytes, const std::byte* element) {
    return std::all_of(element, element + bytes,
                       [byte = static_cast<std::byte>(poison(type))](std::byte x) { return x == byte; });
}

/// Which of `count` neighbours is the first that is still poison; `count`: none.
uint64_t first_poison(const MatrixInfo& matrix, const std::byte* first, uint64_t count) {
    return by_width(matrix.bytes, [&](auto poisoned) {
        poisoned = static_cast<decltype(poisoned)>(poison(matrix.type) * 0x100000001u);
        for (uint64_t i = 0; i < count; ++i)
            if (std::memcmp(first + i * sizeof poisoned, &poisoned, sizeof poisoned) == 0) return i;
        return count;
    });
}

}  // namespace

const char* extent_name(ExactCase::Extent extent) {
    switch (extent) {
        case ExactCase::Extent::all:
            return "all";
        case ExactCase::Extent::projected:
            return "projected";
        case ExactCase::Extent::sampled:
            break;
    }
    return "sampled";
}

// What an activation is taken of: the residual, or the second product of a pair with its bias.
double ExactCase::gate(uint64_t batch, uint64_t row, uint64_t col, int64_t sum) const {
    if (!is_pair(p_)) return residual(batch, row, col);
    double out = alpha_ * sign_of_b2() * static_cast<double>(sum);
    if (is_biased_pair(p_))
        out += vector_value(VKGEMM_SLOT_BIAS2, p_.epilogue.begin()->kind == VKGEMM_STEP_BIAS_ROW ? row : col);
    return out;
}

namespace {

// What an exp or tanh of the device may be off by: some units in the accumulator's last place, or the 2^-11 of a fast
// one. Both curves are straight lines far from 0. Scales may double it.
double off_by(Type finished) { return 16 * std::ldexp(1, -static_cast<int>(type_info(finished).exactBits)) + 0x1p-11; }

// Multiplies by an activation of y, of which a curve is off by so much, relative to it.
void pass_gate(VkgemmStepKind activation, double y, double off, double& value, double& slack) {
    if (activation != VKGEMM_STEP_RELU) slack = 2 * off * (std::min(std::fabs(y), 8.0) + 1) * std::fabs(value);
    value *= applied({activation}, y);
}

// Takes a step that depends on the value alone.
void activate(const Step& step, double off, double& value, double& slack) {
    if (isCurve(step.kind)) slack = 2 * off * (std::min(std::fabs(value), 8.0) + 1);
    value = applied(step, value);
}

}  // namespace

ExactCase::Expected ExactCase::expected(uint64_t batch, uint64_t row, uint64_t col, int64_t sum) const {
    const bool whole_bias = r_.is_scaled() && r_.bias == i32;  // part of the sum, before alpha
    double value = alpha_ * static_cast<double>(sum), slack = 0;
    if (beta_ != 0) value += beta_ * c(batch, row, col);
    const auto add_bias = [&](uint64_t line) {
        value += (whole_bias ? alpha_ : 1) * vector_value(VKGEMM_SLOT_BIAS, line);
    };
    const double off = off_by(r_.is_scaled() ? f32 : r_.accumulate);
    for (const Step& s : p_.epilogue) {
        if (const VkgemmStepKind activation = activation_of(s.kind)) {
            pass_gate(activation, gate(batch, row, col, sum), off, value, slack);
            continue;
        }
        switch (s.kind) {
            case VKGEMM_STEP_BIAS_ROW:
            case VKGEMM_STEP_BIAS_COL:
                add_bias(s.kind == VKGEMM_STEP_BIAS_ROW ? row : col);
                break;
            case VKGEMM_STEP_SCALE_ROW:
                value *= vector_value(VKGEMM_SLOT_SCALE, row);
                break;
            case VKGEMM_STEP_SCALE_COL:
                value *= vector_value(VKGEMM_SLOT_SCALE, col);
                break;
            case VKGEMM_STEP_SCALE_ALL:
                value *= vector_value(VKGEMM_SLOT_SCALE, 0);
                break;
            case VKGEMM_STEP_CLAMP_ROW:
            case VKGEMM_STEP_CLAMP_COL: {
                const uint64_t line = s.kind == VKGEMM_STEP_CLAMP_ROW ? row : col;
                value = std::clamp<double>(value, vector_value(VKGEMM_SLOT_SCALE, 2 * line),
                                           vector_value(VKGEMM_SLOT_SCALE, 2 * line + 1));
                break;
            }
            case VKGEMM_STEP_RESIDUAL:
                value += residual(batch, row, col);
                break;
            case VKGEMM_STEP_DRELU:
                if (residual(batch, row, col) <= 0) value = slack = 0;
                break;
            default:
                activate(s, off, value, slack);
                break;
        }
    }
    if (r_.is_scaled() && r_.d.type == i8) {
        value = std::clamp(std::nearbyint(value), -128.0, 127.0);
        slack = slack > 0 ? slack + 1 : 0;
    }
    std::byte stored[8];
    encode(r_.d.type, value, stored);
    if (slack > 0) slack += std::ldexp(std::fabs(value), -static_cast<int>(type_info(r_.d.type).exactBits));
    return {decode(r_.d.type, stored), slack};
}

std::optional<std::string> ExactCase::wrong_element(std::span<const std::byte> d, uint64_t batch, uint64_t row,
                                                    uint64_t col, int64_t sum) const {
    const auto [want, slack] = expected(batch, row, col, sum);
    const std::byte* element = &d[r_.d.position(batch, row, col) * r_.d.bytes];
    const double got = decode(r_.d.type, element);
    if (got == want || std::fabs(got - want) <= slack) return std::nullopt;  // slack 0: exactly
    const std::string where = place(batch, row, col, r_.batch);
    if (p_.cSource != VKGEMM_C_IS_D && is_poison(r_.d.type, r_.d.bytes, element)) return where + " was never written";
    return where + " is " + number_text(got) + " and should be " + number_text(want);
}

std::optional<std::string> ExactCase::wrong_row(std::span<const std::byte> d, uint64_t batch, uint64_t row) const {
    std::vector<int32_t> sums(p_.n);
    for (uint64_t k = 0; k < p_.k; ++k) {
        const int32_t left = a(batch, row, k);
        if (left == 0) continue;
        const int8_t* right = b_row(batch, k);
        for (uint64_t col = 0; col < p_.n; ++col) sums[col] += left * right[col];
    }
    for (uint64_t col = 0; col < p_.n; ++col)
        if (auto wrong = wrong_element(d, batch, row, col, sums[col])) return wrong;
    return std::nullopt;
}

std::optional<std::string> ExactCase::wrong_col(std::span<const std::byte> d, uint64_t batch, uint64_t col) const {
    std::vector<int8_t> right(p_.k);
    for (uint64_t k = 0; k < p_.k; ++k) right[k] = b_row(batch, k)[col];
    for (uint64_t row = 0; row < p_.m; ++row) {
        if (!r_.is_in(batch, row)) continue;
        int32_t sum = 0;
        for (uint64_t k = 0; k < p_.k; ++k) sum += a(batch, row, k) * right[k];
        if (auto wrong = wrong_element(d, batch, row, col, sum)) return wrong;
    }
    return std::nullopt;
}

std::optional<std::string> ExactCase::unwritten(std::span<const std::byte> d) const {
    if (p_.cSource == VKGEMM_C_IS_D) return std::nullopt;  // D began as C: only its values tell
    const bool by_rows = r_.d.col_step == 1;               // D's layout
    const uint64_t lines = by_rows ? p_.m : p_.n, count = by_rows ? p_.n : p_.m;
    if (!lines || !count) return std::nullopt;
    return first_found(
        lines * matrices_of_d(), work_of_thread / count + 1, [&](uint64_t line) -> std::optional<std::string> {
            const uint64_t batch = line / lines, outer = line % lines;
            const uint64_t begin = by_rows ? r_.d.position(batch, outer, 0) : r_.d.position(batch, 0, outer);
            const uint64_t i = first_poison(r_.d, &d[begin * r_.d.bytes], count);
            if (i == count) return std::nullopt;
            return place(batch, by_rows ? outer : i, by_rows ? i : outer, r_.batch) + " was never written";
        });
}

std::optional<std::string> ExactCase::touched_gap(std::span<const std::byte> d) const {
    uint64_t elements = 0;
    for (const uint64_t n : {p_.m, p_.n, matrices_of_d()}) elements = elements ? elements * n : n;
    if (elements == r_.d.span) return std::nullopt;  // dense, without gaps
    std::vector<bool> owned(r_.d.span);
    for (uint64_t batch = 0; batch < matrices_of_d(); ++batch)
        for (uint64_t row = 0; row < p_.m; ++row)
            for (uint64_t col = 0; col < p_.n; ++col) owned[r_.d.position(batch, row, col)] = true;
    for (uint64_t i = 0; i < r_.d.span; ++i)
        if (!owned[i] && !is_poison(r_.d.type, r_.d.bytes, &d[i * r_.d.bytes]))
            return "the gap between rows of D was written to, at element " + std::to_string(i);
    return std::nullopt;
}

void ExactCase::project(uint64_t batch, std::vector<int64_t>& x, std::vector<int64_t>& bx) const {
    x.assign(p_.n, 0);
    bx.assign(p_.k, 0);
    for (uint64_t col = 0; col < p_.n; ++col) x[col] = whole(i32, 1000, mixed(6, batch, col, 0));
    for (uint64_t k = 0; k < p_.k; ++k) {
        const int8_t* row = b_row(batch, k);
        for (uint64_t col = 0; col < p_.n; ++col) bx[k] += row[col] * x[col];
    }
}

double ExactCase::row_mismatch(std::span<const std::byte> d, uint64_t batch, uint64_t row,
                               const std::vector<int64_t>& x, const std::vector<int64_t>& bx) const {
    int64_t want = 0, got = 0;
    for (uint64_t k = 0; k < p_.k; ++k) want += static_cast<int64_t>(alpha_) * a(batch, row, k) * bx[k];
    bool whole_numbers = true;
    std::vector<double> values(p_.n);
    decode(r_.d.type, &d[r_.d.position(batch, row, 0) * r_.d.bytes], r_.d.col_step, values);
    for (uint64_t col = 0; col < p_.n; ++col) {
        const double value = values[col];
        const bool fits = std::fabs(value) < 0x1p40;  // false for NaN
        const auto cut = fits ? static_cast<int64_t>(value) : 0;
        whole_numbers = whole_numbers && fits && static_cast<double>(cut) == value;
        got += cut * x[col];
        if (beta_ != 0) want -= c(batch, row, col) * x[col];
    }
    return whole_numbers ? std::fabs(static_cast<double>(got - want)) : std::numeric_limits<double>::infinity();
}

std::optional<std::string> ExactCase::wrong_projection(std::span<const std::byte> d, uint64_t batch) const {
    // D x = alpha A (B x) + beta C x for a random x: a row that is wrong anywhere passes once in about two thousand.
    std::vector<int64_t> x, bx;
    project(batch, x, bx);
    const uint64_t least =
        r_.batch > 1 ? p_.m : work_of_thread / (p_.n + p_.k + 1) + 1;  // several have threads themselves
    return first_found(p_.m, least, [&](uint64_t row) -> std::optional<std::string> {
        if (!r_.is_in(batch, row) || row_mismatch(d, batch, row, x, bx) == 0) return std::nullopt;
        return wrong_row(d, batch, row);
    });
}

std::optional<std::string> ExactCase::gross_row(std::span<const std::byte> d, uint64_t batch, uint64_t row) const {
    std::vector<int32_t> sums(p_.n), sizes(p_.n);  // sizes: of |a||b|
    for (uint64_t k = 0; k < p_.k; ++k) {
        const int32_t left = a(batch, row, k);
        const int8_t* right = b_row(batch, k);
        for (uint64_t col = 0; left && col < p_.n; ++col) {
            sums[col] += left * right[col];
            sizes[col] += std::abs(left * right[col]);
        }
    }
    const uint32_t bits = std::min(type_info(r_.d.type).exactBits, type_info(r_.accumulate).exactBits);
    const double roundoff = std::ldexp(1, -static_cast<int>(bits));
    std::vector<double> got(p_.n);
    decode(r_.d.type, &d[r_.d.position(batch, row, 0) * r_.d.bytes], r_.d.col_step, got);
    for (uint64_t col = 0; col < p_.n; ++col) {
        const auto [want, slack] = expected(batch, row, col, sums[col]);
        double largest = std::fabs(alpha_) * sizes[col];
        if (beta_ != 0) largest += std::fabs(beta_ * c(batch, row, col));
        const double tolerance = slack + (plain_ ? 4 : 8) * roundoff * largest;  // scales may double it
        if (!(std::fabs(got[col] - want) <= tolerance))
            return place(batch, row, col, r_.batch) + " is " + number_text(got[col]) + " and should be " +
                   number_text(want) + ", give or take " + number_text(tolerance);
    }
    return std::nullopt;
}

ExactCase::Outcome ExactCase::verify(std::span<const std::byte> d) const {
    Outcome v;
    const auto note = [&v](std::optional<std::string> wrong) {
        if (wrong && v.wrong.empty()) v.wrong = *std::move(wrong);
        return v.wrong.empty();
    };
    const uint64_t row_work = std::max<uint64_t>(1, p_.n * p_.k), col_work = std::max<uint64_t>(1, p_.m * p_.k);
    const bool all = row_work * p_.m * matrices_of_d() <= all_limit;
    v.extent = all ? Extent::all : plain_ ? Extent::projected : Extent::sampled;
    if (!note(unwritten(d)) || !note(touched_gap(d))) return v;
    if (all) {
        note(first_found(r_.batch * p_.m, work_of_thread / row_work + 1, [&](uint64_t i) {
            const uint64_t batch = i / p_.m, row = i % p_.m;
            return r_.is_in(batch, row) ? wrong_row(d, batch, row) : std::nullopt;
        }));
        return v;
    }
    if (plain_) note(first_found(r_.batch, 1, [&](uint64_t batch) { return wrong_projection(d, batch); }));
    if (v.wrong.empty()) note(wrong_sample(d, sample_budget / 2 / row_work, sample_budget / 2 / col_work));
    return v;
}

std::optional<std::string> ExactCase::wrong_sample(std::span<const std::byte> d, uint64_t rows, uint64_t cols) const {
    struct Line {
        uint64_t batch, number;
    };
    std::vector<Line> lines;  // rows, then columns
    Random random{7};
    rows = std::min(std::max<uint64_t>(2, rows), p_.m * matrices_of_d());
    for (uint64_t i = 0; i < rows; ++i) {
        const uint64_t batch = random.next() % r_.batch, row = random.next() % p_.m;
        lines.push_back({r_.group_of_row.empty() ? batch : r_.group_of_row[row], row});
    }
    cols = std::min(std::max<uint64_t>(2, cols), p_.n * r_.batch);
    for (uint64_t i = 0; i < cols; ++i) {
        const uint64_t batch = random.next() % r_.batch;
        lines.push_back({batch, random.next() % p_.n});
    }
    return first_found(lines.size(), 1, [&](uint64_t i) {
        return i < rows ? wrong_row(d, lines[i].batch, lines[i].number) : wrong_col(d, lines[i].batch, lines[i].number);
    });
}

ExactCase::Outcome ExactCase::verify_rounded(std::span<const std::byte> d) const {
    Outcome v = verify(d);
    if (v.wrong.empty() || !r_.is_float() || unwritten(d) || touched_gap(d)) return v;
    v.rounded = std::exchange(v.wrong, "");
    struct Row {
        uint64_t batch, row;
        double mismatch;
    };
    std::vector<Row> rows;
    for (uint64_t batch = 0; batch < r_.batch; ++batch) {
        std::vector<int64_t> x, bx;
        if (v.extent == Extent::projected) project(batch, x, bx);
        for (uint64_t row = 0; row < p_.m; ++row)
            if (r_.is_in(batch, row))
                rows.push_back({batch, row, v.extent == Extent::projected ? row_mismatch(d, batch, row, x, bx) : 0});
    }
    std::ranges::stable_sort(rows, std::greater(), &Row::mismatch);
    const uint64_t work = std::max<uint64_t>(1, p_.n * p_.k), most = std::max<uint64_t>(2, sample_budget / work);
    const size_t step = v.extent == Extent::sampled ? std::max<size_t>(1, rows.size() / most) : 1;
    const size_t end = v.extent == Extent::all ? rows.size() : std::min<size_t>(rows.size(), most * step);
    for (size_t i = 0; i < end && v.wrong.empty(); i += step)
        if (auto wrong = gross_row(d, rows[i].batch, rows[i].row)) v.wrong = *std::move(wrong);
    return v;
}

}  // namespace vkgemm::tool
