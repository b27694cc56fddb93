// SPDX-License-Identifier: MIT
// A report as one page of HTML that needs no other file. Pure.
#pragma once
#include "report/device_standing.h"

namespace vkgemm::tool {

/// `link`: as issue_link() has it.
std::string device_page(const DeviceReport& report, const std::vector<Standing>& standings, const std::string& link);

}  // namespace vkgemm::tool
