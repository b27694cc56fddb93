// SPDX-License-Identifier: MIT
// vkgemm bench: checks, then times, problems on kernels.
#include <algorithm>
#include <deque>
#include <set>

#include "baselines/baseline.h"
#include "cli/text.h"
#include "commands/bench_from.h"
#include "commands/plan_options.h"
#include "commands/random_bench.h"
#include "measure/device_load.h"
#include "measure/kernel_lookup.h"
#include "measure/measure.h"
#include "measure/one_ahead.h"
#include "measure/phase_times.h"
#include "measure/rejected_kernel.h"
#include "measure/roofline.h"
#include "report/bench_report.h"

namespace vkgemm::tool::bench_command {
namespace {

struct Options {
    std::vector<std::string> problems;
    std::vector<std::string> versus, kernels;  // kernels: none means auto
    std::string suite, shapes, type, layout, tile, json, csv, plot, from;
    bool cold = false, hot = false, no_check = false;
    PlanWish plan;
    double min_time = 0;
    size_t repeats = 0;
    RandomBench random;

    bool takes(std::string_view selection) const { return std::ranges::find(kernels, selection) != kernels.end(); }
};

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

/// Refused if `tile` cannot be read, whichever kernel it is for: then every kernel refuses it in the same words.
Status check_tile(const std::string& tile) {
    if (tile.empty()) return {};
    const auto first = kernelTraits(0, tile.c_str());
    for (uint32_t i = 1; i < vkgemmKernelCount(); ++i)
        if (const auto other = kernelTraits(i, tile.c_str()); other || other.status().text != first.status().text)
            return {};
    return first.status();
}

/// Refuses options that cannot be combined.
Status check_options(const Options& options) {
    if (Status s = check_tile(options.tile); !s) return s;
    for (const std::string& name : options.versus) {
        const std::vector<std::string> known(std::begin(baseline_names), std::end(baseline_names));
        if (std::ranges::find(known, name) != known.end()) continue;
        return usage("--vs takes cublas and openblas, not '" + name + "'" + suggestion(name, known));
    }
    if (std::set<std::string>(options.versus.begin(), options.versus.end()).size() != options.versus.size())
        return usage("--vs names the same library twice");
    if (options.shapes.empty() && !(options.type.empty() && options.layout.empty()))
        return usage("--type and --layout need --shape; a PROBLEM states its own types and layout");
    if (options.takes("all") && !options.tile.empty())
        return usage("--tile replaces constants of one kernel; it cannot be combined with --kernel all");
    if (std::set<std::string>(options.kernels.begin(), options.kernels.end()).size() != options.kernels.size())
        return usage("--kernel names the same kernels twice");
    for (const std::string& name : options.kernels)
        if (name != "all" && name != "auto" && name != "shaders" && !find_kernel(name))
            return usage(unknown_kernel(name));
    return {};
}

Result<std::vector<Case>> collect_cases(const Options& options) {
    if (options.shapes.empty()) return load_cases(options.problems, options.suite);
    auto cases = parse_shapes(options.shapes, options.type, options.layout);
    if (!cases || (options.problems.empty() && options.suite.empty())) return cases;
    auto more = load_cases(options.problems, options.suite);
    if (!more) return more;
    cases->insert(cases->end(), more->begin(), more->end());
    return cases;
}

/// A kernel that a case is run with.
struct Picked {
    std::string_view by;  // the word of --kernel
    PlanOptions options;
};
/// Of `all`, those of the case's types.
std::vector<Picked> kernels_for(const Options& o, const Case& c) {
    const char* tile = o.tile.empty() ? nullptr : o.tile.c_str();
    std::vector<Picked> out;
    for (const std::string& by : o.kernels) {
        PlanOptions options = o.plan.options(workspace_limit);
        options.tile = tile;
        if (by == "all") {
            for (const Kernel& k : all_kernels())
                if (options.kernel = k.info.name; has_types(k, c.problem)) out.push_back({by, options});
            continue;
        }
        if (by == "shaders") options.flags |= VKGEMM_PLAN_NO_NATIVE;
        if (by != "auto" && by != "shaders") options.kernel = by.c_str();
        out.push_back({by, options});
    }
    return out;
}

/// A baseline of --vs: open, or the reason why it is not.
struct Contender {
    std::unique_ptr<Baseline> baseline;
    BenchBaseline report;
};
std::vector<Contender> open_contenders(const Options& options, const host::Device& device) {
    std::vector<Contender> all;
    for (const std::string& name : options.versus) {
        auto baseline = open_baseline(name, device);
        if (baseline) {
            const std::string title = (*baseline)->title();
            all.push_back({*std::move(baseline), {.name = name, .title = title, .missing = {}}});
        } else {
            all.push_back({nullptr, {.name = name, .title = {}, .missing = baseline.status().text}});
        }
    }
    return all;
}
std::vector<BenchBaseline> reports_of(const std::vector<Contender>& contenders) {
    std::vector<BenchBaseline> all;
    for (const Contender& c : contenders) all.push_back(c.report);
    return all;
}

/// The whole run: its rows as they come, and what becomes of them.
class Bench {
   public:
    Bench(const Session& session, const Options& options, const host::Device& device, const std::vector<Case>& cases)
        : session_(session),
          o_(options),
          device_(device),
          cases_(cases),
          contenders_(open_contenders(options, device)),
          report_(reports_of(contenders_), options.no_check, of_several_accuracies(cases),
                  device.info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU),
          shown_(o_.json != "-" && o_.csv != "-" && o_.plot != "-"),
          progress_(count(), session.quiet),
          roofline_(device),
          runners_(
              is_cpu() ? 1 : cases.size(), [this](size_t i) { return runner_of(cases_[i]); },
              [this](size_t i) { return prepared(i); }) {
        if (cases.size() > 1 && !is_cpu()) busy_.emplace(device);
    }

