// SPDX-License-Identifier: MIT
// What every command stands on: the common options, the device, the exit codes. A command is one file with one function
// that adds it to the program, and one line in `commands`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/vkgemm/cli/manual.h"
#include "tools/vkgemm/measure/measure.h"
#include "tools/vkgemm/cli/output.h"
#include "tools/vkgemm/cli/terminal.h"
#include "tools/vkgemm/cli/text.h"

namespace vkgemm::tool {

Exit exit_code(const Status& failure);
/// The one that comes first of: Vulkan failed, wrong, bad usage, unsupported, interrupted, right.
Exit worse(Exit one, Exit other);

/// The common options, and what comes of them.
struct Session {
    std::string device;
    bool validate = false, quiet = false;
    bool use_disabled_kernels = true;  // those of VKGEMM_DISABLED_KERNELS
    ColorMode color = ColorMode::automatic;
    std::shared_ptr<std::set<std::string>> logged = std::make_shared<std::set<std::string>>();  // messages of the library

    bool colored() const { return wants_color(color); }
    /// Opens the device; messages of the validation layer go to standard error as they come. `inspect` as in
    /// host::DeviceOptions.
    Result<host::Device> open(bool inspect = false) const;
    /// Says on standard error why; the exit code that goes with it.
    Exit fail(const Status& failure) const;
    /// `code`, or exit_vulkan where the validation layer had something to say.
    Exit finish(const host::Device& device, Exit code) const;
    /// Writes all of them, whichever fails, and says which do; the worse of `code` and what comes of it.
    Exit commit(std::initializer_list<std::pair<OutputFile*, std::string>> files, Exit code) const;
};

/// The file of tuned rows that VKGEMM_TUNED names; "": none.
std::string tuned_path();

using Action = std::function<int()>;
using AddCommand = CLI::App* (*)(CLI::App& program, const Session& session, Action& action);

CLI::App* add_devices(CLI::App& program, const Session& session, Action& action);
CLI::App* add_kernels(CLI::App& program, const Session& session, Action& action);
CLI::App* add_bench(CLI::App& program, const Session& session, Action& action);
CLI::App* add_ladder(CLI::App& program, const Session& session, Action& action);
CLI::App* add_tune(CLI::App& program, const Session& session, Action& action);
CLI::App* add_explain(CLI::App& program, const Session& session, Action& action);
CLI::App* add_inspect(CLI::App& program, const Session& session, Action& action);
CLI::App* add_cover(CLI::App& program, const Session& session, Action& action);
CLI::App* add_check(CLI::App& program, const Session& session, Action& action);
CLI::App* add_replay(CLI::App& program, const Session& session, Action& action);

inline constexpr AddCommand commands[] = {
    add_devices, add_kernels, add_bench, add_ladder, add_tune,
    add_explain, add_inspect, add_cover, add_check,  add_replay,
};

/// For packagers and shells: what is made of the other commands' options. No help shows it.
CLI::App* add_generate(CLI::App& program, const Session& session, Action& action);
Manual manual_of(const CLI::App& program);  // without what is hidden

/// Refuses what is no number, or none from `least` to `most`.
CLI::Validator number_in(double least, double most, bool whole = false);

/// "NVIDIA H200 [NVIDIA, 580.159.04], Vulkan 1.4.312"
std::string device_line(const host::DeviceInfo& info);
/// "f16*f16+f32->f16", or "f32" where all four are f32.
std::string types_text(Type a, Type b, Type accumulate, Type d);
std::string tool_version();  // "0.1.0 (commit)"

/// As a file has it. What is no UTF-8, in the name of a file above all, becomes U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

/// The parts of the JSON schema (docs/tool.md) that every command writes.
nlohmann::ordered_json json_head(const char* command);
nlohmann::ordered_json json_device(const host::DeviceInfo& info);
nlohmann::ordered_json json_measurement(const Measurement& m);  // of a kernel or a baseline
nlohmann::ordered_json json_case(const Case& c, const Measurement& m);

}  // namespace vkgemm::tool
