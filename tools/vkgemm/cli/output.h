// SPDX-License-Identifier: MIT
// Files that are either written completely or not at all.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

/// The code of a Status if a file whose name is sound cannot be read or written: no permission, a full disk. A wrong
/// name (no such folder) is an INVALID_ARGUMENT. The library has no such code.
inline constexpr auto error_file = static_cast<VkgemmResult>(-1000);

/// The destination of a result: a file, "-" for standard output, or "" for nowhere. A file is written beside its place,
/// under an unused name, and renamed at the end, so that a full disk or an interrupted run leaves the old one. A pipe
/// or /dev/null is written to directly.
class OutputFile {
   public:
    OutputFile() = default;
    OutputFile(OutputFile&& other) noexcept
        : path_(std::move(other.path_)), partial_(std::move(other.partial_)), is_stream_(other.is_stream_) {
        other.path_.clear();
        other.partial_.clear();
    }
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Fails at once if the file cannot be written.
    static Result<OutputFile> open(const std::string& path);
    bool wanted() const { return !path_.empty(); }
    bool is_stdout() const { return path_ == "-"; }
    bool replaceable() const { return wanted() && !is_stream_; }  // may be committed again and again
    Status commit(const std::string& text);

   private:
    std::string path_, partial_;  // the latter "" if there is none
    bool is_stream_ = false;      // a stream, which cannot be replaced by renaming
};

/// Refused if two options name the same file or both are "-". Each option with its value.
Status own_places(std::initializer_list<std::pair<const char*, std::string>> options);

/// Refused if the name of a picture asks for another format than SVG, as x.png does.
Status is_svg(const char* option, const std::string& path);

/// The whole file, at most 1 GiB, or why it cannot be read.
Result<std::string> read_file(const std::string& path);

}  // namespace vkgemm::tool
