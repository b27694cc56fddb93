// SPDX-License-Identifier: MIT
// What is to be measured, from words on the command line and from files. Pure.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/type_info.h"
#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

inline constexpr uint64_t workspace_limit = uint64_t{1} << 30;  // bytes that a plan may use

/// One problem with the factors of its run.
struct Case {
    Problem problem;
    double alpha = 1, beta = 0;
    std::string text{};       // as vkgemmFormatProblem writes it
    double target = 0;        // operations a second that are aimed at; 0: none given
    bool from_suite = false;  // a suite may hold what no kernel of this build serves
};

/// A refusal that names a character shows the line and points there: its text then has three lines.
Result<Case> parse_case(const std::string& line);

/// The same for what is to be measured or compared: refused where D has no element.
Result<Case> parse_work(const std::string& line);

/// The refusal of a case that no device can compute, which is bad usage on the command line. Empty for other cases.
std::optional<Status> refused_everywhere(const Case& c);

/// The refusal of a case with groups, for commands that have no use for them: "why" completes the sentence. Empty for
/// other cases.
std::optional<Status> refused_groups(const Case& c, const char* why);

/// A file of problems: one a line; empty lines and what follows '#' are skipped. A line may say which rate is aimed at,
/// in TFLOP/s: "4096x4096x4096 target=50". `name` is for refusals: "name:3: why".
Result<std::vector<Case>> parse_suite(std::string_view text, const std::string& name);

/// "MxNxK[xBATCH],...": each of them as a problem of `type` ("" : f32) and `layout` ("": nn).
Result<std::vector<Case>> parse_shapes(std::string_view shapes, const std::string& type, const std::string& layout);

/// A suite that is built in (a file of tests/problems, by its name without .txt).
struct Suite {
    std::string_view name, text;
};
std::span<const Suite> suites();

/// What --suite takes, with the names of those that are built in.
std::string suite_help();

/// A built-in suite, or a file.
Result<std::vector<Case>> load_suite(const std::string& name_or_file);

/// The path, where it is a file; "" where it is built in, or "".
std::string suite_file(const std::string& name_or_file);

/// Problems of the command line, then those of a suite: "classic" where neither is named.
Result<std::vector<Case>> load_cases(const std::vector<std::string>& problems, const std::string& suite);

/// One matrix with nothing left to default.
struct MatrixInfo {
    Type type = f32;
    uint32_t bytes = 4;  // of a block
    uint32_t block = 1;  // elements in a block
    uint64_t rows = 0, cols = 0, row_step = 0, col_step = 0,
             batch_step = 0;                                    // steps in elements; batch_step 0: broadcast or one
    uint64_t outer_step = 0;                                    // of the outer level, likewise
    uint64_t batch = 1, outer = 1, ratio = 1, outer_ratio = 1;  // products of both levels, and how many share a matrix
    uint64_t span = 0;                                          // elements from the first to past the last

    /// Different ones, and which of them a product has: its number counts the products of both levels.
    uint64_t matrices() const { return inner() * (outer_step ? outer / outer_ratio : 1); }
    uint64_t matrix_of(uint64_t product) const {
        const uint64_t in = batch_step ? product % batch / ratio : 0;
        return in + (outer_step ? product / batch / outer_ratio * inner() : 0);
    }
    uint64_t begin_of(uint64_t matrix) const { return matrix % inner() * batch_step + matrix / inner() * outer_step; }
    uint64_t position(uint64_t product, uint64_t row, uint64_t col) const {
        return begin_of(matrix_of(product)) + row * row_step + col * col_step;
    }
    uint64_t inner() const { return batch_step ? batch / ratio : 1; }
    uint64_t bytes_of(uint64_t elements) const { return elements / block * bytes; }
    uint64_t span_bytes() const { return bytes_of(span); }
};

/// A problem with the defaults of vkgemm.h filled in. C has D's description if C is D, and is empty if there is none.
struct Resolved {
    MatrixInfo a, b, c, d;
    Type accumulate = f32;
    Type bias = f32, scale = f32, residual = f32;  // types of the epilogue's operands
    uint64_t batch = 1;                            // products of both levels, or groups
    uint64_t indices_per_row = 1;                  // of A
    std::vector<uint32_t> group_of_row;            // of D, with index lists; otherwise empty

    bool is_in(uint64_t group, uint64_t row) const { return group_of_row.empty() || group_of_row[row] == group; }

    bool is_float() const { return type_info(accumulate).isFloat != 0; }
    /// Whole sums that become a D of another type, by an epilogue in f32.
    bool is_scaled() const { return !is_float() && d.type != accumulate; }
    MatrixInfo residual_matrix() const;  // like D, but for its type
};
/// Whether a step reads a vector, and how many elements it has for each row or column; 0: none.
uint32_t vector_width(const Step& step, VkgemmSlot slot);

/// What the step multiplies by, if that is an activation of a residual (gate) or of a second product (pair); else NONE.
VkgemmStepKind activation_of(VkgemmStepKind);
bool reads(const Problem&, VkgemmSlot);  // does a step of its epilogue?
bool is_pair(const Problem&);
/// A pair whose products have biases.
bool is_biased_pair(const Problem&);

/// Empty for a problem that contradicts itself.
Resolved resolve(const Problem& problem);

/// D in a group drawn for it.
struct GroupTable {
    std::vector<VkgemmGroup> groups;
    std::vector<uint32_t> indices;
};
GroupTable group_table(const Problem& problem);

/// Whether a run reads A and B, and C: alpha, or beta, is not 0 in the accumulator's type.
bool multiplies(const Case& c);
bool reads_c(const Case& c);

double flops(const Case& c);  // 2 m n k batch, without batch for index lists; none where alpha is 0
/// What must at least be moved: A and B where alpha is not 0, C where beta is not, and D, each once.
double least_bytes(const Case& c);

}  // namespace vkgemm::tool
