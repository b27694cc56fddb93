// SPDX-License-Identifier: MIT
// vkgemm explain: which kernel computes a problem, how, and why it was chosen.
#include <algorithm>

#include "commands/command.h"
#include "commands/explain_file.h"
#include "commands/plan_options.h"
#include "measure/kernel_lookup.h"
#include "measure/rejected_kernel.h"
#include "report/explanation.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool::explain_command {
namespace {

struct Options {
    std::string problem, kernel, tile, json;
    PlanWish plan;
};

std::string times_text(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, factor < 9.995 ? "%.2f" : "%.0f", factor);
    return text;
}

/// What the command shows: the choice that was asked for, and the other kernels with their own tiles.
struct Explained {
    Explanation choice;
    VkgemmExplanationInfo info{};  // of it
    std::optional<VkgemmCandidate> chosen{};
    std::vector<std::string> notes{};
    std::vector<Other> others{};
};

/// How D divides into the blocks of work groups, how much of them is D, and into how many slices K is split.
std::string cover_text(const Case& c, const Tile& t, uint32_t slices) {
    uint64_t m = c.problem.m, n = c.problem.n;
    if (c.problem.d.layout == columnMajor) std::swap(m, n);  // computed as its transpose
    const uint64_t down = divUp(m, t.BM), across = divUp(n, t.BN);
    const double part = static_cast<double>(m) * static_cast<double>(n) /
                        (static_cast<double>(down * t.BM) * static_cast<double>(across * t.BN));
    std::string text = "D is " + std::to_string(down) + " x " + std::to_string(across) + " such blocks";
    if (c.problem.batch > 1) text += " in each of " + std::to_string(c.problem.batch) + " products";
    if (slices > 1) text += ", each computed in " + std::to_string(slices) + " slices of K";
    if (part < 1) text += "; " + std::to_string(static_cast<int>(100 * part)) + " % of their area is D";
    return text;
}

const char* operands_text(const VkgemmExplanationInfo& info) {
    return info.usesAddresses ? "device addresses" : "pushed descriptors";
}

/// "begin at multiples of 16 bytes (A), 16 (B), 4 (D)"; "" without a table of groups.
std::string group_text(const VkgemmExplanationInfo& info) {
    std::string text;
    for (size_t slot = 0; slot < std::size(info.groupAlignment); ++slot) {
        if (info.groupAlignment[slot] == 0) continue;
        const std::string bytes = std::to_string(info.groupAlignment[slot]);
        text +=
            (text.empty() ? "begin at multiples of " + bytes + " bytes (" : ", " + bytes + " (") + "ABCD"[slot] + ")";
    }
    return text;
}

std::string groups_text(uint64_t count) {
    return std::to_string(count) + (count == 1 ? " work group" : " work groups");
}

void print_choice(const Session& session, const Case& c, const Explained& e) {
    const VkgemmCandidate& chosen = *e.chosen;
    Table table({{.title = ""}, {.title = ""}});
    table.add({"kernel", {label_of(chosen.kernel), Style::good}});
    table.add({"tile", chosen.tile});
    char cost[64];
    std::snprintf(cost, sizeof cost, "%.3g, in the cost model's own unit", chosen.cost);
    table.add({"predicted", cost});
    table.add({"operands", operands_text(e.info)});
    table.add({"workspace", e.info.workspaceBytes ? bytes_text(e.info.workspaceBytes) : "none"});
    if (const std::string groups = group_text(e.info); !groups.empty()) table.add({"groups", groups});
    size_t number = 0;
    for (const VkgemmDispatch& d : e.choice.dispatches())
        table.add({"pass " + std::to_string(++number), std::string(d.kernel) + ", " +
                                                           groups_text(uint64_t{d.groupsX} * d.groupsY) + " of " +
                                                           std::to_string(d.invocations)});
    print(table.body(session.colored()));
    if (*e.info.tunedRow) print(wrapped(std::string("decided by a tuned row: ") + e.info.tunedRow, 0));
    const Kernel& kernel = all_kernels()[chosen.kernelIndex];
    const auto tile = tile_with(kernel, chosen.tile);
    const auto traits = kernelTraits(chosen.kernelIndex, chosen.tile);
    if (tile && traits)
        print("\n" + tile_drawing(*tile, traits->sharedBytes) + wrapped(cover_text(c, *tile, chosen.slices), 2));
}

