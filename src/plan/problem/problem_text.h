// SPDX-License-Identifier: MIT
// Reads and writes the one-line text of a problem, whose grammar is in docs/design.md, "The text of a problem".
//
// A line may describe a problem that complete() refuses, so that a refused problem can be written down.
#pragma once
#include <optional>
#include <string>

#include "plan/problem/problem.h"

namespace vkgemm::plan {

struct ProblemText {
    Problem problem;
    double alpha = 1, beta = 0;
};

/// Refusals (VKGEMM_ERROR_PARSE) give the character, counted from 1, and the words that are possible there.
Result<ProblemText> parse_problem(std::string_view line);

/// What is at its default is left out. parse_problem() of the text gives the same problem.
std::string to_text(const Problem&, double alpha, double beta);

/// "f16*f16+f32->f16": the types of A and B, of the accumulator, and of D.
std::string types_text(const Problem&);  // with defaults filled in
std::optional<Type> find_type(std::string_view name);
std::string key_text(uint64_t key);  // of a packed layout: 16 hexadecimal digits, or "any"

}  // namespace vkgemm::plan
