// SPDX-License-Identifier: MIT
// Kernels by the words that people use for them, and problems that suit them. Pure.
#pragma once
#include "plan/kernels/kernels.h"
#include "tools/vkgemm/measure/cases.h"

namespace vkgemm::tool {

/// "f16*f16+f32->f16"
std::string types_of(const plan::Kernel& k);
bool has_types(const plan::Kernel& k, const Resolved& r);

/// The kernels that a name means: itself, or all of its family. With `c`, of a family those that have its types.
/// Refused where it is no product or none is left; `also` are the other words that the caller takes.
Result<std::vector<const plan::Kernel*>> find_kernels(const std::string& name, const Case* c,
                                                       std::vector<std::string_view> also = {});

/// Something of a kernel's own types that it serves: about `m` x `n` x `k`, of families that take few rows or columns
/// as few as its tile has.
std::string problem_for(const plan::Kernel& k, uint64_t m, uint64_t n, uint64_t depth);

/// Bytes of workspace that it gets where nobody says how much: none, but for those that run on no other terms.
uint64_t workspace_for(const plan::Kernel& k);

/// Whole tiles, less than a tile, more than one, in all layouts: what an edge can be got wrong at.
std::vector<std::string> edge_problems(const plan::Kernel& k);

}  // namespace vkgemm::tool
