// SPDX-License-Identifier: MIT
// vkgemm inspect: what the driver compiled kernels to, and what the machine code of native ones states.
#include <algorithm>
#include <cmath>

#include "commands/command.h"
#include "commands/inspect_bound.h"
#include "commands/plan_options.h"
#include "measure/compiled.h"
#include "measure/kernel_lookup.h"
#include "measure/machine_code.h"
#include "measure/rejected_kernel.h"

namespace vkgemm::tool::inspect_command {
namespace {

struct Options {
    std::string problem, kernel, tile, assembly, json, architecture;
    bool bound = false;
    PlanWish plan;
};

/// One plan, compiled.
struct Inspected {
    std::string problem;
    CompiledPlan plan;
};

std::string count_text(const std::optional<double>& x) {
    return x ? std::to_string(static_cast<uint64_t>(std::llround(*x))) : "-";
}
std::string size_text(const std::optional<double>& x) {
    return x ? bytes_text(static_cast<uint64_t>(std::llround(*x))) : "-";
}
Cell spilled(const std::string& text, const std::optional<double>& x) {
    return {text, x.value_or(0) > 0 ? Style::bad : Style::plain};
}

Table table_of(size_t name_width) {
    return Table({{.title = "kernel", .width = name_width},
                  {.title = "regs", .right = true, .width = 4},
                  {.title = "spills", .right = true, .width = 6},
                  {.title = "scratch", .right = true, .width = 7},
                  {.title = "shared", .right = true, .width = 8},
                  {.title = "at once", .right = true, .width = 7},
                  {.title = "code", .right = true, .width = 8},
                  {.title = "compile", .right = true, .width = 8},
                  {.title = "matrix"}});
}

std::string name_of(const CompiledStep& step) { return step.function.empty() ? step.kernel->name() : step.function; }

/// Whether the driver provides assembly that is read here, of a pass that multiplies.
bool has_assembly(const CompiledPlan& plan) {
    return std::ranges::any_of(
        plan.steps, [](const CompiledStep& s) { return s.kernel->is_product() && program_of(s.report).has_value(); });
}

/// The loops of all passes that multiply.
void add_loops(Table& table, const CompiledPlan& plan, const BoundOptions& bound) {
    for (const CompiledStep& step : plan.steps)
        if (step.kernel->is_product()) add_loop(table, name_of(step), step, bound);
}

/// The product, with the time of all, then the passes before and after it.
void add_rows(Table& table, const CompiledPlan& plan) {
    for (const bool wanted : {true, false})
        for (const CompiledStep& step : plan.steps) {
            const bool product = step.kernel->is_product();
            if (product != wanted) continue;
            const ShaderStats f = shader_stats_of(step.report);
            table.add({(product ? "" : "  + ") + name_of(step), count_text(f.registers),
                       spilled(count_text(f.spills), f.spills), spilled(size_text(f.scratch), f.scratch),
                       f.shared ? size_text(f.shared) : bytes_text(step.declared_shared), count_text(f.at_once),
                       size_text(f.code),
                       !product           ? ""
                       : plan.seconds > 0 ? seconds_text(plan.seconds)
                                          : "-",
                       f.matrix.empty() ? "-" : f.matrix});
        }
}

nlohmann::ordered_json optional_json(const std::optional<double>& x) {
    return x ? nlohmann::ordered_json(*x) : nlohmann::ordered_json();
}

nlohmann::ordered_json step_json(const CompiledStep& step, const BoundOptions* bound) {
    const ShaderStats f = shader_stats_of(step.report);
    nlohmann::ordered_json j = {
        {"kernel", step.kernel->name()},
        {"function", step.function.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(step.function)},
        {"tile", step.tile},
        {"registers", optional_json(f.registers)},
        {"spills", optional_json(f.spills)},
        {"scratch_bytes", optional_json(f.scratch)},
        {"shared_bytes", optional_json(f.shared)},
        {"declared_shared_bytes", step.declared_shared},
        {"at_once", optional_json(f.at_once)},
        {"code_bytes", optional_json(f.code)},
        {"matrix", f.matrix}};
    j["statistics"] = nlohmann::ordered_json::array();
    for (const auto& s : step.report.statistics) {
        const auto digits =
            nlohmann::ordered_json::parse(s.text, nullptr, false);  // discarded: inf, which JSON has not
        j["statistics"].push_back({{"name", s.name}, {"value", digits.is_number() ? digits : nullptr}});
    }
    j["texts"] = nlohmann::ordered_json::array();
    for (const auto& t : step.report.texts) j["texts"].push_back({{"name", t.name}, {"bytes", t.text.size()}});
    if (bound) j["loop"] = loop_json(step, *bound);
    return j;
}

/// `device`: null if none was needed. `bound`: null if no loops are wanted.
nlohmann::ordered_json json(const host::Device* device, const std::vector<Inspected>& all, const BoundOptions* bound) {
    nlohmann::ordered_json j = json_head("inspect");
    j["device"] = device ? json_device(device->info()) : nlohmann::ordered_json();
    j["inspects"] = device && device->inspects();
    j["interrupted"] = interrupted();
    j["cases"] = nlohmann::ordered_json::array();
    for (const Inspected& one : all) {
        nlohmann::ordered_json c = {{"problem", one.problem}, {"compile_seconds", one.plan.seconds}};
        if (!device) c["problem"] = c["compile_seconds"] = nullptr;
        c["passes"] = nlohmann::ordered_json::array();
        for (const CompiledStep& step : one.plan.steps) c["passes"].push_back(step_json(step, bound));
        j["cases"].push_back(std::move(c));
    }
    return j;
}

/// Everything that the driver or the machine code reports of one plan.
void print_all(const Session& session, const CompiledPlan& plan) {
    for (const CompiledStep& step : plan.steps) {
        print("\n" + styled(name_of(step), Style::head, session.colored()) + "\n" + wrapped(step.tile, 2));
        if (step.report.statistics.empty()) continue;
        Table table({{.title = "", .width = 30}, {.title = "", .right = true, .width = 8}});
        for (const auto& s : step.report.statistics) table.add({"  " + s.name, s.text});
        const char* const source = step.function.empty() ? "as the driver reports it" : "as its machine code states";
        print(std::string("  ") + source + ":\n" + table.body(session.colored()));
        std::string texts;
        for (const auto& t : step.report.texts)
            texts += (texts.empty() ? "" : ", ") + t.name + " (" + bytes_text(t.text.size()) + ")";
        if (!texts.empty()) print(wrapped("available as text: " + texts, 2));
    }
}

/// The assembly of all of them, each below a line that names it. Refused if the driver provides none.
Result<std::string> assembly(const host::Device& device, const std::vector<Inspected>& all) {
    std::string text, other;
    for (const Inspected& one : all)
        for (const CompiledStep& step : one.plan.steps) {
            if (const auto* code = assembly_of(step.report)) {
                text += "; " + step.kernel->name() + " " + step.tile + ", " + one.problem + "\n; " +
                        device_line(device.info()) + "\n" + code->text + "\n";
                continue;
            }
            if (!other.empty()) continue;
            for (const auto& t : step.report.texts) other += (other.empty() ? "" : ", ") + t.name;
        }
    if (!text.empty()) return text;
    return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                  "the driver provides no assembly" + (other.empty() ? "" : ", only " + other)};
}

constexpr const char* none_serves = "no kernel serves this problem on this device; vkgemm explain shows why";

bool is_several(const std::string& kernel) { return kernel == "all" || kernel == "native"; }

/// The plans to compile: kernel and problem.
struct Job {
    std::string kernel;  // "": the one that is chosen
    Case given;
    uint64_t workspace = workspace_limit;  // bytes
};
Result<std::vector<Job>> jobs_of(const Options& options, const host::Device& device) {
    std::optional<Case> wanted;
    if (!options.problem.empty()) {
        auto c = parse_work(options.problem);
        if (!c) return c.status();
        if (auto refused = refused_everywhere(*c)) return *refused;
        wanted = *std::move(c);
    }
    std::vector<Job> jobs;
    if (options.kernel.empty()) {
        jobs.push_back({"", *wanted});
        return jobs;
    }
    for (const Kernel& k : all_kernels()) {
        const bool named = is_several(options.kernel)
                               ? k.is_product() && (options.kernel == "all" || k.traits.native) &&
                                     device.context().checkKernel({.kernel = k.info.name})
                               : k.name() == options.kernel;
        if (!named) continue;
        const auto c = wanted ? Result<Case>(*wanted) : parse_case(problem_for(k, {.m = 2048, .n = 2048, .k = 2048}));
        if (!c) return c.status();
        jobs.push_back({k.name(), *c, wanted ? workspace_limit : workspace_for(k)});
    }
    if (jobs.empty() && is_several(options.kernel)) return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, none_serves};
    if (jobs.empty())
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, unknown_kernel(options.kernel, {"all", "native"})};
    return jobs;
}

