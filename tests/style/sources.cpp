// SPDX-License-Identifier: MIT
#include "style/sources.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace vkgemm::test {
namespace {

namespace fs = std::filesystem;

bool has_ending(const fs::path& path, const std::vector<std::string>& endings) {
    for (const std::string& ending : endings)
        if (path.extension() == ending || path.filename() == ending) return true;
    return false;
}

}  // namespace

std::vector<SourceFile> files_under(const std::vector<std::string>& folders, const std::vector<std::string>& endings) {
    std::vector<SourceFile> out;
    const fs::path root = VKGEMM_SOURCE_DIR;
    for (const std::string& folder : folders) {
        REQUIRE_MESSAGE(fs::exists(root / folder), folder);
        fs::recursive_directory_iterator entries(root / folder);
        for (const auto& entry : entries) {
            if (folder == "." && entry.is_directory()) entries.disable_recursion_pending();  // builds and the SDK
            if (!entry.is_regular_file() || !has_ending(entry.path(), endings)) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            SourceFile file{entry.path().lexically_relative(root).generic_string(), {}};
            for (std::string line; std::getline(in, line);) file.lines.push_back(line);
            out.push_back(std::move(file));
        }
    }
    return out;
}

}  // namespace vkgemm::test
