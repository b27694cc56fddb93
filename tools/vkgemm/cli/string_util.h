// SPDX-License-Identifier: MIT
// Small help with words and numbers on the command line. Pure.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::tool {

/// The fewest insertions, deletions and replacements that make one word of the other; case is ignored.
inline size_t edit_distance(std::string_view from, std::string_view to) {
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

/// The nearest of `known` (a range of things that convert to string_view). "" if over half of the word, or all of a
/// short one, would have to change.
template <class Range>
std::string_view nearest_word(std::string_view word, const Range& known) {
    std::string_view best;
    size_t least = std::min(std::max<size_t>(2, word.size() / 2) + 1, word.size());
    for (const auto& k : known)
        if (const size_t d = edit_distance(word, std::string_view(k)); d < least) least = d, best = k;
    return best;
}

/// "; did you mean 'WORD'?", or "" if no known word is near.
template <class Range>
std::string suggestion(std::string_view word, const Range& known) {
    const std::string_view nearest = nearest_word(word, known);
    return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

/// Without the blanks at both ends.
inline std::string_view trimmed(std::string_view s) {
    const size_t begin = s.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// The whole of `text` as a number, or nothing.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

/// The shortest text that reads back as the same number.
template <class Number>
std::string number_text(Number x) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, x);
    return error == std::errc{} ? std::string(text, end) : "0";
}

}  // namespace vkgemm::tool
