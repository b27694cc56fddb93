// SPDX-License-Identifier: MIT
#include "spirv/unpack.h"

#include <memory>

#include "spirv/decoder.h"
#include "spirv/model.h"

namespace vkgemm::spirv {
namespace {

/// Unpacks the variants up to this one, and returns its words, which live until the model runs again.
std::optional<std::span<const uint32_t>> run(Model<Decoder>& model, std::span<const uint32_t> packed, Variant variant) {
    const uint32_t count = packed.empty() ? 0 : packed[0];
    if (count > most_variants || static_cast<uint32_t>(variant) >= count) return std::nullopt;
    if (packed.size() < 1 + count * header_words) return std::nullopt;
    const auto header = packed.subspan(1, count * header_words);
    std::span<const uint32_t> body = packed.subspan(1 + count * header_words);
    uint64_t sum = 0;
    for (uint32_t v = 0; v < count; ++v) {
        sum += header[v * header_words + 2];
        if (header[v * header_words] > most_words) return std::nullopt;
    }
    if (sum != body.size()) return std::nullopt;

    for (uint32_t v = 0; v <= static_cast<uint32_t>(variant); ++v) {
        const uint32_t words_count = header[v * header_words], packed_count = header[v * header_words + 2];
        Decoder decoder(body.first(packed_count));
        body = body.subspan(packed_count);
        const size_t from = model.words().size();
        model.run(decoder, nullptr, words_count);
        const auto words = std::span(model.words()).subspan(from);
        if (decoder.overrun() || checksum(words) != header[v * header_words + 1]) return std::nullopt;
        if (v == static_cast<uint32_t>(variant)) return words;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::vector<uint32_t>> unpack(std::span<const uint32_t> packed, Variant variant,
                                            std::span<const uint32_t> packed_base) {
    const auto model = std::make_unique<Model<Decoder>>();
    if (!packed_base.empty() && !run(*model, packed_base, Variant(0))) return std::nullopt;
    const auto words = run(*model, packed, variant);
    if (!words) return std::nullopt;
    return std::vector<uint32_t>(words->begin(), words->end());
}

}  // namespace vkgemm::spirv
