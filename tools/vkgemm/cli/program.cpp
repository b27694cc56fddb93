// SPDX-License-Identifier: MIT
// The common options, and the refusal of words that no command takes.
#include "cli/program.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "commands/command.h"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

ColorMode color_mode(const std::string& word) {
    if (word == "auto") return ColorMode::automatic;
    if (word == "always") return ColorMode::always;
    if (word == "never") return ColorMode::never;
    throw CLI::ValidationError("--color", "'" + word + "' is not a colour mode; use auto, always or never");
}

void add_common(CLI::App& app, Session& session) {
    app.add_option("--device", session.device,
                   "device to use: its index, or part of its name or driver (default: the best one)")
        ->type_name("N|NAME-PART")
        ->group("Common options");
    app.add_flag("--validate", session.validate,
                 "enable the Vulkan validation layer; any message makes the exit code 4")
        ->group("Common options");
    app.add_flag("--quiet", session.quiet, "show no progress on standard error")->group("Common options");
    app.add_option_function<std::string>(
           "--color", [&session](const std::string& word) { session.color = color_mode(word); },
           "use colours on standard output (default: auto, if it is a terminal)")
        ->type_name("auto|always|never")
        ->group("Common options");
    app.set_help_flag("-h,--help", "print this help and exit")->group("Common options");
}

