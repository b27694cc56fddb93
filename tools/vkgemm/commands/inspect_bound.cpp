// SPDX-License-Identifier: MIT
#include "commands/inspect_bound.h"

#include <cmath>

#include "measure/kernel_lookup.h"

namespace vkgemm::tool::inspect_command {
namespace {

/// The inner loop of one kernel.
struct Loop {
    double instructions = 0;
    std::array<double, static_cast<size_t>(Unit::count)> counts = {};
    std::optional<Bound> bound{};
};

std::optional<Loop> loop_of(const CompiledStep& step, const BoundOptions& o) {
    const auto program = program_of(step.report);
    if (!program) return std::nullopt;
    const std::vector<Instruction> body = inner_loop(*program);
    if (body.empty()) return std::nullopt;
    Loop out{.counts = counts_of(body)};
    for (const double n : out.counts) out.instructions += n;
    const uint32_t size = subgroup_size_of(*program, step.tile, o.subgroup_size);
    if (o.architecture) out.bound = bound_of(body, *o.architecture, size);
    return out;
}

std::string whole(double x) { return std::to_string(std::llround(x)); }

}  // namespace

Result<BoundOptions> bound_options(const std::string& architecture, const host::DeviceInfo& device) {
    const BoundOptions out{find_architecture(architecture.empty() ? device.name : architecture), device.subgroupSize};
    if (out.architecture || architecture.empty()) return out;
    return Status{
        VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
        "--architecture " + architecture + ": the numbers of this one are not known; known: " + architecture_names()};
}

// Short titles, so that a row fits the page.
Table loop_table(size_t name_width) {
    std::vector<Table::Column> columns = {{.title = "kernel", .width = name_width},
                                          {.title = "loop", .right = true, .width = 4}};
    for (const auto& [title, width] : {std::pair<const char*, size_t>{"mma", 3},
                                       {"fma", 4},
                                       {"vec", 4},
                                       {"shm", 4},
                                       {"mem", 3},
                                       {"scr", 3},
                                       {"sca", 3},
                                       {"wait", 4}})
        columns.push_back({.title = title, .right = true, .width = width});
    columns.push_back({.title = "cycles", .right = true, .width = 6});
    columns.push_back({.title = "peak", .right = true, .width = 5});
    columns.push_back({.title = "by"});
    return Table(std::move(columns));
}

void add_loop(Table& table, const std::string& name, const CompiledStep& step, const BoundOptions& o) {
    const auto loop = loop_of(step, o);
    std::vector<Cell> cells = {name, loop ? whole(loop->instructions) : "-"};
    for (size_t unit = 0; unit < std::size(unit_names); ++unit) {
        const bool bad = loop && unit == static_cast<size_t>(Unit::scratch) && loop->counts[unit] > 0;
        cells.emplace_back(loop ? whole(loop->counts[unit]) : "-", bad ? Style::bad : Style::plain);
    }
    const auto& bound = loop ? loop->bound : std::nullopt;
    cells.emplace_back(bound ? whole(bound->cycles) : "-");
    cells.emplace_back(bound ? whole(100 * bound->peak_part) + " %" : "-");
    cells.emplace_back(bound ? bound->unit : "-");
    table.add(std::move(cells));
}

nlohmann::ordered_json loop_json(const CompiledStep& step, const BoundOptions& o) {
    const auto loop = loop_of(step, o);
    if (!loop) return nullptr;
    nlohmann::ordered_json j = {{"instructions", loop->instructions}};
    for (size_t unit = 0; unit < std::size(unit_names); ++unit) j[unit_names[unit]] = loop->counts[unit];
    const bool known = loop->bound.has_value();
    j["architecture"] = known ? nlohmann::ordered_json(o.architecture->name) : nullptr;
    j["cycles"] = known ? nlohmann::ordered_json(loop->bound->cycles) : nullptr;
    j["of_peak"] = known ? nlohmann::ordered_json(loop->bound->peak_part) : nullptr;
    j["bound_by"] = known ? nlohmann::ordered_json(loop->bound->unit) : nullptr;
    return j;
}

}  // namespace vkgemm::tool::inspect_command
