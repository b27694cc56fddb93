// SPDX-License-Identifier: MIT
// How the parts of an f32 operand lie in the workspace, compiled by C++ and nvcc: matrices of rows along k, of
// [batch][part], with a factor of each row behind them where the rows are scaled.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#    define VKGEMM_ON_BOTH __host__ __device__
#else
#    define VKGEMM_ON_BOTH
#endif

namespace vkgemm::native {

/// Rows of a matrix in the workspace are filled up to a multiple of it.
inline constexpr uint32_t parts_row_block = 64;
VKGEMM_ON_BOTH constexpr uint64_t rows_of_parts(uint64_t rows) {
    return (rows + parts_row_block - 1) / parts_row_block * parts_row_block;
}
/// Elements from one part of an operand to the next, `ld` from one row to the next.
VKGEMM_ON_BOTH constexpr uint64_t part_stride(uint64_t rows, uint64_t ld) { return rows_of_parts(rows) * ld; }

}  // namespace vkgemm::native
