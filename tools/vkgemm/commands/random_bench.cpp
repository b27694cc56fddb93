// SPDX-License-Identifier: MIT
#include "commands/random_bench.h"

#include <algorithm>

#include "commands/command.h"
#include "commands/plan_options.h"
#include "measure/regret.h"
#include "report/regret_report.h"

namespace vkgemm::tool {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t saved_after = 20;  // problems

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

nlohmann::ordered_json json_of(const Session& session, const RandomBench& o, const host::Device& device,
                               const RegretReport& report) {
    nlohmann::ordered_json all = json_head("bench");
    all["device"] = json_device(device.info());
    all["options"] = {{"random", o.problems},     {"seed", o.seed},
                      {"suite", o.suite},         {"draw", o.draw},
                      {"type", o.types},          {"max_flops", o.max_flops},
                      {"budget", o.budget},       {"kernel", joined(o.kernels, ",")},
                      {"cold", o.cold},           {"hot", o.hot},
                      {"device", session.device}, {"validate", session.validate},
                      {"tuned", tuned_path()}};
    all["interrupted"] = interrupted();
    all["lost"] = report.losses();
    all["random"] = report.problems();
    return all;
}

// Problems of the suite, or random ones.
Result<std::vector<RandomCase>> drawn_cases(const RandomBench& o, Draw draw) {
    if (o.suite.empty())
        return random_problems(o.problems, o.seed, o.types.empty() ? default_random_types : o.types, o.max_flops, draw);
    if (!o.types.empty())
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                      "--random draws from --suite, whose problems have types; leave --type out"};
    auto all = load_suite(o.suite);
    if (!all) return all.status();
    return drawn_from(*std::move(all), o.problems, o.seed);
}

void announce_end(size_t results) {
    warn(results == 0 ? "vkgemm: interrupted before the first result; no file is written"
                      : "vkgemm: interrupted; the results so far are kept");
}

}  // namespace

void add_random_options(CLI::App& bench, RandomBench& o) {
    CLI::Option* random = bench.add_option(
        "--random", o.problems,
        "compare the choice with the fastest kernel and schedule, on N random problems, or N of --suite");
    random->type_name("N")->check(number_in(1, 100000, true));
    CLI::Option* const others[] = {
        bench.add_option("--seed", o.seed, "seed of the random problems (default: 1)")
            ->type_name("S")
            ->check(number_in(0, 1e15, true)),
        bench
            .add_option("--draw", o.draw,
                        "what random problems are like: any sizes, or those of layers and attention (default: sizes)")
            ->type_name("sizes|networks")
            ->check(one_of({"sizes", "networks"})),
        bench
            .add_option("--max-flops", o.max_flops,
                        "size of the largest random problem, in operations (default: 2e11, of networks 1e12)")
            ->type_name("X")
            ->check(number_in(1e7, 1e18)),
        bench.add_option("--budget", o.budget, "start no random problem after this many seconds")
            ->type_name("SECONDS")
            ->check(number_in(0.1, 1e6))};
    for (CLI::Option* option : others) option->needs(random);
    for (const char* name : {"--draw", "--max-flops"}) bench.get_option(name)->excludes(bench.get_option("--suite"));
    for (const char* name : {"problem", "--shape", "--layout", "--tile", "--vs", "--min-time", "--repeats",
                             "--no-check", "--plot", "--workspace", "--alignment", "--operands", "--native"})
        random->excludes(bench.get_option(name));
}

int run_random_bench(const Session& session, RandomBench o) {
    if (o.kernels.empty()) o.kernels = {"auto", "all"};
    const auto takes = [&](const char* word) { return std::ranges::find(o.kernels, word) != o.kernels.end(); };
    if (o.kernels.size() != 2 || !takes("all") || takes("auto") == takes("shaders"))
        return session.fail({VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                             "--random compares a choice with all kernels: --kernel auto,all or shaders,all"});
    const Draw draw = o.draw == "networks" ? Draw::networks : Draw::sizes;
    if (o.max_flops == 0) o.max_flops = default_max_flops(draw);
    const auto cases = drawn_cases(o, draw);
    if (!cases) return session.fail(cases.status());
    const std::string suite = suite_file(o.suite);
    if (Status s = own_places({{"--suite", suite}, {"--json", o.json}, {"--csv", o.csv}}); !s) return session.fail(s);
    auto json = OutputFile::open(o.json);
    if (!json) return session.fail(json.status());
    auto csv = OutputFile::open(o.csv);
    if (!csv) return session.fail(csv.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    const bool shown = o.json != "-" && o.csv != "-";
    const uint32_t plan_flags = takes("shaders") ? uint32_t{VKGEMM_PLAN_NO_NATIVE} : 0;
    RegretReport report;
    if (shown) print(device_line(device->info()) + "\n\n" + report.header(session.colored()));
    Progress progress(cases->size(), session.quiet);
    const auto start = SteadyClock::now();
    Status lost;
    RegretMeter meter(*device, {.hot = o.hot, .cold = o.cold});
    PlanAhead plans(*device, *cases, plan_flags);
    for (size_t i = 0; i < cases->size(); ++i) {
        if (interrupted() || (o.budget > 0 && seconds_since(start) > o.budget)) break;
        progress.begin((*cases)[i].c.text);
        auto regret = meter.measure(plans.take(i, [&] { meter.keep_busy(); }));
        if (!regret) {
            lost = regret.status();
            break;
        }
        if (interrupted()) break;  // half a measurement cannot be compared
        progress.clear();
        const std::string row = report.add(*std::move(regret), session.colored());
        if (shown) print(row);
        if (report.size() % saved_after) continue;  // else files are written, so that a run that is cut off leaves them
        if (json->replaceable())
            if (Status s = json->commit(json_text(json_of(session, o, *device, report))); !s) return session.fail(s);
        if (csv->replaceable())
            if (Status s = csv->commit(report.csv()); !s) return session.fail(s);
    }
    progress.clear();
    if (shown) {
        print(report.summary(session.colored()));
        print("\n" + wrapped(std::to_string(report.size()) + " of " + std::to_string(cases->size()) +
                                 " problems were measured, in " + seconds_text(seconds_since(start)),
                             0));
    }
    if (interrupted()) announce_end(report.size());
    const Exit code = !lost ? session.fail(lost) : interrupted() ? exit_interrupted : exit_right;
    if (report.size() == 0) return code;
    return session.finish(
        *device,
        session.commit({{&*json, json_text(json_of(session, o, *device, report))}, {&*csv, report.csv()}}, code));
}

}  // namespace vkgemm::tool