/// Every other kernel: those that serve, the least costly first, then the reasons against the rest.
void print_others(const Session& session, const Options& options, const Explained& e) {
    std::vector<Other> serving = e.others;
    std::erase_if(serving, [](const Other& other) { return !other.serves(); });
    std::ranges::stable_sort(serving, {}, &Other::cost);
    if (!serving.empty()) {
        const double cost = e.chosen ? e.chosen->cost : 0;
        Table table({{.title = options.tile.empty() ? "could serve, too" : "could serve, with its own tile"},
                     {.title = "predicted", .right = true},
                     {.title = "against it", .right = true}});
        for (const Other& other : serving) {
            char text[32];
            std::snprintf(text, sizeof text, "%.3g", other.cost);
            table.add({label_of(other.kernel), text, cost > 0 ? times_text(other.cost / cost) + " x" : "-"});
        }
        print("\n" + table.header(session.colored()) + table.body(session.colored()));
    }
    const std::vector<Refused> refused = by_reason(e.others);
    const std::string types = other_types(e.others);
    if (!refused.empty() || !types.empty()) print("\n" + styled("cannot serve", Style::head, session.colored()) + "\n");
    for (const Refused& r : refused) {
        std::string names;
        for (const std::string& name : r.kernels) names += (names.empty() ? "" : ", ") + name;
        print(wrapped(r.why + ":", 2) + wrapped(names, 6));
    }
    if (!types.empty()) print("  multiply other types (number of kernels):\n" + wrapped(types, 6));
}

nlohmann::ordered_json json(const host::Device& device, const Case& c, const Options& o, const Explained& e) {
    using nlohmann::ordered_json;
    ordered_json j = json_head("explain");
    j["device"] = json_device(device.info());
    j["options"] = {{"plan", o.plan.json(0)}};
    j["problem"] = c.text;
    j["error"] = e.info.result < 0 ? ordered_json(e.info.resultText) : ordered_json();
    if (e.chosen) {
        j["kernel"] = e.chosen->kernel;
        j["tile"] = e.chosen->tile;
        j["cost"] = e.chosen->cost;
        j["slices"] = e.chosen->slices;
        j["operands"] = operands_text(e.info);
        j["workspace_bytes"] = e.info.workspaceBytes;
        j["useful_workspace"] = ordered_json();
        if (e.info.usefulWorkspace)
            j["useful_workspace"] = {
                {"bytes", e.info.usefulWorkspace}, {"kernel", e.info.usefulKernel}, {"gain", e.info.usefulGain}};
        if (!group_text(e.info).empty()) j["group_alignment"] = e.info.groupAlignment;
        j["tuned"] = *e.info.tunedRow ? ordered_json(e.info.tunedRow) : ordered_json();
        j["passes"] = ordered_json::array();
        for (const VkgemmDispatch& d : e.choice.dispatches())
            j["passes"].push_back({{"kernel", d.kernel},
                                   {"tile", d.tile},
                                   {"groups", uint64_t{d.groupsX} * d.groupsY},
                                   {"invocations", d.invocations},
                                   {"shared_bytes", d.sharedBytes}});
    }
    j["notes"] = e.notes;
    j["others"] = ordered_json::array();
    for (const Other& other : e.others) {
        ordered_json one = {{"kernel", other.kernel}, {"state", state_word(other.state)}};
        if (other.serves())
            one["cost"] = other.cost;
        else {
            one["reason"] = vkgemmResultName(other.reason);
            one["unfit"] = other.text;
        }
        j["others"].push_back(std::move(one));
    }
    return j;
}

