// SPDX-License-Identifier: MIT
// A product by the repetitions that a plan makes of it, on the host.
#pragma once
#include <doctest/doctest.h>

#include <cmath>

#include "plan/problem/problem_text.h"
#include "plan/steps/steps.h"
#include "support/guarded.h"
#include "support/random.h"
#include "support/reference.h"

namespace vkgemm::test {

inline plan::Problem completed_line(const std::string& line) {
    const auto read = plan::parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    const auto full = plan::complete(read->problem);
    REQUIRE_MESSAGE(bool(full), line, ": ", full.status().text);
    return *full;
}

inline std::vector<double> filled(const plan::Operand& x, Random& random) {
    Guarded g(x);
    g.fill([&] { return static_cast<double>(random.between(-9, 9)); });
    return g.numbers();
}

/// Whole numbers, poison between them.
inline Operands operands_for(const plan::Problem& p, uint64_t seed) {
    Random random(seed);
    const auto all = plan::operands(p);
    Operands out;
    out.a = filled(all[0], random);
    out.b = filled(all[1], random);
    out.c = filled(all[2], random);
    out.d = filled(all[3], random);
    out.residual = filled(all[3], random);
    for (std::vector<double>* x : {&out.bias, &out.scale})
        for (uint64_t i = 0; i < 2 * (p.m + p.n); ++i) x->push_back(static_cast<double>(random.between(-9, 9)));
    return out;
}

/// D where every element of the batch is in it, padding left as it was.
inline void multiply(const plan::Problem& p, const Operands& in, std::vector<double>& d, uint64_t begin_d,
                     uint64_t products, double beta = 3) {
    for (uint64_t z = 0; z < products; ++z)
        for (uint64_t r = 0; r < p.m; ++r)
            for (uint64_t c = 0; c < p.n; ++c)
                d[begin_d + position(p, 3, z, r, c)] = reference(p, 2, beta, in, z, r, c).value;
}

/// Where repetition `number` of a problem begins.
inline plan::Level place_of(const plan::Normalised& n, uint64_t number) {
    plan::Level out = n.begin;
    for (const plan::Level& l : n.repeated) {
        const uint64_t times = number % l.count;
        for (size_t i = 0; i < 4; ++i) out.stride[i] += times * l.stride[i];
        out.rows += times * l.rows;
        out.columns += times * l.columns;
        number /= l.count;
    }
    return out;
}

/// D by the repetitions of the parts of a normalised problem, with an alpha of 2 and a beta of 3.
inline std::vector<double> repeated(const std::vector<plan::Normalised>& parts, const Operands& in) {
    std::vector<double> d = in.d;
    for (const plan::Normalised& n : parts)
        for (uint64_t number = 0; number < n.problem.outerBatch; ++number) {
            const plan::Level begin = place_of(n, number);
            Operands moved = in;
            if (n.adds) moved.d = d;
            if (n.swapped) std::swap(moved.a, moved.b);
            const auto move = [](std::vector<double>& x, uint64_t by) {
                x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(by, x.size())));
            };
            move(moved.a, begin.stride[0]);
            move(moved.b, begin.stride[1]);
            move(moved.c, begin.stride[2]);
            move(moved.d, begin.stride[3]);
            move(moved.residual, begin.stride[3]);
            for (const plan::EpilogueStep& s : n.problem.epilogue) {
                const plan::StepInfo& step = plan::info(s.kind);
                const uint64_t by = (step.is_of_rows() ? begin.rows : begin.columns) * step.width();
                if (step.operand == VKGEMM_SLOT_BIAS) move(moved.bias, by);
                if (step.operand == VKGEMM_SLOT_SCALE) move(moved.scale, by);
            }
            multiply(n.problem, moved, d, begin.stride[3], n.problem.batch, n.adds ? 1 : 3);
        }
    return d;
}

inline bool same_numbers(const std::vector<double>& x, const std::vector<double>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
    return true;
}

}  // namespace vkgemm::test
