// SPDX-License-Identifier: MIT
// vkgemm ladder: one product, one idea more per rung, up to the kernel that the library chooses, and to matrix units.
#include <algorithm>

#include "commands/command.h"
#include "measure/kernel_lookup.h"
#include "report/plot.h"

namespace vkgemm::tool::ladder_command {
namespace {

/// A rung is a kernel row and the idea that it adds.
constexpr const char* chosen = "";
struct Rung {
    const char* name;
    const char* f32;
    const char* i32;            // null: no such kernel for this type; `chosen`: the library's choice
    const char* accuracy = "";  // of another problem than the other rungs have; climbed only if it gets another kernel
};
constexpr Rung rungs[] = {
    {"naive", "naive_f32_8x8", "naive_i32_8x8"},
    {"tiled 16x16", "tiled_f32_16x16", "tiled_i32_16x16"},
    {"tiled 32x32", "tiled_f32_32x32", nullptr},
    {"tiled 16x16x64", "tiled_f32_16x16x64", "tiled_i32_16x16x64"},
    {"vec4", "vec4_f32_64x64", nullptr},
    {"vec4, multi", "vec4_f32_128x128", nullptr},
    {"block", "block_f32_128x128", nullptr},
    {"vkgemm", chosen, chosen},
    {"f32_split_rows", chosen, nullptr, " accuracy=f32_split_rows"},
};

struct Options {
    size_t size = 0;
    std::string shape, type = "f32", json, plot;
};

Status usage(std::string text) { return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, std::move(text)}; }

/// A size at which all rungs together take seconds.
size_t default_size(VkPhysicalDeviceType kind) {
    switch (kind) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 4096;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return 256;
        default:
            return 2048;
    }
}

Result<Case> case_of(const Options& options, VkPhysicalDeviceType kind) {
    const std::string n = std::to_string(options.size ? options.size : default_size(kind));
    auto cases = parse_shapes(options.shape.empty() ? n + "x" + n + "x" + n : options.shape, options.type, "");
    if (!cases) return cases.status();
    if (cases->size() != 1)
        return usage("the ladder takes one shape, and --shape names " + std::to_string(cases->size()));
    return cases->front();
}

struct Climbed {
    const Rung* rung;
    Case c;
    Measurement m;
};

/// How much faster than the rung before that was timed; 0: there is none, or no time.
double gain_of(const std::vector<Climbed>& all, size_t i) {
    if (all[i].m.times.median <= 0) return 0;
    for (size_t before = i; before-- > 0;)
        if (all[before].m.timed()) return all[before].m.times.median / all[i].m.times.median;
    return 0;
}
std::string gain_text(double gain) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2fx", gain);
    return gain > 0 ? text : "";
}

double best_of(const std::vector<Climbed>& all) {
    double best = 0;
    for (const Climbed& c : all) best = std::max(best, c.m.flops_per_second());
    return best;
}

std::string table_of(const std::vector<Climbed>& all, bool integer, bool colored) {
    const double best = best_of(all);
    Table table({{.title = "rung"},
                 {.title = "kernel"},
                 {.title = "runs", .right = true},
                 {.title = "median", .right = true},
                 {.title = "rate", .right = true},
                 {.title = "gain", .right = true},
                 {.title = "of best", .right = true},
                 {.title = "checked"}});
    for (size_t i = 0; i < all.size(); ++i) {
        const Measurement& measured = all[i].m;
        if (measured.timed()) {
            char share[32] = "-";  // nothing was to be added
            if (best > 0) std::snprintf(share, sizeof share, "%.0f %%", 100 * measured.flops_per_second() / best);
            table.add({all[i].rung->name,
                       label_of(measured.kernel),
                       std::to_string(measured.times.runs),
                       seconds_text(measured.times.median),
                       {measured.flops > 0 ? rate_text(measured.flops_per_second(), integer) : "-", Style::head},
                       gain_text(gain_of(all, i)),
                       share,
                       {measured.checked, Style::good}});
        } else {
            const bool wrong = !measured.wrong.empty();
            table.add({all[i].rung->name,
                       label_of(measured.kernel),
                       "",
                       "",
                       "",
                       "",
                       "",
                       {wrong ? "WRONG" : "not run", wrong ? Style::bad : Style::dim}});
            table.note(wrong ? measured.wrong : measured.failure ? "interrupted" : measured.failure.text);
        }
    }
    return table.header(colored) + table.body(colored);
}

std::string plot_of(const std::vector<Climbed>& all, const Case& c, const std::string& device) {
    const bool floats = resolve(c.problem).is_float();
    const RateUnit unit = rate_unit(best_of(all), floats, !floats);
    BarPlot plot{.title = "vkgemm ladder: " + c.text, .subtitle = device, .axis = unit.name, .groups = {}};
    plot.series = {"rate, and gain over the rung before"};
    for (size_t i = 0; i < all.size(); ++i) {
        const Measurement& m = all[i].m;
        std::string text = m.timed() ? rate_text(m.flops_per_second(), !floats) : m.wrong.empty() ? "not run" : "wrong";
        if (const std::string more = gain_text(gain_of(all, i)); !more.empty()) text += ", " + more;
        plot.groups.push_back(
            {.label = all[i].rung->name, .bars = {{.value = m.flops_per_second() / unit.size, .text = text}}});
    }
    return svg(plot);
}

nlohmann::ordered_json json_of(const std::vector<Climbed>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    const double best = best_of(all);
    for (size_t i = 0; i < all.size(); ++i) {
        nlohmann::ordered_json j = json_case(all[i].c, all[i].m);
        j["rung"] = all[i].rung->name;
        if (const double gain = gain_of(all, i); gain > 0) j["gain"] = gain;
        if (all[i].m.timed() && best > 0) j["of_best"] = all[i].m.flops_per_second() / best;
        list.push_back(std::move(j));
    }
    return list;
}

