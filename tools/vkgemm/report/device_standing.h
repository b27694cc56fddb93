// SPDX-License-Identifier: MIT
// Where a device stands among those that docs/devices/ has, and the table of that page. Pure.
#pragma once
#include <span>

#include "report/device_report.h"

namespace vkgemm::tool {

/// A file of docs/devices/, which is built in.
struct KnownDevice {
    std::string_view name, text;  // name: of the file, without ".txt"
};
std::span<const KnownDevice> known_devices();
std::vector<std::pair<std::string, DeviceReport>> read_known_devices(
    const CheckFact& check_fact);  // by the files' names

/// The highest rate of a report's products of one type, in operations a second; 0: there is none.
struct TopRate {
    const char* type;  // of A and B
    bool integer;
};
inline constexpr TopRate top_rates[] = {{"f32", false}, {"f16", false}, {"i8", true}};
double top_rate(const DeviceReport& report, const TopRate& of);

struct Standing {
    DeviceReport report;
    bool is_this = false;  // the one that is being reported
};
/// This device and the known ones, by the geometric mean of their highest rates of those types that this one has; those
/// that lack one of them are last.
std::vector<Standing> standings(const DeviceReport& report, std::vector<DeviceReport> known);

/// The geometric mean of the shares of the best rate that the choice reaches; 0: nothing was compared.
double share_of_best(const DeviceReport& report);

/// The table of docs/devices/README.md, as Markdown.
std::string devices_table(const std::vector<std::pair<std::string, DeviceReport>>& by_file);

}  // namespace vkgemm::tool
