// SPDX-License-Identifier: MIT
// vkgemm tune: finds the fastest kernel for each problem by measuring, and writes it as a tuned row.
#include <algorithm>
#include <cmath>

#include "commands/command.h"
#include "commands/plan_options.h"
#include "commands/tune_random.h"
#include "commands/tuned_file.h"
#include "measure/kernel_lookup.h"
#include "measure/search.h"

namespace vkgemm::tool::tune_command {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double default_budget = 10;  // seconds for a problem, where no budget is given
constexpr double compile_share =
    1.5;  // times its share of the time left: the first problems compile for those that follow

struct Options {
    std::vector<std::string> problems;
    std::string suite, out = "vkgemm-tuned.txt";
    PlanWish plan;
    double budget = 0;  // seconds; 0: default_budget for each problem
    bool resume = false;
    TuneRandom random;
};

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

/// The row's comment: the time, and what the model's choice took.
std::string note_of(const Found& found) {
    std::string note = seconds_text(found.winner().seconds);
    if (found.gains()) note += "; " + found.model()->candidate.kernel + " " + seconds_text(found.model()->seconds);
    return note;
}

std::string command_line(const Options& options) {
    std::string text = "vkgemm tune";
    for (const std::string& p : options.problems) text += " '" + p + "'";
    if (!options.suite.empty()) text += " --suite " + options.suite;
    char number[32];
    std::snprintf(number, sizeof number, "%g", options.budget);
    if (options.budget > 0) text += std::string(" --budget ") + number;
    if (options.plan.has_workspace()) text += " --workspace " + options.plan.workspace;
    if (!options.plan.operands.empty()) text += " --operands " + options.plan.operands;
    if (options.plan.native == "off") text += " --native off";
    return text;
}

/// The whole run.
class Tuner {
   public:
    Tuner(const Session& session, const Options& options, const host::Device& device, TunedFile& file, size_t problems)
        : session_(session),
          device_(device),
          plan_(options.plan.options(workspace_limit)),
          file_(file),
          problems_(problems),
          budget_(options.budget > 0 ? options.budget : default_budget * static_cast<double>(problems)),
          progress_(problems, session.quiet) {}

    /// Refused where no more can be done: the device is lost, the file cannot be written.
    Status tune(const Case& c);
    void summary(const std::string& path);
    Exit exit() const { return exit_; }

   private:
    double passed() const { return std::chrono::duration<double>(SteadyClock::now() - start_).count(); }
    double left() const;
    Result<Found> try_all(const Case& c, double until);
    void show(const Case& c, const Found& found);
    void report(const Case& c, const std::string& why);

