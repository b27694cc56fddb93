// SPDX-License-Identifier: MIT
// What the library decides for a problem, decided here once more: for those who want more of it than a Plan tells.
#pragma once
#include "plan/steps/steps.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

Result<plan::DeviceCaps> caps_of(const host::Device&);

struct PlannedProblem {
    plan::Normalised n;
    plan::Choice choice{};
    plan::Steps steps{};  // none: there is nothing to do, and nothing was chosen
};
/// `problem` as formatProblem writes it. Refused as the library would.
Result<PlannedProblem> plan_of(const plan::DeviceCaps&, const std::string& problem, const plan::Request&);

}  // namespace vkgemm::tool
