// SPDX-License-Identifier: MIT
// A baseline that is mocked: it multiplies by hand what BLAS would be told, and is checked and timed as any other.
#include "tools/vkgemm/baselines/baseline.h"

#include <doctest/doctest.h>

#include <cstring>

#include "support/device.h"
#include "support/string_util.h"
#include "tools/vkgemm/measure/numbers.h"

using namespace vkgemm::tool;
using vkgemm::Result, vkgemm::Status;
using vkgemm::test::has_words;

namespace {

class HandBaseline : public Baseline {
   public:
    bool is_wrong = false, rounds_partial_sums = false, fails_in_a_row = false;
    double wrong_by = 1;
    size_t calls = 0, runs = 0;

    const char* name() const override { return "hand"; }
    std::string title() const override { return "a loop"; }
    vkgemm::host::Clock clock() const override { return vkgemm::host::Clock::device; }
    std::string unfit(const Case& c) const override { return unfit_for_blas(c); }

    Status load(const Case& c, const OperandBytes& operands, size_t) override {
        problem_ = blas_problem(c);
        type_ = resolve(c.problem).d.type;
        operands_ = operands;
        return {};
    }
    Result<std::vector<double>> run(size_t count, size_t, double alpha, double beta) override {
        ++calls;
        runs += count;
        const BlasProblem& p = problem_;
        for (int i = 0; i < p.batch; ++i)
            for (int row = 0; row < p.rows; ++row)
                for (int col = 0; col < p.cols; ++col) {
                    double up = 0, down = 0;  // the positive and the negative products
                    for (int k = 0; k < p.depth; ++k) {
                        const double product = get(p.left, i, row, k) * get(p.right, i, k, col);
                        (product > 0 ? up : down) += product;
                    }
                    if (rounds_partial_sums) {
                        up = rounded(up);
                        down = rounded(down);
                    }
                    const double before = beta == 0 ? 0 : beta * get(p.out, i, row, col);
                    put(p.out, i, row, col, alpha * (up + down) + before);
                }
        if (is_wrong) put(p.out, 0, 0, 0, get(p.out, 0, 0, 0) + wrong_by);
        return std::vector<double>(count, 1e-3);
    }
    Result<double> run_together(size_t count, double, double) override {
        if (fails_in_a_row) return Status{VKGEMM_ERROR_VULKAN, VK_SUCCESS, "out of patience"};
        return 1e-4 * static_cast<double>(count);
    }
    Result<std::vector<std::byte>> result() override { return operands_[VKGEMM_SLOT_D]; }
    void unload() override { operands_ = {}; }

   private:
    std::byte* at(const BlasMatrix& m, int batch, int row, int col) {
        const int64_t i = m.transposed ? col + int64_t{row} * m.ld : row + int64_t{col} * m.ld;
        return operands_[m.slot].data() + (batch * m.batch_step + i) * vkgemm::typeInfo(type_).bytes;
    }
    double get(const BlasMatrix& m, int batch, int row, int col) { return decode(type_, at(m, batch, row, col)); }
    void put(const BlasMatrix& m, int batch, int row, int col, double value) {
        encode(type_, value, at(m, batch, row, col));
    }
    double rounded(double value) const {
        std::byte bytes[8];
        encode(type_, value, bytes);
        return decode(type_, bytes);
    }
    vkgemm::Type type_ = vkgemm::f32;  // of all matrices
    BlasProblem problem_;
    OperandBytes operands_;
};

CaseRunner runner_of(const std::string& line, const MeasureOptions& options) {
    const auto c = parse_case(line);
    REQUIRE_MESSAGE(c, line);
    return CaseRunner(vkgemm::test::device(), *c, options);
}

}  // namespace

