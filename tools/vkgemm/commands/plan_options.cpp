// SPDX-License-Identifier: MIT
#include "commands/plan_options.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

constexpr uint32_t largest_alignment = 1 << 20;  // as VkgemmPlanOptions::operandAlignment

std::string check_bytes(const std::string& text) {
    return read_bytes(text) ? "" : "takes a number of bytes, such as 0, 24MiB or 1GiB, not '" + text + "'";
}

std::string check_alignment(const std::string& text) {
    const auto number = readNumber<uint32_t>(text);
    if (number && std::has_single_bit(*number) && *number <= largest_alignment) return "";
    return "takes a power of two from 1 to " + std::to_string(largest_alignment) + ", not '" + text + "'";
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
    const auto check = [words = std::move(words)](const std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return "";
        return "takes " + joined(words, " or ") + ", not '" + text + "'" + suggestion(text, words);
    };
    return {check, ""};
}

std::optional<uint64_t> read_bytes(std::string_view text) {
    const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = readNumber<double>(text.substr(0, digits));
    std::string_view unit = trimmed(text.substr(digits));
    double size = 1;
    for (const auto& [prefix, bytes] : {std::pair('K', 0x1p10), {'M', 0x1p20}, {'G', 0x1p30}})
        if (!unit.empty() && unit.front() == prefix) size = bytes;
    if (size > 1) unit.remove_prefix(1);
    if (size > 1 && unit.starts_with('i')) unit.remove_prefix(1);
    if (!number || (!unit.empty() && unit != "B") || !(*number * size < 0x1p63)) return std::nullopt;
    return static_cast<uint64_t>(std::llround(*number * size));
}

PlanOptions PlanWish::options(uint64_t default_workspace) const {
    PlanOptions out{.operandAlignment = alignment,
                    .workspaceLimit = workspace.empty() ? default_workspace : read_bytes(workspace).value_or(0)};
    if (has_addresses()) out.operands = VKGEMM_OPERANDS_ADDRESSES;
    if (operands == "descriptors") out.operands = VKGEMM_OPERANDS_DESCRIPTORS;
    if (native == "off") out.flags |= VKGEMM_PLAN_NO_NATIVE;
    return out;
}

nlohmann::ordered_json PlanWish::json(uint64_t default_workspace) const {
    const PlanOptions o = options(default_workspace);
    return {{"workspace_limit", o.workspaceLimit},
            {"alignment", o.operandAlignment ? o.operandAlignment : 16},
            {"operands", operands.empty() ? "buffers" : operands},
            {"native", native == "off" ? "off" : "auto"}};
}

void add_plan_options(CLI::App& command, PlanWish& wish, const std::string& workspace_default, bool with_alignment) {
    command
        .add_option(
            "--workspace", wish.workspace,
            "the largest workspace of a plan, VkgemmPlanOptions::workspaceLimit, such as 0 or 64MiB (default: " +
                workspace_default + ")")
        ->type_name("BYTES")
        ->check(CLI::Validator([](const std::string& text) { return check_bytes(text); }, ""));
    if (with_alignment)
        command
            .add_option("--alignment", wish.alignment,
                        "the multiple of bytes at which every operand begins, VkgemmPlanOptions::operandAlignment "
                        "(default: 16)")
            ->type_name("BYTES")
            ->check(CLI::Validator([](const std::string& text) { return check_alignment(text); }, ""));
    command
        .add_option("--operands", wish.operands,
                    "pass operands as buffers, as device addresses, or as buffers that are bound as descriptors, "
                    "VkgemmPlanOptions::operands (default: buffers)")
        ->type_name("buffers|addresses|descriptors")
        ->check(one_of({"buffers", "addresses", "descriptors"}));
}

void add_native_option(CLI::App& command, PlanWish& wish) {
    command
        .add_option("--native", wish.native,
                    "off: choose among the shaders only, as on a device without native kernels (default: auto)")
        ->type_name("auto|off")
        ->check(one_of({"auto", "off"}));
}

}  // namespace vkgemm::tool
