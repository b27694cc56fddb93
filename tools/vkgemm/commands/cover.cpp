// SPDX-License-Identifier: MIT
// vkgemm cover: proof by execution that a kernel touches what it must, and nothing else.
#include <algorithm>
#include <cstdio>

#include "commands/command.h"
#include "measure/case_memory.h"
#include "measure/kernel_lookup.h"
#include "trace/cover_plot.h"
#include "trace/coverage.h"

namespace vkgemm::tool::cover_command {
namespace {

struct Options {
    std::string problem, kernel, tile, plot, inject_fault;
};

std::string counts_table(const Coverage& c, bool colored) {
    Table table({{.title = "operand"},
                 {.title = "elements", .right = true},
                 {.title = "accesses", .right = true},
                 {.title = "least", .right = true},
                 {.title = "most", .right = true},
                 {.title = "never", .right = true},
                 {.title = "outside", .right = true}});
    for (const Touched& t : c.touched) {
        const bool wrong = t.outside || (t.written && (t.least != 1 || t.most != 1));
        table.add({{t.name + (t.written ? ", written" : ", read"), wrong ? Style::bad : Style::plain},
                   std::to_string(t.elements),
                   std::to_string(t.accesses),
                   std::to_string(t.least),
                   std::to_string(t.most),
                   std::to_string(t.never),
                   std::to_string(t.outside)});
        std::string histogram;
        size_t shown = 0;
        for (const auto& [times, elements] : t.histogram) {
            if (++shown > 8) continue;
            histogram += (shown > 1 ? ", " : "") + std::to_string(elements) +
                         (elements == 1 ? " element " : " elements ") +
                         (times == 1 ? "once" : std::to_string(times) + " times");
        }
        if (shown > 8) histogram += ", and " + std::to_string(shown - 8) + " more kinds";
        table.note(histogram);
        if (t.gap_elements) table.note(std::to_string(t.gap_elements) + " elements between rows are touched as well");
    }
    return table.header(colored) + table.body(colored);
}

std::string traffic_text(const Coverage& c, const Tile& tile) {
    char text[256];
    std::snprintf(text, sizeof text, "%llu elements of A and B are read, %.3f times M*N*K*(1/%u + 1/%u) = %.0f",
                  static_cast<unsigned long long>(c.read),
                  c.formula > 0 ? static_cast<double>(c.read) / c.formula : 0.0, tile.BM, tile.BN, c.formula);
    return text;
}

std::string set_line(const std::string& what, const std::string& set) {
    constexpr size_t column = 30;
    std::string line = wrapped(set.empty() ? "-" : set, column);
    return line.replace(0, std::min(column, 2 + what.size()), "  " + what);
}

std::string sets_text(const Coverage& c) {
    std::string text = "index sets of work group 0, in elements; (0~3) is 0, 1, 2, 3\n";
    for (const IndexSets& s : c.sets) {
        if (s.all.empty()) continue;
        const std::string verb = s.written ? " writes" : " reads";
        if (s.written) {
            text += set_line(s.name + ": one invocation" + verb, s.one_invocation);
            if (!s.invocations_begin.empty()) text += set_line("   invocations begin at", s.invocations_begin);
        } else {
            text += set_line(s.name + ": one invocation, one step", s.one_invocation);
            if (!s.invocations_begin.empty()) text += set_line("   invocations begin at", s.invocations_begin);
            text += set_line("   one work group, one step", s.one_step);
            std::string steps = std::to_string(s.steps) + (s.steps == 1 ? " step" : " steps");
            if (s.stride) steps += ", each " + std::to_string(s.stride) + " further";
            steps += s.repeats <= 1 ? "; in each every element once"
                                    : "; in one an element up to " + std::to_string(s.repeats) + " times";
            text += set_line("   steps", steps);
        }
        text += set_line("   one work group", s.all);
    }
    if (c.cut) text += "  (it made more accesses than the trace can list; the sets are those of the first ones)\n";
    return text;
}

std::string report(const Trace& traced, const Coverage& c, const Case& of, bool colored) {
    const std::string elements = std::to_string(traced.operands[bind_d].counts.size());
    std::string text = wrapped(of.text + " on " + traced.kernel, 0) +
                       wrapped("tile " + traced.tile_text + "; " + std::to_string(traced.groups) +
                                   (traced.groups == 1 ? " work group" : " work groups"),
                               0);
    if (traced.swapped)
        text += wrapped("D is column-major: the kernel computes the transpose, with B as its first operand", 0);
    text +=
        "\n" + counts_table(c, colored) + "\n" + wrapped(traffic_text(c, traced.tile), 0) + "\n" + sets_text(c) + "\n";
    const std::string same =
        traced.traced == traced.untraced ? "agree bit for bit, " + elements + " elements" : "DIFFER";
    const std::string right =
        traced.outcome.wrong.empty() ? "right, checked: " + std::string(extent_name(traced.outcome.extent)) : "WRONG";
    text += wrapped("traced and untraced D " + same + "; the traced one is " + right, 0);
    for (const std::string& fault : c.faults) text += styled("FAULT: ", Style::bad, colored) + fault + "\n";
    if (c.faults.empty()) text += styled("no fault", Style::good, colored) + "\n";
    return text;
}

/// Why no kernel of that name can be traced.
Status traceable(const std::string& name, const Kernel& first, const std::vector<TracedModule>& modules) {
    if (modules.empty() && !first.traits.native)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                "this program was built without traced shader modules. They need a shader compiler and "
                "VKGEMM_COVER=ON:\n"
                "    cmake -DVKGEMM_COVER=ON build && cmake --build build --target vkgemm_tool"};
    if (first.traits.native)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                "'" + name + "' is machine code, whose reads and writes cannot be traced"};
    if (first.traits.packsFragments)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                "'" + name + "' reads operands that another pass packs, so it cannot be traced alone"};
    return {};
}