TEST_CASE("what BLAS is told is the problem, however its matrices lie") {
    for (const char* line : {"5x7x3", "5x7x3 layout=nt", "5x7x3 layout=tn", "5x7x3 layout=tt", "5x7x3 layout_d=t",
                             "5x7x3 layout=nt layout_d=t", "5x7x3 layout=tn layout_d=t", "1x9x4", "9x1x4 layout=tt",
                             "5x7x3 lda=6 ldb=9 ldd=11", "5x7x3 batch=3", "5x7x3 batch=2 stride_b=0 layout=tn",
                             "5x7x3 beta=1", "4x6x8 batch=2 beta=1 layout_d=t ldd=5 stride_d=40"}) {
        CAPTURE(std::string(line));
        CaseRunner runner = runner_of(line, {.repeats = 1});
        HandBaseline baseline;
        Measurement m = BaselineRun(baseline, runner).finish();
        CHECK_MESSAGE(m.failure, m.failure.text);
        CHECK(m.wrong == "");
        CHECK(m.checked == "all");
        CHECK(m.samples.size() == 1);
    }
}

TEST_CASE(
    "a baseline that is wrong is not timed, one that cannot says why, one that fails in a row keeps its samples") {
    HandBaseline baseline;
    baseline.is_wrong = true;
    CaseRunner runner = runner_of("5x7x3", {.repeats = 8});
    Measurement m = BaselineRun(baseline, runner).finish();
    CHECK_MESSAGE(has_words(m.wrong, "D[0][0]"), m.wrong);
    CHECK(m.samples.empty());

    baseline.is_wrong = false;
    CaseRunner apart = runner_of("5x7x3 c=separate beta=1", {});
    CHECK(has_words(BaselineRun(baseline, apart).finish().failure.text, "it reads C only where it writes D"));

    baseline.fails_in_a_row = true;
    CaseRunner cold = runner_of("512x512x1", {.cold = true, .repeats = 8});
    m = BaselineRun(baseline, cold).finish();
    CHECK(m.failure);
    CHECK(m.samples.size() == 8);
    CHECK(m.in_a_row == 0);
    CHECK(m.note == "not timed in a row: out of patience");
}

TEST_CASE("a baseline that rounds partial sums to D's type is within tolerance; one that is off by more is wrong") {
    HandBaseline baseline;
    baseline.rounds_partial_sums = true;
    for (const char* line : {"bf16*bf16 5x7x5001", "f16*f16 5x7x30001"}) {
        CAPTURE(std::string(line));
        baseline.is_wrong = false;
        CaseRunner runner = runner_of(line, {.repeats = 1});
        Measurement m = BaselineRun(baseline, runner).finish();
        CHECK_MESSAGE(m.failure, m.failure.text);
        CHECK(m.wrong == "");
        CHECK(m.checked == "within tolerance");
        CHECK_MESSAGE(has_words(m.note, "it rounds", "should be"), m.note);
        CHECK(m.samples.size() == 1);

        baseline.is_wrong = true;  // by as much as all products together
        baseline.wrong_by = 2e4;
        CaseRunner again = runner_of(line, {.repeats = 1});
        m = BaselineRun(baseline, again).finish();
        CHECK_MESSAGE(has_words(m.wrong, "D[0][0]", "should be"), m.wrong);
        CHECK(m.samples.empty());
    }
}

TEST_CASE("a baseline of integers, or of f32 with short sums, must be exact") {
    HandBaseline baseline;
    baseline.is_wrong = true;
    CaseRunner runner = runner_of("5x7x300", {.repeats = 1});
    CHECK(BaselineRun(baseline, runner).finish().wrong != "");
}

TEST_CASE("a baseline alternates with the kernel that it is timed beside") {
    HandBaseline baseline;
    CaseRunner runner = runner_of("5x7x3", {.repeats = 8});
    BaselineRun beside(baseline, runner);
    std::vector<size_t> seen;
    const Measurement ours = runner.run({}, {.begin = [&] { beside.begin(); },
                                             .part =
                                                 [&] {
                                                     beside.part();
                                                     seen.push_back(baseline.calls);
                                                 }});
    REQUIRE_MESSAGE(ours.failure, ours.failure.text);
    CHECK(ours.samples.size() == 8);
    REQUIRE(seen.size() == 3);  // between four parts
    CHECK(seen[0] > 1);
    CHECK(seen[1] > seen[0]);
    CHECK(seen[2] > seen[1]);
    CHECK(beside.finish().samples.size() == 8);
}
