// SPDX-License-Identifier: MIT
// The assertion of the fuzz targets, which must also work in programs of libFuzzer.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace vkgemm::test::fuzz {

/// The text that is being parsed, for the message of a failure.
inline std::string_view current;

/// Aborts the program if `kept` is false; `what` is the rule that was broken.
inline void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "broken: %s, by this text of %zu bytes:\n%.*s\n", what, current.size(),
                 static_cast<int>(current.size()), current.data());
    std::abort();
}

}  // namespace vkgemm::test::fuzz
