// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/tuning_candidates.h"

#include <algorithm>
#include <set>

namespace vkgemm::tool {
namespace {

constexpr size_t varied = 8;  // kernels that are tried in other ways, too

uint32_t packed(const plan::Schedule& schedule) { return (schedule.a.kernel ? 1u : 0u) | (schedule.b.kernel ? 2u : 0u); }

/// The operands that cannot be read in 16-byte chunks, as a mask.
uint32_t misaligned(const plan::Problem& p, const plan::Request& request) {
    const auto all = plan::operands(p);
    return (plan::is_wide(all[0], request.operand_alignment) ? 0u : 1u) |
           (plan::is_wide(all[1], request.operand_alignment) ? 0u : 2u);
}

/// `way` with everything that the cost model decided written out.
Candidate candidate(const plan::Kernel& kernel, const plan::Schedule& schedule) {
    return {std::string(kernel.name),
            "SPLIT=" + std::to_string(schedule.split.slices) + ",PACK=" + std::to_string(packed(schedule) + 1), schedule.cost, false};
}

}  // namespace

std::vector<Candidate> candidates(const plan::DeviceCaps& caps, const plan::Problem& p,
                                  const plan::Request& request) {
    std::vector<plan::Candidate> rows = plan::list_candidates(caps, p, request);
    std::erase_if(rows, [](const plan::Candidate& row) { return row.why.has_value(); });
    std::ranges::stable_sort(rows, {}, &plan::Candidate::cost);
    std::vector<Candidate> all;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const Candidate& c) {
        if (seen.emplace(c.kernel, c.tile).second) all.push_back(c);
    };
    for (const plan::Candidate& row : rows) add(candidate(*row.kernel, row.schedule));
    for (size_t i = 0; i < std::min(varied, rows.size()); ++i) {
        const plan::Kernel& kernel = *rows[i].kernel;
        const uint32_t slices = rows[i].schedule.split.slices;
        for (const uint32_t split : {slices, 1u, std::max(1u, slices / 2), slices * 2})
            for (const uint32_t pack : {packed(rows[i].schedule), 0u, misaligned(p, request)}) {
                plan::Tile tile = kernel.tile;
                tile.SPLIT = split, tile.PACK = pack + 1;
                if (const auto schedule = plan::best_schedule(kernel, tile, caps, p, request)) add(candidate(kernel, *schedule));
            }
    }
    if (all.empty()) return all;
    all[0].chosen = true;
    std::ranges::stable_sort(all.begin() + 1, all.end(), {}, &Candidate::cost);
    return all;
}

}  // namespace vkgemm::tool
