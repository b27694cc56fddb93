// SPDX-License-Identifier: MIT
// One function for each kind of text that people and files hand to the library: any bytes must be taken or refused in
// words, what is taken must come back the same, and what follows from it must keep its promises. A broken promise ends
// the program, with the text on standard error.
#pragma once
#include <string_view>

namespace vkgemm::test::fuzz {

void problem(std::string_view text);  // and the choice and the steps that it leads to, on recorded devices
void tile(std::string_view text);     // and every family's rules
void tuned(std::string_view text);
void device_caps(std::string_view text);
void disabled_kernels(std::string_view text);
void capture(std::string_view text);
#ifdef VKGEMM_FUZZ_TOOL  // where the tool is built
void suite(std::string_view text);
void shapes(std::string_view text);  // type and layout in lines before them
void bench(std::string_view text);   // what --json wrote
#endif

struct Target {
    std::string_view name;  // of its folder in corpus/
    void (*take)(std::string_view text);
};
inline constexpr Target targets[] = {
    {"problem", problem}, {"tile", tile},         {"tuned", tuned},
    {"device_caps", device_caps},     {"disabled_kernels", disabled_kernels}, {"capture", capture},
#ifdef VKGEMM_FUZZ_TOOL
    {"suite", suite},     {"shapes", shapes},     {"bench", bench},
#endif
};

}  // namespace vkgemm::test::fuzz
