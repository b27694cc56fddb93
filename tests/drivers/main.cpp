// SPDX-License-Identifier: MIT
// Compiles the kernels and reports their registers and spills. It needs no hardware: tools/with has drivers that only
// compile.
//
//     tools/with radv:navi31 build/tests/driver_table                      every kernel, and the typical problems
//     ... driver_table --summary radv:navi31                               its row of docs/drivers.md
//     ... driver_table --check radv:navi31 docs/drivers.md                 fails if a default choice spills, or if the
//                                                                          page has another row
//     ... driver_table --clean KERNEL PROBLEM                              fails if this kernel spills for it
//     ... driver_table --random 300 1                                      fails if a default choice for 300 random
//                                                                          problems of seed 1 spills, with or without
//                                                                          workspace
//     ... driver_table --chains                                            fails if a typical chain spills
//     ... driver_table --bounds radv:navi31                               what the inner loops of its choices can reach
//
// vkgemm inspect shows everything that a driver reports on one kernel, with any tile.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <span>

#include "drivers/bounds.h"
#include "drivers/chains.h"
#include "drivers/compiler.h"
#include "drivers/random_spills.h"
#include "plan/choice/select.h"
#include "support/files.h"
#include "vkgemm/text.hpp"

namespace {

using namespace vkgemm;
using namespace vkgemm::test;
using namespace vkgemm::tool;

constexpr const char* columns[] = {"registers", "spills", "scratch", "shared", "at once", "code", "matrix"};

void print_head(const std::vector<const char*>& first) {
    std::string names = "|", rule = "|";
    for (const char* c : first) {
        names += std::string(" ") + c + " |";
        rule += " --- |";
    }
    for (const char* c : columns) {
        names += std::string(" ") + c + " |";
        rule += " --- |";
    }
    std::printf("\n%s\n%s\n", names.c_str(), rule.c_str());
}

void print_row(const std::string& first, const Compiled& c) {
    const ShaderStats& f = c.stats;
    // A driver that does not report shared memory needs at least what the shader declares.
    const double declared = static_cast<double>(c.step.declared_shared);
    std::printf("| %s`%s` | %s | %s | %s | %s | %s | %s | %s |\n", first.c_str(), c.kernel().name.data(),
                number(f.registers).c_str(), f.spills == 0 ? "–" : ("**" + number(f.spills) + "**").c_str(),
                f.scratch.value_or(0) == 0 ? "–" : ("**" + number(f.scratch) + "**").c_str(),
                number(f.shared ? f.shared : declared).c_str(), number(f.at_once).c_str(), number(f.code).c_str(),
                f.matrix.empty() ? "–" : f.matrix.c_str());
}

/// The problems of problems.txt. Gives up if there are none, because a table without rows would look like a result.
std::vector<std::string> typical_problems() {
    std::vector<std::string> lines = lines_of("drivers/problems.txt");
    if (lines.empty())
        give_up((tests_folder() / "drivers/problems.txt").string() +
                " has no problems, or cannot be read; VKGEMM_TESTS_SOURCE names the folder that has tests/");
    return lines;
}

/// Why a kernel does not fit the device; nullopt if it does. Features count as enabled, because a reason beyond them
/// tells more.
std::optional<std::string> reason_against(const plan::Kernel& k, plan::DeviceCaps caps) {
    const auto first = plan::unfit_device(k, k.tile, caps);
    if (!first) return std::nullopt;
    if (k.module.family.uses_matrix_units && caps.matrix_shapes.empty())
        return "the driver offers no cooperative matrices";
    caps.features |= k.needs;
    const auto why = plan::unfit_device(k, k.tile, caps);
    if (!why) return first->text;
    if (why->code != VKGEMM_ERROR_TILE || why->text.find(" (") == std::string::npos) return why->text;
    return why->text.substr(0, why->text.find(" ("));  // the numbers are those of one tile only
}

void print_unfit(const Compiler& device) {
    std::map<std::string, std::map<std::string, int>> rows;  // by reason, by module
    for (const plan::Kernel& k : plan::kernels())
        if (const auto why = reason_against(k, device.caps)) ++rows[*why][std::string(k.module.name)];
    if (rows.empty()) return;
    std::printf("\nRows that do not fit, counted by SPIR-V module:\n\n| reason | rows |\n| --- | --- |\n");
    for (const auto& [why, modules] : rows) {
        std::string list;
        for (const auto& [name, n] : modules)
            list += (list.empty() ? "`" : ", `") + name + "` (" + std::to_string(n) + ")";
        std::printf("| %s | %s |\n", why.c_str(), list.c_str());
    }
}

void print_tables(const Compiler& device) {
    const plan::DeviceCaps& caps = device.caps;
    std::printf("%s, %s.\n\nA subgroup has %u invocations", caps.name.c_str(), caps.driver.c_str(), caps.subgroup_size);
    if (caps.subgroup_min != caps.subgroup_max)
        std::printf(", or %u to %u where a kernel asks for it", caps.subgroup_min, caps.subgroup_max);
    std::printf(
        ".\nA work group has %u bytes of shared memory.\n\nThe default choice with 64 MiB of workspace; "
        "a plan of several dispatches has a row for each:\n",
        caps.shared_bytes);
    print_head({"problem", "kernel"});
    for (const std::string& line : typical_problems()) {
        const auto all = compile(device, line);
        if (all.empty()) std::printf("| %s | none | | | | | | | |\n", line.c_str());
        for (const Compiled& c : all) print_row(line + " | ", c);
    }
    std::printf("\nEvery product kernel that fits the device, on whole aligned tiles:\n");
    print_head({"kernel"});
    for (const plan::Kernel& k : plan::kernels()) {
        if (!k.module.is_product() || plan::unfit_device(k, k.tile, caps)) continue;
        const tool::Kernel& row = *tool::find_kernel(k.name);
        for (const Compiled& c :
             compile(device, problem_for(row, {.m = 2048, .n = 2048, .k = 2048}), row.name(), workspace_for(row)))
            if (c.step.kernel->info.name == k.name) print_row("", c);
    }
    print_unfit(device);
}

/// Lines of known.txt: "driver | kernel | reason".
struct Known {
    std::string driver, kernel;
};
std::vector<Known> known_spills() {
    std::vector<Known> out;
    for (const std::string& line : lines_of("drivers/known.txt")) {
        const std::string_view text = line;
        const size_t first = text.find('|'), second = text.find('|', first + 1);
        if (second == text.npos || trimmed(text.substr(second + 1)).empty())
            give_up("known.txt wants 'driver | kernel | reason': " + line);
        out.push_back({std::string(trimmed(text.substr(0, first))),
                       std::string(trimmed(text.substr(first + 1, second - first - 1)))});
    }
    return out;
}

/// What the driver made of the default choices for the typical problems.
struct Summary {
    std::map<std::string, double> spills;  // by chosen kernel: the most that it spills
    int dispatches = 0;