/// Refuses what no option or argument took, and suggests the nearest known word.
int refuse_extras(const CLI::App& app, const std::vector<std::string>& extras, const std::vector<std::string>& words,
                  const char* what) {
    const std::string& extra = extras.front();
    std::vector<std::string> known = words;
    if (extra.starts_with("-")) {
        known.clear();
        for (const CLI::Option* option : app.get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    } else if (!app.get_parent())
        known.insert(known.end(), {"--help", "--version"});
    const std::string_view nearest = nearestWord(extra.substr(0, extra.find('=')), known);
    std::string text =
        std::string("vkgemm: unknown ") + (extra.starts_with("-") ? "option" : what) + " '" + extra + "'";
    if (!nearest.empty())
        text += "; did you mean '" + std::string(nearest) + "'?";
    else if (app.get_option_no_throw("problem") || app.get_option_no_throw("problems"))
        text += extra.starts_with("-") ? "" : "; a PROBLEM of several words is one argument, in quotes";
    else if (app.get_option_no_throw("--shape") && parse_shapes(extra, "", ""))
        text += "; did you mean '--shape " + extra + "'?";
    warn(text + "\nvkgemm " + (app.get_parent() ? app.get_name() + " " : "") + "--help lists what it takes");
    return exit_usage;
}

/// The parser's refusal in plain words.
std::string said_of(const CLI::ParseError& error) {
    std::string text = error.what();  // "problem is required", "--json: 1 required FILE|- missing"
    if (const size_t at = text.find(" is required"); at != std::string::npos) {
        if (text.starts_with("--")) return text.substr(0, at) + " is missing";
        for (size_t i = 0; i < at; ++i) text[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
        const std::string what = text.substr(0, at);
        return "a " + what + " is missing" + (what == "PROBLEM" ? ", such as 64x128x256" : "");
    }
    if (const size_t at = text.find(" excludes "); at != std::string::npos) {
        const std::string one = text.substr(0, at), other = text.substr(at + 10);
        return (one.starts_with("--") ? one : "a PROBLEM") + " and " + (other.starts_with("--") ? other : "a PROBLEM") +
               " cannot be combined";
    }
    if (const size_t at = text.find(": At most 1 required"); at != std::string::npos)
        return text.substr(0, at) + " is given more than once";
    // The values of options are checked, so this is a flag with one: "Could not convert: --quiet = maybe".
    if (constexpr std::string_view head = "Could not convert: "; text.starts_with(head))
        return text.substr(head.size(), text.find(" = ") - head.size()) + " takes no value";
    const size_t wants = text.find(": 1 required "), missing = text.rfind(" missing");
    if (wants == std::string::npos || missing == std::string::npos) return text;
    return text.substr(0, wants) + " needs " + text.substr(wants + 13, missing - wants - 13);
}

/// An empty value is refused: a script with an unset variable must not get the default by accident.
void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        if (option->get_items_expected_max() > 0)
            option->check([](const std::string& value) { return value.empty() ? "the value is empty" : ""; });
}

/// The help of the command that was named, or of the program.
std::string help(const CLI::App& app) {
    const Manual manual = manual_of(app);
    for (const CLI::App* named : app.get_subcommands())
        for (const ManualCommand& c : manual.commands)
            if (c.name == named->get_name()) return help_text(c);
    return help_text(manual);
}

/// Of the command `name`, or of the program where it is "".
int print_help(const CLI::App& program, const std::string& name) {
    const Manual manual = manual_of(program);
    const auto command = std::ranges::find(manual.commands, name, &ManualCommand::name);
    if (name.empty() || command != manual.commands.end()) {
        print(name.empty() ? help_text(manual) : help_text(*command));
        return exit_right;
    }
    std::vector<std::string> names;
    for (const ManualCommand& known : manual.commands) names.push_back(known.name);
    warn("vkgemm: there is no command '" + name + "'" + suggestion(name, names) + "\nvkgemm help lists the commands");
    return exit_usage;
}

/// `vkgemm help [COMMAND]`, for those who type it before they know of --help.
CLI::App* add_help(CLI::App& program, Action& action) {
    const auto name = std::make_shared<std::string>();
    CLI::App* c = program.add_subcommand("help", "print the help of a command, or of the program");
    c->add_option("command", *name, "the command to describe")->type_name("COMMAND");
    c->allow_extras()->group("Commands");
    c->set_help_flag("-h,--help", "print this help and exit")->group("Common options");
    c->callback([&program, &action, name] { action = [&program, name] { return print_help(program, *name); }; });
    return c;
}

/// What no option or argument of `app` took, without the "--" that ends the options.
std::vector<std::string> extras_of(const CLI::App& app) {
    std::vector<std::string> extras = app.remaining();
    if (const auto end = std::ranges::find(extras, "--"); end != extras.end()) extras.erase(end);
    return extras;
}

/// `code`, unless standard output did not take everything.
int written(int code) {
    if (!output_failed() || reader_left()) return code;
    warn("vkgemm: cannot write to standard output: " + output_failure());
    return code == exit_right ? exit_file : code;
}

int program(int argc, const char* const* argv) {
    Session session;
    Action action;
    CLI::App app("Matrix multiplication for Vulkan: measure, tune, check and explain it on this machine.", "vkgemm");
    app.allow_extras();
    add_common(app, session);
    refuse_empty_values(app);
    app.set_version_flag(
           "-V,--version", [] { return "vkgemm " + tool_version(); }, "print the version and exit")
        ->group("Common options");
    std::vector<CLI::App*> added;
    std::vector<std::string> names;
    for (const AddCommand add : every_command) {
        CLI::App* command = add(app, session, action);
        command->allow_extras()->group("Commands");
        add_common(*command, session);
        refuse_empty_values(*command);
        added.push_back(command);
        names.push_back(command->get_name());
    }
    added.push_back(add_help(app, action));
    names.emplace_back("help");
    added.push_back(add_generate(app, session, action));
    app.require_subcommand(0, 1);

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(help(app));
        return written(exit_right);
    } catch (const CLI::CallForVersion& version) {
        print(std::string(version.what()) + "\n");
        return written(exit_right);
    } catch (const CLI::ParseError& error) {
        warn("vkgemm: " + said_of(error));
        return exit_usage;
    }
    for (const CLI::App* command : added)
        if (const auto extras = extras_of(*command); command->parsed() && !extras.empty())
            return refuse_extras(*command, extras, {}, "argument");
    if (const auto extras = extras_of(app); !extras.empty()) return refuse_extras(app, extras, names, "command");
    if (!action) {
        warn(help(app));
        return exit_usage;
    }
    return written(action());
}

}  // namespace

int run_program(int argc, const char* const* argv, std::FILE* out, std::FILE* err) {
    set_streams(out, err);
    int code = exit_vulkan;
    try {
        code = program(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fprintf(
            err,
            "vkgemm: the machine has no more memory for this command; smaller sizes or fewer problems need less\n");
    } catch (const std::exception& e) {
        std::fprintf(err, "vkgemm: %s\n", e.what());
    }
    set_streams(stdout, stderr);
    return code;
}

}  // namespace vkgemm::tool
