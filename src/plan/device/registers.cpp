// SPDX-License-Identifier: MIT
#include "plan/device/registers.h"

#include "plan/device/device_caps.h"

namespace vkgemm::plan {
namespace {

constexpr Registers known_devices[] = {
#define REGISTERS(...) {__VA_ARGS__},
#include "plan/device/registers.def"
#undef REGISTERS
};

}  // namespace

Registers registers_of(const DeviceCaps& dev) {
    for (const Registers& row : known_devices)
        if (row.vendor == dev.vendor &&
            (dev.name.find(row.name) != std::string::npos || dev.driver.find(row.name) != std::string::npos))
            return row;
    return {};
}

}  // namespace vkgemm::plan
