// SPDX-License-Identifier: MIT
// vkgemm devices: what there is to compute on.
#include "commands/command.h"

namespace vkgemm::tool::devices_command {
namespace {

struct Options {
    std::string json;
};

std::string caps(const host::DeviceInfo& d) {
    std::string text = bytes_text(d.memoryBytes) + " memory, " + bytes_text(d.sharedBytes) + " shared, " +
                       std::to_string(d.maxInvocations) + " invocations, subgroup " + std::to_string(d.subgroupSize);
    text += d.timestampBits ? ", GPU timestamps" : ", no GPU timestamps";
    if (!d.uses.empty()) text += "; kernels can use: " + d.uses;
    return text;
}

nlohmann::ordered_json json(const std::vector<host::DeviceInfo>& devices) {
    nlohmann::ordered_json all = json_head("devices");
    all["devices"] = nlohmann::ordered_json::array();
    for (const host::DeviceInfo& d : devices) {
        nlohmann::ordered_json j = json_device(d);
        j["unfit"] = d.unfit.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(d.unfit);
        j["memory_bytes"] = d.memoryBytes;
        j["shared_bytes"] = d.sharedBytes;
        j["max_invocations"] = d.maxInvocations;
        j["subgroup_size"] = d.subgroupSize;
        j["timestamp_bits"] = d.timestampBits;
        j["features"] = d.uses;
        all["devices"].push_back(std::move(j));
    }
    return all;
}

int run(const Session& session, const Options& options) {
    if (!session.device.empty() || session.validate)
        return session.fail({VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                             "devices lists every device and uses none; leave out --device and --validate"});
    auto file = OutputFile::open(options.json);
    if (!file) return session.fail(file.status());
    const auto devices = host::listDevices();
    if (!devices) return session.fail(devices.status());
    const bool none = devices->empty();
    if (options.json != "-") {
        Table table({{.title = "#", .right = true},
                     {.title = "name"},
                     {.title = "kind"},
                     {.title = "driver"},
                     {.title = "Vulkan"},
                     {.title = "fit"}});
        for (const host::DeviceInfo& d : *devices) {
            const bool fit = d.unfit.empty();
            table.add({std::to_string(d.index),
                       d.name.substr(0, 34),
                       host::kindName(d.kind),
                       d.driver.substr(0, d.driver.find(" (")).substr(0, 30),
                       versionText(d.apiVersion),
                       {fit ? "yes" : "no", fit ? Style::good : Style::bad}});
            table.note(fit ? caps(d) : d.unfit);
        }
        if (!none) print(table.header(session.colored()) + table.body(session.colored()));
    }
    if (Status s = file->commit(json_text(json(*devices))); !s) return session.fail(s);
    if (none) return session.fail({VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "no Vulkan device was found on this system"});
    return exit_right;
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("devices", "list the Vulkan devices and whether vkgemm can use them");
    command->add_option("--json", options->json, "write the list as JSON; - is standard output")->type_name("FILE|-");
    command->callback(
        [&session, &action, options] { action = [&session, options] { return run(session, *options); }; });
    return command;
}

}  // namespace vkgemm::tool::devices_command
