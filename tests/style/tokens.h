// SPDX-License-Identifier: MIT
// The tokens of a C++ or GLSL source, as far as rules of style need them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::test {

struct Token {
    enum class Kind { word, number, text, mark };  // a mark is an operator or a bracket
    Kind kind = Kind::mark;
    std::string text;  // of a literal only its quotes
    size_t line = 1;
};
using Tokens = std::vector<Token>;

struct Macro {
    std::vector<std::string> parameters;
    Tokens body;
    size_t line = 1;
};

/// A file without comments. What `#define` gives a macro is not in `code`; other directives are left out.
struct Source {
    Tokens code;
    std::vector<Macro> macros;
};

Source tokens_of(std::string_view text);

}  // namespace vkgemm::test