void tell_untraced(const Status& why, bool shown) {
    if (shown)
        print("\n" + wrapped(why.text, 0));
    else
        warn("vkgemm: " + why.text);
}

/// trace(), unless the host's memory cannot hold it.
Result<Trace> trace_in_memory(const host::Device& device, const Case& c, const std::string& kernel,
                              const std::string& tile, const std::vector<TracedModule>& modules) {
    if (Status s = refused_memory(c, resolve(c.problem), {.timing = false, .shared = true}, memory_left()); !s)
        return s;
    return trace(device, c, kernel, tile, modules);
}

Exit cut_short(size_t covered, size_t kernels) {
    warn("vkgemm: interrupted; " + std::to_string(covered) + " of " + std::to_string(kernels) + " kernels were traced");
    return exit_interrupted;
}

int run(const Session& session, const Options& options) {
    std::optional<Case> c;
    if (!options.problem.empty()) {
        auto read = parse_work(options.problem);
        if (!read) return session.fail(read.status());
        c = *std::move(read);
        if (auto refused = refused_everywhere(*c)) return session.fail(*refused);
        if (auto refused = refused_groups(*c, "kernels are traced without them")) return session.fail(*refused);
    }
    const auto kernels = find_kernels(options.kernel, c ? &*c : nullptr);
    if (!kernels) return session.fail(kernels.status());
    if (Status s = is_svg("--plot", options.plot); !s) return session.fail(s);
    auto plot = OutputFile::open(options.plot);
    if (!plot) return session.fail(plot.status());
    const auto device = session.open({.hints = false});  // what a workspace would bring is not traced
    if (!device) return session.fail(device.status());
    const bool shown = options.plot != "-";
    if (shown) print(device_line(device->info()) + "\n");
    const std::vector<TracedModule> modules = traced_modules();
    if (Status s = traceable(options.kernel, *kernels->front(), modules); !s) return session.fail(s);
    Exit code = exit_right;
    bool first = true;
    size_t covered = 0;  // kernels
    Exit refused = exit_right;
    Progress progress(kernels->size(), session.quiet);
    for (const Kernel* k : *kernels) {
        if (interrupted()) break;
        const Case now = c ? *c : *parse_case(problem_for(*k, {.m = 256, .n = 256, .k = 256}));
        progress.begin(now.text + ", " + k->name());
        auto t = trace_in_memory(*device, now, k->name(), options.tile, modules);
        progress.clear();
        if (interrupted()) break;  // half a trace is none
        ++covered;
        if (!t) {
            if (kernels->size() == 1 || exit_code(t.status()) == exit_vulkan) return session.fail(t.status());
            tell_untraced(t.status(), shown);
            refused = worse(refused, exit_code(t.status()));
            continue;
        }
        if (options.inject_fault == k->name()) t->traced.back() ^= std::byte{0x80};
        const Coverage found = coverage_of(*t);
        if (shown) print("\n" + report(*t, found, now, session.colored()));
        for (const std::string& fault : found.faults)
            if (!shown) warn("vkgemm: " + t->kernel + ": FAULT: " + fault);
        if (!found.faults.empty()) code = exit_wrong;
        if (!first) continue;
        first = false;
        const std::string title = "vkgemm cover: " + t->kernel + ", " + now.text;
        if (Status s = plot->commit(plot->wanted() ? svg(*t, title, device_line(device->info())) : ""); !s)
            return session.fail(s);
    }
    if (interrupted() && covered < kernels->size()) return cut_short(covered, kernels->size());
    if (first) {
        warn("vkgemm: no kernel of '" + options.kernel + "' could be traced");
        return refused;
    }
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("cover", "trace a kernel: which elements it reads and writes, and how often");
    command->add_option("problem", options->problem, "what to compute (default: 256x256x256 of the kernel's types)")
        ->type_name("PROBLEM");
    command
        ->add_option("--kernel", options->kernel,
                     "a kernel, or a family: every kernel of the family that has the problem's types")
        ->type_name("NAME")
        ->required();
    command->add_option("--tile", options->tile, "constants of the kernel's tile to replace")
        ->type_name("BM=128,BN=128,...");
    command
        ->add_option("--plot", options->plot,
                     "draw the tiles as SVG (for a family: of its first kernel); - is standard output")
        ->type_name("FILE.svg|-");
#ifdef VKGEMM_INJECT_FAULT
    command->add_option("--inject-fault", options->inject_fault, "for tests: change an element of this kernel's result")
        ->group("");
#endif
    command->callback(
        [&session, &action, options] { action = [&session, options] { return run(session, *options); }; });
    return command;
}

}  // namespace vkgemm::tool::cover_command
