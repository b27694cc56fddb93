// SPDX-License-Identifier: MIT
// Choosing: a loop over the rows. What cannot serve is refused with the reason, the rest is ranked by a number.
#pragma once
#include <limits>
#include <vector>

#include "plan/choice/schedule.h"

namespace vkgemm::plan {

/// How operands reach the shader.
enum class Binding : uint8_t { descriptors, addresses };

/// Descriptors where the device pushes them, is no CPU with addresses, and the caller did not ask for addresses;
/// addresses else; or why neither.
Result<Binding> choose_binding(const DeviceCaps&, const Request&);

/// Why `kernel` with `tile` cannot serve the normalised problem on this device; nothing where it can.
std::optional<Refusal> unfit(const Kernel&, const Tile&, const DeviceCaps&, const Problem&, Binding);

/// A row that was not chosen: the reason against it, or its cost where it merely costs more.
struct Candidate {
    const Kernel* kernel;
    std::optional<Refusal> why;
    Schedule schedule;  // meaningless where there is a reason against it

    double cost() const { return why ? std::numeric_limits<double>::infinity() : schedule.cost; }
};

struct Choice {
    const Kernel* kernel = nullptr;
    Tile tile;
    Schedule schedule;
    Binding binding = Binding::descriptors;
    const TunedRow* tuned = nullptr;  // the row of the request that decided; null: the cost did
    std::string tuned_unfit;          // why the nearest row did not
    std::vector<Candidate> candidates;
};

/// A tuned row that is near decides, where its kernel serves; else the least cost wins, and ties go to the earlier
/// kernel. Refused with the reasons when nothing serves. `p` is normalised.
Result<Choice> select(const DeviceCaps&, const Problem& p, const Request&);

/// The same, as a report: every row with its cost or the reason against it, even where nothing serves.
std::vector<Candidate> list_candidates(const DeviceCaps&, const Problem& p, const Request&);

}  // namespace vkgemm::plan