/// The library's choice where the rung allows a lower accuracy: f32 from parts, on matrix units or by machine code.
/// Nothing if that is the kernel `before`.
std::optional<Case> with_accuracy(const host::Device& device, const Case& c, const Rung& rung,
                                  const std::string& before) {
    const auto other = parse_case(c.text + rung.accuracy);
    if (!other) return std::nullopt;
    const auto explained = Explanation::create(device.context(), other->problem, {.workspaceLimit = workspace_limit});
    if (!explained) return std::nullopt;
    const uint32_t kernel = explained->info().chosen;  // UINT32_MAX if none
    if (kernel >= all_kernels().size() || all_kernels()[kernel].name() == before) return std::nullopt;
    return *other;
}

/// All rungs, until one loses the device. `code` becomes the worst of theirs.
std::vector<Climbed> climb(const Session& session, const host::Device& device, const Case& c, bool integer,
                           Exit& code) {
    CaseRunner runner(device, c, {});
    std::vector<Climbed> all;
    Progress progress(std::size(rungs), session.quiet);
    for (const Rung& rung : rungs) {
        const char* kernel = integer ? rung.i32 : rung.f32;
        if (!kernel || interrupted()) continue;
        progress.begin(c.text + ", " + rung.name);
        const PlanOptions options =
            *kernel ? PlanOptions{.kernel = kernel} : PlanOptions{.workspaceLimit = workspace_limit};
        if (*rung.accuracy) {
            const auto other = with_accuracy(device, c, rung, all.empty() ? "" : all.back().m.kernel);
            if (!other) continue;
            all.push_back({&rung, *other, CaseRunner(device, *other, {}).run(options)});
        } else {
            all.push_back({&rung, c, runner.run(options)});
        }
        const Measurement& m = all.back().m;
        if (!m.wrong.empty()) code = exit_wrong;
        if (!m.failure && exit_code(m.failure) == exit_vulkan) code = exit_vulkan;
        if (m.failure.code == VKGEMM_ERROR_DEVICE_LOST) break;
    }
    return all;
}

int run(const Session& session, const Options& options) {
    if (options.type != "f32" && options.type != "i32")
        return session.fail(usage("the ladder is there for f32 and i32, not for '" + options.type + "'"));
    if (Status s = is_svg("--plot", options.plot); !s) return session.fail(s);
    if (Status s = own_places({{"--json", options.json}, {"--plot", options.plot}}); !s) return session.fail(s);
    auto file = OutputFile::open(options.json);
    if (!file) return session.fail(file.status());
    auto plot = OutputFile::open(options.plot);
    if (!plot) return session.fail(plot.status());
    const auto device = session.open({.hints = false});  // the classic kernels have no workspace
    if (!device) return session.fail(device.status());
    const auto c = case_of(options, device->info().kind);
    if (!c) return session.fail(c.status());

    Exit code = exit_right;
    const std::vector<Climbed> all = climb(session, *device, *c, options.type == "i32", code);
    const bool ran = std::ranges::any_of(all, [](const Climbed& r) { return r.m.timed() || !r.m.wrong.empty(); });
    if (!ran && !interrupted() && code == exit_right) return session.fail(all.back().m.failure);  // of all kernels
    if (options.json != "-" && options.plot != "-") {
        const bool cold = std::ranges::any_of(all, [](const Climbed& r) { return r.m.cold; });
        print(device_line(device->info()) + "\n" + c->text + (cold ? ", cold\n\n" : ", hot\n\n"));
        print(table_of(all, options.type == "i32", session.colored()));
        const bool on_host =
            std::ranges::any_of(all, [](const Climbed& r) { return r.m.timed() && r.m.clock == host::Clock::host; });
        if (on_host) print("timed by the host's clock: the device has no timestamps\n");
    }
    if (interrupted()) {
        const bool some = std::ranges::any_of(all, [](const Climbed& r) { return r.m.timed(); });
        warn(some ? "vkgemm: interrupted; what was measured until then is kept"
                  : "vkgemm: interrupted before anything was measured; no file is written");
        if (!some) return exit_interrupted;
    }
    nlohmann::ordered_json json = json_head("ladder");
    json["device"] = json_device(device->info());
    json["options"] = {{"problem", c->text}};
    json["interrupted"] = interrupted();
    json["cases"] = json_of(all);
    const std::string place = device_line(device->info()) + ", vkgemm " + tool_version();
    if (interrupted()) code = exit_interrupted;
    code = session.commit({{&*file, json_text(json)}, {&*plot, plot_of(all, *c, place)}}, code);
    return session.finish(*device, code);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto o = std::make_shared<Options>();
    CLI::App* c =
        program.add_subcommand("ladder", "time the classic kernels, from the naive one to the one that vkgemm chooses");
    CLI::Option* size = c->add_option("--size", o->size, "M = N = K (default: a size that takes seconds on the device)")
                            ->type_name("N")
                            ->check(number_in(1, 65536, true));
    c->add_option("--shape", o->shape, "sizes of the product")->type_name("MxNxK")->excludes(size);
    c->add_option("--type", o->type, "type of all four matrices (default: f32)")->type_name("f32|i32");
    c->add_option("--json", o->json, "write the result as JSON; - is standard output")->type_name("FILE|-");
    c->add_option("--plot", o->plot, "draw the rungs as bars (SVG); - is standard output")->type_name("FILE.svg|-");
    c->callback([&session, &action, o] { action = [&session, o] { return run(session, *o); }; });
    return c;
}

}  // namespace vkgemm::tool::ladder_command
