// SPDX-License-Identifier: MIT
// The other side of unpack.h: runs when the library is built, and in its tests.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "spirv/bytes.h"
#include "spirv/model.h"
#include "spirv/unpack.h"

namespace vkgemm::spirv {

// Drops what only people read: the source, names, lines (OpSource 3 to OpLine 8 of the SPIR-V specification).
inline void drop_names(std::vector<uint32_t>& words) {
    size_t to = 5;  // words of the header
    for (size_t at = to; at < words.size();) {
        const size_t count = std::max<uint32_t>(words[at] >> 16, 1), opcode = words[at] & 0xffff;
        if (opcode < 3 || opcode > 8)
            for (size_t i = 0; i < count && at + i < words.size(); ++i) words[to++] = words[at + i];
        at += count;
    }
    words.resize(std::min(to, words.size()));
}

class Encoder {
   public:
    static constexpr bool encodes = true;
    bool code(uint16_t zero, bool one) {
        const uint32_t bound = (range_ >> 16) * zero;
        if (one) low_ += bound;
        range_ = one ? range_ - bound : bound;
        for (; range_ < 1u << 24; range_ <<= 8) shift();
        return one;
    }
    /// The bytes in words, the low one first.
    std::vector<uint32_t> finish() {
        for (int i = 0; i < 5; ++i) shift();
        std::vector<uint32_t> out((bytes_.size() + 3) / 4);
        for (size_t i = 0; i < bytes_.size(); ++i) out[i / 4] |= uint32_t{bytes_[i]} << i % 4 * 8;
        return out;
    }

   private:
    // The highest byte leaves as soon as no carry can change it: bytes of 0xff wait with the one before them.
    void shift() {
        if (low_ < 0xff000000u || low_ >> 32) {
            for (; waiting_; --waiting_, held_ = 0xff) bytes_.push_back(static_cast<uint8_t>(held_ + (low_ >> 32)));
            held_ = static_cast<uint8_t>(low_ >> 24);
        }
        ++waiting_;
        low_ = (low_ & 0x00ffffff) << 8;
    }
    std::vector<uint8_t> bytes_;
    uint64_t low_ = 0, waiting_ = 1;
    uint32_t range_ = UINT32_MAX;
    uint8_t held_ = 0;
};

/// For unpack_bytes().
inline std::vector<uint32_t> pack_bytes(std::span<const uint8_t> bytes) {
    const auto model = std::make_unique<ByteModel>();
    Encoder encoder;
    std::vector<uint8_t> past;
    for (const uint8_t b : bytes) model->code(encoder, past, b);
    std::vector<uint32_t> out = {static_cast<uint32_t>(bytes.size()), byte_checksum(bytes)};
    const std::vector<uint32_t> packed = encoder.finish();
    out.insert(out.end(), packed.begin(), packed.end());
    return out;
}

/// The variants in the order of Variant. `base_words`: the base, not packed; empty: none.
inline std::vector<uint32_t> pack(std::span<const std::vector<uint32_t>> variants,
                                  std::span<const uint32_t> base_words) {
    const auto model = std::make_unique<Model<Encoder>>();
    Encoder unused;
    if (!base_words.empty()) model->run(unused, base_words.data(), base_words.size());
    std::vector<uint32_t> out = {static_cast<uint32_t>(variants.size())}, body;
    for (const auto& words : variants) {
        Encoder encoder;
        model->run(encoder, words.data(), words.size());
        const std::vector<uint32_t> packed = encoder.finish();
        out.insert(out.end(),
                   {static_cast<uint32_t>(words.size()), checksum(words), static_cast<uint32_t>(packed.size())});
        body.insert(body.end(), packed.begin(), packed.end());
    }
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

}  // namespace vkgemm::spirv
