// SPDX-License-Identifier: MIT
// What to compute, as plain data: the caller's words, then the same words completed and checked, then fewer cases.
#pragma once
#include <array>

#include "plan/base/result.h"
#include "plan/problem/types.h"

namespace vkgemm::plan {

enum class Layout : uint8_t { row_major, column_major };
enum class CSource : uint8_t { none, is_d, separate };
/// The numbers are those of VkgemmAccuracy; a later one is content with what satisfies an earlier one.
enum class Accuracy : uint8_t { arithmetic, f32_split, f32_split_rows };

inline constexpr uint64_t broadcast = UINT64_MAX;  // as Matrix::stride: the same matrix for the whole batch

/// How a matrix lies in its operand, counted in elements.
struct Matrix {
    std::optional<Type> type;  // nullopt: the default that follows from the other types
    Layout layout = Layout::row_major;
    uint64_t ld = 0;      // 0: dense
    uint64_t stride = 0;  // 0: dense; once completed: 0 means one matrix only or broadcast
    bool padded = false;  // each run of neighbours is followed by zeros, up to a multiple of 16 bytes
};

/// The numbers are those of VkgemmStepKind and of STEP_* in shaders/abi.h.
enum class StepKind : uint8_t {
    none,
    bias_row,
    bias_col,
    scale_row,
    scale_col,
    scale_all,
    residual,
    relu,
    gelu,
    silu,
    clamp
};
struct EpilogueStep {
    StepKind kind = StepKind::none;
    float low = 0, high = 0;
};
inline constexpr size_t max_epilogue_steps = 4;

struct Problem {
    uint64_t m = 0, n = 0, k = 0, batch = 1;
    Matrix a, b, c, d;
    CSource c_source = CSource::none;
    std::optional<Type> accumulate;
    Accuracy accuracy = Accuracy::arithmetic;
    std::array<EpilogueStep, max_epilogue_steps> epilogue{};
};

/// A problem with every default filled in (types, leading dimensions, strides) and every rule of VkgemmProblem checked,
/// or the first rule it breaks. After it: no type is nullopt, ld >= row, stride is 0 for batch 1 and for broadcast.
Result<Problem> complete(Problem p);

/// The same product as fewer cases. D becomes row-major: a problem with a column-major D becomes its transpose, which
/// swaps A with B (`swapped`), m with n, rows with columns in the epilogue. A batch that is one tall product becomes
/// one product.
struct Normalised {
    Problem problem;
    bool swapped = false;
};
Normalised normalise(const Problem& completed);

/// The four matrices with their shapes, in the order A, B, C, D.
struct Operand {
    std::string_view name;
    const Matrix* matrix;
    uint64_t rows, cols;
};
std::array<Operand, 4> operands(const Problem&);

/// May this matrix be touched 16 bytes at a time? Every run of neighbours begins at and spans a multiple of 16
/// bytes, where
/// the operand itself lies at a multiple of `operand_alignment`.
bool is_wide(const Operand&, uint32_t operand_alignment);

std::string_view accuracy_name(Accuracy);  // as problems in text have it: "f32_split"
bool has_step(const Problem&, StepKind);
bool is_empty(const Problem&);  // m, n or batch is 0: nothing to do

/// Elements from the first to one past the last of a whole batched operand; 0 for an empty one. nullopt: beyond 2^64.
std::optional<uint64_t> span_elements(const Matrix& completed, uint64_t rows, uint64_t cols, uint64_t batch);

}  // namespace vkgemm::plan
