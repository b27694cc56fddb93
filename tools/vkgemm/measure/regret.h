// SPDX-License-Identifier: MIT
// Measures what the choice for a problem loses: every kernel briefly, the best and the choice again, in turn.
#pragma once
#include "measure/loss.h"
#include "measure/measure.h"

namespace vkgemm::tool {

struct RegretOptions {
    uint32_t plan_flags = 0;  // of the choice and of all that it is compared with
    bool hot = false, cold = false;
};

/// Results are not checked. Refused if the device is lost; everything else that fails is in the result.
Result<Regret> measure_regret(const host::Device& device, const RandomCase& given, const RegretOptions& options);

}  // namespace vkgemm::tool
