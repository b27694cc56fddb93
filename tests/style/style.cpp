// SPDX-License-Identifier: MIT
// Rules of style that clang-format and clang-tidy do not have, on every source.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "style/rules.h"
#include "style/sources.h"

using namespace vkgemm::test;

namespace {

// The folders that keep the rules. `VKGEMM_STYLE_FOLDERS="src shaders" test_layout -tc=style*` looks at others instead.
std::vector<std::string> mended_folders() {
    const char* const given = std::getenv("VKGEMM_STYLE_FOLDERS");
    std::string text = given ? given : "src include blas integrations native tools examples tests shaders";
    std::vector<std::string> out;
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        if (end > 0) out.push_back(text.substr(0, end));
        text.erase(0, end + 1);
    }
    return out;
}

struct Text {
    std::string name, text;
    size_t lines = 0;
};

std::vector<Text> sources_of(const std::vector<std::string>& in) {
    std::vector<Text> out;
    for (const SourceFile& file : files_under(in, {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".comp", ".glsl"})) {
        Text& source = out.emplace_back(Text{.name = file.name, .text = "", .lines = file.lines.size()});
        for (const std::string& line : file.lines) source.text += line + '\n';
    }
    return out;
}

// The rules that a source breaks, by their numbers in the order of its lines.
std::vector<Finding::Rule> broken(const std::string& source) {
    std::vector<Finding::Rule> out;
    for (const Finding& finding : broken_rules(source, {"Sizes"})) out.push_back(finding.rule);
    return out;
}

std::string function_of(size_t lines) {
    std::string body;
    for (size_t i = 2; i < lines; ++i) body += "    call();\n";
    return "int f() {\n" + body + "}\n";
}

}  // namespace

TEST_CASE("style: the rules find what they are for") {
    using enum Finding::Rule;
    const std::pair<const char*, std::vector<Finding::Rule>> rows[] = {
        {"void f() { a = 1, b = 2; }", {comma_chain}},
        {"void f() { if (x) a[i] += 1, ++b; }", {comma_chain}},
        {"void f() { for (;;) *p = 1, q.r->s = 2; }", {comma_chain}},
        {"void f() { g([&] { a = 1, b = 2; }); }", {comma_chain}},
        {"int f() { switch (x) { case 1: a = 1, b = 2; } }", {comma_chain}},
        {"int f() { return a = 1, b; }", {comma_chain}},
        {"int f() { if (a) return g(), b; }", {comma_chain}},
        {"struct S { void f() { if (x) { g(); } else a = 1, b = 2; } };", {comma_chain}},
        {"void main() { [[unroll]] for (uint i = 0; i < 4; ++i) a = 1, b = 2; }", {comma_chain}},
        {"#define M(x) a = x, b = x\n", {comma_chain}},
        {"void f() { x ? g() : h(); }", {ternary_statement}},
        {"void f() { if (y) x == 1 ? g(a, b) : h(); }", {ternary_statement}},
        {"Type f() { return {1, 2, 3, 4}; }", {positional_fields}},
        {"void f() { Type x{1, 2, {}, 4}; const Type y = {1, 2, 3, 4}; g(Type{1, 2, 3, 4}); }",
         {positional_fields, positional_fields, positional_fields}},
        {"void f() { v.push_back({1, 2, 3, 4}); }", {positional_fields}},
        {"void f() { x.y = {1, 2, 3, 4}; x[0].y = {1, 2, 3, 4}; f().y = {1, 2, 3, 4}; x->y = {1, 2, 3, 4}; }",
         {positional_fields, positional_fields, positional_fields, positional_fields}},
        {"void f() { return const_cast<T&>(x); }", {const_cast_used}},
        {"#define M(a, b, c, d, e, f, g) int a() { return b; }\n", {function_macro}},
        // What they let pass.
        {"void f() { int a = 1, b = 2; const auto [c, d] = e; std::pair<A, B> g = h, i; T *j = k, &l = m; }", {}},
        {"void f() { for (a = 0, b = 1; a < 2; ++a, ++b) g(a, b); }", {}},
        {"struct S : T { S() : a(1), b{2} { g(); } int a = 0, b = 0; }; enum class E { a = 1, b, c = 4 };", {}},
        {"void f() { y = x ? 1 : 2; g(x ? 1 : 2); return x ? g() : h(); }", {}},
        {"Type f() { return {1, 2, 3}; } std::vector<int> g() { return {1, 2, 3, 4}; } Sizes h() { return {1, 2, 3, "
         "4}; }",
         {}},
        {"void f() { Type x{.a = 1, .b = 2, .c = 3, .d = 4}; Type y[] = {{1, 2, 3, 4}, {1, 2, 3, 4}}; Sizes z{1, 2, 3, "
         "4}; }",
         {}},
        {"// a = 1, b = 2;\nconst char* s = \"{ a = 1, b = 2; }\", *t = R\"(a ? b : c;)\";", {}},
        {"json f() { return {{\"a\", 1}, {\"b\", 2}, {\"c\", 3}, {\"d\", 4}}; }", {}},
        {"#define ROW(name, number) name = number,\n#define TWO(x) put(x), put(x)\n#define ASK(x) x ? 1 : 2\n", {}},
        {"void f() { x.y = {1, 2, 3}; x.y = {.a = 1, .b = 2, .c = 3, .d = 4}; x.y = Sizes{1, 2, 3, 4}; }", {}},
        {"void f() { y = {1, 2, 3, 4}; g({.y = {1, 2, 3, 4}}); }", {}},
        {"void f() { load<x ? 1 : 2>(y); }", {}},
        {"struct S { std::array<T, size_t{N}> a; std::array<std::array<T, 4>, 1 << 2> b; };", {}},
        {"void f() { x << 1 > 2; a = 1, b = 2; }", {comma_chain}},
        {"#define ROW(a, b, c, d, e, f, g) {a, b, c, d, e, f, g},\n", {}},
    };
    for (const auto& [source, rules] : rows) CHECK_MESSAGE(broken(source) == rules, std::string(source));
    CHECK(broken(function_of(60)).empty());
    CHECK(broken(function_of(61)) == std::vector{long_function});
    CHECK(broken("class C {\n" + function_of(61) + "};") == std::vector{long_function});
    CHECK(lists_declared_in("using Sizes = std::array<int, 4>; using T = int;") == std::vector<std::string>{"Sizes"});
}

TEST_CASE("limits: 60 lines a function") {
    size_t lines = 0;
    for (const Text& source :
         sources_of({"src", "include", "blas", "integrations", "native", "tools", "examples", "tests"})) {
        lines += source.lines;
        for (const Finding& finding : broken_rules(source.text))
            if (finding.rule == Finding::Rule::long_function)
                FAIL_CHECK(source.name << ":" << finding.line << ": " << finding.text);
    }
    CHECK(lines > 15000);
}

TEST_CASE("style: no comma chains, ternary statements, positional fields") {
    const std::vector<Text> sources = sources_of(mended_folders());
    CHECK(sources.size() > 5);
    std::vector<std::string> lists;
    for (const Text& source : sources)
        for (std::string& name : lists_declared_in(source.text)) lists.push_back(std::move(name));
    for (const Text& source : sources)
        for (const Finding& finding : broken_rules(source.text, lists)) {
            if (finding.rule == Finding::Rule::const_cast_used && !source.name.starts_with("src/plan/")) continue;
            FAIL_CHECK(source.name << ":" << finding.line << ": " << finding.text);
        }
}
