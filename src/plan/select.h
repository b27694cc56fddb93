// SPDX-License-Identifier: MIT
// Choosing: a loop over the rows. What cannot serve is refused with the reason, the rest is ranked by a number.
#pragma once
#include <vector>

#include "plan/kernels.h"

namespace vkgemm::plan {

/// What the caller adds to the problem.
struct Request {
    std::string kernel;               // "": any
    std::string tile;                 // constants to replace, "BM=128"; "": the row's own
    bool addresses = false;           // operands are device addresses
    uint32_t operand_alignment = 16;  // bytes; a promise about every matrix operand
    uint64_t workspace_limit = 0;     // bytes that the caller is ready to bring; splitting K wants some
};

/// How operands reach the shader.
enum class Binding : uint8_t { descriptors, addresses };

/// Descriptors where the device pushes them and the caller did not ask for addresses; addresses else; or why neither.
Result<Binding> choose_binding(const DeviceFacts&, const Request&);

/// Why `kernel` with `tile` cannot serve the normalised problem on this device; nothing where it can.
std::optional<Refusal> unfit(const Kernel&, const Tile&, const DeviceFacts&, const Problem&, Binding);

/// The part of unfit() that does not look at the problem.
std::optional<Refusal> unfit_device(const Kernel&, const Tile&, const DeviceFacts&);

/// K cut into `slices` of `chunk`, each summed by itself into the workspace, then added up in order by `reducer`.
struct Split {
    uint32_t slices = 1;  // 1: not cut
    uint64_t chunk = 0;   // depth of a slice, a multiple of BK; k where it is not cut
    const Kernel* reducer = nullptr;

    uint64_t workspace_bytes(const Problem& p) const;
};

/// Predicted time in arbitrary units; comparable only within one problem on one device.
double cost(const Kernel&, const Tile&, const DeviceFacts&, const Problem&, const Split&);

/// K cut into `wanted` slices, or fewer where they would be shallower than one tile.
Split split_of(uint32_t wanted, const Tile&, const Problem&, const Kernel* reducer);

/// What the tile's SPLIT asks for, or the reason against it; with SPLIT 0, of all cuts that the workspace allows the
/// least costly.
Result<Split> best_split(const Kernel&, const Tile&, const DeviceFacts&, const Problem&, const Request&);

/// A row that was not chosen: the reason against it, or its cost where it merely costs more.
struct Passed {
    const Kernel* kernel;
    std::optional<Refusal> why;
    double cost;
    Split split;
};

struct Choice {
    const Kernel* kernel = nullptr;
    Tile tile;
    double cost = 0;
    Split split;
    Binding binding = Binding::descriptors;
    std::vector<Passed> passed;
};

/// The least cost wins; ties go to the earlier row. Refused with the reasons when nothing serves. `p` is normalised.
Result<Choice> select(const DeviceFacts&, const Problem& p, const Request&);

/// The same, as a report: every row with its cost or the reason against it, even where nothing serves.
std::vector<Passed> survey(const DeviceFacts&, const Problem& p, const Request&);

}  // namespace vkgemm::plan
