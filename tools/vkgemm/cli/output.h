// SPDX-License-Identifier: MIT
// Files that are either written whole or not at all.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

/// Where a result goes: a file, "-" for standard output, or "" for nowhere. The file is written beside it, under a name
/// that nobody has, and renamed at the end, so that a full disk or an interrupted run leaves the old one. What is no
/// file, as a pipe or /dev/null, is written to as it is.
class OutputFile {
   public:
    OutputFile() = default;
    OutputFile(OutputFile&& other) noexcept
        : path_(std::move(other.path_)), partial_(std::move(other.partial_)), is_stream_(other.is_stream_) {
        other.path_.clear(), other.partial_.clear();
    }
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Finds out at once whether the file can be written.
    static Result<OutputFile> open(const std::string& path);
    bool wanted() const { return !path_.empty(); }
    Status commit(const std::string& text);

   private:
    std::string path_, partial_;  // the latter "" where there is none
    bool is_stream_ = false;      // nothing that could be renamed over
};

/// A place is for one result: refused where two options name the same file, or both say "-". Each with what it says.
Status own_places(std::initializer_list<std::pair<const char*, std::string>> options);

/// All of a file, or why it cannot be read. What has no end, as /dev/zero, is too long.
Result<std::string> read_file(const std::string& path);

}  // namespace vkgemm::tool
