// SPDX-License-Identifier: MIT
// blocks.txt: a block of every format as bytes, and as the numbers that they stand for by docs/formats.md.
#pragma once
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "support/files.h"

namespace vkgemm::test {

struct GoldenBlock {
    std::string format;
    std::vector<std::byte> bytes;
    std::vector<double> numbers;
};

inline std::vector<GoldenBlock> golden_blocks() {
    std::vector<GoldenBlock> all;
    std::string kind;
    for (const std::string& line : lines_of("blocks.txt")) {
        std::istringstream words(line);
        std::string word;
        if (line[0] != ' ') {
            words >> word >> kind;
            if (kind == "bytes") all.push_back({word, {}, {}});
            continue;
        }
        while (words >> word)
            if (kind == "bytes")
                all.back().bytes.push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
            else
                all.back().numbers.push_back(std::stod(word));
    }
    return all;
}

}  // namespace vkgemm::test
