// SPDX-License-Identifier: MIT
#include "measure/case_memory.h"

#include "cli/text.h"

namespace vkgemm::tool {

uint64_t operand_bytes(const Resolved& r) {
    return r.a.span_bytes() + r.b.span_bytes() + r.c.span_bytes() + r.d.span_bytes();
}

uint64_t host_bytes(const Resolved& r, const MemoryUse& use) {
    const auto numbers = [](const MatrixInfo& m) { return m.rows * m.cols * m.matrices(); };  // a byte each
    const uint64_t all = operand_bytes(r), d = r.d.span_bytes();
    uint64_t bytes = 0;
    if (use.check) bytes += numbers(r.a) + numbers(r.b) + all + 2 * d + (use.shared ? all : 0);
    if (use.timing) bytes += all + (use.shared ? all * use.sets : 0);
    return bytes;
}

Status refused_memory(const Case& c, const Resolved& r, const MemoryUse& use, const MemoryLeft& left) {
    const auto needed = [&](const MemoryUse& x) {
        const uint64_t bytes = host_bytes(r, x);
        return bytes + bytes / 20;  // and what the driver takes
    };
    if (needed(use) <= left.bytes) return {};
    MemoryUse unchecked = use;
    unchecked.check = false;
    std::string text = c.text + ": its operands have " + bytes_text(operand_bytes(r)) + ", and " +
                       (use.check && use.timing ? "checking and timing"
                        : use.check             ? "checking"
                                                : "timing") +
                       " this takes " + bytes_text(needed(use)) + " of host memory; " + bytes_text(left.bytes) + " " +
                       left.by + "; use smaller sizes";
    if (use.check && use.timing && needed(unchecked) <= left.bytes)
        text += ", or do not check results, which takes " + bytes_text(needed(unchecked));
    return {VKGEMM_ERROR_LIMIT, VK_SUCCESS, std::move(text)};
}

}  // namespace vkgemm::tool
