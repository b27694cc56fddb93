// SPDX-License-Identifier: MIT
// vkgemm kernels: every built-in kernel, and whether it fits the device (and a problem); and how chains are computed.
#include <array>

#include "commands/command.h"
#include "measure/kernel_lookup.h"

namespace vkgemm::tool::kernels_command {
namespace {

struct Options {
    std::string problem, json;
    bool all = false;
};

/// A kernel, and whether it fits the device (and the problem).
struct Listed {
    const VkgemmKernelInfo* info;
    Status checked;
    bool fits() const { return checked && !info->helper; }
};

/// Whether no device at hand has the matrix shape of the kernel: only a stand-in of the tests has run it (testing.md).
/// lavapipe has 8x8x8, an H200 the others; a new device that ran the tests adds its shapes here.
bool is_emulated(const VkgemmKernelInfo& k) {
    const std::string_view tile = k.tile;
    const size_t at = tile.find("MM=");
    if (at == std::string_view::npos || is_native(k.name)) return false;
    const std::string_view shape = tile.substr(at);
    const char* const of_h200 = k.a == VKGEMM_TYPE_I8 ? "MM=16,MN=16,MK=32" : "MM=16,MN=16,MK=16";
    return !shape.starts_with(of_h200) && !shape.starts_with("MM=8,MN=8,MK=8");
}

std::string types_of(const VkgemmKernelInfo& k) { return types_text(k.a, k.b, k.accumulate, k.d); }

Cell fit_cell(const Listed& k) {
    if (k.info->helper) return {"helper", Style::dim};  // of a product; it fits no problem by itself
    return k.fits() ? Cell{"yes", Style::good} : Cell{"no", Style::bad};
}

Result<std::vector<Listed>> check_all(const host::Device& device, std::span<const VkgemmKernelInfo> kernels,
                                      const Problem* problem) {
    std::vector<Listed> all;
    for (const VkgemmKernelInfo& k : kernels) {
        Status checked = device.context().checkKernel({.kernel = k.name}, problem);
        if (!checked && exit_code(checked) == exit_vulkan) return checked;
        all.push_back({&k, std::move(checked)});
    }
    return all;
}

/// Every kernel with its tile, its needs and the reason against it.
std::string long_table(const std::vector<Listed>& all, bool colored) {
    Table table({{.title = "kernel"}, {.title = "types"}, {.title = "fit"}, {.title = "needs"}});
    for (const Listed& k : all) {
        const std::string needs = k.info->needs;
        const bool long_needs = needs.size() > 30;
        table.add({k.info->name, types_of(*k.info), fit_cell(k), needs.empty() ? "-" : long_needs ? "below" : needs});
        table.note(k.info->tile + std::string(is_native(k.info->name) ? ", machine code of sm_90a" : ""));
        if (long_needs) table.note("needs " + needs);
        if (is_emulated(*k.info)) table.note("ran with a stand-in for such matrix units, on no device that has them");
        const std::string name = k.info->name + std::string(": "), why = k.checked.text;
        if (!k.fits() && !k.info->helper) table.note(why.starts_with(name) ? why.substr(name.size()) : why);
    }
    return table.header(colored) + table.body(colored);
}

/// The kernels that fit, each in a line.
std::string short_table(const std::vector<Listed>& all, bool colored) {
    Table table({{.title = "kernel"}, {.title = "types"}});
    for (const Listed& k : all)
        if (k.fits()) table.add({k.info->name, types_of(*k.info)});
    return table.header(colored) + table.body(colored);
}

nlohmann::ordered_json json_of(const Listed& k) {
    const VkgemmKernelInfo& info = *k.info;
    return {{"name", info.name},
            {"family", info.family},
            {"variant", info.variant},
            {"types", types_of(info)},
            {"tile", info.tile},
            {"needs", info.needs},
            {"built", info.built != 0},
            {"helper", info.helper != 0},
            {"native", is_native(info.name)},
            {"emulated", is_emulated(info)},
            {"unfit", k.checked ? nlohmann::ordered_json() : nlohmann::ordered_json(k.checked.text)}};
}

/// How the device computes a chain, which is not a kernel of the table: two layers of 64, by type.
std::vector<std::pair<std::string, std::string>> chains(const host::Device& device) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [name, type] : {std::pair{"f16", f16}, {"bf16", bf16}, {"f32", f32}}) {
        std::array<Problem, 2> layers;
        layers.fill({.m = 65536, .n = 64, .k = 64});
        layers[0].a.type = type;
        const auto text = Chain::explain(device.context(), {layers});
        all.emplace_back(name, text ? text->substr(0, text->find('\n')) : text.status().text);
    }
    return all;
}

