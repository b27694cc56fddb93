// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/trials.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vkgemm/elements.hpp>
#include <vkgemm/hash.hpp>
#include <vkgemm/text.hpp>

namespace vkgemm::ggml {
namespace {

// What the words of a key are.
enum Word { TYPES, FLAGS, M, N, K, BATCH2, BATCH3, WEIGHTS2, WEIGHTS3, USED };
enum Flag : uint64_t { HAS_IDS = 1, PRECISE = 2, ALIGNED = 4, CONTIGUOUS = 8, SHARED = 16, FUSED = 32 };

constexpr uint64_t most_counted = 8;
uint64_t roughly(uint64_t n) { return n <= most_counted ? n : std::bit_ceil(n); }

bool is_aligned(const Tensor& x) { return (x.offset | x.nb[1] | x.nb[2] | x.nb[3]) % 16 == 0; }
bool is_contiguous(const Tensor& x) { return x.nb[0] == blockSize(x.type).bytes && x.nb[1] <= x.nb[2]; }

std::string name_of(uint64_t type) {
    return type ? std::string(typeName(static_cast<VkgemmType>(type))) : std::string("other");
}

double median_of(std::vector<double> x) {
    if (x.empty()) return 0;
    std::sort(x.begin(), x.end());
    return (x[x.size() / 2] + x[(x.size() - 1) / 2]) / 2;
}

constexpr size_t fewest = 2, most = Trial::turns / 2 - 1;  // times of a side that count
constexpr double clearly = 1.1, at_least = 1.02;           // times as fast
bool is_won(double ggml, double vkgemm) { return vkgemm * at_least <= ggml; }

}  // namespace

size_t ClassKeyHash::operator()(const ClassKey& key) const {
    uint64_t hash = emptyHash;
    for (const uint64_t word : key.words) {
        hash = hashed(hash, word);
        hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
}

ClassKey class_of(const MulMat& x) {
    ClassKey key;
    auto& w = key.words;
    const bool has_ids = x.ids != nullptr;
    const uint64_t batch = has_ids ? 1 : x.dst.ne[2] * x.dst.ne[3];
    const auto size = [&](uint64_t n) { return batch > 1 ? std::bit_ceil(n) : n; };
    w[TYPES] = uint64_t(x.src0.type) << 32 | uint64_t(x.src1.type) << 16 | uint64_t(x.dst.type);
    const bool is_dense = is_contiguous(x.src0) && is_contiguous(x.src1) && is_contiguous(x.dst);
    w[FLAGS] = x.fused_count * FUSED;
    if (has_ids) w[FLAGS] |= HAS_IDS;
    if (x.is_precise) w[FLAGS] |= PRECISE;
    if (is_aligned(x.src0) && is_aligned(x.src1) && is_aligned(x.dst)) w[FLAGS] |= ALIGNED;
    if (is_dense) w[FLAGS] |= CONTIGUOUS;
    if (has_ids && x.src1.ne[1] == 1) w[FLAGS] |= SHARED;
    w[M] = size(x.src0.ne[1]);
    w[K] = size(x.src0.ne[0]);
    w[N] = roughly(x.src1.ne[has_ids ? 2 : 1]);
    w[WEIGHTS2] = x.src0.ne[2];
    w[WEIGHTS3] = x.src0.ne[3];
    if (has_ids)
        w[USED] = x.ids->ne[0];
    else {
        w[BATCH2] = x.dst.ne[2];
        w[BATCH3] = x.dst.ne[3];
    }
    return key;
}

std::string text_of(const ClassKey& key) {
    const auto& w = key.words;
    const auto number = [](uint64_t n) { return std::to_string(n); };
    const bool has_ids = w[FLAGS] & HAS_IDS;
    std::string s = has_ids ? "MUL_MAT_ID " : "MUL_MAT ";
    s += name_of(w[TYPES] >> 32) + "*" + name_of(w[TYPES] >> 16 & 0xffff) + " " + number(w[M]) + "x" + number(w[N]) +
         "x" + number(w[K]);
    if (const uint64_t dst = w[TYPES] & 0xffff; dst != VKGEMM_TYPE_F32) s += " to " + name_of(dst);
    if (has_ids)
        s += ", " + number(w[USED]) + " of " + number(w[WEIGHTS2]) +
             (w[FLAGS] & SHARED ? " experts, shared rows" : " experts");
    else if (w[BATCH2] * w[BATCH3] > 1)
        s += ", batch " + number(w[BATCH2]) + "x" + number(w[BATCH3]) + " of " + number(w[WEIGHTS2]) + "x" +
             number(w[WEIGHTS3]);
    if (w[FLAGS] & PRECISE) s += ", precise";
    if (!(w[FLAGS] & CONTIGUOUS)) s += ", strided";
    if (!(w[FLAGS] & ALIGNED)) s += ", unaligned";
    if (const uint64_t fused = w[FLAGS] / FUSED) s += ", " + number(fused) + " added";
    return s;
}

bool Trial::is_ours(uint32_t turn) { return std::popcount(turn) % 2 != 0; }

void Trial::add(bool is_ours, double microseconds) {
    if (state_ != State::RUNNING) return;
    times_[is_ours].push_back(microseconds);
    std::array<std::vector<double>, 2> counted;
    for (size_t side : {0, 1})
        if (!times_[side].empty()) counted[side].assign(times_[side].begin() + 1, times_[side].end());
    const auto& [ggml, vkgemm] = counted;
    if (std::min(ggml.size(), vkgemm.size()) < fewest) return;
    const auto is_clear = [](const std::vector<double>& fast, const std::vector<double>& slow) {
        return *std::max_element(fast.begin(), fast.end()) * clearly < *std::min_element(slow.begin(), slow.end());
    };
    if (is_clear(vkgemm, ggml))
        state_ = State::VKGEMM;
    else if (is_clear(ggml, vkgemm))
        state_ = State::GGML;
    else if (std::min(ggml.size(), vkgemm.size()) >= most)
        state_ = is_won(median_of(ggml), median_of(vkgemm)) ? State::VKGEMM : State::GGML;
}

void Trial::set(double ggml, double vkgemm) {
    times_ = {std::vector{ggml, ggml}, std::vector{vkgemm, vkgemm}};
    state_ = is_won(ggml, vkgemm) ? State::VKGEMM : State::GGML;
}

std::array<double, 2> Trial::medians() const {
    std::array<double, 2> out{};
    for (size_t side : {0, 1})
        if (times_[side].size() > 1) out[side] = median_of({times_[side].begin() + 1, times_[side].end()});
    return out;
}

TimesFile::TimesFile(std::string name, std::string device) : name_(std::move(name)), device_(std::move(device)) {
    if (name_.empty()) return;
    std::ifstream file(name_);
    for (std::string line; std::getline(file, line);) {
        std::array<std::string, 4> fields;
        size_t count = 0, at = 0;
        for (; count < fields.size() && at <= line.size(); ++count) {
            const size_t end = std::min(line.find('\t', at), line.size());
            fields[count] = line.substr(at, end - at);
            at = end + 1;
        }
        const double ggml = std::strtod(fields[2].c_str(), nullptr), vkgemm = std::strtod(fields[3].c_str(), nullptr);
        if (count == fields.size() && fields[0] == device_ && ggml > 0 && vkgemm > 0)
            times_[fields[1]] = {ggml, vkgemm};
    }
}

const std::array<double, 2>* TimesFile::find(const std::string& text) const {
    const auto at = times_.find(text);
    return at == times_.end() ? nullptr : &at->second;
}

bool TimesFile::add(const std::string& text, const std::array<double, 2>& medians) {
    if (name_.empty()) return true;
    std::FILE* const file = std::fopen(name_.c_str(), "a");
    if (!file) return false;
    // One write, so that lines of two processes do not mix.
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "\t%.2f\t%.2f\n", medians[0], medians[1]);
    const std::string line = device_ + "\t" + text + numbers;
    const bool is_written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
    return std::fclose(file) == 0 && is_written;
}

}  // namespace vkgemm::ggml
