// SPDX-License-Identifier: MIT
// The targets that parse what the BLAS library reads.
#include <algorithm>
#include <cmath>

#include "blas/cache.h"
#include "blas/settings.h"
#include "fuzz/parsers.h"
#include "fuzz/promise.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::test::fuzz {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

void blas_cache(std::string_view text) {
    current = text;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string key(text.substr(0, end));
    const std::string_view data = text.substr(std::min(end + 1, text.size()));
    const auto found = blas::data_in(data, key);  // as if this were a file
    promise(found.size() < std::max<size_t>(data.size(), 1), "data is a part of the file");
    std::string file = blas::file_with(key, bytes_of(data));
    const auto again = blas::data_in(file, key);
    promise(std::ranges::equal(again, bytes_of(data)), "data that is written can be read");
    promise(blas::data_in(file, key + "x").empty(), "data of another key is not read");
    if (data.empty()) return;
    const uint64_t where = hashOf(bytes_of(text));
    file[where % file.size()] ^= static_cast<char>(1 << (where >> 32) % 8);
    promise(blas::data_in(file, key).empty(), "a file with a wrong bit is not read");
    file[where % file.size()] ^= static_cast<char>(1 << (where >> 32) % 8);
    file.resize(where % file.size());
    promise(blas::data_in(file, key).empty(), "a file that ends too early is not read");
}

void blas_rates(std::string_view text) {
    current = text;
    const auto rates = blas::rates_in(bytes_of(text));
    if (!rates) return;
    for (const double x : {rates->latency, rates->up, rates->down, rates->operations})
        promise(std::isfinite(x) && x > 0, "a rate is above 0");
    const std::string line = blas::text_of(*rates);
    const auto again = blas::rates_in(bytes_of(line));
    promise(again && blas::text_of(*again) == line, "rates are written the same again");
}

void blas_settings(std::string_view text) {
    current = text;
    std::vector<std::string> complaints;
    const auto found = blas::read_config(std::string(text), complaints);
    const size_t lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
    promise(complaints.size() + found.size() <= lines, "a line is a setting or a complaint");
    const auto get = [&](const char* name) {
        const auto at = found.find(name);
        return at == found.end() ? nullptr : at->second.c_str();
    };
    const blas::Settings s = blas::read_settings(get, complaints);
    for (const std::string& why : complaints) promise(!why.empty(), "a complaint has a text");
    promise(s.tile >= 1 && s.tile <= 16384, "a tile is within its limits");
    promise(s.panel >= 4 && s.panel % 4 == 0 && s.panel <= 4096, "a panel is within its limits");
    promise(s.memory_share >= 0 && s.memory_share <= 1, "a share is one");
    // A wrong line costs no good one.
    std::vector<std::string> more;
    const auto beside = blas::read_config("nonsense\n" + std::string(text) + "\nVKGEMM_BLAS_TILE=\"", more);
    for (const auto& [name, value] : found)
        promise(name == "VKGEMM_BLAS_TILE" || (beside.contains(name) && beside.at(name) == value),
                "a wrong line leaves the others");
}

}  // namespace vkgemm::test::fuzz
