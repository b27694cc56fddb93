// SPDX-License-Identifier: MIT
// What a target promises of what it read; a broken promise ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace vkgemm::test::fuzz {

/// What is being read, for a failure's message.
inline std::string_view current;

inline void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "broken: %s, by this text of %zu bytes:\n%.*s\n", what, current.size(),
                 static_cast<int>(current.size()), current.data());
    std::abort();
}

}  // namespace vkgemm::test::fuzz
