// SPDX-License-Identifier: MIT
#include "drivers/pipeline_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tools/vkgemm/baselines/shared_library.h"

namespace vkgemm::test {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint8_t frame_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr uint8_t object_magic[] = {'N', 'V', 'u', 'c'};
constexpr size_t most = size_t{1} << 26;  // bytes of an object; the largest one seen has 0.4 MB

size_t find(Bytes in, std::span<const uint8_t> what) {
    const auto at = std::search(in.begin(), in.end(), what.begin(), what.end(),
                                [](std::byte a, uint8_t b) { return a == std::byte{b}; });
    return static_cast<size_t>(at - in.begin());
}

uint32_t word_at(Bytes in, size_t at) {
    uint32_t word = 0;
    if (at + sizeof word <= in.size()) std::memcpy(&word, in.data() + at, sizeof word);
    return word;
}

std::vector<std::byte> unpack(Bytes frame) {
    const std::vector<std::string> names = {"libzstd.so.1"}, folders = {"", "."};
    static const tool::Library zstd = tool::Library::open(names, folders);
    unsigned long long (*content_size)(const void*, size_t) = nullptr;
    size_t (*frame_size)(const void*, size_t) = nullptr;
    size_t (*decompress)(void*, size_t, const void*, size_t) = nullptr;
    if (!zstd || !zstd.find(content_size, "ZSTD_getFrameContentSize") ||
        !zstd.find(frame_size, "ZSTD_findFrameCompressedSize") || !zstd.find(decompress, "ZSTD_decompress"))
        return {};
    const size_t packed = frame_size(frame.data(), frame.size());  // an error is a huge number
    const unsigned long long size = content_size(frame.data(), frame.size());
    if (packed > frame.size() || size > most) return {};
    std::vector<std::byte> out(static_cast<size_t>(size));
    return decompress(out.data(), out.size(), frame.data(), packed) == out.size() ? out : std::vector<std::byte>{};
}

}  // namespace

std::vector<std::byte> code_in_object(Bytes object) {
    object = object.subspan(find(object, object_magic));
    constexpr uint32_t code = 1;  // the type of a section
    const uint32_t sections = word_at(object, 8) & 0xffff;
    for (uint32_t i = 0; i < sections; ++i) {
        const size_t at = 32 + size_t{32} * i;  // its type, length and offset
        if (at + 32 > object.size()) break;
        const uint32_t length = word_at(object, at + 4), offset = word_at(object, at + 8);
        if (word_at(object, at) != code || !length || offset > object.size() || length > object.size() - offset)
            continue;
        const Bytes found = object.subspan(offset, length);
        return {found.begin(), found.end()};
    }
    return {};
}

std::vector<std::byte> pipeline_code(Bytes cache) {
    const size_t at = find(cache, frame_magic);
    return at == cache.size() ? std::vector<std::byte>{} : code_in_object(unpack(cache.subspan(at)));
}

}  // namespace vkgemm::test
