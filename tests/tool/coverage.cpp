// SPDX-License-Identifier: MIT
// What a trace is judged by, on traces that are written by hand; and its picture.
#include "tools/vkgemm/trace/coverage.h"

#include <doctest/doctest.h>

#include "support/string_util.h"
#include "tools/vkgemm/trace/cover_plot.h"

using namespace vkgemm;
using namespace vkgemm::tool;
using test::has_words;

namespace {

constexpr uint32_t m = 4, n = 6, k = 2;

TracedOperand operand(const char* name, uint64_t rows, uint64_t cols, uint64_t ld, uint32_t times) {
    TracedOperand o{.name = name, .rows = rows, .cols = cols, .counts = {}};
    o.matrix.type = vkgemm::f32;
    o.matrix.ld = ld;
    o.counts.resize((rows - 1) * ld + cols);
    for (uint64_t row = 0; row < rows; ++row)
        for (uint64_t col = 0; col < cols; ++col) o.counts[row * ld + col] = times;
    return o;
}

/// 4x6x2 in tiles of 4x3, two work groups of four invocations with a row each; D's rows are 8 apart.
Trace right() {
    Trace t;
    t.problem.m = m;
    t.problem.n = n;
    t.problem.k = t.k = k;
    t.problem.d.type = vkgemm::f32;
    t.kernel = "by_hand";
    t.tile.BM = 4;
    t.tile.BN = 3;
    t.tile.WG = 4;
    t.groups = 2;
    t.operands[bind_a] = operand("A", m, k, k, 2);
    t.operands[bind_b] = operand("B", k, n, n, 1);
    t.operands[bind_d] = operand("D", m, n, 8, 1);
    t.owners.assign(t.operands[bind_d].counts.size(), 0);
    for (uint32_t row = 0; row < m; ++row)
        for (uint32_t col = 0; col < n; ++col) t.owners[row * 8 + col] = 1 + col / 3;
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t step = 0; step < k; ++step)
            t.watched.push_back({.operand = bind_a,
                                 .first = i * k + step,
                                 .elements = 1,
                                 .invocation = i,
                                 .subgroup = i / 2,
                                 .step = 2 * step});
        t.watched.push_back(
            {.operand = bind_d, .first = i * 8, .elements = 3, .invocation = i, .subgroup = i / 2, .step = 4});
    }
    t.watched.push_back({.operand = bind_b, .first = 0, .elements = 3, .invocation = 0, .subgroup = 0, .step = 0});
    t.watched.push_back({.operand = bind_b, .first = n, .elements = 3, .invocation = 1, .subgroup = 0, .step = 2});
    t.traced.resize(t.owners.size() * 4);
    t.untraced = t.traced;
    return t;
}

std::string only_fault(const Trace& t) {
    const Coverage c = coverage_of(t);
    REQUIRE(c.faults.size() == 1);
    return c.faults[0];
}

}  // namespace

TEST_CASE("coverage: a right trace has no fault, and its numbers are those of the tiling") {
    const Coverage c = coverage_of(right());
    CHECK(c.faults.empty());
    REQUIRE(c.touched.size() == 3);
    CHECK((c.touched[0].least == 2 && c.touched[0].most == 2 && c.touched[0].accesses == 16));
    CHECK(c.touched[2].histogram == std::map<uint64_t, uint64_t>{{1, 24}});
    CHECK(c.read == 16 + 12);
    CHECK(c.formula == doctest::Approx(4 * 6 * 2 * (1.0 / 4 + 1.0 / 3)));
    REQUIRE(c.sets.size() == 3);
    CHECK(c.sets[0].one_invocation == "0");
    CHECK(c.sets[0].invocations_begin == "2·(0~3)");
    CHECK(c.sets[0].one_step == "2·(0~3)");
    CHECK((c.sets[0].steps == 2 && c.sets[0].stride == 1 && c.sets[0].repeats == 1));
    CHECK(c.sets[0].all == "(0~7)");
    CHECK(c.sets[1].all == "6·(0~1) + (0~2)");
    CHECK(c.sets[2].one_invocation == "(0~2)");
    CHECK(c.sets[2].invocations_begin == "8·(0~3)");
}