Result<Explained> explain(const host::Device& device, const Options& o, const Case& c) {
    PlanOptions options = o.plan.options(0);
    options.kernel = o.kernel.empty() ? nullptr : o.kernel.c_str();
    auto own = Explanation::create(device.context(), c.problem, options);
    if (!own) return own.status();
    Explained e;
    e.others = others_of(*own);
    if (!o.tile.empty()) {
        options.tile = o.tile.c_str();
        for (const VkgemmCandidate& k : own->candidates())  // those that were asked about, with their own tiles
            if (k.state == VKGEMM_CANDIDATE_CHOSEN) e.others.push_back({k.kernel, VKGEMM_CANDIDATE_SERVES, k.cost});
        own = Explanation::create(device.context(), c.problem, options);
        if (!own) return own.status();
    }
    e.choice = *std::move(own);
    e.info = e.choice.info();
    e.notes = e.choice.notes();
    if (e.info.isEmpty) e.notes.emplace_back("nothing to do: m or n is 0");
    if (e.info.chosen == UINT32_MAX) return e;
    e.chosen = e.choice.candidates()[e.info.chosen];
    std::erase_if(e.others, [&](const Other& other) { return other.kernel == e.chosen->kernel; });
    if (o.kernel.empty() && !o.tile.empty())
        if (const std::string why = rejected_kernel(device, c.problem, options, o.tile, e.chosen->kernel); !why.empty())
            e.notes.push_back(why);
    return e;
}

/// What is not given on the command line is as in the capture.
Options as_captured(Options options, const host::Capture& capture) {
    options.problem = capture.problem;
    if (!options.plan.has_workspace()) options.plan.workspace = std::to_string(capture.workspace);
    if (options.plan.alignment == 0) options.plan.alignment = capture.alignment;
    if (options.plan.operands.empty()) options.plan.operands = capture.addresses ? "addresses" : "descriptors";
    return options;
}

int run(const Session& session, Options options) {
    const auto given = read_explained(options.problem);
    if (!given) return session.fail(given.status());
    auto file = OutputFile::open(options.json);
    if (!file) return session.fail(file.status());
    if (*given && !(*given)->capture) return explain_keys(session, options.problem, (*given)->keys, *file);
    if (*given) options = as_captured(options, *(*given)->capture);
    const auto c = parse_case(options.problem);
    if (!c) return session.fail(c.status());
    if (auto refused = refused_everywhere(*c)) return session.fail(*refused);
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    auto e = explain(*device, options, *c);
    if (!e) return session.fail(e.status());
    if (*given) e->notes.push_back(captured_text(*(*given)->capture, e->chosen ? e->chosen->kernel : ""));

    Exit code = exit_right;
    if (options.json != "-") print(device_line(device->info()) + "\n" + wrapped(c->text, 0) + "\n");
    if (e->info.result < 0) {
        code = session.fail({e->info.result, VK_SUCCESS, e->info.resultText});
        if (!options.kernel.empty() || !options.tile.empty()) return code;  // what others could do was not asked
    }
    if (options.json != "-") {
        if (e->chosen) print_choice(session, *c, *e);
        for (const std::string& note : e->notes) print(wrapped(note, 0));
        print_others(session, options, *e);
    }
    if (Status s = file->commit(json_text(json(*device, *c, options, *e))); !s) return session.fail(s);
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("explain", "show which kernel computes a problem, how, and why it was chosen");
    c->add_option(
         "problem", o->problem,
         "what to compute, such as 'f16*f16 64x128x256 bias=col'; or a captured call, or a file of pipeline keys")
        ->type_name("PROBLEM|FILE")
        ->required();
    c->add_option("--kernel", o->kernel, "explain this kernel instead of the chosen one")->type_name("NAME");
    c->add_option("--tile", o->tile, "constants of the kernel's tile to replace")->type_name("BM=128,BN=128,...");
    add_plan_options(*c, o->plan, "0, as the library's", true);
    add_native_option(*c, o->plan);
    c->add_option("--json", o->json, "write the explanation as JSON; - is standard output")->type_name("FILE|-");
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::explain_command
