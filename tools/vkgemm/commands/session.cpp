// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "cli/version.h"
#include "commands/command.h"
#include "measure/kernel_lookup.h"

namespace vkgemm::tool {

Exit exit_code(const Status& failure) {
    if (failure.code == error_file) return exit_file;
    switch (failure.code) {
        case VKGEMM_ERROR_UNSUPPORTED:
        case VKGEMM_ERROR_LIMIT:
        case VKGEMM_ERROR_MISSING_FUNCTION:
            return exit_no_device;
        case VKGEMM_ERROR_OUT_OF_MEMORY:
        case VKGEMM_ERROR_DEVICE_LOST:
        case VKGEMM_ERROR_VULKAN:
            return exit_vulkan;
        default:
            return failure ? exit_right : exit_usage;
    }
}

Exit worse(Exit one, Exit other) {
    constexpr Exit order[] = {exit_right, exit_interrupted, exit_no_device, exit_usage,
                              exit_file,  exit_wrong,       exit_vulkan};
    return std::ranges::find(order, one) < std::ranges::find(order, other) ? other : one;
}

Exit Session::fail(const Status& failure) const {
    warn("vkgemm: " + (failure.code == VKGEMM_ERROR_TILE ? listed(failure.text) : failure.text));
    return exit_code(failure);
}

namespace {

/// The file of the environment whose line a message of the library is about: "VKGEMM_TUNED: mine.txt: "; "": none.
std::string file_of(std::string_view text) {
    for (const auto& [begin, variable] :
         {std::pair{"tuned rows, line ", "VKGEMM_TUNED"}, {"disabled kernels, line ", "VKGEMM_DISABLED_KERNELS"}})
        if (const char* const path = std::getenv(variable); path && text.starts_with(begin))
            return std::string(variable) + ": " + path + ": ";
    return "";
}

/// Prints a message of the library, such as a kernel of VKGEMM_KERNEL that could not be used, or a line of a file that
/// it skips. Each message once, because a suite makes a plan for every problem.
void say_once(void* said, VkgemmSeverity, const char* text) {
    if (static_cast<std::set<std::string>*>(said)->insert(text).second) warn("vkgemm: " + file_of(text) + text);
}

/// Warnings, but not what a workspace would bring.
void warn_once(void* said, VkgemmSeverity severity, const char* text) {
    if (severity != VKGEMM_SEVERITY_INFO) say_once(said, severity, text);
}

}  // namespace

std::string tuned_path() {
    const char* path = std::getenv("VKGEMM_TUNED");
    return path ? path : "";
}

namespace {

/// The text of the file that a variable names; "" where it names none. The library reads it, and logs each line that it
/// skips.
Result<std::string> rows_of(const char* variable, const std::string& path) {
    if (path.empty()) return std::string();
    const auto refused = [&](VkgemmResult code, const std::string& why) {
        return Status{code, VK_SUCCESS, std::string(variable) + ": " + why};
    };
    auto text = read_file(path);
    if (!text) return refused(text.status().code, text.status().text);
    if (text->find('\0') != std::string::npos) return refused(VKGEMM_ERROR_PARSE, path + ": a text has no zero byte");
    return text;
}

}  // namespace

host::DeviceOptions Session::device_options() const {
    return {.device = device,
            .validation = validate ? host::Validation::required : host::Validation::off,
            .onMessage =
                [](const host::Message& m) {
                    warn(std::string("validation ") + (m.isError ? "error: " : "warning: ") + m.text);
                },
            .log = quiet ? warn_once : say_once,
            .logUser = logged.get()};
}

Result<host::Device> Session::open(const Opening& how) const {
    const auto rows = rows_of("VKGEMM_TUNED", tuned_path());
    if (!rows) return rows.status();
    const char* path = use_disabled_kernels ? std::getenv("VKGEMM_DISABLED_KERNELS") : nullptr;
    const auto disabled = rows_of("VKGEMM_DISABLED_KERNELS", path ? path : "");
    if (!disabled) return disabled.status();
    host::DeviceOptions options = device_options();
    options.tunedRows = rows->c_str();
    options.disabledKernels = disabled->c_str();
    options.inspect = how.inspect;
    if (!how.hints) options.log = warn_once;
    return host::Device::open(options);
}

Exit Session::finish(const host::Device& opened, Exit code) const {
    if (!validate) return code;
    const size_t count = opened.messageCount();
    if (count == 0) {
        if (!quiet) warn("validation: no message");
        return code;
    }
    warn("vkgemm: the validation layer printed " + std::to_string(count) + (count == 1 ? " message" : " messages"));
    return exit_vulkan;
}

Exit Session::commit(std::initializer_list<std::pair<OutputFile*, std::string>> files, Exit code) const {
    for (const auto& [file, text] : files)
        if (Status s = file->commit(text); !s) code = worse(code, fail(s));
    return code;
}

std::string device_line(const host::DeviceInfo& info) {
    return info.name + " [" + info.driver + "], Vulkan " + versionText(info.apiVersion);
}

std::string types_text(Type a, Type b, Type accumulate, Type d) {
    if (a == b && a == accumulate && a == d) return std::string(typeName(a));
    return typesText(a, b, accumulate, d) + (d == VKGEMM_TYPE_DEFAULT ? "scaled" : "");
}

std::string tool_version() {
    const std::string numbers = versionText(vkgemmVersion());
    const std::string commit = tool_commit();
    return commit.empty() ? numbers : numbers + " (" + commit + ")";
}

std::string json_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json json_head(const char* command) {
    return {{"schema", 1},
            {"program", "vkgemm"},
            {"version", tool_version()},
            {"commit", tool_commit()},
            {"command", command}};
}

nlohmann::ordered_json json_device(const host::DeviceInfo& info) {
    return {{"index", info.index},
            {"name", info.name},
            {"driver", info.driver},
            {"kind", host::kindName(info.kind)},
            {"api", versionText(info.apiVersion)},
            {"vendor_id", info.vendorId},
            {"device_id", info.deviceId}};
}

nlohmann::ordered_json json_measurement(const Measurement& measured) {
    using nlohmann::ordered_json;
    const auto or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
    ordered_json j = {{"checked", measured.checked},
                      {"error", or_null(!measured.failure ? measured.failure.text : measured.wrong)},
                      {"wrong", or_null(measured.wrong)}};
    if (!measured.note.empty()) j["note"] = measured.note;
    if (!measured.timed()) return j;
    j["cold"] = measured.cold;
    j["operand_sets"] = measured.sets;
    j["clock"] = measured.clock == host::Clock::device ? "device" : "host";
    j["samples"] = measured.samples;
    j["median"] = measured.times.median;
    j["min"] = measured.times.min;
    j["max"] = measured.times.max;
    j["p5"] = measured.times.p5;
    j["p95"] = measured.times.p95;
    j["drift"] = measured.drift;
    j["scatter"] = measured.scatter;
    if (measured.others >= 0) j["others"] = measured.others;
    if (std::isinf(measured.deviation))
        j["deviation"] = "inf";  // JSON has no such number
    else if (measured.deviation >= 0)
        j["deviation"] = measured.deviation;
    j["tflops"] = measured.flops_per_second() * 1e-12;
    if (measured.in_a_row > 0) {
        j["in_a_row"] = measured.in_a_row;
        j["in_a_row_tflops"] = measured.flops_per_second_in_a_row() * 1e-12;
    }
    j["gbytes_per_s"] = measured.times.median > 0 ? measured.bytes / measured.times.median * 1e-9 : 0;
    return j;
}

nlohmann::ordered_json json_case(const Case& c, const Measurement& measured) {
    nlohmann::ordered_json j = {{"problem", c.text},
                                {"kernel", measured.kernel},
                                {"tile", measured.tile},
                                {"workspace_bytes", measured.workspaceBytes}};
    j["native"] = is_native(measured.kernel);
    j.update(json_measurement(measured));
    return j;
}

}  // namespace vkgemm::tool
