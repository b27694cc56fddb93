// SPDX-License-Identifier: MIT
// What a choice is asked for beside the problem.
#pragma once
#include <string>

#include "plan/choice/tuned.h"

namespace vkgemm::plan {

/// What the caller adds to the problem.
struct Request {
    std::string kernel;                // "": any
    std::string preferred_kernel;      // of the environment: taken where it serves, if `kernel` is ""
    std::string tile;                  // constants to replace, "BM=128"; "": the row's own
    std::string gate_kernel;           // "": no request; otherwise a pair becomes two products: A * B2 by this kernel,
                                       // A * B by `kernel`
    std::string gate_tile;             // as `tile`, for gate_kernel
    bool addresses = false;            // operands are device addresses
    bool descriptors = false;          // operands must be bound as descriptors
    uint32_t operand_alignment = 16;   // bytes; a promise about every matrix operand
    uint64_t workspace_limit = 0;      // bytes that the caller is ready to bring; slices and packed operands want some
    const TunedRows* tuned = nullptr;  // may be null; not followed where a kernel or tile is asked for
    double dispatch_seconds = 0;       // that a dispatch may take; 0: any time
    double run_seconds = 0;            // that the problem takes; 0: it is estimated from its cost
    /// Kernels in machine code may be chosen, where the device has them; or why not.
    enum class Native : uint8_t { allowed, excluded } native = Native::allowed;
    bool count_indices = false;      // a run counts the indices that it skips
    bool packs = true;               // a first pass may pack operands
    bool stores_remainders = false;  // sums are for join_int8, which takes their remainders of a byte
    bool corrected = true;           // costs take the terms of tiles into account (choice/tile_terms.h)
    const Problem* least = nullptr;  // smaller sizes that the kernel must serve too; null: none. Normalised
};

}  // namespace vkgemm::plan
