// SPDX-License-Identifier: MIT
// test_kernels [--one="case"] [--family=NAME] [--eight] [--every=N] [--all] [--seed=N] [--no-validation] [doctest's]
// --eight: only the kernels that need subgroups of eight, or matrix units.
// VKGEMM_TESTS_QUICK in the environment: an eighth of the cases; tools/test sets it but for --full.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/rows.h"
#include "kernels/run.h"
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
    const char* const quick = std::getenv("VKGEMM_TESTS_QUICK");
    if (quick && *quick) be_quick();
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--eight") choose_subgroups_of_eight();
        const size_t equals = argument.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = argument.substr(0, equals), value = argument.substr(equals + 1);
        if (key == "--one") return run_one(value);
        if (key == "--every") thin_out(vkgemm::readNumber<size_t>(value).value_or(1));
        if (key != "--family") continue;
        if (const auto code = take_family(value)) return *code;
    }
    return run_tests(count, arguments);
}
