// SPDX-License-Identifier: MIT
// Choosing is a loop over the rows: kernels that do not fit are rejected with the reason, the others ranked by cost.
#pragma once
#include <vector>

#include "plan/choice/binding.h"
#include "plan/choice/schedule.h"

namespace vkgemm::plan {

/// A kernel that could be chosen: the reason against it, or its cost.
struct Candidate {
    const Kernel* kernel;
    std::optional<Status> why;
    Schedule schedule;  // unused if there is a reason against it
};

struct Choice {
    const Kernel* kernel = nullptr;
    Tile tile;
    Schedule schedule;
    Binding binding = Binding::descriptors;
    const TunedRow* tuned = nullptr;        // the row of the request that decided; null: the cost decided
    const TunedRow* tuned_unfit = nullptr;  // the nearest row, if it was not followed
};

/// A tuned row that is near decides, where its kernel serves and is not predicted to fall behind others between the
/// row's sizes and these; else the least cost wins, and ties go to the earlier kernel. Refused with the
/// reasons when nothing serves. `p` is normalised.
Result<Choice> select(const DeviceKernels&, const Problem& p, const Request&, Binding);
Result<Choice> select(const DeviceKernels&, const Problem& p, const Request&);  // with choose_binding()'s

/// The same, as a report: every row with its cost or the reason against it, even where nothing serves.
std::vector<Candidate> list_candidates(const DeviceKernels&, const Problem& p, const Request&, const Result<Binding>&);
std::vector<Candidate> list_candidates(const DeviceKernels&, const Problem& p, const Request&);

/// select() for the problem of a caller. The kernel of a batch-invariant problem is chosen for invariant_reference(),
/// and refused if it cannot take the problem itself.
Result<Choice> select_for(const DeviceKernels&, const PreparedProblem&, const Request&, Binding);

/// The sentence for Choice::tuned_unfit.
std::string why_not_followed(const TunedRow& unfit, const DeviceKernels&, const Problem& p, const Request&);

}  // namespace vkgemm::plan
