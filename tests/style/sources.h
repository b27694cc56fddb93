// SPDX-License-Identifier: MIT
// The files of the tree, for tests that read them.
#pragma once
#include <string>
#include <vector>

namespace vkgemm::test {

struct SourceFile {
    std::string name;  // from the top of the tree, with '/'
    std::vector<std::string> lines;
};

/// The files below the folders whose names end so, or are so. Each folder must exist; of "." only the files in it.
std::vector<SourceFile> files_under(const std::vector<std::string>& folders, const std::vector<std::string>& endings);

}  // namespace vkgemm::test
