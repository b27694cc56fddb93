// SPDX-License-Identifier: MIT
// The CSV that `vkgemm bench` writes, for programs that read it.
#pragma once
#include <string>
#include <vector>

namespace vkgemm {

/// The fields of a line, some of them in quotes. None has a quotation mark of its own.
inline std::vector<std::string> csv_fields(const std::string& line) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else if (c != '\r')
            out.back() += c;
    }
    return out;
}

}  // namespace vkgemm
