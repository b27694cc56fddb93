// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/terminal.h"

namespace vkgemm::tool {
namespace fs = std::filesystem;
namespace {
/// Of errno: whether the path is at fault, and not what it leads to.
bool is_wrong_name(int why) {
    return why == ENOENT || why == ENOTDIR || why == EISDIR || why == ELOOP || why == ENAMETOOLONG || why == EINVAL;
}
Status file_failure(const std::string& what, int why) {
    return {is_wrong_name(why) ? VKGEMM_ERROR_INVALID_ARGUMENT : error_file, VK_SUCCESS,
            what + (why ? std::string(": ") + std::strerror(why) : "")};
}
Status cannot_write(const std::string& path) { return file_failure("cannot write " + path, errno); }

// The target of a link, whether it exists or not. The path itself if it is not a link, or if its links form a circle.
fs::path end_of_links(const fs::path& path) {
    std::error_code ignored;
    fs::path at = path;
    for (int most = 40; fs::is_symlink(at, ignored); --most) {
        if (most == 0) return path;
        at = at.parent_path() / fs::read_symlink(at, ignored);
    }
    return at;
}
}  // namespace

Status own_places(std::initializer_list<std::pair<const char*, std::string>> options) {
    std::map<fs::path, std::string> taken;  // by whom
    for (const auto& [name, path] : options) {
        std::error_code ignored;
        const fs::file_status status = fs::status(path, ignored);
        const bool shared = path != "-" && fs::exists(status) && !fs::is_regular_file(status);  // as /dev/null
        if (path.empty() || shared) continue;
        const fs::path known =
            path == "-" ? "" : fs::weakly_canonical(fs::absolute(end_of_links(path), ignored), ignored);
        const fs::path place = known.empty() ? fs::path(path) : known;  // "-", or a path that nothing can be written to
        const std::string said = std::string(name) + " " + path;
        if (const auto [at, is_new] = taken.emplace(place, said); !is_new)
            return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                    at->second + " and " + said +
                        (path == "-" ? " both write to standard output; give one of them a file"
                                     : " name the same file; give each its own")};
    }
    return {};
}

Result<std::string> read_file(const std::string& path) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // as some editors begin a text
    constexpr size_t most = size_t{1} << 30, piece = size_t{1} << 20;
    errno = 0;
    std::error_code ignored;
    const bool folder = fs::is_directory(path, ignored);  // which some libraries read as an empty file
    std::ifstream file(path, std::ios::binary);
    std::string text;
    while (!folder && file && text.size() <= most) {
        const size_t before = text.size();
        text.resize(before + piece);
        file.read(&text[before], piece);
        text.resize(before + static_cast<size_t>(file.gcount()));
    }
    if (folder) errno = EISDIR;
    if (text.size() > most)
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "cannot read " + path + ": it is longer than 1 GiB"};
    if (!folder && file.is_open() && !file.bad())
        return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
    return file_failure("cannot read " + path, errno);
}

Status is_svg(const char* option, const std::string& path) {
    std::string ending = fs::path(path).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view other :
         {".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".tif", ".tiff", ".pdf", ".ps", ".eps", ".html"})
        if (ending == other) {
            const std::string svg = fs::path(path).replace_extension(".svg").string();
            std::string why(option);
            why.append(" writes SVG, and ").append(path).append(" asks for ").append(ending, 1);
            why.append("; write ").append(svg).append(", which browsers show, and convert it if you must: ");
            why.append("rsvg-convert ").append(svg).append(" -o ").append(path);
            return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, why};
        }
    return {};
}

namespace {

/// A new file beside `path`, empty; "" where none can be made.
std::string new_file_beside(const std::string& path) {
    for (int i = 1; i <= 1000; ++i) {
        std::string name = path + ".partial" + (i > 1 ? std::to_string(i) : "");
        errno = 0;
        if (std::FILE* const file = std::fopen(name.c_str(), "wbx")) {
            std::fclose(file);
            return name;
        }
        if (errno != EEXIST) break;
    }
    return "";
}

}  // namespace

OutputFile::~OutputFile() {
    std::error_code ignored;
    if (!partial_.empty()) fs::remove(partial_, ignored);
}

Result<OutputFile> OutputFile::open(const std::string& path) {
    OutputFile file;
    file.path_ = path;
    if (!file.wanted()) return file;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    file.is_stream_ = path == "-" || (fs::exists(status) && !fs::is_regular_file(status));
    if (fs::is_directory(status)) {
        errno = EISDIR;
        return cannot_write(path);
    }
    if (file.is_stream_) return file;
    file.path_ = end_of_links(path).string();
    if (fs::is_symlink(file.path_, ignored)) {
        errno = ELOOP;
        return cannot_write(path);
    }
    file.partial_ = new_file_beside(file.path_);
    if (file.partial_.empty()) return cannot_write(path);
    if (fs::exists(status)) fs::permissions(file.partial_, status.permissions(), ignored);
    return file;
}

Status OutputFile::commit(const std::string& text) {
    if (!wanted()) return {};
    if (path_ == "-") {
        print(text);
        return {};
    }
    errno = 0;
    std::ofstream stream(is_stream_ ? path_ : partial_, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (!stream) return cannot_write(path_);
    if (is_stream_) return {};
    std::error_code why;
    if (const fs::file_status old = fs::status(path_, why); fs::exists(old))
        fs::permissions(partial_, old.permissions(), why);
    fs::rename(partial_, path_, why);
    if (why) return file_failure("cannot write " + path_, why.value());
    return {};
}

}  // namespace vkgemm::tool
