// SPDX-License-Identifier: MIT
// vkgemm check: kernels against exact results, many times, at the edges of their tiles.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "commands/check_native.h"
#include "commands/command.h"
#include "commands/plan_options.h"
#include "measure/kernel_lookup.h"
#include "report/self_test_results.h"

namespace vkgemm::tool::check_command {
namespace {

struct Options {
    std::vector<std::string> problems;
    std::string suite, kernel = "all", out, inject_fault;
    PlanWish plan;
    size_t runs = 0;  // 0: as many as runs_of() returns
    uint64_t seed = 1;
    double log_seconds = 15;  // between two lines of progress, where standard error is no terminal
};

/// What is checked: one problem on one kernel ("": the one that the library chooses), with constants of its tile.
struct Job {
    Case c;
    std::string kernel, tile;
    bool asked = false;   // by name: then it is a failure that it cannot serve
    bool extra = false;   // left out where time is dear
    std::string of = {};  // the kernel that this is to show the faults of; "": the one that multiplies
};

bool is_cpu(const host::Device& device) { return device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU; }

size_t runs_of(const Options& o, const host::Device& device) {
    return o.runs ? o.runs : is_cpu(device) && o.kernel == "all" ? 2 : 10;
}

/// f64 from products of int8. Its passes multiply nothing; without the joiner, none of them is used.
void add_from_int8(std::vector<Job>& jobs) {
    for (const Kernel& k : all_kernels())
        if (k.traits.role == VKGEMM_KERNEL_JOINER)
            for (const char* const line : {"f64*f64 33x40x70 accuracy=f64_split beta=1 bias=col act=relu",
                                           "f64*f64 9x300x129 accuracy=f64_split layout=tt layout_d=t batch=2",
                                           "f64*f64 30x33x150 accuracy=f64_split_wide layout=nt"})
                if (auto c = parse_case(line))
                    jobs.push_back({.c = *std::move(c), .kernel = "", .tile = "", .of = k.name()});
}

Status add_own(const std::string& name, std::vector<Job>& jobs) {
    std::vector<const Kernel*> all;
    if (name == "all") {
        for (const Kernel& k : all_kernels())
            if (k.is_product()) all.push_back(&k);
    } else {
        const auto named = find_kernels(name, nullptr, {"all", "auto"});
        if (!named) return named.status();
        all = *named;
    }
    std::set<std::string> seen;  // modules: a variant and its types
    for (const Kernel* k : all) {
        const std::vector<std::string> lines = edge_problems(*k);
        const bool first = seen.insert(k->variant() + " " + types_of(*k)).second;
        for (size_t i = 0; i < lines.size(); ++i) {
            const bool worth = i == 1 || (first && i == 2);  // ragged; batches of transposed matrices
            if (auto c = parse_case(lines[i]))
                jobs.push_back(
                    {.c = *std::move(c), .kernel = k->name(), .tile = "", .asked = all.size() == 1, .extra = !worth});
        }
        const std::string deep =
            problem_for(*k, {.m = k->tile.BM + 4, .n = k->tile.BN + 4, .k = 8 * std::max(32u, k->tile.BK)});
        if (auto c = parse_case(deep))
            jobs.push_back({.c = *std::move(c), .kernel = k->name(), .tile = "SPLIT=3", .extra = true});
    }
    if (name == "all") add_from_int8(jobs);
    return {};
}

/// `asked`: those of them that no suite holds.
Status add_given(const Options& options, std::vector<Job>& jobs, std::vector<std::string>& asked) {
    const auto cases = load_cases(options.problems, options.suite);
    if (!cases) return cases.status();
    for (const Case& c : *cases) {
        if (!c.from_suite) asked.push_back(c.text);
        if (options.kernel == "auto") {
            jobs.push_back({.c = c, .kernel = "", .tile = "", .asked = !c.from_suite});
        } else if (options.kernel == "all") {
            for (const Kernel& k : all_kernels())
                if (k.is_product() && has_types(k, c.problem)) jobs.push_back({.c = c, .kernel = k.name(), .tile = ""});
        } else {
            const auto named = find_kernels(options.kernel, &c, {"all", "auto"});
            if (!named) return named.status();
            for (const Kernel* k : *named)
                jobs.push_back({.c = c, .kernel = k->name(), .tile = "", .asked = named->size() == 1});
        }
    }
    return {};
}

/// The whole run.
class Checker {
   public:
    Checker(const Session& session, const Options& o, const host::Device& device, size_t jobs)
        : session_(session),
          o_(o),
          device_(device),
          runs_(runs_of(o, device)),
          progress_(jobs, session.quiet, o.log_seconds) {}

    /// Refused where no more can be checked.
    Status check(const Job& job);
    /// The last of the jobs, which were not done.
    void leave(std::span<const Job> jobs);
    std::string table();
    std::string rows(const std::string& early, bool whole, std::span<const DisabledRow> old) const;
    /// Of the problems that were asked for, those that no kernel served; where none was, all of them.
    void miss(const std::vector<std::string>& asked);
    Exit exit() const { return exit_; }
    /// Is there anything that a self-test result can rest on?
    bool found_out() const;

   private:
    const Session& session_;
    const Options& o_;
    const host::Device& device_;
    size_t runs_;
    Progress progress_;
    CheckedKernels found_;                         // in the order of the table
    std::set<std::string> compared_;               // problems
    std::map<std::string, std::string> unserved_;  // problem: why the first kernel that was tried cannot serve it
    Exit exit_ = exit_right;
};

Status Checker::check(const Job& job) {
    progress_.begin(job.c.text + ", " + (job.kernel.empty() ? "the chosen kernel" : job.kernel));
    CaseRunner runner(
        device_, job.c,
        {.timing = false, .seed = o_.seed, .inject_fault = o_.inject_fault, .phase = [this](const std::string& what) {
             progress_.phase(what);
         }});
    PlanOptions options = o_.plan.options(workspace_limit);
    options.tile = job.tile.c_str();
    if (!job.kernel.empty()) options.kernel = job.kernel.c_str();
    const Measurement measured = runner.check_only(options, runs_);
    const std::string what = job.c.text + (job.tile.empty() ? "" : " " + job.tile);
    const std::string name = measured.kernel.empty() ? "-" : job.of.empty() ? measured.kernel : job.of;
    auto at = std::ranges::find(found_, name, &std::pair<std::string, Checked>::first);
    if (at == found_.end()) at = found_.insert(at, {name, {}});
    Checked& checked = at->second;
    if (measured.failure.code == VKGEMM_ERROR_DEVICE_LOST && !measured.kernel.empty())
        checked.wrong.push_back(what + ": " + measured.failure.text);
    if (!measured.failure) {
        if (exit_code(measured.failure) == exit_vulkan) return measured.failure;
        unserved_.emplace(job.c.text, measured.failure.text);  // of the first kernel, which asks for least
        if (!job.asked) return {};
        checked.unable.push_back(job.c.text + " cannot run: " + measured.failure.text);
        if (o_.out == "-") warn("vkgemm: " + checked.unable.back());  // a self-test result does not hold it
        if (exit_ == exit_right) exit_ = exit_code(measured.failure);
        return {};
    }
    if (interrupted() && measured.wrong.empty()) return {};
    ++checked.problems;
    checked.runs += measured.times.runs;
    checked.with.insert(what);
    compared_.insert(job.c.text);
    if (measured.wrong.empty()) return {};
    checked.wrong.push_back(what + ": " + measured.wrong);
    exit_ = exit_wrong;
    return {};
}

void Checker::leave(std::span<const Job> jobs) {
    for (auto& kernel : found_)
        kernel.second.finished = std::ranges::none_of(jobs, [&](const Job& job) {
            const std::string& of = job.of.empty() ? job.kernel : job.of;
            return of.empty() || of == kernel.first;  // "" may be any
        });
}

void Checker::miss(const std::vector<std::string>& asked) {
    if (exit_ != exit_right) return;
    if (asked.empty() && compared_.empty()) exit_ = exit_no_device;
    for (const std::string& text : asked) {
        if (compared_.contains(text)) continue;
        exit_ = exit_no_device;
        const auto why = unserved_.find(text);
        warn("vkgemm: none of these kernels serves " + text + " on this device: nothing was compared" +
             (why == unserved_.end() ? "; no kernel multiplies these types" : "; for example, " + why->second));
    }
}

bool Checker::found_out() const {
    return std::ranges::any_of(found_, [](const auto& k) { return k.second.problems > 0 || !k.second.wrong.empty(); });
}

std::string Checker::table() {
    progress_.clear();
    Table table({{.title = "kernel"},
                 {.title = "problems", .right = true},
                 {.title = "runs", .right = true},
                 {.title = "result"}});
    size_t kernels = 0, runs = 0, wrong = 0, unable = 0;
    for (const auto& [name, c] : found_) {
        if (c.problems == 0 && c.wrong.empty() && c.unable.empty()) continue;  // not for this device
        ++kernels;
        runs += c.runs;
        wrong += !c.wrong.empty();
        unable += !c.unable.empty();
        table.add({name, std::to_string(c.problems), std::to_string(c.runs),
                   !c.wrong.empty() ? Cell{"WRONG", Style::bad}
                   : c.problems     ? Cell{"right", Style::good}
                                    : Cell{"not run", Style::bad}});
        for (const std::string& why : c.wrong) table.note(why);
        for (const std::string& why : c.unable) table.note(why);
    }
    if (kernels == 0) return interrupted() ? "" : "none of these kernels could run\n";
    const std::string result = wrong  ? std::to_string(wrong) + " WRONG"
                               : runs ? "every result is exact"
                                      : "nothing was compared";
    return table.header(session_.colored()) + table.body(session_.colored()) + "\n" +
           wrapped(std::to_string(kernels) + (kernels == 1 ? " kernel, " : " kernels, ") + std::to_string(runs) +
                       (runs == 1 ? " run, seed " : " runs, seed ") + std::to_string(o_.seed) + ": " + result +
                       (unable ? "; " + std::to_string(unable) + " could not run everything that was asked for" : ""),
                   0);
}

std::string Checker::rows(const std::string& early, bool whole, std::span<const DisabledRow> old) const {
    const host::DeviceInfo& info = device_.info();
    return self_test_rows({.head = "# vkgemm " + tool_version() + " check, " + device_line(info) + "\n",
                           .device = info.name,
                           .early = early,
                           .whole = whole},
                          found_, old);
}

/// The rows of the file that the self-test result goes to.
Result<std::vector<DisabledRow>> old_rows(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::vector<DisabledRow>();
    const auto text = read_file(path);
    if (!text) return text.status();
    if (text->find('\0') != std::string::npos)
        return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, path + " is left as it was: a text has no zero byte"};
    const auto rows = Rows::disabledKernels(text->c_str());
    if (!rows) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, path + " is not changed: " + rows.status().text};
    std::vector<DisabledRow> all;
    for (const VkgemmRow& r : rows->all()) all.push_back({r.device, r.kernel, r.reason});
    return all;
}