class Inspection {
   public:
    Inspection(const Session& session, const Options& o, const host::Device& device, size_t jobs,
               const BoundOptions* bound)
        : session_(session), o_(o), device_(device), bound_(bound), progress_(jobs, session.quiet) {}

    /// Refused where nothing was compiled, or the device is lost.
    Status run(const std::vector<Job>& jobs);
    const std::vector<Inspected>& all() const { return all_; }

   private:
    bool shown() const { return o_.json != "-" && o_.assembly != "-"; }
    Status compile_one(const Job& job, size_t name_width);

    const Session& session_;
    const Options& o_;
    const host::Device& device_;
    const BoundOptions* bound_;  // null: no loops are wanted
    std::vector<Inspected> all_;
    size_t unfit_ = 0;
    Progress progress_;
};

Status Inspection::compile_one(const Job& job, size_t name_width) {
    PlanOptions options = o_.plan.options(job.workspace);
    options.kernel = job.kernel.empty() ? nullptr : job.kernel.c_str();
    options.tile = o_.tile.empty() ? nullptr : o_.tile.c_str();
    auto plan = compile(device_, job.given.problem, options);
    if (!plan) {
        if (!is_several(o_.kernel) || exit_code(plan.status()) == exit_vulkan) return plan.status();
        ++unfit_;
        return {};
    }
    if (Status s = add_machine_code(device_, job.given.problem, options, *plan); !s) return s;
    all_.push_back({job.given.text, *std::move(plan)});
    if (!shown()) return {};
    Table table = bound_ ? loop_table(name_width) : table_of(name_width);
    if (bound_)
        add_loops(table, all_.back().plan, *bound_);
    else
        add_rows(table, all_.back().plan);
    progress_.clear();
    if (all_.size() == 1) print("\n" + table.header(session_.colored()));
    print(table.body(session_.colored()));
    return {};
}

