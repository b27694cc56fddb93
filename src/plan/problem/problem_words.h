// SPDX-License-Identifier: MIT
// The words of the text of a problem that its reader and its writer share.
#pragma once
#include "plan/problem/problem_text.h"

namespace vkgemm::plan {

/// Of the key of a packed layout, which is hexadecimal.
inline constexpr size_t key_digits = 16;

/// By VkgemmGrouping.
inline constexpr std::string_view grouping_words[] = {"", "table", "indexed", "addresses", "selected"};
/// By the bits of VkgemmScalarFlagBits.
inline constexpr std::string_view scalar_words[] = {"alpha", "beta", "clamp", "monitor", "largest"};
/// By the bits of VkgemmUpToFlagBits.
inline constexpr std::string_view up_to_letters = "mnkbs";

/// An option whose value is a whole number.
struct WholeOption {
    std::string_view key;
    uint64_t Problem::*value;
};
/// They give a stride of the outer batch.
inline constexpr WholeOption outer_stride_options[] = {{"outer_stride_a=", &Problem::outerStrideA},
                                                       {"outer_stride_b=", &Problem::outerStrideB},
                                                       {"outer_stride_c=", &Problem::outerStrideC},
                                                       {"outer_stride_d=", &Problem::outerStrideD}};
/// They count something of which there is at least one.
inline constexpr WholeOption counting_options[] = {{"batch=", &Problem::batch},
                                                   {"outer=", &Problem::outerBatch},
                                                   {"ratio_a=", &Problem::ratioA},
                                                   {"ratio_b=", &Problem::ratioB},
                                                   {"outer_ratio_a=", &Problem::outerRatioA},
                                                   {"outer_ratio_b=", &Problem::outerRatioB}};

/// The layout of C in a line without layout_c=: a separate C has D's layout; any other C has no description.
inline Layout default_c_layout(const Problem& p) { return p.cSource == VKGEMM_C_SEPARATE ? p.d.layout : rowMajor; }

}  // namespace vkgemm::plan
