// SPDX-License-Identifier: MIT
#include "plan/verdicts.h"

#include <algorithm>

#include "plan/words.h"

namespace vkgemm::plan {
namespace {

Refusal wrong_verdict(size_t line, const std::string& why) {
    return {Refusal::parse, "verdicts, line " + std::to_string(line) + ": " + why};
}

Result<Verdict> read_verdict(std::string_view line, size_t number) {
    const size_t first = line.find('|'), second = first == std::string_view::npos ? first : line.find('|', first + 1);
    if (second == std::string_view::npos)
        return wrong_verdict(number, "a row is DEVICE | KERNEL | REASON, not '" + std::string(line) + "'");
    const std::string_view device = trimmed(line.substr(0, first));
    const std::string_view kernel = trimmed(line.substr(first + 1, second - first - 1));
    if (device.empty()) return wrong_verdict(number, "the device is missing: a part of its name, as in NVIDIA H200");
    if (kernel.empty()) return wrong_verdict(number, "the kernel is missing; 'vkgemm kernels' lists them");
    return Verdict{std::string(device), std::string(kernel), std::string(trimmed(line.substr(second + 1)))};
}

}  // namespace

Result<std::vector<Verdict>> parse_verdicts(std::string_view text) {
    std::vector<Verdict> out;
    for (size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.find('\0') != std::string_view::npos) return wrong_verdict(number, zero_byte);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        Result<Verdict> row = read_verdict(line, number);
        if (!row) return row.refusal();
        out.push_back(std::move(*row));
    }
    return out;
}

void leave_out(std::span<const Verdict> rows, DeviceFacts& facts) {
    for (const Verdict& row : rows)
        if (facts.name.find(row.device) != std::string::npos) facts.left_out.push_back({row.kernel, row.why});
}

}  // namespace vkgemm::plan