    Exit run();
    nlohmann::ordered_json json() const;
    const BenchReport& report() const { return report_; }
    /// It was interrupted before the first result.
    bool is_void() const { return interrupted() && report_.is_empty(); }

   private:
    size_t count() const {
        size_t n = 0;
        for (const Case& c : cases_) n += kernels_for(o_, c).size();
        for (const Contender& c : contenders_) n += c.baseline ? cases_.size() : 0;
        return n;
    }
    bool is_cpu() const { return device_.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    std::unique_ptr<CaseRunner> runner_of(const Case& c);
    std::unique_ptr<CaseRunner> prepared(size_t index);
    void quieten();
    void begin() const;
    void run_case(const Case& c, CaseRunner& runner);
    void judge(BenchResult& result, std::string_view by);
    std::string without_workspace(const Case& c, PlanOptions options, const Measurement& m) const;
    void begin_phase(const std::string& what) {
        phases_.begin(what);
        progress_.phase(what);
    }
    std::string phases_text() const;

    const Session& session_;
    const Options& o_;
    const host::Device& device_;
    const std::vector<Case>& cases_;
    std::vector<Contender> contenders_;
    BenchReport report_;
    bool shown_;
    Progress progress_;
    Roofline roofline_;
    PhaseTimes phases_;
    std::optional<BusyDevice> busy_;                 // of several cases on a GPU
    OneAhead<std::unique_ptr<CaseRunner>> runners_;  // each prepared while the device measures the one before
    Exit exit_ = exit_right;
    bool lost_ = false;
};

/// What one of our results means for the exit code. A kernel of `all` may not serve a case, and a suite may hold cases
/// that no kernel of this build serves: neither is a failure.
void Bench::judge(BenchResult& result, std::string_view by) {
    const Measurement& measured = result.m;
    if (!measured.failure) {
        const Exit code = exit_code(measured.failure);
        const bool listed = result.given->from_suite && (by == "auto" || by == "shaders") && code == exit_no_device;
        result.expected = listed || (by == "all" && code != exit_vulkan);
        if (!result.expected) exit_ = worse(exit_, code);
        lost_ = lost_ || measured.failure.code == VKGEMM_ERROR_DEVICE_LOST;
    } else if (!measured.wrong.empty()) {
        exit_ = worse(exit_, exit_wrong);
    }
}

void add_note(Measurement& m, const std::string& text) {
    if (!text.empty()) m.note += (m.note.empty() ? "" : "; ") + text;
}

/// What a program gets that brings no workspace, which is the library's default. "" if it makes no difference.
std::string Bench::without_workspace(const Case& c, PlanOptions options, const Measurement& m) const {
    if (m.workspaceBytes == 0) return "";
    const auto cost_of = [](const Explanation& e) { return e.candidates()[e.info().chosen].cost; };
    const auto with = Explanation::create(device_.context(), c.problem, options);
    options.workspaceLimit = 0;
    const auto without = Explanation::create(device_.context(), c.problem, options);
    const std::string uses =
        "uses " + bytes_text(m.workspaceBytes) + " of workspace; with none, the library's default, ";
    if (!with || !without || with->info().chosen == UINT32_MAX || without->info().chosen == UINT32_MAX)
        return uses + "no kernel serves";
    const double factor = cost_of(*without) / cost_of(*with);
    char times[64] = "";
    if (factor >= 1.05) std::snprintf(times, sizeof times, ", predicted %.2g times slower", factor);
    return uses + without->candidates()[without->info().chosen].kernel + times + " (--workspace 0)";
}

std::unique_ptr<CaseRunner> Bench::runner_of(const Case& c) {
    return std::make_unique<CaseRunner>(
        device_, c,
        MeasureOptions{.check = !o_.no_check,
                       .hot = o_.hot,
                       .cold = o_.cold,
                       .min_time = o_.min_time,
                       .repeats = o_.repeats,
                       .phase = [this](const std::string& what) { begin_phase(what); }});
}
std::unique_ptr<CaseRunner> Bench::prepared(size_t index) {
    const Case& c = cases_[index];
    auto runner = runner_of(c);
    if (busy_ && busy_->can_be_busy()) runner->device_is_warm();
    if (const auto kernels = kernels_for(o_, c); !kernels.empty())
        runner->prepare(kernels.front().options, runner_of(cases_[index - 1])->needed_memory());
    return runner;
}

/// Nothing else runs from here on.
void Bench::quieten() {
    if (is_cpu()) return;
    begin_phase("prepares the next");
    runners_.wait();
    if (busy_) busy_->rest();
}

void Bench::run_case(const Case& c, CaseRunner& runner) {
    const std::string title = c.text + heat_of(runner.blank()) + (o_.plan.has_addresses() ? ", by address" : "");
    bool titled = false;
    const auto show = [&](BenchResult result) {
        progress_.clear();
        const bool worth = result.m.timed() || !result.m.failure || !result.m.wrong.empty();
        if (!worth) return;                  // interrupted before there was anything
        phases_.begin("measures the roof");  // once for each kind of unit, in about a second
        if (result.m.timed()) result.roof = roofline_.of(c);
        phases_.begin("");
        const std::string rows = report_.add(std::move(result), session_.colored());
        if (shown_) print((titled ? "" : wrapped(title, 0)) + rows);
        titled = true;
    };
    Status refused{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "this build has no kernel for these types"};
    const std::vector<Picked> kernels = kernels_for(o_, c);
    std::set<std::string> ran;
    std::deque<BaselineRun> baselines;  // they alternate with the first kernel that serves
    for (const Contender& contender : contenders_)
        if (contender.baseline) baselines.emplace_back(*contender.baseline, runner);
    const Alternating others = {.begin =
                                    [&] {
                                        std::ranges::for_each(baselines, &BaselineRun::begin);
                                        quieten();
                                    },
                                .part = [&] { std::ranges::for_each(baselines, &BaselineRun::part); }};
    for (const auto& [by, options] : kernels) {
        if (interrupted() || lost_) return;
        progress_.begin(c.text + (options.kernel ? std::string(", ") + options.kernel : ""));
        // If no native kernel was chosen, the choice among the shaders is the same.
        if (by == "shaders" && o_.takes("auto") && std::ranges::none_of(ran, is_native)) continue;
        if (busy_) busy_->work();
        BenchResult result{.given = &c, .m = runner.run(options, others)};
        ran.insert(result.m.kernel);
        const bool chosen = !options.kernel && result.m.failure;
        if (chosen && !o_.tile.empty())
            add_note(result.m, rejected_kernel(device_, c.problem, options, o_.tile, result.m.kernel));
        if (chosen && !o_.plan.has_workspace()) add_note(result.m, without_workspace(c, options, result.m));
        judge(result, by);
        if (!refused) refused = result.m.failure;  // from here on success: one serves
        show(std::move(result));
    }
    if (kernels.empty()) {
        BenchResult none{.given = &c, .m = runner.blank(), .expected = c.from_suite};
        none.m.failure = refused;
        show(std::move(none));
    }
    if (!refused && !c.from_suite) exit_ = worse(exit_, exit_code(refused));
    quieten();
    for (BaselineRun& baseline : baselines) {
        if (lost_) break;
        progress_.begin(c.text + ", " + baseline.name());
        show({.given = &c, .m = baseline.finish(), .is_baseline = true, .expected = true});
    }
    if (shown_ && titled) print(report_.footer(session_.colored()));
}

void Bench::begin() const {
    std::string missing;
    for (const Contender& c : contenders_)
        if (!c.baseline) missing += wrapped("no comparison with " + c.report.name + ": " + c.report.missing, 0);
    if (!shown_) {
        if (!missing.empty()) warn(missing);
        return;
    }
    print(device_line(device_.info()) + "\n");
    for (const Contender& c : contenders_)
        if (c.baseline) print(wrapped("compared with " + c.report.title, 0));
    print(missing + "\n" + report_.header(session_.colored()));
}

/// Of several problems: where the time went.
std::string Bench::phases_text() const {
    double all = 0;
    std::string text;
    for (const auto& [phase, seconds] : phases_.longest_first()) {
        all += seconds;
        text += (text.empty() ? "" : ", ") + phase + " " + seconds_text(seconds);
    }
    return cases_.size() < 2 || text.empty() ? "" : wrapped("took " + seconds_text(all) + ": " + text, 0);
}

Exit Bench::run() {
    begin();
    for (size_t i = 0; i < cases_.size() && !interrupted() && !lost_; ++i) {
        begin_phase("waits for the host");
        if (busy_) busy_->work();
        run_case(cases_[i], *runners_.take(i));
    }
    if (shown_) print(report_.summary(session_.colored()) + phases_text());
    if (interrupted()) {
        warn(is_void() ? "vkgemm: interrupted before the first result; no file is written"
                       : "vkgemm: interrupted; the results so far are kept");
        return exit_interrupted;
    }
    return exit_;
}

nlohmann::ordered_json Bench::json() const {
    nlohmann::ordered_json all = json_head("bench");
    all["device"] = json_device(device_.info());
    all["options"] = {{"problems", o_.problems},
                      {"suite", o_.suite},
                      {"shape", o_.shapes},
                      {"type", o_.type},
                      {"layout", o_.layout},
                      {"kernel", joined(o_.kernels, ",")},
                      {"tile", o_.tile},
                      {"device", session_.device},
                      {"validate", session_.validate},
                      {"check", !o_.no_check},
                      {"cold", o_.cold},
                      {"hot", o_.hot},
                      {"plan", o_.plan.json(workspace_limit)},
                      {"min_time", o_.min_time},
                      {"repeats", o_.repeats},
                      {"vs", o_.versus},
                      {"tuned", tuned_path()}};
    all["interrupted"] = interrupted();
    all["seconds"] = nlohmann::ordered_json::object();
    for (const auto& [phase, seconds] : phases_.longest_first()) all["seconds"][phase] = seconds;
    all["roofline"] = {{"copy_gbytes_per_s", roofline_.copied() * 1e-9},
                       {"peak_tflops", nlohmann::ordered_json::object()}};
    for (const auto& [units, peak] : roofline_.peaks())
        if (peak > 0) all["roofline"]["peak_tflops"][units] = peak * 1e-12;
    all["baselines"] = report_.baselines();
    all["cases"] = report_.cases();
    return all;
}

int run(const Session& session, Options options) {
    if (options.random.problems) {
        RandomBench& r = options.random;
        r.suite = options.suite;
        r.types = options.type;
        r.json = options.json;
        r.csv = options.csv;
        r.kernels = options.kernels;
        r.hot = options.hot;
        r.cold = options.cold;
        return run_random_bench(session, r);
    }
    if (options.kernels.empty()) options.kernels = {"auto"};
    if (Status s = is_svg("--plot", options.plot); !s) return session.fail(s);
    if (Status s = own_places({{"--from", options.from},
                               {"--suite", suite_file(options.suite)},
                               {"--json", options.json},
                               {"--csv", options.csv},
                               {"--plot", options.plot}});
        !s)
        return session.fail(s);
    if (!options.from.empty()) return show_saved_bench(session, {options.from, options.csv, options.plot});
    if (Status s = check_options(options); !s) return session.fail(s);
    const auto cases = collect_cases(options);
    if (!cases) return session.fail(cases.status());
    auto json = OutputFile::open(options.json);
    if (!json) return session.fail(json.status());
    auto csv = OutputFile::open(options.csv);
    if (!csv) return session.fail(csv.status());
    auto plot = OutputFile::open(options.plot);
    if (!plot) return session.fail(plot.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    Bench bench(session, options, *device, *cases);
    const Exit code = bench.run();
    if (bench.is_void()) return code;
    const std::string place = device_line(device->info()) + ", vkgemm " + tool_version();
    return session.finish(*device, session.commit({{&*json, json_text(bench.json())},
                                                   {&*csv, bench.report().csv()},
                                                   {&*plot, bench.report().svg(place)}},
                                                  code));
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("bench", "check the results of problems, then time them");
    c->add_option("problem", o->problems,
                  "what to compute, such as '64x128x256' or 'i32*i32 1600x1600x1007' (default: --suite classic)")
        ->type_name("PROBLEM ...");
    c->add_option("--suite", o->suite, suite_help())->type_name("NAME|FILE");
    c->add_option("--shape", o->shapes, "problems given by their sizes")->type_name("MxNxK[xBATCH],...");
    c->add_option("--type", o->type,
                  "types for --shape, such as i32 or f16*f16+f32->f32 (default: f32); for --random, a list of types")
        ->type_name("T");
    c->add_option("--layout", o->layout, "layouts of A and B for --shape: n row-major, t transposed (default: nn)")
        ->type_name("nn|nt|tn|tt");
    c->add_option("--kernel", o->kernels,
                  "one kernel; auto: the kernel that vkgemm chooses (default); shaders: the kernel that it chooses "
                  "without native kernels; all: every kernel of the problem's types; or a list of these")
        ->type_name("NAME,auto,shaders,all")
        ->delimiter(',')
        ->allow_extra_args(false);
    c->add_option("--tile", o->tile, "constants of the kernel's tile to replace")->type_name("BM=128,BN=128,...");
    c->add_option("--vs", o->versus, "libraries to time on the same operands, if they are installed")
        ->type_name("cublas,openblas")
        ->delimiter(',')
        ->allow_extra_args(false);
    CLI::Option* cold = c->add_flag(
        "--cold", o->cold, "rotate through 256 MB of operands so that caches are cold (default on GPUs, if they fit)");
    c->add_flag("--hot", o->hot, "use the same operands in every run (default on CPUs)")->excludes(cold);
    add_plan_options(*c, o->plan, "1GiB; the library's own is 0, and the table states what that would change", true);
    add_native_option(*c, o->plan);
    CLI::Option* min_time =
        c->add_option("--min-time", o->min_time, "time for at least S seconds (default: 0.5 s, with 20 to 1000 runs)")
            ->type_name("S")
            ->check(number_in(0.001, 3600));
    c->add_option("--repeats", o->repeats,
                  "time exactly N runs (default: as many as fill --min-time; 3 to 20 if one takes over 0.25 s)")
        ->type_name("N")
        ->check(number_in(1, 100000, true))
        ->excludes(min_time);
    c->add_flag("--no-check", o->no_check, "do not check results before timing; the table marks them as unchecked");
    c->add_option("--json", o->json, "write the result as JSON; - is standard output")->type_name("FILE|-");
    c->add_option("--csv", o->csv, "write the result as CSV; - is standard output")->type_name("FILE|-");
    c->add_option("--plot", o->plot,
                  "draw the result as SVG: rate over size if one size varies, rate over error if the accuracy "
                  "varies, otherwise bars; - is standard output")
        ->type_name("FILE.svg|-");
    add_random_options(*c, o->random);
    CLI::Option* from =
        c->add_option("--from", o->from, "measure nothing; show the results in a file that --json wrote");
    from->type_name("FILE.json");
    for (CLI::Option* other : c->get_options())
        if (const std::string name = other->get_name();
            name != "--csv" && name != "--plot" && name != "--from" && name != "--help")
            from->excludes(other);
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::bench_command
