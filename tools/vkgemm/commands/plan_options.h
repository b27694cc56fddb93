// SPDX-License-Identifier: MIT
// The options of the command line that become VkgemmPlanOptions.
#pragma once
#include <optional>
#include <string>

#include "commands/command.h"

namespace vkgemm::tool {

/// What plans are asked for beside kernel and tile.
struct PlanWish {
    std::string workspace, operands, native;  // as given; "": the default
    uint32_t alignment = 0;                   // bytes; 0: the library's default

    /// `default_workspace`: bytes, where --workspace is not given.
    PlanOptions options(uint64_t default_workspace) const;
    bool has_workspace() const { return !workspace.empty(); }
    bool has_addresses() const { return operands == "addresses"; }
    nlohmann::ordered_json json(uint64_t default_workspace) const;
};

/// Adds --workspace, --operands and, `with_alignment`, --alignment. `workspace_default` completes the help.
void add_plan_options(CLI::App& command, PlanWish& wish, const std::string& workspace_default, bool with_alignment);
void add_native_option(CLI::App& command, PlanWish& wish);

/// Accepts one of `words`.
CLI::Validator one_of(std::vector<std::string> words);

/// A number of bytes: "0", "65536", "24MiB", "1.5 GiB"; K, M and G stand for KiB, MiB and GiB.
std::optional<uint64_t> read_bytes(std::string_view text);

}  // namespace vkgemm::tool
