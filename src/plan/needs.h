// SPDX-License-Identifier: MIT
// Which features a list of problems needs of a device, before the device is created.
#pragma once
#include <span>

#include "plan/choice/select.h"

namespace vkgemm::plan {

struct Needs {
    FeatureSet required = 0;  // without these some problem finds no kernel
    FeatureSet optional = 0;  // what else a fitting kernel, or the runtime, makes use of
};

/// The refusal of one of several problems, with its index: "problems[2]: why".
Status about_problem(size_t index, Status);

/// `addresses`: plans will be made for operands as device addresses; `descriptors`: for bound descriptors alone.
/// `problems` are as the caller states them; empty: whatever any built-in kernel can use; then only the operands'
/// way is
/// required.
Result<Needs> needs_of(const DeviceCaps&, std::span<const Problem> problems, bool addresses = false,
                       bool descriptors = false);

}  // namespace vkgemm::plan
