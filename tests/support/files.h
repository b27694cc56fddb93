// SPDX-License-Identifier: MIT
// Reads the text files in the folder of the tests: VKGEMM_TESTS_DIR, which the build defines, or what the folder that
// VKGEMM_TESTS_SOURCE names in the environment has as tests/.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace vkgemm::test {

/// The folder that holds the tests and the documents.
inline std::filesystem::path source_folder() {
    const char* const given = std::getenv("VKGEMM_TESTS_SOURCE");
    return given && *given ? std::filesystem::path(given) : std::filesystem::path(VKGEMM_TESTS_DIR).parent_path();
}
inline std::filesystem::path tests_folder() { return source_folder() / "tests"; }

inline std::string file_text(const std::string& path) {
    std::ifstream in(tests_folder() / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The .txt files of a folder in the order of their names: "devices/bare.txt", ...
inline std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(tests_folder() / folder))
        if (entry.path().extension() == ".txt") out.push_back(folder + "/" + entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}
inline std::vector<std::string> device_files() { return files_in("devices"); }

/// The lines of one file, without comments and empty lines.
inline std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> out;
    const std::string text = file_text(path);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        line.erase(std::min(line.find('#'), line.size()));
        if (line.find_first_not_of(" \t\r") != std::string::npos) out.push_back(line);
        at = end + 1;
    }
    return out;
}

/// The fields of "h200 | 8x8x8 | naive_f32_8x8", without the blanks around them.
inline std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> out;
    for (size_t at = 0; at <= line.size();) {
        const size_t bar = std::min(line.find('|', at), line.size());
        const size_t from = std::min(line.find_first_not_of(' ', at), bar), to = line.find_last_not_of(" \r|", bar);
        out.push_back(to == std::string::npos || to < from ? "" : line.substr(from, to - from + 1));
        at = bar + 1;
    }
    return out;
}

/// Every problem of tests/problems, without the target=... that only `vkgemm bench` reads.
inline std::vector<std::string> problem_lines() {
    std::vector<std::string> out;
    for (const std::string& file : files_in("problems"))
        for (std::string& line : lines_of(file)) {
            const size_t target = line.find("target=");
            if (target != std::string::npos) line.erase(target, line.find_first_of(" \t\r", target) - target);
            out.push_back(std::move(line));
        }
    return out;
}

}  // namespace vkgemm::test