    const Session& session_;
    const host::Device& device_;
    PlanOptions plan_;  // of all plans
    TunedFile& file_;
    size_t problems_, done_ = 0, known_ = 0, timeless_ = 0, better_ = 0;
    double budget_, gain_ = 0;  // sum of logarithms
    SteadyClock::time_point start_ = SteadyClock::now();
    Progress progress_;
    Exit exit_ = exit_right;
};

/// Seconds that the run will still take.
double Tuner::left() const {
    const double most = std::max(0.0, budget_ - passed());
    const size_t tuned = done_ - known_;
    if (tuned == 0) return most;
    return std::min(most, passed() / static_cast<double>(tuned) * static_cast<double>(problems_ - done_));
}

void Tuner::report(const Case& c, const std::string& why) {
    progress_.clear();
    print(wrapped(c.text, 0) + wrapped(why, 4));
}

Result<Found> Tuner::try_all(const Case& c, double until) {
    const auto all = candidates(device_.context(), c.problem, plan_);
    if (!all) return all.status();
    CaseRunner runner(device_, c, {});
    return search(runner, *all,
                  {.plan = plan_,
                   .out_of_time = [&](const Found& f) { return f.tried.size() > 1 && passed() > until; },
                   .begin =
                       [&](const Candidate& candidate, size_t number) {
                           progress_.at(done_ + 1, left(),
                                        c.text + ", " + std::to_string(number) + " of " + std::to_string(all->size()) +
                                            ": " + candidate.kernel + " " + candidate.tile);
                       },
                   .failed =
                       [&](const Candidate& candidate, const Measurement& measured) {
                           if (!measured.wrong.empty()) exit_ = exit_wrong;
                           report(c, candidate.kernel + " " + candidate.tile + ": " +
                                         (measured.wrong.empty() ? measured.failure.text : "WRONG: " + measured.wrong));
                       }});
}

/// The problem, then who the cost model chose and who is best.
void Tuner::show(const Case& c, const Found& found) {
    const bool integer = !resolve(c.problem).is_float();
    Table table({{.title = "", .width = 6},
                 {.title = "kernel", .width = 30},
                 {.title = "tile", .width = 16},
                 {.title = "median", .right = true, .width = 8},
                 {.title = "rate", .right = true, .width = 13},
                 {.title = "gain", .right = true, .width = 6}});
    const auto row = [&](const char* who, const Tried& t, const std::string& gain) {
        table.add({who,
                   label_of(t.candidate.kernel),
                   t.candidate.tile,
                   seconds_text(t.seconds),
                   {flops(c) > 0 ? rate_text(flops(c) / t.seconds, integer) : "-", Style::head},
                   gain});
    };
    char gain[32];
    std::snprintf(gain, sizeof gain, "%.2fx", found.gain());
    if (found.model()) row("model", *found.model(), "");
    if (!found.winner().candidate.chosen) row("best", found.winner(), found.model() ? gain : "");
    if (!found.cut_short.empty()) table.note(found.cut_short);
    progress_.clear();
    print(wrapped(c.text, 0) + table.body(session_.colored()));
}

Status Tuner::tune(const Case& c) {
    const size_t behind = done_;
    struct Count {
        size_t& done;
        ~Count() { ++done; }
    } const count{done_};
    if (const auto completed = completeProblem(c.problem); !completed) {  // of a suite
        report(c, completed.status().text);
        return {};
    }
    if (file_.has(c.problem)) {
        ++known_;
        return Status{};
    }
    const double share = compile_share * (budget_ - passed()) / static_cast<double>(problems_ - behind);
    if (share <= 0) {
        ++timeless_;
        return Status{};
    }
    auto found = try_all(c, passed() + share);
    if (!found) return found.status();
    if (interrupted()) return {};  // a search that was interrupted has no result
    if (found->there == 0) {
        PlanOptions dry = plan_;
        dry.flags |= VKGEMM_PLAN_DRY | VKGEMM_PLAN_IGNORE_TUNED;
        const auto plan = device_.context().createPlan(c.problem, dry);
        report(c, plan ? "no candidate" : plan.status().text);
        if (!c.from_suite) exit_ = exit_no_device;
        return {};
    }
    if (found->tried.empty()) return {};
    show(c, *found);
    better_ += found->gains();
    gain_ += std::log(found->gain());
    return file_.add(c.problem, found->winner().candidate, note_of(*found));
}

void Tuner::summary(const std::string& path) {
    progress_.clear();
    const size_t n = file_.added();
    char gain[64];
    std::snprintf(gain, sizeof gain, "%.3fx", n ? std::exp(gain_ / static_cast<double>(n)) : 1);
    std::string text =
        "\n" + std::to_string(n) + (n == 1 ? " problem" : " problems") + " tuned in " + seconds_text(passed());
    if (passed() > 1.1 * budget_)
        text += " (the budget was " + seconds_text(budget_) + ", but two kernels are always tried)";
    if (n)
        text += ", " + std::to_string(better_) + " with a gain, " + gain + " in the geometric mean; written to " + path;
    if (known_) text += "; " + std::to_string(known_) + " had a row";
    if (timeless_)
        text += "; no time was left for " + std::to_string(timeless_) + ": continue with --resume and a new --budget";
    print(wrapped(text, 0));
}

int run(const Session& session, Options options) {
    if (options.out.empty() || options.out == "-")
        return session.fail(usage("--out needs a file, because rows are added to it one by one"));
    if (Status s = own_places({{"--suite", suite_file(options.suite)}, {"--out", options.out}}); !s)
        return session.fail(s);
    if (options.random.problems) {
        options.random.out = options.out;
        options.random.resume = options.resume;
        options.random.budget = options.budget;
        return run_tune_random(session, options.random);
    }
    const auto cases = load_cases(options.problems, options.suite);
    if (!cases) return session.fail(cases.status());
    for (const Case& c : *cases)
        if (auto refused = refused_groups(c, "tuned rows are of single products")) return session.fail(*refused);
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    auto file = TunedFile::open(options.out, options.resume, *device, command_line(options));
    if (!file) return session.fail(file.status());

    print(device_line(device->info()) + "\n");
    Tuner tuner(session, options, *device, *file, cases->size());
    for (const Case& c : *cases) {
        if (interrupted()) break;
        if (Status s = tuner.tune(c); !s) return session.fail(s);
    }
    tuner.summary(options.out);
    if (interrupted()) {
        warn(file->added() ? "vkgemm: interrupted; the rows so far are kept"
                           : "vkgemm: interrupted before the first row; no file is written");
        return exit_interrupted;
    }
    return session.finish(*device, tuner.exit());
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("tune", "find the fastest kernels by measuring, and write them to a file");
    c->add_option("problem", o->problems, "what to tune for (default: --suite classic)")->type_name("PROBLEM ...");
    c->add_option("--suite", o->suite, suite_help())->type_name("NAME|FILE");
    c->add_option("--budget", o->budget, "total time for all problems, in seconds (default: 10 per problem)")
        ->type_name("SECONDS")
        ->check(number_in(0.1, 1e6));
    c->add_option("--out", o->out, "file for the tuned rows (default: vkgemm-tuned.txt); VKGEMM_TUNED=FILE uses them")
        ->type_name("FILE");
    c->add_flag("--resume", o->resume, "keep the rows of FILE, and skip the problems that have a row");
    add_plan_options(*c, o->plan, "1GiB; a plan with less than a row needs does not follow it", false);
    add_native_option(*c, o->plan);
    add_tune_random_options(*c, o->random);
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::tune_command
