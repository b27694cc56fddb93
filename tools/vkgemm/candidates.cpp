// SPDX-License-Identifier: MIT
#include "tools/vkgemm/candidates.h"

#include <algorithm>
#include <set>

namespace vkgemm::tool {
namespace {

constexpr size_t varied = 8;  // kernels that are tried in other ways, too

uint32_t packed(const plan::Way& way) { return (way.a.kernel ? 1u : 0u) | (way.b.kernel ? 2u : 0u); }

/// The operands that cannot be read in pieces of 16 bytes, as a mask.
uint32_t misaligned(const plan::Problem& p, const plan::Request& request) {
    const auto all = plan::operands(p);
    return (plan::is_wide(all[0], request.operand_alignment) ? 0u : 1u) |
           (plan::is_wide(all[1], request.operand_alignment) ? 0u : 2u);
}

/// `way` with everything that the cost model decided written out.
Candidate candidate(const plan::Kernel& kernel, const plan::Way& way) {
    return {std::string(kernel.name),
            "SPLIT=" + std::to_string(way.split.slices) + ",PACK=" + std::to_string(packed(way) + 1), way.cost, false};
}

}  // namespace

std::vector<Candidate> candidates(const plan::DeviceFacts& facts, const plan::Problem& p,
                                  const plan::Request& request) {
    std::vector<plan::Passed> rows = plan::survey(facts, p, request);
    std::erase_if(rows, [](const plan::Passed& row) { return row.why.has_value(); });
    std::ranges::stable_sort(rows, {}, &plan::Passed::cost);
    std::vector<Candidate> all;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const Candidate& c) {
        if (seen.emplace(c.kernel, c.tile).second) all.push_back(c);
    };
    for (const plan::Passed& row : rows) add(candidate(*row.kernel, row.way));
    for (size_t i = 0; i < std::min(varied, rows.size()); ++i) {
        const plan::Kernel& kernel = *rows[i].kernel;
        const uint32_t slices = rows[i].way.split.slices;
        for (const uint32_t split : {slices, 1u, std::max(1u, slices / 2), slices * 2})
            for (const uint32_t pack : {packed(rows[i].way), 0u, misaligned(p, request)}) {
                plan::Tile tile = kernel.tile;
                tile.SPLIT = split, tile.PACK = pack + 1;
                if (const auto way = plan::best_way(kernel, tile, facts, p, request)) add(candidate(kernel, *way));
            }
    }
    if (all.empty()) return all;
    all[0].chosen = true;
    std::ranges::stable_sort(all.begin() + 1, all.end(), {}, &Candidate::cost);
    return all;
}

}  // namespace vkgemm::tool