/// Whether only native kernels are tested, on a device of their own.
bool is_native_only(const Options& o) { return o.plan.native == "only"; }

/// What such a test cannot take; "" if there is nothing.
const char* beside_native(const Options& o) {
    if (!o.problems.empty()) return "a PROBLEM";
    if (!o.suite.empty()) return "--suite";
    if (o.kernel != "all") return "--kernel";
    return o.out.empty() ? "" : "--out";
}

int run(const Session& given, const Options& options) {
    if (const char* other = beside_native(options); is_native_only(options) && *other)
        return given.fail({VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                           std::string(other) + " and --native cannot be combined; --native auto and off can"});
    if (is_native_only(options))
        return check_native(given, options.runs ? static_cast<uint32_t>(options.runs) : 2, options.seed);
    Session session = given;
    session.use_disabled_kernels = false;  // what was found wrong once is checked again
    if (Status s = own_places({{"--suite", suite_file(options.suite)}, {"--out", options.out}}); !s)
        return session.fail(s);
    std::vector<Job> jobs;
    const bool own = options.problems.empty() && options.suite.empty() && options.kernel != "auto";
    std::vector<std::string> asked;  // problems
    if (Status s = own ? add_own(options.kernel, jobs) : add_given(options, jobs, asked); !s) return session.fail(s);
    const auto old = old_rows(options.out);
    if (!old) return session.fail(old.status());
    auto out = OutputFile::open(options.out);
    if (!out) return session.fail(out.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    if (options.out != "-") print(device_line(device->info()) + "\n\n");
    const bool in_short = own && options.kernel == "all" && is_cpu(*device);
    if (in_short) std::erase_if(jobs, [](const Job& job) { return job.extra; });
    Checker checker(session, options, *device, jobs.size());
    Status lost;
    size_t done = 0;  // jobs; not one that was cut short
    while (done < jobs.size() && !interrupted()) {
        lost = checker.check(jobs[done]);
        if (!lost) break;
        done += !interrupted();
    }
    checker.leave(std::span(jobs).subspan(done));
    const std::string table = checker.table();
    if (options.out != "-") print(table);
    if (lost && !interrupted()) checker.miss(asked);
    const std::string early = lost.code == VKGEMM_ERROR_DEVICE_LOST ? "the device was lost"
                              : !lost                               ? "Vulkan failed"
                              : interrupted()                       ? "interrupted"
                                                                    : "";
    Exit code = interrupted() ? exit_interrupted : checker.exit();
    if (checker.found_out()) code = session.commit({{&*out, checker.rows(early, own && !in_short, *old)}}, code);
    if (!lost) return worse(code, session.fail(lost));
    if (code == exit_interrupted) {
        warn(checker.found_out() ? "vkgemm: interrupted; the results so far are kept"
                                 : "vkgemm: interrupted before the first result; no file is written");
        return code;
    }
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "check", "compute products with known exact results many times, and compare every element");
    command
        ->add_option("problems", options->problems,
                     "what to compute (default: sizes at the edges of each kernel's tile)")
        ->type_name("PROBLEM ...");
    command->add_option("--suite", options->suite, suite_help())->type_name("NAME|FILE");
    command
        ->add_option("--kernel", options->kernel,
                     "a kernel, a family, all, or auto: the one that vkgemm chooses (default: all)")
        ->type_name("NAME|all|auto");
    command
        ->add_option("--runs", options->runs,
                     "runs of each problem on each kernel (default: 10; 2 for all kernels on a CPU)")
        ->type_name("N")
        ->check(number_in(1, 1000000, true));
    add_plan_options(*command, options->plan, "1GiB, because kernels that need one are to be checked, too", true);
    CLI::Option* const native =
        command
            ->add_option("--native", options->plan.native,
                         "auto or off: whether native kernels may be chosen (default: auto); only, or no word: test "
                         "native kernels alone, with any driver, on a separate device that may be lost")
            ->type_name("auto|off|only")
            ->expected(0, 1)
            ->check(one_of({"auto", "off", "only"}));
    command->add_option("--seed", options->seed, "seed of the operands (default: 1)")
        ->type_name("N")
        ->check(number_in(0, 1e15, true));
    command
        ->add_option("--out", options->out,
                     "write a list of the wrong kernels for VKGEMM_DISABLED_KERNELS; - is standard output")
        ->type_name("FILE");
#ifdef VKGEMM_INJECT_FAULT
    command->add_option("--inject-fault", options->inject_fault, "for tests: change an element of this kernel's result")
        ->group("");
    command->add_option("--log-seconds", options->log_seconds, "for tests: seconds between two lines of progress")
        ->group("");
#endif
    command->callback([&session, &action, options, native] {
        if (native->count() > 0 && options->plan.native.empty()) options->plan.native = "only";  // no word
        action = [&session, options] { return run(session, *options); };
    });
    return command;
}

}  // namespace vkgemm::tool::check_command
