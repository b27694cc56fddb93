// SPDX-License-Identifier: MIT
// test_kernels [--one="case"] [--all] [--no-validation] [doctest's own arguments]
#include <cstdio>
#include <string_view>

#include "kernels/run.h"

int main(int count, char** arguments) {
    using namespace vkgemm::test;
    set_command(arguments[0]);
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument.substr(0, 6) != "--one=") continue;
        const auto x = parse_case(argument.substr(6));
        if (!x) return std::fprintf(stderr, "--one: %s\n", x.refusal().why.c_str()), 2;
        read_arguments(count, arguments);
        const std::string why = run(*x);
        std::printf("%s\n", why.empty() ? "right" : why.c_str());
        return close_device(why.empty() ? 0 : 1);
    }
    return run_tests(count, arguments);
}
