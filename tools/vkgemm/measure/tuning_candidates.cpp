// SPDX-License-Identifier: MIT
#include "measure/tuning_candidates.h"

#include <algorithm>
#include <set>

#include "measure/cases.h"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

/// A candidate that serves.
struct Row {
    std::string kernel;
    uint32_t slices, packed;  // packed: bit 0 for A, bit 1 for B, as the kernel sees them
    double cost;
    bool chosen;
    std::array<double, VKGEMM_COST_PART_COUNT> parts;
};

Row row_of(const VkgemmCandidate& c, uint32_t ahead) {
    static_assert(VKGEMM_SLOT_A == 0 && VKGEMM_SLOT_B == 1, "packedOperands is the mask itself");
    return {.kernel = c.kernel,
            .slices = c.slices,
            .packed = c.packedOperands | ahead,
            .cost = c.cost,
            .chosen = c.state == VKGEMM_CANDIDATE_CHOSEN,
            .parts = std::to_array(c.costParts)};
}

bool serves(const VkgemmCandidate& c) { return c.reason == VKGEMM_SUCCESS; }

/// Whether the matrix can be read in 16-byte chunks throughout.
bool is_wide(const MatrixInfo& m) {
    const uint64_t run = m.col_step == 1 ? m.cols : m.rows, step = m.col_step == 1 ? m.row_step : m.col_step;
    return run * m.bytes % 16 == 0 && step * m.bytes % 16 == 0 && m.batch_step * m.bytes % 16 == 0;
}

/// A and B as bits of Row::packed. A column-major D is computed as its transpose, which exchanges A and B.
uint32_t operand_bits(const Problem& problem, bool a, bool b) {
    if (problem.d.layout == columnMajor) std::swap(a, b);
    return (a ? 1u : 0u) | (b ? 2u : 0u);
}

/// The operands that cannot be read in 16-byte chunks.
uint32_t misaligned(const Problem& problem) {
    const Resolved r = resolve(problem);
    return operand_bits(problem, !is_wide(r.a), !is_wide(r.b));
}

/// Those that come packed: no pass copies them, but a kernel that reads them has them in its PACK.
uint32_t packed_ahead(const Problem& problem) {
    return operand_bits(problem, problem.packedA != VKGEMM_PACKED_NONE, problem.packedB != VKGEMM_PACKED_NONE);
}

std::string tile_text(uint32_t slices, uint32_t packed) {
    return "SPLIT=" + std::to_string(slices) + ",PACK=" + std::to_string(packed + 1);
}

/// The same kernel with another schedule; nullopt if it cannot have it.
std::optional<Row> varied_row(const Context& context, const Problem& problem, PlanOptions options, const Row& row,
                              uint32_t slices, uint32_t packed) {
    const std::string tile = tile_text(slices, packed);
    options.kernel = row.kernel.c_str();
    options.tile = tile.c_str();
    const auto e = Explanation::create(context, problem, options);
    if (!e || e->info().chosen == UINT32_MAX) return std::nullopt;
    return row_of(e->candidates()[e->info().chosen], packed_ahead(problem));
}

}  // namespace

Result<Candidate> chosen_candidate(const Context& context, const Problem& problem, const PlanOptions& options) {
    const auto e = Explanation::create(context, problem, options);
    if (!e) return e.status();
    const VkgemmExplanationInfo info = e->info();
    if (info.chosen == UINT32_MAX) return Status{info.result, VK_SUCCESS, info.resultText};
    const VkgemmCandidate c = e->candidates()[info.chosen];
    const Row row = row_of(c, packed_ahead(problem));
    const std::string_view tuned = info.tunedRow;  // DEVICE | PROBLEM | KERNEL | TILE
    const bool has_tile = tuned.find('=', tuned.rfind('|') + 1) != std::string_view::npos && !tuned.empty();
    return Candidate{
        .kernel = row.kernel,
        .tile = has_tile ? std::string(trimmed(tuned.substr(tuned.rfind('|') + 1))) : tile_text(row.slices, row.packed),
        .cost = row.cost,
        .chosen = tuned.empty(),
        .parts = row.parts};
}

Result<std::vector<Candidate>> candidates(const Context& context, const Problem& problem, PlanOptions options,
                                          size_t varied) {
    options.kernel = options.tile = nullptr;
    options.flags |= VKGEMM_PLAN_IGNORE_TUNED;
    const auto explanation = Explanation::create(context, problem, options);
    if (!explanation) return explanation.status();
    const uint32_t ahead = packed_ahead(problem);
    std::vector<Row> rows;
    for (const VkgemmCandidate& c : explanation->candidates())
        if (serves(c)) rows.push_back(row_of(c, ahead));
    std::ranges::stable_sort(rows, {}, &Row::cost);
    std::vector<Candidate> all;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const Row& row) {
        const std::string tile = tile_text(row.slices, row.packed);
        if (seen.emplace(row.kernel, tile).second)
            all.push_back({.kernel = row.kernel, .tile = tile, .cost = row.cost, .parts = row.parts});
    };
    for (const Row& row : rows) add(row);
    for (size_t i = 0; i < std::min(varied, rows.size()); ++i) {
        const uint32_t slices = rows[i].slices;
        for (const uint32_t split : {slices, 1u, std::max(1u, slices / 2), slices * 2})
            for (const uint32_t pack : {rows[i].packed, ahead, misaligned(problem) | ahead})
                if (const auto row = varied_row(context, problem, options, rows[i], split, pack)) add(*row);
    }
    if (all.empty()) return all;
    all[0].chosen = true;
    std::ranges::stable_sort(all.begin() + 1, all.end(), {}, &Candidate::cost);
    return all;
}

}  // namespace vkgemm::tool
