// SPDX-License-Identifier: MIT
#include "commands/tune_random.h"

#include <cmath>

#include "commands/command.h"
#include "commands/tuned_file.h"
#include "measure/cost_weights.h"
#include "measure/regret.h"
#include "report/regret_report.h"

namespace vkgemm::tool {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double default_seconds = 1;  // for a problem, where no budget is given
constexpr double worth_a_row = 0.03;   // what the choice loses; less may be noise
constexpr size_t least_problems = 8;   // for a fit

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
}

std::string command_line(const TuneRandom& o) {
    std::string text = "vkgemm tune --random " + std::to_string(o.problems) + " --seed " + std::to_string(o.seed);
    return o.types.empty() ? text : text + " --type " + o.types;
}

/// The whole run.
class RandomTuner {
   public:
    RandomTuner(const host::Device& device, TunedFile& file) : device_(device), file_(file), meter_(device, {}) {}

    /// Refused where no more can be done: the device is lost, the file cannot be written.
    Status take(PlannedCandidates planned);
    void keep_busy() { meter_.keep_busy(); }
    Status fit();
    Exit exit() const { return exit_; }

   private:
    Status add_row(const Regret& found);

    const host::Device& device_;
    TunedFile& file_;
    RegretMeter meter_;
    std::vector<FitProblem> problems_;
    Exit exit_ = exit_right;
};

/// The best candidate, once its result was found right.
Status RandomTuner::add_row(const Regret& found) {
    const TimedCandidate &best = found.tried[found.best()], &chosen = found.tried[found.chosen];
    CaseRunner runner(device_, found.given->c, {});
    const Measurement measured = runner.check_only({.kernel = best.candidate.kernel.c_str(),
                                                    .tile = best.candidate.tile.c_str(),
                                                    .workspaceLimit = workspace_limit},
                                                   1);
    if (measured.failure.code == VKGEMM_ERROR_DEVICE_LOST) return measured.failure;
    if (!measured.failure || interrupted()) return {};
    if (!measured.wrong.empty()) {
        exit_ = exit_wrong;
        warn("vkgemm: " + found.given->c.text + ": " + best.candidate.kernel + " " + best.candidate.tile +
             ": WRONG: " + measured.wrong);
        return {};
    }
    return file_.add(found.given->c.problem, best.candidate,
                     seconds_text(best.seconds) + "; " + chosen.candidate.kernel + " " + seconds_text(chosen.seconds));
}

Status RandomTuner::take(PlannedCandidates planned) {
    const auto found = meter_.measure(std::move(planned));
    if (!found) return found.status();
    if (!found->failure.empty() || interrupted()) return {};
    problems_.push_back(fit_problem(*found));
    return found->loss() < worth_a_row ? Status{} : add_row(*found);
}

/// The fitted model, and what it gains.
Status RandomTuner::fit() {
    const std::string measured = std::to_string(problems_.size()) + (problems_.size() == 1 ? " problem" : " problems");
    if (problems_.size() < least_problems) {
        print(wrapped(measured + " measured; a fit needs " + std::to_string(least_problems), 0));
        return {};
    }
    const Fit fit = fit_weights(problems_);
    const auto losses = [](const Losses& l) {
        return percent(l.mean) + ", worst twentieth " + percent(l.worst_twentieth);
    };
    std::string text = measured + " measured; the cost model loses " + losses(fit.before);
    if (fit.weights.empty()) {
        print(wrapped(text + ". No weights lose less on problems that they were not fitted to.", 0));
        return {};
    }
    text += "; fitted, " + losses(fit.after) + "; fitted to half of them, on the other half " + losses(fit.crossed);
    print(wrapped(text, 0));
    return file_.set_model(fit.weights, "fitted to " + measured + ": loses " + losses(fit.crossed) +
                                            " on others, before " + losses(fit.before));
}

}  // namespace

void add_tune_random_options(CLI::App& tune, TuneRandom& o) {
    CLI::Option* random =
        tune.add_option("--random", o.problems, "measure N random problems, and fit the cost model to the device");
    random->type_name("N")->check(number_in(1, 100000, true));
    CLI::Option* const others[] = {
        tune.add_option("--seed", o.seed, "seed of the random problems (default: 1)")
            ->type_name("S")
            ->check(number_in(0, 1e15, true)),
        tune.add_option("--type", o.types, "types of the random problems (default: f32,f16,bf16,i8,f32_split)")
            ->type_name("TYPE,..."),
        tune.add_option("--max-flops", o.max_flops, "size of the largest random problem, in operations (default: 2e11)")
            ->type_name("X")
            ->check(number_in(1e7, 1e18))};
    for (CLI::Option* option : others) option->needs(random);
    for (const char* name : {"problem", "--suite", "--workspace", "--operands", "--native"})
        random->excludes(tune.get_option(name));
}

int run_tune_random(const Session& session, TuneRandom o) {
    if (o.types.empty()) o.types = default_random_types;
    if (o.budget == 0) o.budget = default_seconds * static_cast<double>(o.problems);
    const auto cases = random_problems(o.problems, o.seed, o.types, o.max_flops);
    if (!cases) return session.fail(cases.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    auto file = TunedFile::open(o.out, o.resume, *device, command_line(o));
    if (!file) return session.fail(file.status());

    print(device_line(device->info()) + "\n");
    RandomTuner tuner(*device, *file);
    {
        PlanAhead plans(*device, *cases, VKGEMM_PLAN_IGNORE_TUNED);
        Progress progress(cases->size(), session.quiet);
        const auto start = SteadyClock::now();
        for (size_t i = 0; i < cases->size() && !interrupted(); ++i) {
            const double passed = std::chrono::duration<double>(SteadyClock::now() - start).count();
            if (passed > o.budget) break;
            progress.at(i + 1, o.budget - passed, (*cases)[i].c.text);
            if (Status s = tuner.take(plans.take(i, [&] { tuner.keep_busy(); })); !s) return session.fail(s);
        }
    }
    if (interrupted()) {
        warn("vkgemm: interrupted; the rows so far are kept, and nothing is fitted");
        return exit_interrupted;
    }
    if (Status s = tuner.fit(); !s) return session.fail(s);
    print(wrapped(std::to_string(file->added()) + (file->added() == 1 ? " row" : " rows") + " written to " + o.out, 0));
    return session.finish(*device, tuner.exit());
}

}  // namespace vkgemm::tool
