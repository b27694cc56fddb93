// SPDX-License-Identifier: MIT
// The decoder of an adaptive binary arithmetic code; its encoder is in pack.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace vkgemm::spirv {
namespace {  // so that each of its two users inlines it

// Bytes of words, the low one first; zeros after the end, which are counted.
class Decoder {
   public:
    static constexpr bool encodes = false;
    explicit Decoder(std::span<const uint32_t> words) : words_(words) {
        for (int i = 0; i < 5; ++i) code_ = code_ << 8 | byte();
    }
    bool code(uint16_t zero, bool) {
        const uint32_t bound = (range_ >> 16) * zero;
        const bool one = code_ >= bound;
        range_ = one ? range_ - bound : bound;
        if (one) code_ -= bound;
        for (; range_ < 1u << 24; range_ <<= 8) code_ = code_ << 8 | byte();
        return one;
    }
    bool overrun() const { return at_ > words_.size() * 4; }

   private:
    uint32_t byte() {
        const size_t at = at_++;
        return at / 4 < words_.size() ? words_[at / 4] >> at % 4 * 8 & 0xff : 0;
    }
    std::span<const uint32_t> words_;
    size_t at_ = 0;
    uint32_t range_ = UINT32_MAX, code_ = 0;
};

}  // namespace
}  // namespace vkgemm::spirv
