// SPDX-License-Identifier: MIT
// vkgemm bench: checks, then times, problems on kernels.
#include <algorithm>

#include "plan/words.h"
#include "tools/vkgemm/command.h"

namespace vkgemm::tool {
namespace {

struct Options {
    std::vector<std::string> problems;
    std::string suite, shapes, type, layout, kernel = "auto", tile, versus, json, csv, plot;
    bool cold = false, hot = false, no_check = false;
    double min_time = 0.5;
    size_t repeats = 0;
};

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

/// What cannot go together or is not there yet.
Status check_options(const Options& o) {
    if (!o.versus.empty()) return usage("--vs: not in this version");
    if (!o.plot.empty()) return usage("--plot: not in this version");
    if (o.json == "-" && o.csv == "-")
        return usage("--json - and --csv - both want standard output; give one of them a file");
    if (o.shapes.empty() && !(o.type.empty() && o.layout.empty()))
        return usage("--type and --layout describe --shape; a PROBLEM names its own types and layout");
    if (o.kernel == "all" && !o.tile.empty()) return usage("--tile is for one kernel, not for --kernel all");
    if (o.kernel == "all" || o.kernel == "auto") return {};
    std::vector<std::string> names = {"all", "auto"};
    for (const VkgemmKernelInfo& k : kernels()) names.push_back(k.name);
    if (std::ranges::find(names, o.kernel) != names.end()) return {};
    const std::string_view nearest = plan::nearest_word(o.kernel, names);
    return usage(
        "no kernel is called '" + o.kernel + "'" +
        (nearest.empty() ? "; 'vkgemm kernels' lists them" : "; did you mean '" + std::string(nearest) + "'?"));
}

Result<std::vector<Case>> collect_cases(const Options& o) {
    std::vector<Case> cases;
    const auto take = [&cases](Result<std::vector<Case>> more) -> Status {
        if (!more) return more.status();
        cases.insert(cases.end(), more->begin(), more->end());
        return {};
    };
    for (const std::string& line : o.problems) {
        auto c = parse_case(line);
        if (!c) return Status{c.status().code, VK_SUCCESS, "'" + line + "': " + c.status().text};
        cases.push_back(*std::move(c));
    }
    if (!o.shapes.empty())
        if (Status s = take(parse_shapes(o.shapes, o.type, o.layout)); !s) return s;
    if (!o.suite.empty() || cases.empty())
        if (Status s = take(load_suite(o.suite.empty() ? "classic" : o.suite)); !s) return s;
    return cases;
}

/// The kernels that a case is run with. Of `all`, those of its types.
std::vector<PlanOptions> kernels_for(const Options& o, const Case& c) {
    const char* tile = o.tile.empty() ? nullptr : o.tile.c_str();
    if (o.kernel == "auto") return {{.kernel = nullptr, .tile = tile}};
    if (o.kernel != "all") return {{.kernel = o.kernel.c_str(), .tile = tile}};
    const Resolved r = resolve(c.problem);
    const auto same = [](Type t, plan::Type p) { return static_cast<plan::Type>(t - VKGEMM_TYPE_F32) == p; };
    std::vector<PlanOptions> all;
    for (const VkgemmKernelInfo& k : kernels())
        if (same(k.a, r.a.type) && same(k.b, r.b.type) && same(k.accumulate, r.accumulate) && same(k.d, r.d.type))
            all.push_back({.kernel = k.name});
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
          shown_(o_.json != "-" && o_.csv != "-"),
          progress_(count(), session.quiet) {}

    Exit run();
    nlohmann::ordered_json json() const;
    const std::string& csv() const { return csv_; }

   private:
    size_t count() const {
        size_t n = 0;
        for (const Case& c : cases_) n += kernels_for(o_, c).size();
        return n;
    }
    Table table() const {
        size_t widest = 0;
        for (const VkgemmKernelInfo& k : kernels()) widest = std::max(widest, std::string_view(k.name).size());
        return Table({{.title = "  kernel", .width = widest + 2},
                      {.title = "runs", .right = true, .width = 4},
                      {.title = "median", .right = true, .width = 8},
                      {.title = "min", .right = true, .width = 8},
                      {.title = "max", .right = true, .width = 8},
                      {.title = "p95", .right = true, .width = 8},
                      {.title = "rate", .right = true, .width = 13},
                      {.title = "checked", .width = 9}});
    }
    void run_case(const Case& c);
    void note(const Case& c, const Measurement& m, const CaseRunner& runner, Table& rows);
    void worsen(Exit code);
    void write_csv(const Case& c, const Measurement& m, const CaseRunner& runner);

    const Session& session_;
    const Options& o_;
    const host::Device& device_;
    const std::vector<Case>& cases_;
    bool shown_;
    Progress progress_;
    Exit exit_ = exit_right;
    bool lost_ = false;
    nlohmann::ordered_json json_cases_ = nlohmann::ordered_json::array();
    std::string csv_ =
        "problem,kernel,tile,checked,error,clock,cold,runs,median_s,min_s,max_s,p95_s,tflops,gbytes_per_s\n";
};

/// The code that says most: Vulkan failed, then wrong, then unsupported.
void Bench::worsen(Exit code) {
    const auto weight = [](Exit e) {
        return e == exit_vulkan ? 4 : e == exit_wrong ? 3 : e == exit_usage ? 2 : e == exit_no_device ? 1 : 0;
    };
    if (weight(code) > weight(exit_)) exit_ = code;
}

std::string csv_quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

void Bench::write_csv(const Case& c, const Measurement& m, const CaseRunner& runner) {
    nlohmann::ordered_json j = json_case(c, m, runner);
    const auto cell = [&j](const char* key) { return j.contains(key) ? j[key].dump() : std::string(); };
    csv_ += csv_quoted(c.text) + "," + m.kernel + "," + csv_quoted(m.tile) + "," + m.checked + "," +
            csv_quoted(!m.failure ? m.failure.text : m.wrong);
    csv_ += "," + std::string(m.timed() ? (m.clock == host::Clock::device ? "device" : "host") : "") + "," +
            cell("cold") + "," + std::to_string(m.times.runs);
    for (const char* key : {"median", "min", "max", "p95", "tflops", "gbytes_per_s"}) csv_ += "," + cell(key);
    csv_ += "\n";
}

void Bench::note(const Case& c, const Measurement& m, const CaseRunner& runner, Table& rows) {
    json_cases_.push_back(json_case(c, m, runner));
    write_csv(c, m, runner);
    const std::string name = "  " + (m.kernel.empty() ? std::string("-") : m.kernel);
    if (!m.failure) {
        // That a kernel of `all` does not serve a case is no fault.
        const bool expected = o_.kernel == "all" && exit_code(m.failure) != exit_vulkan;
        if (!expected) worsen(exit_code(m.failure));
        lost_ = lost_ || m.failure.code == VKGEMM_ERROR_DEVICE_LOST;
        rows.add({name, "", "", "", "", "", "", {"not run", expected ? Style::dim : Style::bad}});
        rows.note(m.failure.text);
    } else if (!m.wrong.empty()) {
        worsen(exit_wrong);
        rows.add({name, "", "", "", "", "", "", {"WRONG", Style::bad}});
        rows.note(m.wrong);
    } else if (m.timed()) {
        const bool integer = !resolve(c.problem).is_float();
        rows.add({name,
                  std::to_string(m.times.runs),
                  seconds_text(m.times.median),
                  seconds_text(m.times.min),
                  seconds_text(m.times.max),
                  seconds_text(m.times.p95),
                  {m.flops > 0 ? rate_text(m.flops_per_second(), integer) : "-", Style::head},
                  o_.no_check ? Cell("unchecked", Style::bad) : Cell(m.checked, Style::good)});
        if (!m.failure.text.empty()) rows.note(m.failure.text);
        if (m.clock == host::Clock::host) rows.note("timed by the host's clock: the device has no timestamps");
    }
}

void Bench::run_case(const Case& c) {
    CaseRunner runner(
        device_, c,
        {.check = !o_.no_check, .hot = o_.hot, .cold = o_.cold, .min_time = o_.min_time, .repeats = o_.repeats});
    std::string title = c.text;
    title += runner.is_cold() ? ", cold (" + std::to_string(runner.sets()) + (runner.sets() == 1 ? " set" : " sets") +
                                    " of operands in turn)"
                              : ", hot";
    bool titled = false;
    for (const PlanOptions& kernel : kernels_for(o_, c)) {
        if (interrupted() || lost_) return;
        progress_.begin(c.text + (kernel.kernel ? std::string(", ") + kernel.kernel : ""));
        const Measurement m = runner.run(kernel);
        progress_.clear();
        Table rows = table();
        note(c, m, runner, rows);
        if (!shown_) continue;
        if (!titled) print(wrapped(title, 0));
        titled = true;
        print(rows.body(session_.colored()));
    }
    if (!titled && shown_ && !interrupted()) print(wrapped(title, 0) + "  no kernel of these types in this build\n");
}

Exit Bench::run() {
    if (shown_) print(device_line(device_.info()) + "\n\n" + table().header(session_.colored()));
    for (const Case& c : cases_) {
        if (interrupted() || lost_) break;
        run_case(c);
    }
    if (interrupted()) {
        std::fputs("vkgemm: interrupted; what was measured until then is kept\n", stderr);
        return exit_interrupted;
    }
    return exit_;
}

nlohmann::ordered_json Bench::json() const {
    nlohmann::ordered_json all = json_head("bench");
    all["device"] = json_device(device_.info());
    all["options"] = {{"kernel", o_.kernel}, {"tile", o_.tile},         {"check", !o_.no_check}, {"cold", o_.cold},
                      {"hot", o_.hot},       {"min_time", o_.min_time}, {"repeats", o_.repeats}};
    all["interrupted"] = interrupted();
    all["cases"] = json_cases_;
    return all;
}

int run(const Session& session, const Options& options) {
    if (Status s = check_options(options); !s) return session.fail(s);
    const auto cases = collect_cases(options);
    if (!cases) return session.fail(cases.status());
    auto json = OutputFile::open(options.json);
    if (!json) return session.fail(json.status());
    auto csv = OutputFile::open(options.csv);
    if (!csv) return session.fail(csv.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    Bench bench(session, options, *device, *cases);
    const Exit code = bench.run();
    if (Status s = json->commit(bench.json().dump(2) + "\n"); !s) return session.fail(s);
    if (Status s = csv->commit(bench.csv()); !s) return session.fail(s);
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add_bench(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("bench", "check problems, then time them");
    c->add_option("problem", o->problems,
                  "what to compute, such as '64x128x256' or 'i32*i32 1600x1600x1007' (default: --suite classic)")
        ->type_name("PROBLEM ...");
    c->add_option("--suite", o->suite, "problems that are built in, or a file with one a line")->type_name("NAME|FILE");
    c->add_option("--shape", o->shapes, "problems by their sizes alone")->type_name("MxNxK[xBATCH],...");
    c->add_option("--type", o->type, "types for --shape, such as i32 or f16*f16+f32->f32 (default: f32)")
        ->type_name("T");
    c->add_option("--layout", o->layout, "layout of A and B for --shape: nn, nt, tn, tt (default: nn)")
        ->type_name("LAYOUT");
    c->add_option("--kernel", o->kernel,
                  "one kernel, all of the problem's types, or auto: the one that vkgemm chooses (default)")
        ->type_name("NAME|all|auto");
    c->add_option("--tile", o->tile, "constants to replace in the kernel's tile")->type_name("BM=128,BN=128,...");
    c->add_option("--vs", o->versus, "not in this version")->type_name("cublas,openblas");
    CLI::Option* cold =
        c->add_flag("--cold", o->cold, "rotate the operands over 256 MB (default on GPUs, where it fits)");
    c->add_flag("--hot", o->hot, "use the same operands every time (default on CPUs)")->excludes(cold);
    c->add_option("--min-time", o->min_time, "time for at least S seconds (default: 0.5)")
        ->type_name("S")
        ->check(CLI::Range(0.0, 3600.0).description(""));
    c->add_option("--repeats", o->repeats, "time exactly N runs (default: 20 or more; fewer if one takes over 0.25 s)")
        ->type_name("N")
        ->check(CLI::Range(1, 100000).description(""));
    c->add_flag("--no-check", o->no_check, "time without checking first; the table says so");
    c->add_option("--json", o->json, "write the result as JSON; - is standard output")->type_name("FILE|-");
    c->add_option("--csv", o->csv, "write the result as CSV; - is standard output")->type_name("FILE|-");
    c->add_option("--plot", o->plot, "not in this version")->type_name("FILE.svg");
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool
