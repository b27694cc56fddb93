// SPDX-License-Identifier: MIT
// Measures what the choice for a problem loses: every kernel briefly, then the best and the choice again, in turn.
#pragma once
#include "measure/operand_pool.h"
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
    struct Load {  // a product that is large enough to raise the clocks
        Plan plan;
        PooledOperands operands;
        double seconds;  // of a run
    };
    void prepare_load();
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
    std::optional<Load> load_;  // none on a CPU, and where this build has no kernel for it
};

}  // namespace vkgemm::tool
