// SPDX-License-Identifier: MIT
// Strings: the known word nearest to a misspelt one, and numbers without leniency.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::plan {

/// Edits (insert, drop, replace) from one word to the other; upper and lower case are one.
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

/// The nearest of `known`, whose elements convert to string_view. "" if none is near: if more than half of the word, or
/// all of a short one, would have to change.
template <class Range>
std::string_view nearest_word(std::string_view word, const Range& known) {
    std::string_view best;
    size_t least = std::min(std::max<size_t>(2, word.size() / 2) + 1, word.size());
    for (const auto& k : known)
        if (const size_t d = edit_distance(word, std::string_view(k)); d < least) least = d, best = k;
    return best;
}

/// Without the blanks at both ends.
inline std::string_view trimmed(std::string_view s) {
    const size_t begin = s.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// The message for text that holds one: read as a C string, it would be cut there.
inline constexpr const char* zero_byte = "a zero byte, which no text has";

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

}  // namespace vkgemm::plan
