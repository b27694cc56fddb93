// SPDX-License-Identifier: MIT
#include "blas/cache.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "vkgemm/hash.hpp"

namespace vkgemm::blas {
namespace {

std::string head_of(const std::string& key, std::span<const std::byte> data) {
    char line[80];
    std::snprintf(line, sizeof line, "vkgemm_blas 1 %zu %016llx\n", data.size(),
                  static_cast<unsigned long long>(hashOf(data)));
    return line + key + "\n";
}

}  // namespace

std::string file_with(const std::string& key, std::span<const std::byte> data) {
    std::string file = head_of(key, data);
    return file.append(reinterpret_cast<const char*>(data.data()), data.size());
}

std::span<const std::byte> data_in(std::string_view file, const std::string& key) {
    const size_t line = file.find('\n'), begin = line + 1 + key.size() + 1;
    if (line == std::string_view::npos || begin > file.size()) return {};
    const auto bytes = std::as_bytes(std::span(file)).subspan(begin);
    return file.substr(0, begin) == head_of(key, bytes) ? bytes : std::span<const std::byte>();
}

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
    if (!in) return {};
    const auto bytes = data_in(all, key);
    return {bytes.begin(), bytes.end()};
}

void Cache::write(const std::string& kind, const std::string& key, std::span<const std::byte> data) const noexcept try {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    const std::string file = file_of(kind, key), temporary = file + "." + std::to_string(getpid());
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        const std::string whole = file_with(key, data);
        out.write(whole.data(), static_cast<std::streamsize>(whole.size()));
        out.close();
        if (!out) return void(std::filesystem::remove(temporary, ignored));
    }
    std::filesystem::rename(temporary, file, ignored);
    if (ignored) std::filesystem::remove(temporary, ignored);
} catch (...) {  // no memory
}

std::string text_of(const Rates& r) {
    std::string text;
    for (const double x : {r.latency, r.up, r.down, r.operations}) {
        char number[32];
        const auto end = std::to_chars(number, std::end(number), x, std::chars_format::scientific, 9);
        text.append(text.empty() ? "" : " ").append(number, end.ptr);
    }
    return text;
}

std::optional<Rates> rates_in(std::span<const std::byte> text) {
    const char* at = reinterpret_cast<const char*>(text.data());
    const char* const end = at + text.size();
    Rates r;
    for (double* const x : {&r.latency, &r.up, &r.down, &r.operations}) {
        if (x != &r.latency) {
            if (at == end || *at != ' ') return {};
            ++at;
        }
        const auto [next, error] = std::from_chars(at, end, *x);
        if (error != std::errc{} || !(*x > 0 && *x < 1e30)) return {};
        at = next;
    }
    return at == end ? std::optional(r) : std::nullopt;
}

}  // namespace vkgemm::blas
