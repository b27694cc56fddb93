// SPDX-License-Identifier: MIT
// vkgemm: the program. Here: the common options, and what happens to words that nobody knows.
#include <cstdio>

#include "plan/words.h"
#include "tools/vkgemm/command.h"

namespace vkgemm::tool {
namespace {

ColorMode color_mode(const std::string& word) {
    if (word == "auto") return ColorMode::automatic;
    if (word == "always") return ColorMode::always;
    if (word == "never") return ColorMode::never;
    throw CLI::ValidationError("--color", "'" + word + "' is not known; it may be auto, always or never");
}

void add_common(CLI::App& app, Session& session) {
    app.add_option("--device", session.device, "the device, by index or a part of its name (default: the best)")
        ->type_name("N|NAME-PART")
        ->group("Common options");
    app.add_flag("--validate", session.validate, "watch with the Vulkan validation layer; its messages end in code 4")
        ->group("Common options");
    app.add_flag("--quiet", session.quiet, "no progress on standard error")->group("Common options");
    app.add_option_function<std::string>(
           "--color", [&session](const std::string& word) { session.color = color_mode(word); },
           "auto, always or never (default: auto)")
        ->type_name("WHEN")
        ->group("Common options");
    app.set_help_flag("-h,--help", "print this and end")->group("Common options");
}

/// Refuses what no option or argument took, with the nearest word that would have been.
int refuse_extras(const CLI::App& app, const std::vector<std::string>& extras, const std::vector<std::string>& words,
                  const char* what) {
    const std::string& extra = extras.front();
    std::vector<std::string> known = words;
    if (extra.starts_with("-")) {
        known.clear();
        for (const CLI::Option* option : app.get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::string_view nearest = plan::nearest_word(extra.substr(0, extra.find('=')), known);
    std::fprintf(stderr, "vkgemm: unknown %s '%s'", extra.starts_with("-") ? "option" : what, extra.c_str());
    if (!nearest.empty()) std::fprintf(stderr, "; did you mean '%s'?", std::string(nearest).c_str());
    std::fprintf(stderr, "\nvkgemm %s--help tells what there is\n",
                 app.get_parent() ? (app.get_name() + " ").c_str() : "");
    return exit_usage;
}

/// Help without blanks at the ends of lines, and with one empty line where there were more.
std::string tidy(const std::string& help) {
    std::string text, line;
    for (const char c : help) {
        if (c != '\n') {
            line += c;
            continue;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        const bool repeated = line.empty() && (text.empty() || text.ends_with("\n\n"));
        if (!repeated) text += line + "\n";
        line.clear();
    }
    return text;
}

int program(int argc, char** argv) {
    Session session;
    Action action;
    CLI::App app("Matrix multiplication for Vulkan: measure it on this machine, and see why.", "vkgemm");
    const auto formatter = app.get_formatter();
    formatter->column_width(32);
    formatter->right_column_width(page_width - 34);
    formatter->description_paragraph_width(page_width);
    formatter->footer_paragraph_width(page_width);
    formatter->label("SUBCOMMAND", "COMMAND");
    formatter->label("OPTIONS", "options");
    app.footer(
        "A PROBLEM is one line, such as 'f16*f16+f32->f16 64x128x256 batch=4 layout=nt beta=1'.\n"
        "Codes: 0 right, 1 wrong result, 2 bad usage, 3 no device or it lacks something, 4 Vulkan failed.\n"
        "'vkgemm COMMAND --help' tells what a command takes.");
    app.allow_extras();
    add_common(app, session);
    app.set_version_flag(
           "--version", [] { return "vkgemm " + tool_version(); }, "print the version and end")
        ->group("Common options");
    std::vector<CLI::App*> added;
    std::vector<std::string> names;
    for (const AddCommand add : commands) {
        CLI::App* command = add(app, session, action);
        command->allow_extras()->group("Commands");
        add_common(*command, session);
        added.push_back(command);
        names.push_back(command->get_name());
    }
    app.require_subcommand(0, 1);

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        print(tidy(app.help()));
        return exit_right;
    } catch (const CLI::CallForVersion& version) {
        print(std::string(version.what()) + "\n");
        return exit_right;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "vkgemm: %s\n", error.what());
        return exit_usage;
    }
    for (const CLI::App* command : added)
        if (command->parsed() && !command->remaining().empty())
            return refuse_extras(*command, command->remaining(), {}, "argument");
    if (!app.remaining().empty()) return refuse_extras(app, app.remaining(), names, "command");
    if (!action) {
        std::fputs(tidy(app.help()).c_str(), stderr);
        return exit_usage;
    }
    watch_interrupt();
    return action();
}

}  // namespace
}  // namespace vkgemm::tool

int main(int argc, char** argv) {
    try {
        return vkgemm::tool::program(argc, argv);
    } catch (const std::exception& e) {  // out of memory, above all
        std::fprintf(stderr, "vkgemm: %s\n", e.what());
        return vkgemm::tool::exit_vulkan;
    }
}
