// SPDX-License-Identifier: MIT
#include "spirv/bytes.h"
#include "spirv/decoder.h"

namespace vkgemm::spirv {

std::optional<std::vector<uint8_t>> unpack_bytes(std::span<const uint32_t> packed) {
    if (packed.size() < 2 || packed[0] > most_bytes) return std::nullopt;
    Decoder decoder(packed.subspan(2));
    ByteModel model;
    std::vector<uint8_t> out;
    out.reserve(packed[0]);
    while (out.size() < packed[0] && !decoder.overrun()) model.code(decoder, out, 0);
    if (out.size() != packed[0] || byte_checksum(out) != packed[1]) return std::nullopt;
    return out;
}

}  // namespace vkgemm::spirv
