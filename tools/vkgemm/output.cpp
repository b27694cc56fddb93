// SPDX-License-Identifier: MIT
#include "tools/vkgemm/output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/vkgemm/terminal.h"

namespace vkgemm::tool {
namespace {
Status cannot_write(const std::string& path) {
    const int why = errno;
    return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
            "cannot write " + path + (why ? std::string(": ") + std::strerror(why) : "")};
}
}  // namespace

Result<std::string> read_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();  // an empty file sets failbit, a folder badbit
    if (file.is_open() && !file.bad() && !text.bad()) return text.str();
    const int why = errno;
    return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                  "cannot read " + path + (why ? std::string(": ") + std::strerror(why) : "")};
}

OutputFile::~OutputFile() {
    std::error_code ignored;
    if (wanted() && path_ != "-") std::filesystem::remove(partial(), ignored);
}

Result<OutputFile> OutputFile::open(const std::string& path) {
    OutputFile file;
    file.path_ = path;
    errno = 0;
    if (file.wanted() && path != "-" && !std::ofstream(file.partial(), std::ios::binary | std::ios::trunc))
        return cannot_write(path);
    return file;
}

Status OutputFile::commit(const std::string& text) {
    if (!wanted()) return {};
    if (path_ == "-") {
        print(text);
        return {};
    }
    errno = 0;
    std::ofstream stream(partial(), std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (!stream) return cannot_write(path_);
    std::error_code why;
    std::filesystem::rename(partial(), path_, why);
    if (why) return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "cannot write " + path_ + ": " + why.message()};
    return {};
}

}  // namespace vkgemm::tool
