// SPDX-License-Identifier: MIT
// vkgemm explain: which kernel computes a problem, how, and why no other.
#include <algorithm>

#include "tools/vkgemm/commands/command.h"
#include "tools/vkgemm/report/explanation.h"
#include "tools/vkgemm/measure/rejected_kernel.h"

namespace vkgemm::tool {
namespace {

struct Options {
    std::string problem, kernel, tile, json;
};

std::string times_text(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, factor < 9.995 ? "%.2f" : "%.0f", factor);
    return text;
}

/// How D falls into the blocks of work groups, how much of them is D, and into how many slices K is cut.
std::string cover_text(const Case& c, const Explanation& e, const plan::Tile& t) {
    uint64_t m = c.problem.m, n = c.problem.n;
    if (c.problem.d.layout == columnMajor) std::swap(m, n);  // computed as its transpose
    const uint64_t down = (m + t.BM - 1) / t.BM, across = (n + t.BN - 1) / t.BN;
    const double part = static_cast<double>(m) * static_cast<double>(n) /
                        (static_cast<double>(down * t.BM) * static_cast<double>(across * t.BN));
    std::string text = "D is " + std::to_string(down) + " x " + std::to_string(across) + " such blocks";
    if (c.problem.batch > 1) text += " in each of " + std::to_string(c.problem.batch) + " products";
    const auto pass = std::ranges::find(e.passes, e.kernel, &Explanation::Pass::kernel);
    const uint64_t slices =
        pass == e.passes.end() ? 1 : pass->groups / (down * across * std::max<uint64_t>(1, c.problem.batch));
    if (slices > 1) text += ", each computed in " + std::to_string(slices) + " slices of K";
    if (part < 1) text += "; " + std::to_string(static_cast<int>(100 * part)) + " % of what they cover is D's";
    return text;
}

void print_choice(const Session& session, const Case& c, const Explanation& e) {
    const bool colour = session.colored();
    Table caps({{.title = ""}, {.title = ""}});
    caps.add({"kernel", {e.kernel, Style::good}});
    caps.add({"tile", e.tile});
    char cost[64];
    std::snprintf(cost, sizeof cost, "%.3g, in the cost model's own unit", e.cost);
    caps.add({"predicted", cost});
    caps.add({"operands", e.operands});
    caps.add({"workspace", e.workspace ? bytes_text(e.workspace) : "none"});
    size_t number = 0;
    for (const auto& pass : e.passes)
        caps.add({"pass " + std::to_string(++number), pass.kernel + ", " + std::to_string(pass.groups) +
                                                           " work groups of " + std::to_string(pass.invocations)});
    print(caps.body(colour));
    if (!e.tuned.empty()) print(wrapped("decided by a tuned row: " + e.tuned, 0));
    const plan::Kernel* kernel = plan::find_kernel(e.kernel);
    const auto tile = plan::with_constants({}, e.tile);
    if (kernel && tile) print("\n" + tile_drawing(*kernel, *tile) + wrapped(cover_text(c, e, *tile), 2));
}

/// Every other kernel: those that could, the least costly first, then the reasons against the rest.
void print_others(const Session& session, const Options& o, const Explanation& e) {
    std::vector<Explanation::Other> could = e.others;
    std::erase_if(could, [](const auto& other) { return !other.cost; });
    std::ranges::stable_sort(could, {}, [](const auto& other) { return *other.cost; });
    if (!could.empty()) {
        Table table({{.title = o.tile.empty() ? "could, too" : "could, with its own tile"},
                     {.title = "predicted", .right = true},
                     {.title = "against it", .right = true}});
        for (const auto& other : could) {
            char cost[32];
            std::snprintf(cost, sizeof cost, "%.3g", *other.cost);
            table.add({other.kernel, cost, e.cost > 0 ? times_text(*other.cost / e.cost) + " x" : "-"});
        }
        print("\n" + table.header(session.colored()) + table.body(session.colored()));
    }
    const std::vector<Refused> refused = by_reason(e.others);
    if (!refused.empty()) print("\n" + styled("cannot", Style::head, session.colored()) + "\n");
    std::string types;
    for (const Refused& r : refused) {
        if (const std::string name = refused_types(r); !name.empty()) {
            types += (types.empty() ? "" : ", ") + name + " (" + std::to_string(r.kernels.size()) + ")";
            continue;
        }
        std::string names;
        for (const std::string& name : r.kernels) names += (names.empty() ? "" : ", ") + name;
        print(wrapped(r.why + ":", 2) + wrapped(names, 6));
    }
    if (!types.empty()) print("  are of other types (how many):\n" + wrapped(types, 6));
}

nlohmann::ordered_json json(const host::Device& device, const Case& c, const Explanation& e) {
    nlohmann::ordered_json j = json_head("explain");
    j["device"] = json_device(device.info());
    j["problem"] = c.text;
    j["error"] = e.no_kernel.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(e.no_kernel);
    if (e.no_kernel.empty()) {
        j["kernel"] = e.kernel;
        j["tile"] = e.tile;
        j["cost"] = e.cost;
        j["operands"] = e.operands;
        j["workspace_bytes"] = e.workspace;
        j["tuned"] = e.tuned.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(e.tuned);
        j["passes"] = nlohmann::ordered_json::array();
        for (const auto& pass : e.passes)
            j["passes"].push_back(
                {{"kernel", pass.kernel}, {"groups", pass.groups}, {"invocations", pass.invocations}});
    }
    j["notes"] = e.notes;
    j["others"] = nlohmann::ordered_json::array();
    for (const auto& other : e.others)
        if (other.cost)
            j["others"].push_back({{"kernel", other.kernel}, {"cost", *other.cost}});
        else
            j["others"].push_back({{"kernel", other.kernel}, {"unfit", other.why}});
    return j;
}

/// The choice with what was asked for, and the other kernels with their own tiles.
Result<Explanation> explain(const host::Device& device, const Options& o, const Case& c) {
    PlanOptions options{.kernel = o.kernel.empty() ? nullptr : o.kernel.c_str(), .workspaceLimit = workspace_limit};
    const auto others = device.context().explain(c.problem, options);
    if (!others) return others.status();
    Explanation e = read_explanation(*others);
    if (o.tile.empty()) return e;
    options.tile = o.tile.c_str();
    const auto choice = device.context().explain(c.problem, options);
    if (!choice) return choice.status();
    Explanation asked = read_explanation(*choice);
    if (!e.kernel.empty()) e.others.push_back({e.kernel, e.cost, ""});
    std::erase_if(e.others, [&](const auto& other) { return other.kernel == asked.kernel; });
    if (o.kernel.empty() && !asked.kernel.empty())
        if (const std::string why = rejected_kernel(device, c.problem, o.tile, asked.kernel); !why.empty())
            asked.notes.push_back(why);
    asked.others = std::move(e.others);
    return asked;
}

int run(const Session& session, const Options& o) {
    const auto c = parse_case(o.problem);
    if (!c) return session.fail(c.status());
    auto file = OutputFile::open(o.json);
    if (!file) return session.fail(file.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    const auto e = explain(*device, o, *c);
    if (!e) return session.fail(e.status());

    Exit code = exit_right;
    if (o.json != "-") print(device_line(device->info()) + "\n" + wrapped(c->text, 0) + "\n");
    if (!e->no_kernel.empty()) {
        // The same refusal once more, for its code.
        const auto plan =
            device->context().createPlan(c->problem, {.kernel = o.kernel.empty() ? nullptr : o.kernel.c_str(),
                                                      .tile = o.tile.empty() ? nullptr : o.tile.c_str(),
                                                      .flags = VKGEMM_PLAN_DRY,
                                                      .workspaceLimit = workspace_limit});
        code = plan ? exit_no_device : session.fail(plan.status());
        if (!o.kernel.empty() || !o.tile.empty()) return code;  // what others could do was not asked
    }
    if (o.json != "-") {
        if (!e->kernel.empty()) print_choice(session, *c, *e);
        for (const std::string& note : e->notes) print(wrapped(note, 0));
        print_others(session, o, *e);
    }
    if (Status s = file->commit(json_text(json(*device, *c, *e))); !s) return session.fail(s);
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add_explain(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c = program.add_subcommand("explain", "say which kernel computes a problem, how, and why no other");
    c->add_option("problem", o->problem, "what to compute, such as 'f16*f16 64x128x256 bias=col'")
        ->type_name("PROBLEM")
        ->required();
    c->add_option("--kernel", o->kernel, "explain this one, whatever would be chosen")->type_name("NAME");
    c->add_option("--tile", o->tile, "constants to replace in the kernel's tile")->type_name("BM=128,BN=128,...");
    c->add_option("--json", o->json, "write it as JSON; - is standard output")->type_name("FILE|-");
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool
