// SPDX-License-Identifier: MIT
// Rules of style that clang-format and clang-tidy do not have, found in the tokens of a source.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::test {

struct Finding {
    enum class Rule {
        comma_chain,        // a = 1, b = 2;
        ternary_statement,  // c ? f() : g();
        positional_fields,  // Type{1, 2, 3, 4}, x.y = {1, 2, 3, 4} and the like: more than three fields without names
        long_function,      // more than 60 lines, classes' functions included, test cases not
        function_macro,     // more than six parameters, and a function in the body
        const_cast_used,
    };
    Rule rule;
    size_t line;
    std::string text;  // what is wrong, in words
};

/// What breaks a rule in a C++ or GLSL source, in the order of its lines. `lists` names types that are lists or arrays,
/// so that their elements are not fields.
std::vector<Finding> broken_rules(std::string_view source, const std::vector<std::string>& lists = {});

/// The types that a source declares as another name of a list or array: using Sizes = std::array<uint64_t, 4>.
std::vector<std::string> lists_declared_in(std::string_view source);

}  // namespace vkgemm::test
