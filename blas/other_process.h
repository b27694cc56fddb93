// SPDX-License-Identifier: MIT
// Reads memory of another process of this machine.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#ifdef __linux__
#    include <sys/uio.h>
#endif

namespace vkgemm::blas {

/// Columns of `rows` bytes that begin `ld` bytes apart.
struct Columns {
    std::byte* address = nullptr;
    uint64_t rows = 0, ld = 0;
    std::byte* at(int64_t column) const { return address + static_cast<uint64_t>(column) * ld; }
};

/// Copies the columns [begin, end). False: the system has no way to, or does not allow it; some of `to` may be changed.
inline bool read_columns(int process, const Columns& from, const Columns& to, int64_t begin, int64_t end) {
#ifdef __linux__
    constexpr int64_t most = 256;              // columns at a time; the system takes 1024
    constexpr uint64_t most_bytes = 1u << 30;  // the system copies 2 GiB less a page
    const auto fitting = static_cast<int64_t>(most_bytes / std::max<uint64_t>(from.rows, 1));
    const int64_t at_a_time = std::clamp<int64_t>(fitting, 1, most);
    std::array<iovec, most> remote, local;
    while (begin < end) {
        const int64_t count = std::min(at_a_time, end - begin);
        for (int64_t i = 0; i < count; ++i) {
            remote[static_cast<size_t>(i)] = {from.at(begin + i), from.rows};
            local[static_cast<size_t>(i)] = {to.at(begin + i), from.rows};
        }
        const auto n = static_cast<unsigned long>(count);
        const ssize_t copied = process_vm_readv(process, local.data(), n, remote.data(), n, 0);
        if (copied < 0 || static_cast<uint64_t>(copied) != static_cast<uint64_t>(count) * from.rows) return false;
        begin += count;
    }
    return true;
#else
    static_cast<void>(process);
    static_cast<void>(from);
    static_cast<void>(to);
    return begin >= end;
#endif
}

}  // namespace vkgemm::blas
