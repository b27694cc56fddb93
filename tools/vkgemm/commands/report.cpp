// SPDX-License-Identifier: MIT
// vkgemm report: what the owner of a device can send in within three minutes.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "cli/version.h"
#include "commands/command.h"
#include "measure/kernel_lookup.h"
#include "measure/roofline.h"
#include "measure/search.h"
#include "report/device_page.h"
#include "trace/inside.h"

namespace vkgemm::tool::report_command {
namespace {

constexpr const char* product_types[] = {"f32*f32", "f16*f16", "i8*i8"};
constexpr const char* product_shapes[] = {  // the quickest first
    "1x4096x4096 layout=nt", "16x4096x4096 layout=nt", "1024x1024x1024", "4096x512x1024", "4096x4096x4096"};
constexpr double check_part = 0.2;     // of the time, at most, for the check
constexpr double share_factor = 1.5;   // times its share of the time left: the first products compile for those after
constexpr double runs_of_choice = 10;  // that checking and timing the choice alone take, about
constexpr double runs_of_finals = 40;  // that the end of a search takes, about
constexpr double log_seconds = 15;     // between two lines of progress, where standard error is not a terminal
constexpr size_t checked_runs = 2;

struct Options {
    double budget = 150;  // seconds
    std::string html, out, repository, inject_fault;
    std::vector<std::string> checked;  // files
};

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

std::string today() {
    const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
    char text[48];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return text;
}

/// The whole run on a device.
class Reporter {
   public:
    Reporter(const Session& session, const Options& options, const host::Device& device)
        : session_(session),
          device_(device),
          shown_(options.out != "-" && options.html != "-"),
          budget_(options.budget),
          inject_fault_(options.inject_fault),
          roofline_(device),
          progress_(1 + std::size(product_types) * std::size(product_shapes), session.quiet, log_seconds) {}

    /// Refused if the device is lost. If interrupted(), the report is not whole.
    Status run();
    const DeviceReport& report() const { return report_; }

   private:
    double passed() const { return since(start_); }
    Status describe();
    Status check_sample();
    Status measure(const Case& c, const std::string& type, double share);
    Status look_for_best(const Case& c, CaseRunner& runner, double until, ReportedProduct& product);
    void show(const ReportedProduct& product, const std::string& note);
    void leave_out(const Case& c, const std::string& why);

