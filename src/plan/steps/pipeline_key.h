// SPDX-License-Identifier: MIT
// What a pipeline is made of, as a line of text that outlives the program.
#pragma once
#include "plan/steps/steps.h"

namespace vkgemm::plan {

struct PipelineKey {
    const Kernel* kernel = nullptr;  // one of its module: those that share module and constants share a pipeline
    Tile tile{};
    ProblemConstants constants{};
    Binding binding = Binding::descriptors;
    bool is_grouped = false;     // the module's variant for groups of a table
    bool dispatch_base = false;  // of a sliced step, whose dispatches begin at any work group
};
PipelineKey key_of(const Step&, Binding);
/// The step that asks for this pipeline; it has no sizes.
Step step_of(const PipelineKey&);

std::string to_text(const PipelineKey&);  // "naive_f32_8x8 addresses WG=64,BM=8,BN=8 TRANS_B=1,ALIGNED=15"

/// Refused if the text is malformed (PARSE), or names a kernel that this version does not have (UNSUPPORTED).
Result<PipelineKey> parse_pipeline_key(std::string_view text);

/// Why a pipeline of this key cannot be compiled on the device, or would read outside its own tables.
std::optional<Status> unfit(const PipelineKey&, const DeviceCaps&);

}  // namespace vkgemm::plan
