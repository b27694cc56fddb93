// SPDX-License-Identifier: MIT
// test_kernels [--one="case"] [--family=NAME] [--all] [--no-validation] [doctest's own arguments]
#include <cstdio>
#include <string_view>

#include "kernels/rows.h"
#include "kernels/run.h"

using namespace vkgemm::test;

static int run_one(std::string_view line) {
    const auto x = parse_case(line);
    if (!x) return std::fprintf(stderr, "--one: %s\n", x.refusal().why.c_str()), 2;
    const std::string why = run(*x);
    std::printf("%s\n", why.empty() ? "right" : why.c_str());
    return close_device(why.empty() ? 0 : 1);
}

int main(int count, char** arguments) {
    constexpr std::string_view one = "--one=", family = "--family=";
    set_command(arguments[0]);
    read_arguments(count, arguments);
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument.starts_with(one)) return run_one(argument.substr(one.size()));
        if (!argument.starts_with(family)) continue;
        const std::string_view name = argument.substr(family.size());
        if (!choose_family(name)) return std::fprintf(stderr, "no family '%s'\n", std::string(name).c_str()), 2;
        if (any_row_fits()) continue;
        std::printf("skipped: no row of %s fits %s\n", std::string(name).c_str(), device().info().name.c_str());
        return close_device(0);
    }
    return run_tests(count, arguments);
}
