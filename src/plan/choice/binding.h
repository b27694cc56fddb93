// SPDX-License-Identifier: MIT
// How operands reach the shader. A plan chooses it once.
#pragma once
#include "plan/choice/request.h"
#include "plan/device/device_caps.h"

namespace vkgemm::plan {

enum class Binding : uint8_t { descriptors, addresses };

/// What the caller demands. Otherwise addresses if the device cannot push descriptors, or if it is a CPU that has
/// addresses, else descriptors. Refused if the device does not offer what is demanded, or neither.
Result<Binding> choose_binding(const DeviceCaps&, const Request&);
/// The same for this problem. Addresses if its scalars are in memory, or if a native kernel may compute it: neither is
/// reached by descriptors.
Result<Binding> choose_binding(const DeviceCaps&, const Problem&, const Request&);

}  // namespace vkgemm::plan
