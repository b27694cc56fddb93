// SPDX-License-Identifier: MIT
//
// Text functions of the library and its tool: suggestions for misspelt words, strict parsing of numbers, names of types
// and versions. Header only, no Vulkan. They are not part of the stable API.
#ifndef VKGEMM_TEXT_HPP
#define VKGEMM_TEXT_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <vkgemm/problem.hpp>

namespace vkgemm {

/// The least number of insertions, deletions and replacements that turn `from` into `to`. Ignores ASCII case.
inline size_t editDistance(std::string_view from, std::string_view to) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::vector<size_t> row(to.size() + 1);
    for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= from.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= to.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (lower(from[i - 1]) != lower(to[j - 1]))});
            diagonal = above;
        }
    }
    return row[to.size()];
}

/// The word of `known` with the least edit distance to `word`. "" if that distance exceeds max(2, a third of the length
/// of `word`) or reaches the length of `word`: half would let a common prefix such as VK_KHR_ stand for the rest. The
/// elements of `known` convert to string_view.
template <class Range>
std::string_view nearestWord(std::string_view word, const Range& known) {
    std::string_view best;
    size_t least = std::min(std::max<size_t>(2, word.size() / 3) + 1, word.size());
    for (const auto& k : known)
        if (const size_t distance = editDistance(word, std::string_view(k)); distance < least) {
            least = distance;
            best = k;
        }
    return best;
}

/// `s` without leading and trailing spaces, tabs and carriage returns.
inline std::string_view trimmed(std::string_view s) {
    const size_t begin = s.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// `text` as a number; nothing unless all of `text` is one number.
template <class Number>
std::optional<Number> readNumber(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

/// The shortest text that parses to the same number.
template <class Number>
std::string numberText(Number x) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, x);
    return error == std::errc{} ? std::string(text, end) : "0";
}

/// "f16", as the text of a problem has it; "" for DEFAULT.
constexpr std::string_view typeName(Type type) {
    switch (type) {
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, isFloat, accumulator, result) \
    case name:                                                                                \
        return #text;
        VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
        default:
            return {};
    }
}

/// "f16*f16+f32->f16"
inline std::string typesText(Type a, Type b, Type accumulate, Type d) {
    return std::string(typeName(a)) + "*" + std::string(typeName(b)) + "+" + std::string(typeName(accumulate)) + "->" +
           std::string(typeName(d));
}

/// "1.4.312", from a version that is encoded as Vulkan and vkgemmVersion() do.
inline std::string versionText(uint32_t version) {
    return std::to_string(version >> 22 & 0x7f) + "." + std::to_string(version >> 12 & 0x3ff) + "." +
           std::to_string(version & 0xfff);
}

}  // namespace vkgemm
#endif
