// SPDX-License-Identifier: MIT
// Machine code as it is embedded. Kernels of several tiles are much alike, so most bytes are those that followed the
// same bytes before. The bits of another byte are predicted from those before them, some from the same place of the
// instruction before, which is 16 bytes long; the predictions are mixed with weights that are learnt. An adaptive
// binary arithmetic coder records what is not predicted. Only integers are used: every host computes the same.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vkgemm::spirv {

class ByteModel {
   public:
    ByteModel() : table_(count << bits, 1 << 15), latest_(1 << bits) {
        for (auto& w : weights_) w.fill(0x5000);
        int p = 0;
        for (int x = -2047; x <= 2047; ++x)
            for (const int to = squash(x); p <= to; ++p) stretch_[size_t(p)] = static_cast<int16_t>(x);
        for (; p < 4096; ++p) stretch_[size_t(p)] = 2047;
    }

    /// The next byte, which is added to `past`. An encoder encodes `byte`; a decoder ignores it.
    template <class Coder>
    void code(Coder& coder, std::vector<uint8_t>& past, uint8_t byte) {
        if (length_ && is_expected(coder, byte == past[match_])) {
            past.push_back(past[match_]);
            return note(past);
        }
        set_contexts(past);
        uint32_t node = 1;
        for (int i = 7; i >= 0; --i) {
            const int p = predict(node);
            const bool one = coder.code(static_cast<uint16_t>(65536 - (p << 4)), byte >> i & 1);
            learn(one, p);
            node = node << 1 | uint32_t{one};
        }
        past.push_back(static_cast<uint8_t>(node));
        note(past);
    }

   private:
    static constexpr size_t count = 5, bits = 18;  // predictions, and the logarithm of what each has room for
    static constexpr size_t same = 12;             // bytes of a match

    template <class Coder>
    bool is_expected(Coder& coder, bool yes) {
        uint16_t& p = no_match_[std::min(length_, 63u)];
        yes = coder.code(p, yes);
        p = static_cast<uint16_t>(yes ? p - ((p - 16) >> 5) : p + ((65535 - p) >> 5));
        return yes;
    }

    void set_contexts(const std::vector<uint8_t>& past) {
        const auto back = [&](size_t n) -> uint32_t { return n <= past.size() ? past[past.size() - n] : 0; };
        place_ = static_cast<uint32_t>(past.size() % 16);
        const uint32_t four = back(1) | back(2) << 8 | back(3) << 16 | back(4) << 24;
        const uint32_t eight = back(5) | back(6) << 8 | back(7) << 16 | back(8) << 24;
        contexts_ = {place_ << 16 | (four & 0xffff), place_ << 8 | back(16),
                     (place_ << 16 | back(16) << 8 | back(1)) ^ back(32) << 20, four, four * 0x2c1b3c6du ^ eight};
        for (size_t i = 0; i < count; ++i) contexts_[i] = (contexts_[i] + uint32_t(i)) * 0x9e3779b1u;
    }

    // Follows the match, or finds another one.
    void note(const std::vector<uint8_t>& past) {
        length_ = length_ && past[match_] == past.back() ? length_ + 1 : 0;
        ++match_;
        if (past.size() < same) return;
        uint32_t hash = 0;
        for (size_t i = 1; i <= same; ++i) hash = (hash + past[past.size() - i]) * 0x2c1b3c6du;
        uint32_t& place = latest_[hash >> (32 - bits)];
        if (!length_ && place) {
            match_ = place;
            while (length_ < 32 && length_ < match_ && past[match_ - 1 - length_] == past[past.size() - 1 - length_])
                ++length_;
        }
        place = static_cast<uint32_t>(past.size());
    }

    // From 256 * ln(p / (1 - p)) to p of 12 bits.
    static int squash(int x) {
        static constexpr int16_t at[] = {1,    2,    3,    6,    10,   16,   27,   45,   73,   120,  194,
                                         310,  488,  747,  1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785,
                                         3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094};
        x = std::clamp(x, -2047, 2047) + 2048;
        return (at[x >> 7] * (128 - (x & 127)) + at[(x >> 7) + 1] * (x & 127) + 64) >> 7;
    }

    // The probability of 1, from 1 to 4094 of 4096.
    int predict(uint32_t node) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint32_t hash = (contexts_[i] ^ node * 0x01000193u) * 0x85ebca6bu;
            slots_[i] = i << bits | hash >> (32 - bits);
            inputs_[i] = stretch_[table_[slots_[i]] >> 4];
            sum += int64_t{inputs_[i]} * weights_[place_][i];
        }
        return std::clamp(squash(static_cast<int>(std::clamp<int64_t>(sum >> 16, -2047, 2047))), 1, 4094);
    }

    void learn(bool one, int p) {
        const int error = ((one ? 4095 : 0) - p) * 3;
        for (size_t i = 0; i < count; ++i) {
            weights_[place_][i] += (inputs_[i] * error + 0x200) >> 10;
            uint16_t& q = table_[slots_[i]];
            q = static_cast<uint16_t>(one ? q + ((65535 - q) >> 4) : q - (q >> 4));
        }
    }

    uint32_t place_ = 0;
    size_t match_ = 0;     // where the byte is that followed the same bytes
    uint32_t length_ = 0;  // how many were the same; 0: there is none
    std::array<uint16_t, 64> no_match_ = [] {
        std::array<uint16_t, 64> half{};
        half.fill(1 << 15);
        return half;
    }();
    std::array<uint32_t, count> contexts_{};
    std::array<size_t, count> slots_{};
    std::array<int, count> inputs_{};
    std::array<std::array<int, count>, 16> weights_;  // by the place in an instruction
    std::array<int16_t, 4096> stretch_{};
    std::vector<uint16_t> table_;   // of each prediction, the probability of 1 in 16 bits
    std::vector<uint32_t> latest_;  // where bytes with this hash were last followed; 0: nowhere
};

// Packed bytes are words: how many bytes there are, their checksum, and what the coder wrote.
inline constexpr uint32_t most_bytes = 1 << 24;

/// FNV-1a over bytes.
constexpr uint32_t byte_checksum(std::span<const uint8_t> bytes) {
    uint32_t sum = 0x811c9dc5u;
    for (const uint8_t b : bytes) sum = (sum ^ b) * 0x01000193u;
    return sum;
}

/// The bytes; nothing if `packed` is not what the packer wrote. Any thread. It takes some hundred nanoseconds for each
/// byte, and three megabytes, which it frees. Throws std::bad_alloc.
std::optional<std::vector<uint8_t>> unpack_bytes(std::span<const uint32_t> packed);

}  // namespace vkgemm::spirv