    void add(const Compiled& c) {
        double& most = spills[std::string(c.kernel().name)];
        most = std::max(most, c.stats.spills.value_or(0));
        ++dispatches;
    }
    /// A row of the table in docs/drivers.md.
    std::string row(const std::string& driver) const {
        const auto worst = std::ranges::max_element(spills, {}, [](const auto& kernel) { return kernel.second; });
        const auto spilling = std::ranges::count_if(spills, [](const auto& kernel) { return kernel.second > 0; });
        return "| `" + driver + "` | " + std::to_string(spills.size()) + " | " + std::to_string(spilling) + " | " +
               (spilling ? number(worst->second) + ", `" + worst->first + "`" : std::string("–")) + " |";
    }
};

Summary summarise(const Compiler& device) {
    Summary summary;
    for (const std::string& line : typical_problems())
        for (const Compiled& c : compile(device, line)) summary.add(c);
    return summary;
}

/// Returns 0 if the kernel serves the problem and does not spill.
int check_one(const Compiler& device, const std::string& kernel, const std::string& line) {
    int bad = 1;
    for (const Compiled& c : compile(device, line, kernel)) {
        if (c.kernel().name != kernel) continue;  // a pass before or after it
        bad = c.stats.spill() ? 1 : 0;
        std::printf("%s, %s: %s to memory, %s bytes of scratch, %s registers\n", kernel.c_str(), line.c_str(),
                    number(c.stats.spills).c_str(), number(c.stats.scratch).c_str(), number(c.stats.registers).c_str());
    }
    return bad;
}

bool has_line(const char* page, const std::string& wanted) {
    std::ifstream file(page);
    if (!file) give_up(std::string("cannot read ") + page);
    for (std::string line; std::getline(file, line);)
        if (line == wanted) return true;
    return false;
}

/// Returns 0 if no default choice for the typical problems spills, except those that known.txt names, if all of those
/// are chosen and do, and if `page` has the driver's row.
int check(const Compiler& device, const std::string& driver, const char* page) {
    std::vector<Known> known = known_spills();
    std::map<std::string, bool> chosen;  // by kernel: whether it ever spills
    Summary summary;
    int bad = 0;
    for (const std::string& line : typical_problems())
        for (const Compiled& c : compile(device, line)) {
            const std::string name(c.kernel().name);
            chosen[name] |= c.stats.spill();
            summary.add(c);
            bool excused = false;
            for (Known& k : known) excused |= k.driver == driver && k.kernel == name;
            if (!c.stats.spill() || excused) continue;
            ++bad;
            std::printf("%s: %s is chosen for %s and spills: %s to memory, %s bytes of scratch, %s registers\n",
                        driver.c_str(), name.c_str(), line.c_str(), number(c.stats.spills).c_str(),
                        number(c.stats.scratch).c_str(), number(c.stats.registers).c_str());
        }
    for (const Known& k : known)
        if (k.driver == driver && !chosen[k.kernel]) {
            ++bad;
            std::printf("%s: %s is not chosen, or does not spill: take it out of tests/drivers/known.txt\n",
                        driver.c_str(), k.kernel.c_str());
        }
    if (const std::string row = summary.row(driver); !has_line(page, row)) {
        ++bad;
        std::printf("%s lacks this row; write it with: cmake --build build --target drivers\n%s\n", page, row.c_str());
    }
    std::printf("%s: %d dispatches looked at\n", device.caps.name.c_str(), summary.dispatches);
    return bad || summary.dispatches == 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::span<char*> words(arguments, static_cast<size_t>(count));
    const Compiler device = open_compiler();
    const std::string_view word = count > 1 ? words[1] : "";
    if (count == 4 && word == "--check") return check(device, words[2], words[3]);
    if (count == 4 && word == "--clean") return check_one(device, words[2], words[3]);
    if (count == 4 && word == "--random")
        return random_spills(device, std::strtoull(words[2], nullptr, 10), std::strtoull(words[3], nullptr, 10)) ? 1
                                                                                                                 : 0;
    if (count == 2 && word == "--chains") return spilling_chains(device) ? 1 : 0;
    if (count == 3 && word == "--summary")
        std::printf("%s\n", summarise(device).row(words[2]).c_str());
    else if ((count == 3 || count == 4) && word == "--bounds")
        return print_bounds(device, words[2], count == 4 ? words[3] : "") ? 0 : 1;
    else if (count > 1)
        give_up(
            "usage: driver_table [--summary DRIVER | --check DRIVER PAGE | --clean KERNEL PROBLEM | --random COUNT "
            "SEED | --chains | --bounds DRIVER [ARCHITECTURE]]");
    else
        print_tables(device);
}
