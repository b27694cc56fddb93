// SPDX-License-Identifier: MIT
// test_kernels [--one="case"] [--family=NAME] [--eight] [--every=N] [--turns=N] [--all] [--seed=N] [--no-validation]
//              [doctest's options]
// test_kernels --surface [--count=N] [--seconds=N] [--threads=N] [--of-a-draw=N] [--draw=N] [--seed=N] [--family=NAME]
// test_kernels --soak [--seconds=N] [--rounds=N]
// test_kernels --list-families
// --emulate=NAME, before the others: with the matrix units of a device of tests/devices, played by other shaders.
// --eight: only the kernels that need subgroups of eight, or matrix units.
// --turns=N: each of the tests that run every tile runs one of N, the next test others.
// VKGEMM_TESTS_QUICK in the environment: an eighth of the cases; tools/test sets it but for --full.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernels/emulated.h"
#include "kernels/rows.h"
#include "kernels/run.h"
#include "kernels/soak.h"
#include "kernels/surface.h"
#include "vkgemm/text.hpp"

using namespace vkgemm::test;

static int run_one(std::string_view line) {
    const auto x = parse_case(line);
    if (!x) {
        std::fprintf(stderr, "--one: %s\n", x.status().text.c_str());
        return 2;
    }
    const std::string why = run(*x);
    std::printf("%s\n", why.empty() ? "right" : why.c_str());
    return close_device(why.empty() ? 0 : 1);
}

/// Random problems without doctest: on several threads, for a time, or of one draw.
static int run_surface_alone(int count, char** arguments) {
    SurfaceOptions options{.seed = seed_or(1), .count = UINT64_MAX / 64, .of_a_draw = 300};
    const struct {
        std::string_view key;
        uint64_t& value;
    } numbers[] = {{"--count", options.count}, {"--seconds", options.seconds}, {"--of-a-draw", options.of_a_draw}};
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        const size_t equals = std::min(argument.find('='), argument.size());
        const auto number = vkgemm::readNumber<uint64_t>(argument.substr(std::min(equals + 1, argument.size())));
        if (!number) continue;
        for (const auto& x : numbers)
            if (argument.substr(0, equals) == x.key) x.value = *number;
        if (argument.starts_with("--threads=")) options.threads = static_cast<uint32_t>(*number);
        if (argument.starts_with("--draw=")) options.draw = *number;
    }
    if (options.count > UINT64_MAX / 128 && options.seconds == 0 && !options.draw) options.count = 1000;
    const SurfaceCounts counts = run_surface(options);
    std::printf("%s", to_text(counts).c_str());
    return close_device(counts.wrong || counts.done == 0 ? 1 : 0);
}

static int run_soak_alone(int count, char** arguments) {
    SoakOptions options;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument.starts_with("--seconds="))
            options.seconds = vkgemm::readNumber<uint64_t>(argument.substr(10)).value_or(options.seconds);
        if (argument.starts_with("--rounds="))
            options.rounds = vkgemm::readNumber<uint64_t>(argument.substr(9)).value_or(0);
    }
    return close_device(run_soak(options));
}

/// The families that --family=NAME knows, one a line.
static int list_families() {
    std::set<std::string> names;
    for (const vkgemm::plan::Kernel& kernel : vkgemm::plan::kernels()) names.insert(variant_of(kernel.module));
    for (const std::string& name : names) std::printf("%s\n", name.c_str());
    return 0;
}

/// The program's exit code where the family settles it.
static std::optional<int> take_family(std::string_view name) {
    if (!choose_family(name)) {
        std::fprintf(stderr, "no family '%s'\n", std::string(name).c_str());
        return 2;
    }
    if (any_row_fits()) return std::nullopt;
    std::printf("skipped: no row of %s fits %s\n", std::string(name).c_str(), device().info().name.c_str());
    return close_device(0);
}

int main(int count, char** arguments) {
    set_command(arguments[0]);
    read_arguments(count, arguments);
    bool surface = false, soak = false;
    const char* const quick = std::getenv("VKGEMM_TESTS_QUICK");
    if (quick && *quick) be_quick();
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--eight") choose_subgroups_of_eight();
        surface |= argument == "--surface";
        soak |= argument == "--soak";
        if (argument == "--list-families") return list_families();
        const size_t equals = argument.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = argument.substr(0, equals), value = argument.substr(equals + 1);
        if (key == "--emulate") {
            const std::string why = emulate_matrices_of(std::string(value));
            if (!why.empty()) std::fprintf(stderr, "--emulate: %s\n", why.c_str());
            if (!why.empty()) return 2;
        }
        if (key == "--one") return run_one(value);
        if (key == "--every") thin_out(vkgemm::readNumber<size_t>(value).value_or(1));
        if (key == "--turns") take_turns(vkgemm::readNumber<size_t>(value).value_or(1));
        if (key != "--family") continue;
        if (const auto code = take_family(value)) return *code;
    }
    if (soak) return run_soak_alone(count, arguments);
    return surface ? run_surface_alone(count, arguments) : run_tests(count, arguments);
}
