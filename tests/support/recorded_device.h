// SPDX-License-Identifier: MIT
// The devices of tests/devices.
#pragma once
#include <stdexcept>

#include "plan/device/device_caps.h"
#include "support/files.h"

namespace vkgemm::test {

/// What a device reported, by the name of its file. Throws, because it is also called before the first test.
inline plan::DeviceCaps device(const std::string& name) {
    const plan::Result<plan::DeviceCaps> caps = plan::parse_device_caps(file_text("devices/" + name + ".txt"));
    if (!caps) throw std::runtime_error(name + ": " + caps.status().text);
    return *caps;
}

}  // namespace vkgemm::test