    const Session& session_;
    const host::Device& device_;
    const PlanOptions plan_{.workspaceLimit = workspace_limit};
    bool shown_;  // results, as they come
    double budget_;
    std::string inject_fault_;
    SteadyClock::time_point start_ = SteadyClock::now();
    Roofline roofline_;
    Progress progress_;
    size_t step_ = 1;
    std::string cut_short_;                  // of the product that is measured
    std::map<std::string, double> reached_;  // by type: the highest share of the roof, which predicts the next time
    DeviceReport report_;
};

Status Reporter::describe() {
    report_.version = tool_version();
    report_.date = today();
    const auto text = device_.context().describeDevice();
    if (!text) return text.status();
    for (std::string_view rest = *text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (const size_t equals = line.find('='); equals != std::string_view::npos)
            report_.device.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
    for (const char* extension : device_.enabledExtensions()) report_.extensions.emplace_back(extension);
    return {};
}

/// One kernel of each variant and type, on a problem at the edges of its tile.
Status Reporter::check_sample() {
    std::set<std::string> seen;  // variants with their types
    for (const Kernel& k : all_kernels()) {
        if (interrupted() || passed() > check_part * budget_) break;
        const bool reported = k.is_product() && std::ranges::any_of(product_types, [&](const char* types) {
                                  const auto c = parse_case(std::string(types) + " 8x8x8");
                                  return c && has_types(k, c->problem);
                              });
        if (!reported || !seen.insert(k.variant() + " " + types_of(k)).second) continue;
        const std::vector<std::string> lines = edge_problems(k);
        const auto c = parse_case(lines[std::min<size_t>(1, lines.size() - 1)]);  // ragged
        if (!c) continue;
        progress_.at(step_, -1, "check: " + c->text + ", " + k.name());
        PlanOptions options = plan_;
        options.kernel = k.info.name;
        CaseRunner runner(device_, *c, {.timing = false, .seed = 1, .inject_fault = inject_fault_});
        const Measurement measured = runner.check_only(options, checked_runs);
        if (measured.failure.code == VKGEMM_ERROR_DEVICE_LOST) return measured.failure;
        if (!measured.failure || (interrupted() && measured.wrong.empty())) continue;  // not for this device
        ++report_.kernels;
        report_.runs += measured.times.runs;
        if (!measured.wrong.empty()) report_.wrong.emplace_back(k.name(), c->text + ": " + measured.wrong);
    }
    return {};
}

void Reporter::leave_out(const Case& c, const std::string& why) {
    report_.left_out.emplace_back(c.text, why);
    progress_.clear();
    if (shown_) print(wrapped(c.text + ": left out, " + why, 0, 4));
}

/// The kernel that a plan takes, tuned rows included, before all others.
Result<std::vector<Candidate>> choice_first(const Context& context, const Problem& problem, const PlanOptions& plan) {
    auto choice = chosen_candidate(context, problem, plan);
    if (!choice) return choice.status();
    auto all = candidates(context, problem, plan);
    if (!all) return all;
    std::erase_if(*all, [&](const Candidate& c) { return c.kernel == choice->kernel && c.tile == choice->tile; });
    for (Candidate& c : *all) c.chosen = false;
    choice->chosen = true;
    all->insert(all->begin(), *std::move(choice));
    return all;
}

Status Reporter::look_for_best(const Case& c, CaseRunner& runner, double until, ReportedProduct& product) {
    const auto all = choice_first(device_.context(), c.problem, plan_);
    if (!all) {
        const std::string why = all.status().text;  // with the reasons against each kernel
        leave_out(c, why.substr(0, why.find(';')));
        return {};
    }
    std::string refused;  // of the choice
    const auto begin = [&](const Candidate& candidate, size_t number) {
        progress_.at(
            step_, std::max(0.0, budget_ - passed()),
            c.text + ", " + std::to_string(number) + " of " + std::to_string(all->size()) + ": " + candidate.kernel);
    };
    const auto failed = [&](const Candidate& candidate, const Measurement& m) {
        const std::string why = m.wrong.empty() ? m.failure.text : m.wrong;
        if (!m.wrong.empty()) report_.wrong.emplace_back(candidate.kernel, c.text + " " + candidate.tile + ": " + why);
        if (candidate.chosen) refused = m.wrong.empty() ? why : "the chosen kernel is wrong";
    };
    const auto found =
        search(runner, *all,
               {.plan = plan_,
                .out_of_time = [&](const Found& f) { return passed() + runs_of_finals * f.winner().seconds > until; },
                .begin = begin,
                .failed = failed});
    if (!found) return found.status();
    if (interrupted()) return {};
    const Tried* const chosen = found->model();
    if (!chosen) {
        leave_out(c, refused.empty() ? "the choice was not timed" : refused);
        return {};
    }
    product.kernel = chosen->candidate.kernel;
    product.tile = chosen->candidate.tile;
    product.seconds = chosen->seconds;
    cut_short_ = found->cut_short;
    if (found->tried.size() < 2 && found->there > 1) return {};  // no time was left for another
    product.best = found->winner().candidate.kernel;
    product.best_tile = found->winner().candidate.tile;
    product.best_seconds = std::min(found->winner().seconds, product.seconds);
    product.tried = found->tried.size();
    product.there = found->there;
    return {};
}

Status Reporter::measure(const Case& c, const std::string& type, double share) {
    double& reached = reached_[type];
    const Roof roof = roofline_.of(c);
    if (interrupted()) return {};
    const double run = reached > 0 && roof.limit > 0 ? flops(c) / (reached * roof.limit) : 0;  // seconds
    if (reached > 0 && (share <= 0 || run * runs_of_choice > share)) {  // the first of a type is measured in any case
        leave_out(c, share <= 0 ? "no time was left"
                                : "a run takes about " + seconds_text(run) + ", and all of its runs had " +
                                      seconds_text(share));
        return {};
    }
    ReportedProduct product{.c = c};
    CaseRunner runner(device_, c, {.inject_fault = inject_fault_});
    if (Status s = look_for_best(c, runner, passed() + share, product); !s || product.seconds == 0) return s;
    product.roof = roof.limit;
    reached = std::max(reached, product.roof > 0 ? product.rate() / product.roof : 1e-9);
    show(product, cut_short_);
    report_.products.push_back(std::move(product));
    return {};
}

void Reporter::show(const ReportedProduct& p, const std::string& note) {
    const bool integer = !resolve(p.c.problem).is_float();
    Table table({{.title = "", .width = 6},
                 {.title = "kernel", .width = 30},
                 {.title = "tile", .width = 16},
                 {.title = "time", .right = true, .width = 8},
                 {.title = "rate", .right = true, .width = 13},
                 {.title = "of", .right = true, .width = 9}});
    const auto percent = [](double part, const char* of) {
        char text[32];
        std::snprintf(text, sizeof text, "%.0f %% %s", 100 * part, of);
        return std::string(text);
    };
    table.add({"chosen",
               label_of(p.kernel),
               p.tile,
               seconds_text(p.seconds),
               {rate_text(p.rate(), integer), Style::head},
               p.roof > 0 ? percent(p.rate() / p.roof, "roof") : ""});
    if (p.best_seconds > 0 && p.loss() > 0)
        table.add({"best",
                   label_of(p.best),
                   p.best_tile,
                   seconds_text(p.best_seconds),
                   {rate_text(flops(p.c) / p.best_seconds, integer), Style::head},
                   ""});
    std::string tried = p.best.empty() ? "no other kernel was tried"
                                       : std::to_string(p.tried) + " of " + std::to_string(p.there) +
                                             " candidates were tried, and the choice reaches " +
                                             percent(1 - p.loss(), "of the best");
    table.note(tried + (note.empty() ? "" : "; " + note));
    progress_.clear();
    if (shown_) print(wrapped(p.c.text, 0) + table.body(session_.colored()));
}

std::string check_line(const DeviceReport& r) {
    if (r.runs == 0) return "check: no kernel ran";
    return "check: " + std::to_string(r.kernels) + " kernels, " + std::to_string(r.runs) +
           " runs: " + (r.wrong.empty() ? "every result is exact" : std::to_string(r.wrong.size()) + " WRONG");
}

Status Reporter::run() {
    if (Status s = describe(); !s) return s;
    if (Status s = check_sample(); !s || interrupted()) return s;
    progress_.clear();
    if (shown_) print("\n" + check_line(report_) + "\n\n");
    size_t left = std::size(product_types) * std::size(product_shapes);
    for (const char* shape : product_shapes)
        for (const char* types : product_types) {
            const auto c = parse_case(std::string(types) + " " + shape);
            if (!c) return c.status();
            const double share = share_factor * (budget_ - passed()) / static_cast<double>(left--);
            ++step_;
            if (Status s = measure(*c, types, share); !s || interrupted()) return s;
        }
    report_.copied = roofline_.copied();
    for (const auto& [units, peak] : roofline_.peaks())
        if (peak > 0) report_.peaks.emplace_back(units, peak);
    return {};
}

void show_standings(const std::vector<Standing>& all, bool colored) {
    Table table({{.title = "#", .right = true},
                 {.title = "device"},
                 {.title = "measured"},
                 {.title = "f32", .right = true},
                 {.title = "f16", .right = true},
                 {.title = "i8", .right = true}});
    for (size_t i = 0; i < all.size(); ++i) {
        const Style style = all[i].is_this ? Style::head : Style::plain;
        std::vector<Cell> cells = {{std::to_string(i + 1), style},
                                   {all[i].report.fact("name").substr(0, 34), style},
                                   {all[i].is_this ? "now" : all[i].report.origin, style}};
        for (const TopRate& of : top_rates) {
            const double rate = top_rate(all[i].report, of);
            cells.emplace_back(rate > 0 ? rate_text(rate, of.integer) : "-", style);
        }
        table.add(std::move(cells));
    }
    print("\nthe highest rates of these products, among the known devices\n" + table.header(colored) +
          table.body(colored));
}

/// `--check`: whether files are sound reports.
int check_files(const Session& session, const Options& options) {
    if (!session.device.empty() || session.validate || !options.html.empty() || !options.out.empty())
        return session.fail(usage("--check uses no device and writes no file; leave the other options out"));
    Exit code = exit_right;
    for (const std::string& path : options.checked) {
        const auto text = read_file(path);
        if (!text) {
            code = worse(code, session.fail(text.status()));
            continue;
        }
        const ReadReport read = read_report(*text, inside::unreadable_fact);
        for (const std::string& problem : read.problems) warn(path + ", " + problem);
        if (!read.problems.empty()) {
            code = worse(code, exit_wrong);
            continue;
        }
        print(wrapped(path + ": sound, " + read.report.fact("name") + ", " +
                          std::to_string(read.report.products.size()) + " products, " + read.report.origin,
                      0));
    }
    return code;
}

std::string repository_of(const Options& options) {
    std::string out = options.repository.empty() ? tool_repository() : options.repository;
    while (out.ends_with('/')) out.pop_back();
    return out;
}

/// What a terminal gets after the measurements: where the device stands, the block to paste, and the link.
void show_report(const Session& session, const DeviceReport& report, const std::vector<Standing>& all,
                 const std::string& link) {
    show_standings(all, session.colored());
    print("\nthe report, to paste:\n\n```\n" + report_text(report) + "```\n\n");
    print(link.empty() ? "no link to a new issue: --repository names the project's page\n"
                       : "or open this page, which is a new issue with the report:\n" + link + "\n");
}

int run(const Session& session, const Options& options) {
    if (!options.checked.empty()) return check_files(session, options);
    if (!options.repository.empty() && !options.repository.starts_with("https://"))
        return session.fail(
            usage("--repository takes an address that begins with https://, not '" + options.repository + "'"));
    if (Status s = own_places({{"--html", options.html}, {"--out", options.out}}); !s) return session.fail(s);
    auto html = OutputFile::open(options.html);
    if (!html) return session.fail(html.status());
    auto out = OutputFile::open(options.out);
    if (!out) return session.fail(out.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    const bool shown = options.out != "-" && options.html != "-";
    if (shown) print(device_line(device->info()) + "\n");
    Reporter reporter(session, options, *device);
    if (Status s = reporter.run(); !s) return session.fail(s);
    if (interrupted()) {
        warn("vkgemm: interrupted; a report is whole or not at all, so no file is written");
        return exit_interrupted;
    }
    const DeviceReport& report = reporter.report();
    std::vector<DeviceReport> known;
    for (auto& by_file : read_known_devices(inside::unreadable_fact)) known.push_back(std::move(by_file.second));
    const std::vector<Standing> all = standings(report, std::move(known));
    const std::string link = issue_link(report, repository_of(options));
    if (shown) show_report(session, report, all, link);
    Exit code = report.wrong.empty() ? exit_right : exit_wrong;
    for (OutputFile* const file : {&*html, &*out}) {
        const bool is_page = file == &*html;
        const Status written = file->commit(is_page ? device_page(report, all, link) : report_text(report));
        if (!written)
            code = worse(code, session.fail(written));
        else if (shown && file->wanted())
            print("written: " + (is_page ? options.html : options.out) + "\n");
    }
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand(
        "report", "describe the device, check and time what vkgemm chooses on it, as a text and a page to send in");
    c->add_option("--html", o->html, "write a page for a browser that needs no other file; - is standard output")
        ->type_name("FILE|-");
    c->add_option("--out", o->out, "write the report alone, as docs/devices has it; - is standard output")
        ->type_name("FILE|-");
    c->add_option("--budget", o->budget, "seconds that all of it may take, about (default: 150)")
        ->type_name("SECONDS")
        ->check(number_in(1, 3600));
    c->add_option("--repository", o->repository,
                  "page of the project on GitHub for the link to a new issue (default: where the sources came from)")
        ->type_name("URL");
    c->add_option("--check", o->checked, "measure nothing: check that these files are sound reports")
        ->type_name("FILE ...");
#ifdef VKGEMM_INJECT_FAULT
    c->add_option("--inject-fault", o->inject_fault, "for tests: change an element of this kernel's result")->group("");
#endif
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::report_command
