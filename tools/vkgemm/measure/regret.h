// SPDX-License-Identifier: MIT
// Measures what the choice for a problem loses: every kernel briefly, then the best and the choice again, in turn.
#pragma once
#include "measure/device_load.h"
#include "measure/plan_ahead.h"
#include "measure/stats.h"

namespace vkgemm::tool {

struct RegretOptions {
    bool hot = false, cold = false;
};

/// Times one problem after the other. Results are not checked.
class RegretMeter {
   public:
    RegretMeter(const host::Device& device, const RegretOptions& options);

    /// Refused if the device is lost; everything else that fails is in the result.
    Result<Regret> measure(PlannedCandidates planned);

    /// Keeps a GPU at work for some milliseconds, so that its clocks stay up, while there is nothing to time.
    void keep_busy();

   private:
    struct Look;
    Status look(Look& now, const std::vector<size_t>& order, size_t runs);
    Status look_in_slices(Look& now, const std::vector<size_t>& order, size_t runs);
    Status rounds(Look& now, const std::vector<size_t>& order, size_t count);
    Status first_looks(Look& now);
    Status last_looks(Look& now);
    Status compare(Look& now);

    const host::Device& device_;
    RegretOptions options_;
    bool is_cpu_, warm_ = false;
    OperandPool pool_;
    std::optional<DeviceLoad> load_;
};

}  // namespace vkgemm::tool
