// SPDX-License-Identifier: MIT
// The program's commands and options as plain data, and what is made of them: help, man page, completions. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::tool {

enum Exit : int {
    exit_right = 0,
    exit_wrong = 1,
    exit_usage = 2,
    exit_no_device = 3,
    exit_vulkan = 4,
    exit_file = 5,
    exit_interrupted = 130
};
struct ExitWord {
    Exit code;
    std::string_view text;
};
inline constexpr ExitWord exit_words[] = {
    {exit_right, "success; every result is right"},
    {exit_wrong, "a wrong result or a failed check"},
    {exit_usage, "bad usage"},
    {exit_no_device, "no device, or it lacks something that is needed"},
    {exit_vulkan, "Vulkan failed, the device was lost, or the validation layer printed a message"},
    {exit_file, "a file or standard output could not be read or written: no permission, a full disk"},
    {exit_interrupted, "interrupted; the results so far are kept"},
};

/// An option, or an argument without a name.
struct ManualOption {
    std::vector<std::string> names;  // "-h", "--help"; an argument has none
    std::string value;               // "FILE|-"; words in lower case stand for themselves; "": it takes none
    std::string text;
    bool common = false;    // the same for all commands
    bool required = false;  // of an argument
};

struct ManualCommand {
    std::string name, text;
    std::vector<ManualOption> arguments, options;
};

/// `program` has the options that stand before a command.
struct Manual {
    ManualCommand program;
    std::vector<ManualCommand> commands;
};

std::string help_text(const Manual&);
std::string help_text(const ManualCommand&);

/// In roff's man macros.
std::string man_page(const Manual&, std::string_view version);

std::string bash_completion(const Manual&);
std::string zsh_completion(const Manual&);
std::string fish_completion(const Manual&);

}  // namespace vkgemm::tool
