// SPDX-License-Identifier: MIT
// Shared by all commands: the common options, the device, the exit codes. A command is one file with one function that
// adds it to the program, and one line in `every_command`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "measure/measure.h"

namespace vkgemm::tool {

Exit exit_code(const Status& failure);
/// The one that comes first of: Vulkan failed, wrong, a file failed, bad usage, unsupported, interrupted, right.
Exit worse(Exit one, Exit other);

/// The common options.
struct Session {
    std::string device;
    bool validate = false, quiet = false;
    bool use_disabled_kernels = true;  // those of VKGEMM_DISABLED_KERNELS
    ColorMode color = ColorMode::automatic;
    std::shared_ptr<std::set<std::string>> logged =
        std::make_shared<std::set<std::string>>();  // messages that were shown

    /// The device and the validation layer, whose messages go to standard error as they come.
    host::DeviceOptions device_options() const;
    bool colored() const { return wants_color(color); }
    struct Opening {
        bool inspect = false;  // as in host::DeviceOptions
        bool hints = true;     // print what a workspace would bring to the plans, unless `quiet`
    };
    /// Opens the device with these options and the rows of the environment.
    Result<host::Device> open(const Opening& how) const;
    Result<host::Device> open() const { return open({}); }
    /// Prints the reason to standard error; returns its exit code.
    Exit fail(const Status& failure) const;
    /// `code`, or exit_vulkan if the validation layer printed a message.
    Exit finish(const host::Device& device, Exit code) const;
    /// Writes all files, even if one fails, and reports failures; returns the worse of `code` and their codes.
    Exit commit(std::initializer_list<std::pair<OutputFile*, std::string>> files, Exit code) const;
};

/// The file of tuned rows that VKGEMM_TUNED names; "": none.
std::string tuned_path();

using Action = std::function<int()>;
using AddCommand = CLI::App* (*)(CLI::App& program, const Session& session, Action& action);

// The commands, in the order of the help. Each has a namespace of its own, because the sources are compiled together,
// and each has its own Options and run().
#define VKGEMM_COMMANDS(X) \
    X(devices) X(kernels) X(bench) X(ladder) X(tune) X(explain) X(inspect) X(cover) X(check) X(replay) X(report)
#define X(name)                                                                   \
    namespace name##_command {                                                    \
        CLI::App* add(CLI::App& program, const Session& session, Action& action); \
    }
VKGEMM_COMMANDS(X)
#undef X

inline constexpr AddCommand every_command[] = {
#define X(name) name##_command::add,
    VKGEMM_COMMANDS(X)
#undef X
};

/// For packagers and shells: pages made from the other commands' options. Hidden from help.
CLI::App* add_generate(CLI::App& program, const Session& session, Action& action);
Manual manual_of(const CLI::App& program);  // without hidden ones

/// Accepts numbers from `least` to `most`.
CLI::Validator number_in(double least, double most, bool whole = false);

/// "NVIDIA H200 [NVIDIA, 580.159.04], Vulkan 1.4.312"
std::string device_line(const host::DeviceInfo& info);
/// "f16*f16+f32->f16", or "f32" if all four are f32.
std::string types_text(Type a, Type b, Type accumulate, Type d);
std::string tool_version();  // "0.1.0 (commit)"

/// With indentation and a line end. Invalid UTF-8, as in a file name, becomes U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

/// The parts of the JSON schema (docs/files.md) that every command writes.
nlohmann::ordered_json json_head(const char* command);
nlohmann::ordered_json json_device(const host::DeviceInfo& info);
nlohmann::ordered_json json_measurement(const Measurement& m);  // of a kernel or a baseline
nlohmann::ordered_json json_case(const Case& c, const Measurement& m);

}  // namespace vkgemm::tool
