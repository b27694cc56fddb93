// SPDX-License-Identifier: MIT
// vkgemm generate: the man page and the completions, which are kept in tools/pages, the lists that completions ask
// for, and the table of docs/devices. Reads the same commands and options as --help.
#include "commands/command.h"
#include "report/device_standing.h"
#include "trace/inside.h"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

ManualCommand command_of(const CLI::App& app) {
    ManualCommand c{.name = app.get_name(), .text = app.get_description(), .arguments = {}, .options = {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        ManualOption o;
        for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
        o.value = option->get_expected_max() > 0 ? option->get_type_name() : "";
        o.text = option->get_description();
        o.required = option->get_required();
        o.common = option->get_group() == "Common options";
        (o.names.empty() ? c.arguments : c.options).push_back(std::move(o));
    }
    return c;
}

std::string version() {
    const std::string text = tool_version();
    return text.substr(0, text.find(' '));  // the commit changes, the page does not
}

std::string generated(const CLI::App& program, const std::string& what) {
    if (what == "man") return man_page(manual_of(program), version());
    if (what == "bash") return bash_completion(manual_of(program));
    if (what == "zsh") return zsh_completion(manual_of(program));
    if (what == "fish") return fish_completion(manual_of(program));
    if (what == "devices") return devices_table(read_known_devices(inside::unreadable_fact));
    std::string list;
    if (what == "kernels")
        for (const VkgemmKernelInfo& k : kernels()) list += k.helper ? "" : std::string(k.name) + "\n";
    if (what == "suites")
        for (const Suite& s : suites()) list += std::string(s.name) + "\n";
    return list;
}

}  // namespace

Manual manual_of(const CLI::App& program) {
    Manual m{command_of(program), {}};
    for (const CLI::App* command : program.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
        m.commands.push_back(command_of(*command));
    return m;
}

CLI::Validator number_in(double least, double most, bool whole) {
    const auto check = [=](const std::string& text) -> std::string {
        const auto number = readNumber<double>(text);
        const bool fits =
            number && *number >= least && *number <= most && (!whole || readNumber<uint64_t>(text).has_value());
        char wanted[96];
        std::snprintf(wanted, sizeof wanted, "takes a %s from %.7g to %.7g, not ", whole ? "whole number" : "number",
                      least, most);
        return fits ? "" : wanted + ("'" + text + "'");
    };
    return {check, ""};
}

CLI::App* add_generate(CLI::App& program, const Session& session, Action& action) {
    const auto what = std::make_shared<std::string>();
    CLI::App* c = program.add_subcommand("generate", "write a page or a list for packages and shells")->group("");
    c->add_option("what", *what, "what to write")->type_name("man|bash|zsh|fish|kernels|suites|devices");
    c->callback([&program, &session, &action, what] {
        action = [&program, &session, what]() -> int {
            const std::string text = generated(program, *what);
            if (text.empty())
                return session.fail(
                    {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                     "generate takes man, bash, zsh, fish, kernels, suites or devices, not '" + *what + "'"});
            print(text);
            return exit_right;
        };
    });
    return c;
}

}  // namespace vkgemm::tool
