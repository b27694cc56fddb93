// SPDX-License-Identifier: MIT
#include "report/self_test_results.h"

#include <algorithm>

namespace vkgemm::tool {
namespace {

std::string row(const std::string& device, const std::string& kernel, const std::string& why) {
    return device + " | " + kernel + " | " + why + "\n";
}

/// Did this check settle whether the kernel of the old row is wrong?
bool settled(const DisabledRow& old, const CheckEnd& end, const CheckedKernels& found) {
    if (end.device.find(old.device) == std::string::npos) return false;
    return std::ranges::any_of(found, [&](const auto& kernel) {
        const Checked& c = kernel.second;
        if (kernel.first != old.kernel) return false;
        const bool its_problem =
            std::ranges::any_of(c.with, [&](const std::string& text) { return old.why.starts_with(text + ": "); });
        return !c.wrong.empty() || (c.finished && (its_problem || (end.whole && c.problems > 0)));
    });
}

}  // namespace

std::string self_test_rows(const CheckEnd& end, const CheckedKernels& found, std::span<const DisabledRow> old) {
    std::string text = end.head + "# device | kernel | reason\n";
    if (!end.early.empty()) text += "# ended early: " + end.early + "\n";
    for (const DisabledRow& v : old)
        if (!settled(v, end, found)) text += row(v.device, v.kernel, v.why);
    for (const auto& [name, c] : found)
        if (!c.wrong.empty()) text += row(host::rowDevice(end.device), name, c.wrong.front());
    return text;
}

}  // namespace vkgemm::tool
