// SPDX-License-Identifier: MIT
#include "plan/device/disabled_kernels.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

Refusal bad_row(size_t line, const std::string& why) {
    return {VKGEMM_ERROR_PARSE, concat({"disabled kernels, line ", line, ": ", why})};
}

Result<DisabledKernelRow> read_disabled_kernel(std::string_view line, size_t number) {
    const size_t first = line.find('|'), second = first == std::string_view::npos ? first : line.find('|', first + 1);
    if (second == std::string_view::npos)
        return bad_row(number, concat({"a row is DEVICE | KERNEL | REASON, not '", line, "'"}));
    const std::string_view device = trimmed(line.substr(0, first));
    const std::string_view kernel = trimmed(line.substr(first + 1, second - first - 1));
    if (device.empty()) return bad_row(number, "the device is missing: a part of its name, as in NVIDIA H200");
    if (kernel.empty()) return bad_row(number, "the kernel is missing; 'vkgemm kernels' lists them");
    return DisabledKernelRow{std::string(device), std::string(kernel), std::string(trimmed(line.substr(second + 1)))};
}

}  // namespace

Result<std::vector<DisabledKernelRow>> parse_disabled_kernels(std::string_view text,
                                                              std::vector<std::string>* skipped) {
    std::vector<DisabledKernelRow> out;
    for (size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.find('\0') != std::string_view::npos) return bad_row(number, zero_byte);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        Result<DisabledKernelRow> row = read_disabled_kernel(line, number);
        if (!row && !skipped) return row.status();
        if (row)
            out.push_back(std::move(*row));
        else
            skipped->push_back(concat({row.status().text, "; the line '", line, "' is skipped"}));
    }
    return out;
}

void mark_disabled(std::span<const DisabledKernelRow> rows, DeviceCaps& caps) {
    for (const DisabledKernelRow& row : rows)
        if (caps.name.find(row.device) != std::string::npos) caps.disabled.push_back({row.kernel, row.why});
}

}  // namespace vkgemm::plan
