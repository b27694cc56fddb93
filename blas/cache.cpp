// SPDX-License-Identifier: MIT
#include "blas/cache.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "vkgemm/hash.hpp"

namespace vkgemm::blas {
namespace {

/// A file is the first line, the key's line, and the data.
std::string head_of(const std::string& key, std::span<const std::byte> data) {
    char line[80];
    std::snprintf(line, sizeof line, "vkgemm_blas 1 %zu %016llx\n", data.size(),
                  static_cast<unsigned long long>(hashOf(data)));
    return line + key + "\n";
}

}  // namespace

std::string Cache::file_of(const std::string& kind, const std::string& key) const {
    char name[24];
    std::snprintf(name, sizeof name, "-%016llx",
                  static_cast<unsigned long long>(hashOf(std::as_bytes(std::span(key)))));
    return folder_ + "/" + kind + name;
}

std::vector<std::byte> Cache::read(const std::string& kind, const std::string& key) const {
    if (folder_.empty()) return {};
    std::ifstream in(file_of(kind, key), std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(in)), {});
    const size_t line = all.find('\n'), begin = line + 1 + key.size() + 1;
    if (!in || line == std::string::npos || begin > all.size()) return {};
    const auto bytes = std::as_bytes(std::span(all)).subspan(begin);
    if (all.compare(0, begin, head_of(key, bytes)) != 0) return {};
    return {bytes.begin(), bytes.end()};
}

void Cache::write(const std::string& kind, const std::string& key, std::span<const std::byte> data) const noexcept try {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    const std::string file = file_of(kind, key), temporary = file + "." + std::to_string(getpid());
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        const std::string head = head_of(key, data);
        out.write(head.data(), static_cast<std::streamsize>(head.size()));
        out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
        out.close();
        if (!out) return void(std::filesystem::remove(temporary, ignored));
    }
    std::filesystem::rename(temporary, file, ignored);
    if (ignored) std::filesystem::remove(temporary, ignored);
} catch (...) {  // no memory
}

std::string text_of(const Rates& r) {
    char line[128];
    std::snprintf(line, sizeof line, "%.9e %.9e %.9e %.9e", r.latency, r.up, r.down, r.operations);
    return line;
}

std::optional<Rates> rates_in(std::span<const std::byte> text) {
    const std::string line(reinterpret_cast<const char*>(text.data()), text.size());
    Rates r;
    if (std::sscanf(line.c_str(), "%lf %lf %lf %lf", &r.latency, &r.up, &r.down, &r.operations) != 4) return {};
    for (const double x : {r.latency, r.up, r.down, r.operations})
        if (!(x > 0 && x < 1e30)) return {};
    return r;
}

}  // namespace vkgemm::blas
