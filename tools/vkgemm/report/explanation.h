// SPDX-License-Identifier: MIT
// What vkgemmExplain writes, read back; and a tile, drawn. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/kernels/kernels.h"

namespace vkgemm::tool {

struct Explanation {
    struct Pass {
        std::string kernel;
        uint64_t groups = 0, invocations = 0;  // of a work group
    };
    struct Other {
        std::string kernel;
        std::optional<double> cost;  // nullopt: it cannot serve
        std::string why;             // then; without the kernel's name
    };
    std::string no_kernel;               // why nothing serves; then all below but `notes` and `others` is empty
    std::string kernel, tile, operands;  // operands: how they reach the shader
    double cost = 0;
    uint64_t workspace = 0;  // bytes
    std::vector<Pass> passes;
    std::string tuned;               // the row that decided; "": the cost model did
    std::vector<std::string> notes;  // with whatever line this version does not know
    std::vector<Other> others;
};

Explanation read_explanation(std::string_view text);

/// Kernels that are refused for the same reason.
struct Refused {
    std::string why;
    std::vector<std::string> kernels;
};
/// In the order of their first kernel.
std::vector<Refused> by_reason(const std::vector<Explanation::Other>&);
/// The types of kernels that are refused for theirs; "": they are refused for something else.
std::string refused_types(const Refused&);

/// The block of D of one work group with the strips of A and B beside it, to scale, and what its parts are. At most
/// page_width columns wide.
std::string tile_drawing(const plan::Kernel&, const plan::Tile&);

}  // namespace vkgemm::tool