TEST_CASE("coverage: each kind of fault is named with its place") {
    Trace t = right();
    t.operands[bind_d].counts[8 + 2] = 0;
    CHECK(has_words(only_fault(t), "D[1][2]"));
    t = right();
    t.operands[bind_d].counts[16] = 2;
    t.operands[bind_d].counts[17] = 3;
    CHECK(has_words(only_fault(t), "D[2][0]", "1 more"));
    t = right();
    t.operands[bind_d].counts[7] = 1;
    CHECK(has_words(only_fault(t), "1 element", "D"));
    t = right();
    t.operands[bind_b].counts[7] = 0;
    CHECK(has_words(only_fault(t), "B[1][1]"));
    t = right();
    t.operands[bind_a].outside = 2;
    t.operands[bind_a].farthest = 99;
    CHECK(has_words(only_fault(t), "2 accesses", "A", "8 elements", "99"));
    t = right();
    t.traced[13] = std::byte{1};
    CHECK(has_words(only_fault(t), "untraced D", "1 element"));
    t = right();
    t.outcome.wrong = "D[0][1] is 3 and should be 5";
    CHECK(has_words(only_fault(t), "D[0][1]", "3", "5"));
}

TEST_CASE("coverage: A and B are read unless alpha is 0, C unless beta is, what the epilogue adds always") {
    Trace t = right();
    t.k = 0;
    t.watched.clear();
    for (const uint32_t bind : {uint32_t{bind_a}, uint32_t{bind_b}})
        t.operands[bind].counts.assign(t.operands[bind].counts.size(), 0);
    CHECK((coverage_of(t).faults.empty() && coverage_of(t).formula == 0));
    t.operands[bind_b].counts[3] = 1;
    CHECK(has_words(only_fault(t), "B", "alpha"));
    t = right();
    t.operands[bind_c] = operand("C", m, n, n, 0);
    CHECK(coverage_of(t).faults.empty());
    t.operands[bind_c].counts[2] = 1;
    CHECK(has_words(only_fault(t), "C", "beta"));
    t.adds_c = true;
    CHECK(has_words(only_fault(t), "C[0][0]", "22 more"));
    t = right();
    t.operands[bind_bias] = operand("bias", 1, n, n, 4);
    CHECK(coverage_of(t).faults.empty());
    t.operands[bind_bias].counts[5] = 0;
    CHECK(has_words(only_fault(t), "bias[0][5]"));
}

TEST_CASE("coverage: elements that are read again in a step are counted, and reading a gap is not a fault") {
    Trace t = right();
    t.watched.push_back({.operand = bind_a, .first = 0, .elements = 1, .invocation = 3, .subgroup = 1, .step = 0});
    CHECK(coverage_of(t).sets[0].repeats == 2);
    t = right();
    t.operands[bind_a] = operand("A", m, k, 4, 2);
    t.operands[bind_a].counts[3] = 1;
    const Coverage c = coverage_of(t);
    CHECK(c.faults.empty());
    CHECK(c.touched[0].gap_elements == 1);
}

TEST_CASE("coverage: neighbours of one label are one patch") {
    CHECK(patches({1, 1, 0, 1, 1, 2}, 3) == std::vector<Patch>{{1, 0, 0, 2, 2}, {2, 1, 2, 1, 1}});
    CHECK(patches({0, 0}, 2).empty());
    CHECK(patches({}, 0).empty());
    CHECK(patches({3, 0, 3, 3, 3, 3}, 3).size() == 3);
}

TEST_CASE("coverage: the picture shows each work group, and what one reads") {
    const std::string text = svg(right(), "a < b", "device");
    CHECK(text.starts_with("<svg "));
    CHECK(
        has_words(text, "a &lt; b", "A, 4 x 2", "B, 2 x 6", "D, 4 x 6", "2 subgroups", "f0 tile", "f1 tile", "faint"));
    CHECK(text.find("nan") == std::string::npos);
}
