// SPDX-License-Identifier: MIT
#include "measure/case_memory.h"

#include "cli/text.h"

namespace vkgemm::tool {

namespace {

// Sizes may be such that bytes do not fit 64 bits, so they are added up in double, which is exact up to 8 PiB.
double bytes_of(const MatrixInfo& m) { return static_cast<double>(m.span) / m.block * m.bytes; }
double bytes_of(const Resolved& r) { return bytes_of(r.a) + bytes_of(r.b) + bytes_of(r.c) + bytes_of(r.d); }
/// A byte for each number of a check.
double numbers_of(const MatrixInfo& m) {
    return static_cast<double>(m.rows) * static_cast<double>(m.cols) * static_cast<double>(m.matrices());
}
/// Clamped to 2^63.
uint64_t whole(double bytes) { return bytes < 0x1p63 ? static_cast<uint64_t>(bytes) : uint64_t{1} << 63; }

}  // namespace

uint64_t operand_bytes(const Resolved& r) { return whole(bytes_of(r)); }

uint64_t host_bytes(const Resolved& r, const MemoryUse& use) {
    const double all = bytes_of(r);
    double bytes = 0;
    if (use.check) bytes += numbers_of(r.a) + numbers_of(r.b) + all + 2 * bytes_of(r.d) + (use.shared ? all : 0);
    if (use.timing) bytes += all + (use.shared ? all * static_cast<double>(use.sets) : 0);
    return whole(bytes);
}

uint64_t needed_memory(const Resolved& r, const MemoryUse& use) {
    const uint64_t bytes = host_bytes(r, use);
    return bytes + bytes / 20;
}

Status refused_memory(const Case& c, const Resolved& r, const MemoryUse& use, const MemoryLeft& left) {
    if (needed_memory(r, use) <= left.bytes) return {};
    MemoryUse unchecked = use;
    unchecked.check = false;
    std::string text = c.text + ": its operands have " + bytes_text(operand_bytes(r)) + ", and " +
                       (use.check && use.timing ? "checking and timing"
                        : use.check             ? "checking"
                                                : "timing") +
                       " this takes " + bytes_text(needed_memory(r, use)) + " of host memory; " +
                       bytes_text(left.bytes) + " " + left.by + "; use smaller sizes";
    if (use.check && use.timing && needed_memory(r, unchecked) <= left.bytes)
        text += ", or do not check results, which takes " + bytes_text(needed_memory(r, unchecked));
    return {VKGEMM_ERROR_LIMIT, VK_SUCCESS, std::move(text)};
}

}  // namespace vkgemm::tool