Status Inspection::run(const std::vector<Job>& jobs) {
    size_t name_width = 6;
    for (const Job& job : jobs)
        name_width = std::max(name_width, job.kernel.size() + (is_native(job.kernel) ? 3 : 0));  // "_nt"
    if (shown()) {
        print(device_line(device_.info()) + "\n");
        if (!device_.inspects())
            print(
                wrapped("This driver reports no statistics (it lacks VK_KHR_pipeline_executable_properties): shared "
                        "memory is what the shader declares.",
                        0));
        if (jobs.size() == 1 || !o_.problem.empty()) print(wrapped(jobs[0].given.text, 0));
    }
    for (const Job& job : jobs) {
        if (interrupted()) break;
        progress_.begin(job.kernel + ", " + job.given.text);
        if (Status s = compile_one(job, name_width); !s) return s;
    }
    progress_.clear();
    if (all_.empty() && !interrupted()) return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, none_serves};
    if (shown() && !bound_ && jobs.size() == 1) print_all(session_, all_[0].plan);
    if (o_.kernel.empty() && !o_.tile.empty() && !all_.empty()) {
        const auto& steps = all_[0].plan.steps;
        const auto product = std::ranges::find_if(steps, [](const CompiledStep& s) { return s.kernel->is_product(); });
        const std::string why = rejected_kernel(device_, jobs[0].given.problem, o_.plan.options(jobs[0].workspace),
                                                o_.tile, product->kernel->name());
        if (!why.empty() && shown()) print("\n" + wrapped(why, 0));
        if (!why.empty() && !shown()) warn("vkgemm: " + why);
    }
    const std::string others = std::to_string(unfit_) + " kernels cannot serve it; vkgemm explain shows why";
    if (unfit_ && shown()) print("\n" + others + "\n");
    if (unfit_ && !shown()) warn("vkgemm: " + others);
    if (bound_ && !all_.empty() &&
        std::ranges::none_of(all_, [](const Inspected& one) { return has_assembly(one.plan); }))
        warn("vkgemm: this driver provides no assembly that --bound reads; RADV, NVK, Turnip and ANV do");
    return {};
}

/// Machine code is the same for every device: it needs none, unless another choice is to be seen.
std::vector<const Kernel*> without_device(const Options& options) {
    std::vector<const Kernel*> out;
    if (!options.problem.empty() || !options.tile.empty()) return out;
    for (const Kernel& k : all_kernels())
        if (k.traits.native && (options.kernel == "native" || options.kernel == k.name())) out.push_back(&k);
    return out;
}