/// What follows the count of those that fit a problem: how to see the rest, or the library's reason against all.
std::string rest_text(const host::Device& device, const Case& wanted, bool some) {
    std::string list = "; --all lists their tiles, and the others with the reasons against them";
    if (some) return list;
    const auto plan = device.context().createPlan(wanted.problem, {.flags = VKGEMM_PLAN_DRY});
    return plan ? list : ": " + plan.status().text;
}

int run(const Session& session, const Options& options) {
    auto file = OutputFile::open(options.json);
    if (!file) return session.fail(file.status());
    std::optional<Case> wanted;
    if (!options.problem.empty()) {
        auto c = parse_work(options.problem);
        if (!c) return session.fail(c.status());
        wanted = *std::move(c);
    }
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    const auto table_of_kernels = kernels();
    const auto all = check_all(*device, table_of_kernels, wanted ? &wanted->problem : nullptr);
    if (!all) return session.fail(all.status());

    nlohmann::ordered_json json = json_head("kernels");
    json["device"] = json_device(device->info());
    json["problem"] = wanted ? nlohmann::ordered_json(wanted->text) : nlohmann::ordered_json();
    json["kernels"] = nlohmann::ordered_json::array();
    size_t fitting = 0, products = 0;
    for (const Listed& k : *all) {
        fitting += k.fits();
        products += !k.info->helper;
        json["kernels"].push_back(json_of(k));
    }
    const auto in_chains = chains(*device);
    json["chains"] = nlohmann::ordered_json::array();
    for (const auto& [type, how] : in_chains) json["chains"].push_back({{"type", type}, {"how", how}});
    if (options.json != "-") {
        const bool is_short = wanted && !options.all;
        print(device_line(device->info()) + "\n" + (wanted ? wrapped(wanted->text, 0) : "") + "\n");
        print(is_short ? short_table(*all, session.colored()) : long_table(*all, session.colored()));
        print("\n" + wrapped(std::to_string(fitting) + " of " + std::to_string(products) + " kernels fit" +
                                 (is_short ? rest_text(*device, *wanted, fitting > 0) : ""),
                             0));
        if (!wanted)
            for (const auto& [type, how] : in_chains) print(wrapped("chain of " + type + ": " + how, 0, 2));
    }
    if (Status s = file->commit(json_text(json)); !s) return session.fail(s);
    return session.finish(*device, exit_right);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "kernels", "list the kernels: types, tile, required features, and whether they fit the device");
    command
        ->add_option(
            "problem", options->problem,
            "also check whether each kernel can compute this problem, such as '1600x1600x1007' or 'i32*i32 64x64x64'")
        ->type_name("PROBLEM");
    command->add_flag(
        "--all", options->all,
        "with a PROBLEM: list every kernel with its tile, and the reason against each that cannot compute it");
    command->add_option("--json", options->json, "write the list as JSON; - is standard output")->type_name("FILE|-");
    command->callback(
        [&session, &action, options] { action = [&session, options] { return run(session, *options); }; });
    return command;
}

}  // namespace vkgemm::tool::kernels_command
