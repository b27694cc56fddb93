// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <string_view>

namespace vkgemm::plan {

/// The next word of a line, which is taken off it; "" at its end.
inline std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

}  // namespace vkgemm::plan
