// SPDX-License-Identifier: MIT
// Tests compare codes, names and numbers in messages, not sentences, so that the wording may be improved.
#pragma once
#include <string>
#include <string_view>

namespace vkgemm::test {

inline std::string as_word(std::string_view word) { return std::string(word); }
template <class Number>
requires std::is_arithmetic_v<Number> std::string as_word(Number number) { return std::to_string(number); }

/// True if `sentence` contains each of `words`, in any order.
template <class... Words>
bool has_words(std::string_view sentence, const Words&... words) {
    return ((sentence.find(as_word(words)) != std::string_view::npos) && ...);
}

}  // namespace vkgemm::test
