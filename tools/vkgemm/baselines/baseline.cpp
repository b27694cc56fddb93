// SPDX-License-Identifier: MIT
#include "baselines/baseline.h"

#include <algorithm>

#include "cli/terminal.h"
#include "measure/deviation.h"

namespace vkgemm::tool {
namespace {

Status check(Baseline& baseline, CaseRunner& runner, Measurement& result) {
    const ExactCase& exact = runner.exact();
    if (Status s = baseline.load(runner.given(), runner.operands(true), 1); !s) return s;
    auto once = baseline.run(1, 0, exact.alpha(), exact.beta());
    if (!once) return once.status();
    const auto d = baseline.result();
    if (!d) return d.status();
    if (const std::string* extent = runner.known_right(*d)) {
        result.checked = *extent;
        return {};
    }
    const ExactCase::Outcome outcome = exact.verify_rounded(*d);
    result.wrong = outcome.wrong;
    result.checked = outcome.rounded.empty() ? extent_name(outcome.extent) : "within tolerance";
    if (outcome.wrong.empty() && !outcome.rounded.empty())
        result.note = "it rounds partial sums: " + outcome.rounded + " if summed exactly";
    return {};
}

bool over_31_bits(std::initializer_list<uint64_t> numbers) { return std::max(numbers) > INT32_MAX; }

}  // namespace

Result<std::unique_ptr<Baseline>> open_baseline(const std::string& name, const host::Device& device) {
    return name == "cublas" ? open_cublas(device) : open_openblas();
}

BaselineRun::BaselineRun(Baseline& baseline, CaseRunner& runner)
    : baseline_(baseline),
      runner_(runner),
      result_(runner.blank()),
      timing_(runner.options(), result_, [this](size_t runs) { return run(runs); }) {
    result_.kernel = baseline.name();
}

bool BaselineRun::goes_on() {
    if (!begun_ && !interrupted()) {
        begun_ = true;
        if (runner_.options().phase) runner_.options().phase("prepares " + result_.kernel);
        if (const std::string why = baseline_.unfit(runner_.given()); !why.empty())
            result_.failure = {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, why};
        else if (runner_.options().check)
            result_.failure = check(baseline_, runner_, result_);
        if (result_.failure && result_.wrong.empty())
            result_.failure = baseline_.load(runner_.given(), runner_.operands(false), runner_.sets());
    }
    return begun_ && result_.failure && result_.wrong.empty() && !interrupted();
}

Result<host::Times> BaselineRun::run(size_t runs) {
    const Case& c = runner_.given();
    auto seconds = baseline_.run(runs, next_ % runner_.sets(), c.alpha, c.beta);
    if (!seconds) return seconds.status();
    next_ += runs;
    return host::Times{.seconds = *std::move(seconds), .clock = baseline_.clock()};
}

void BaselineRun::part() {
    if (!goes_on() || timing_.done()) return;
    if (baseline_.clock() == host::Clock::device) timing_.warm_up_for(0);
    result_.failure = timing_.part();
}

Status BaselineRun::time_the_rest() {
    const Case& c = runner_.given();
    if (Status s = timing_.rest(); !s || interrupted()) return s;
    if (runner_.options().check && has_deviation(c)) {
        const auto d = baseline_.result();
        if (!d) return d.status();
        result_.deviation = deviation_of(c, runner_.operands(false), *d);
    }
    if (baseline_.clock() == host::Clock::host) return {};
    return noted(time_in_a_row(result_, [&](size_t runs) { return baseline_.run_together(runs, c.alpha, c.beta); }),
                 result_);
}

Measurement BaselineRun::finish() {
    if (goes_on()) result_.failure = time_the_rest();
    return std::move(result_);
}

BlasProblem blas_problem(const Case& c) {
    const Problem& p = c.problem;
    const Resolved resolved = resolve(p);
    const bool by_rows = p.d.layout == rowMajor;
    const auto seen = [by_rows](VkgemmSlot slot, const Matrix& given, const MatrixInfo& matrix) {
        const uint64_t ld = given.layout == rowMajor ? matrix.row_step : matrix.col_step;
        return BlasMatrix{.slot = slot,
                          .transposed = (given.layout == rowMajor) != by_rows,
                          .ld = static_cast<int>(ld),
                          .batch_step = static_cast<long long>(matrix.batch_step)};
    };
    const BlasMatrix a = seen(VKGEMM_SLOT_A, p.a, resolved.a), b = seen(VKGEMM_SLOT_B, p.b, resolved.b),
                     d = seen(VKGEMM_SLOT_D, p.d, resolved.d);
    return {.rows = static_cast<int>(by_rows ? p.n : p.m),
            .cols = static_cast<int>(by_rows ? p.m : p.n),
            .depth = static_cast<int>(p.k),
            .batch = static_cast<int>(resolved.batch),
            .left = by_rows ? b : a,
            .right = by_rows ? a : b,
            .out = d};
}

std::string unfit_for_blas(const Case& c) {
    const Problem& p = c.problem;
    const Resolved resolved = resolve(p);
    if (flops(c) == 0) return "there is nothing to multiply";
    if (p.grouping != VKGEMM_GROUPING_NONE) return "it is not given groups whose sizes are in memory";
    if (over_31_bits({p.m, p.n, p.k, resolved.batch, resolved.a.row_step, resolved.a.col_step, resolved.b.row_step,
                      resolved.b.col_step, resolved.d.row_step, resolved.d.col_step}))
        return "its sizes and leading dimensions have 31 bits";
    if (resolved.d.outer > 1 || resolved.a.ratio > 1 || resolved.b.ratio > 1)
        return "it takes batches of one level whose products have a matrix each, or all the same";
    if (p.cSource == VKGEMM_C_SEPARATE) return "it reads C only where it writes D";
    if (p.scalars) return "it is not given scalars in memory";
    if (p.epilogue.count &&
        (resolved.bias != resolved.d.type || resolved.scale != resolved.d.type || resolved.residual != resolved.d.type))
        return "it reads operands of the epilogue in D's type alone";
    return "";
}

}  // namespace vkgemm::tool