int run_without_device(const Session& session, const Options& options, const std::vector<const Kernel*>& kernels,
                       OutputFile& json_file) {
    if (!options.assembly.empty())
        return session.fail({VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                             "--asm writes the assembly of a driver, and machine code has none with it"});
    std::vector<Inspected> all;
    Table table({{.title = "function"},
                 {.title = "regs", .right = true},
                 {.title = "local", .right = true},
                 {.title = "shared", .right = true},
                 {.title = "+ launch", .right = true},
                 {.title = "code", .right = true}});
    for (const Kernel* k : kernels) {
        auto steps = native_functions(*k);
        if (!steps) return session.fail(steps.status());
        for (CompiledStep& step : *steps) {
            const ShaderStats f = shader_stats_of(step.report);
            table.add({step.function, count_text(f.registers), spilled(size_text(f.scratch), f.scratch),
                       size_text(f.shared.value_or(0) - static_cast<double>(step.declared_shared)),
                       bytes_text(step.declared_shared), size_text(f.code)});
            all.push_back({"", {.steps = {std::move(step)}}});
        }
    }
    if (options.json != "-")
        print("machine code for sm_" + std::to_string(kernels[0]->traits.native) + "a; no device is needed\n\n" +
              table.header(session.colored()) + table.body(session.colored()));
    return session.commit({{&json_file, json_text(json(nullptr, all, nullptr))}}, exit_right);
}

int run(const Session& session, const Options& options) {
    if (options.kernel.empty() && options.problem.empty())
        return session.fail({VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                             "inspect needs --kernel NAME, all or native, or a PROBLEM: then the kernel that is chosen "
                             "for it is inspected"});
    if (is_several(options.kernel) && !options.tile.empty())
        return session.fail(
            {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
             "--tile replaces constants of one kernel; it cannot be combined with --kernel " + options.kernel});
    if (Status s = own_places({{"--json", options.json}, {"--asm", options.assembly}}); !s) return session.fail(s);
    auto json_file = OutputFile::open(options.json), assembly_file = OutputFile::open(options.assembly);
    for (const auto* file : {&json_file, &assembly_file})
        if (!*file) return session.fail(file->status());
    if (const auto native = without_device(options); !native.empty())
        return run_without_device(session, options, native, *json_file);
    const auto device = session.open({.inspect = true});
    if (!device) return session.fail(device.status());
    const auto jobs = jobs_of(options, *device);
    if (!jobs) return session.fail(jobs.status());

    const auto bound = bound_options(options.architecture, device->info());
    if (!bound) return session.fail(bound.status());
    const BoundOptions* const wanted = options.bound ? &*bound : nullptr;

    Inspection inspection(session, options, *device, jobs->size(), wanted);
    if (Status s = inspection.run(*jobs); !s) return session.fail(s);
    Exit code = session.commit({{&*json_file, json_text(json(&*device, inspection.all(), wanted))}}, exit_right);
    if (assembly_file->wanted()) {
        const auto text = assembly(*device, inspection.all());
        code = text ? session.commit({{&*assembly_file, *text}}, code) : worse(code, session.fail(text.status()));
    }
    if (!interrupted()) return session.finish(*device, code);
    warn("vkgemm: interrupted; the results so far are kept");
    return worse(exit_interrupted, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("inspect", "show what the driver compiled: registers, spills, code size");
    c->add_option("problem", o->problem, "the problem to compile for (default: whole, aligned tiles)")
        ->type_name("PROBLEM");
    c->add_option("--kernel", o->kernel,
                  "one kernel; all: every kernel that fits the device; native: machine code (default: the kernel "
                  "chosen for PROBLEM)")
        ->type_name("NAME|all|native");
    c->add_option("--tile", o->tile, "constants of the kernel's tile to replace")->type_name("BM=128,BN=128,...");
    add_plan_options(*c, o->plan, "1GiB; 0 without a PROBLEM, if the kernel needs none", true);
    add_native_option(*c, o->plan);
    c->add_option("--asm", o->assembly, "write the assembly, if the driver provides it; - is standard output")
        ->type_name("FILE|-");
    c->add_option("--json", o->json, "write the statistics as JSON; - is standard output")->type_name("FILE|-");
    CLI::Option* const bound = c->add_flag("--bound", o->bound,
                                           "show what the inner loop keeps busy, and the part of the peak that it can "
                                           "reach at most");
    c->add_option("--architecture", o->architecture,
                  "the GPU whose numbers --bound takes: " + architecture_names() + " (default: the device's)")
        ->type_name("NAME")
        ->needs(bound);
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::inspect_command
