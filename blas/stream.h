// SPDX-License-Identifier: MIT
// Copies whose target this core does not read again: past its cache, where the instruction set has such stores. That
// saves reading the target's lines first, a third of what moves. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

namespace vkgemm::blas {

/// Before another thread or the device may read what stream_copy wrote.
inline void finish_stores() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/// As memcpy. Call finish_stores() afterwards.
inline void stream_copy(void* to, const void* from, size_t bytes) {
#ifdef __SSE2__
    constexpr size_t line = 64, least = 512;
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    if (bytes >= least) {
        const size_t head = (line - reinterpret_cast<uintptr_t>(out) % line) % line;  // to the next line of the cache
        std::memcpy(out, in, head);
        out += head, in += head, bytes -= head;
        for (; bytes >= line; out += line, in += line, bytes -= line) {
            __m128i x[4];
            std::memcpy(x, in, line);
            for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(out) + i, x[i]);
        }
    }
    std::memcpy(out, in, bytes);
#else
    std::memcpy(to, from, bytes);
#endif
}

}  // namespace vkgemm::blas
