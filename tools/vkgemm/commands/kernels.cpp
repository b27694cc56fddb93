// SPDX-License-Identifier: MIT
// vkgemm kernels: every built-in kernel, and whether it fits the device (and a problem).
#include "commands/command.h"
#include "measure/kernel_lookup.h"

namespace vkgemm::tool::kernels_command {
namespace {

struct Options {
    std::string problem, json;
};

Cell fit_cell(const VkgemmKernelInfo& kernel, const Status& checked) {
    if (kernel.helper) return {"helper", Style::dim};  // of a product; it fits no problem by itself
    return checked ? Cell{"yes", Style::good} : Cell{"no", Style::bad};
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

    nlohmann::ordered_json all = json_head("kernels");
    all["device"] = json_device(device->info());
    all["problem"] = wanted ? nlohmann::ordered_json(wanted->text) : nlohmann::ordered_json();
    all["kernels"] = nlohmann::ordered_json::array();
    Table table({{.title = "kernel"}, {.title = "types"}, {.title = "fit"}, {.title = "needs"}});
    size_t fitting = 0, products = 0;
    for (const VkgemmKernelInfo& k : kernels()) {
        const Status s = device->context().checkKernel({.kernel = k.name}, wanted ? &wanted->problem : nullptr);
        if (!s && exit_code(s) == exit_vulkan) return session.fail(s);
        fitting += s && !k.helper;
        products += !k.helper;
        const std::string types = types_text(k.a, k.b, k.accumulate, k.d), needs = k.needs;
        const bool long_needs = needs.size() > 30;
        table.add({k.name, types, fit_cell(k, s), needs.empty() ? "-" : long_needs ? "below" : needs});
        table.note(k.tile + std::string(is_native(k.name) ? ", machine code of sm_90a" : ""));
        if (long_needs) table.note("needs " + needs);
        const std::string name = k.name + std::string(": ");
        if (!s && !k.helper) table.note(s.text.starts_with(name) ? s.text.substr(name.size()) : s.text);
        all["kernels"].push_back({{"name", k.name},
                                  {"family", k.family},
                                  {"variant", k.variant},
                                  {"types", types},
                                  {"tile", k.tile},
                                  {"needs", needs},
                                  {"built", k.built != 0},
                                  {"helper", k.helper != 0},
                                  {"native", is_native(k.name)},
                                  {"unfit", s ? nlohmann::ordered_json() : nlohmann::ordered_json(s.text)}});
    }
    if (options.json != "-") {
        print(device_line(device->info()) + "\n" + (wanted ? wrapped(wanted->text, 0) : "") + "\n");
        print(table.header(session.colored()) + table.body(session.colored()));
        print("\n" + std::to_string(fitting) + " of " + std::to_string(products) + " kernels fit\n");
    }
    if (Status s = file->commit(json_text(all)); !s) return session.fail(s);
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
    command->add_option("--json", options->json, "write the list as JSON; - is standard output")->type_name("FILE|-");
    command->callback(
        [&session, &action, options] { action = [&session, options] { return run(session, *options); }; });
    return command;
}

}  // namespace vkgemm::tool::kernels_command
