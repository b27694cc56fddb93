// SPDX-License-Identifier: MIT
// What `vkgemm report` found on a device, as the text that its owner sends in: a first line with the version of the
// format, then "key = value" lines. docs/devices/ has a file for each device, and its page describes the keys. Pure.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/cases.h"

namespace vkgemm::tool {

/// One product: what the library chooses, and the fastest that was found beside it.
struct ReportedProduct {
    Case c;
    std::string kernel{}, tile{};  // that was chosen
    double seconds = 0;            // of a run
    std::string best{}, best_tile{};
    double best_seconds = 0;        // 0: no other was tried
    uint64_t tried = 0, there = 0;  // candidates, the choice included
    double roof = 0;                // operations a second; 0: not known

    double rate() const { return flops(c) / seconds; }
    double loss() const { return best_seconds > 0 ? 1 - best_seconds / seconds : 0; }  // of the best rate
};

struct DeviceReport {
    std::string version{};             // of vkgemm
    std::string origin = "submitted";  // or "ours": measured by the project; "reproduced": by others, again
    std::string date{};                // "2026-11-28"
    std::vector<std::pair<std::string, std::string>> device{};  // as vkgemmDescribeDevice writes it, in its order
    std::vector<std::string> extensions{};
    size_t kernels = 0, runs = 0;                              // that were compared with exact results
    std::vector<std::pair<std::string, std::string>> wrong{};  // kernel, and what of it was wrong
    double copied = 0;                                         // bytes a second, read and written; 0: not known
    std::vector<std::pair<std::string, double>> peaks{};       // operations a second, by units
    std::vector<ReportedProduct> products{};
    std::vector<std::pair<std::string, std::string>> left_out{};  // problem, and why

    std::string fact(std::string_view name) const;  // of the device; "": it is not there
};

/// One text of it: `read_report(report_text(r))` has no problem, and its text is the same.
std::string report_text(const DeviceReport& report);

/// Why a line of the device's description cannot be read; "": it can.
using CheckFact = std::function<std::string(std::string_view line)>;

struct ReadReport {
    DeviceReport report{};
    std::vector<std::string> problems{};  // "line 7: ..."; empty: the text is sound
};
/// Empty lines, comments and the fence of a code block are skipped.
ReadReport read_report(std::string_view text, const CheckFact& check_fact);

/// The page of a new issue, filled in with the report, or with as much of it as an address may have. `repository`: such
/// as "https://github.com/owner/name"; "": there is no link.
std::string issue_link(const DeviceReport& report, std::string_view repository);

}  // namespace vkgemm::tool
