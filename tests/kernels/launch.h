// SPDX-License-Identifier: MIT
// How a case is planned and run: the plan, its memory, and the parts of VkgemmRun.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "kernels/data.h"
#include "kernels/memory.h"
#include "support/owned.h"

namespace vkgemm::test {

/// A plan of a case, and the memory that its runs need beside the operands.
struct Launch {
    OwnedPlan plan;
    VkgemmPlanInfo info{};
    Workspace workspace{VKGEMM_SLOT_WORKSPACE};
    std::array<Workspace, 2> packed{Workspace{Pool::packed_a}, Workspace{Pool::packed_b}};
};

/// A case that has been run, before D is checked.
struct Ran {
    plan::Problem problem;  // of the run, completed
    std::optional<Data> data;
    double error_bound = 0;
    Launch with;                // the plan lives on, so that nobody trims its pipelines
    std::string kernel, tile;   // of the plan
    std::string keys;           // of its pipelines
    std::string recorded_text;  // what the context's `recorded` received; "": nothing
};

/// The largest power of two up to 16 that the offsets of all matrices are multiples of.
uint32_t alignment_of(const Case&, const plan::Problem& completed);
VkgemmPlanOptions options_of(const Case&, const plan::Problem& completed);
VkgemmContext context_of(const Case&);

/// Puts the operands and the scalars of a case in the pool. "" or what went wrong; so for all below.
std::string upload(const Data&);
std::string make_plan(const Case&, const plan::Problem& given, const VkgemmPlanOptions&, Launch&);
std::string keys_of(VkgemmPlan, std::string& out);
/// The parts of a run of the data in the pool.
VkgemmRun run_of(const Case&, const plan::Problem& p, const Data&, const Launch&);
/// Records and submits the run, so many dispatches at a time; 0: all at once.
std::string submit(VkgemmPlan, const VkgemmRun&, uint32_t dispatches = 0);
/// Packs what comes packed and runs the plan, in submissions of so many dispatches; 0: in one. `p`: of the run.
std::string launch(const Case&, const plan::Problem& p, const Data&, Launch&, uint32_t dispatches = 0);

/// Plans, uploads and runs.
std::string execute(const Case&, Ran&);

/// One of them: with memory that nobody may touch behind every operand. Only on CPU drivers under Linux.
std::string run_fenced_case(const Case&, const Ran&);

/// Runs the data of a case again in each of Case::ways, and compares D.
std::string run_other_ways(const Case&, const Ran&);

}  // namespace vkgemm::test
