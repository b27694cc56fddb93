// SPDX-License-Identifier: MIT
// What the engine asks of a plan, and the time that it spends.
#pragma once
#include <bit>
#include <chrono>

#include "blas/engine.h"

namespace vkgemm::blas {

/// Leading dimensions and memory are of these sizes, so that memory serves many: a power of two up to 256, then a
/// multiple of 256. Rows then begin on 16 bytes.
inline uint64_t capacity(uint64_t size) {
    constexpr uint64_t least = 64;
    return size <= 256 ? std::max(least, std::bit_ceil(size)) : (size + 255) / 256 * 256;
}

/// Of these sizes alone: a plan for sizes that vary would have kernels for all ranges of sizes, compiled for seconds.
inline Problem problem_for(const TileProduct& p) {
    Problem problem{.m = p.m, .n = p.n, .k = p.k};
    problem.a = {.type = p.type, .layout = p.a, .ld = capacity(p.a == columnMajor ? p.m : p.k)};
    problem.b = {.type = p.type, .layout = p.b, .ld = capacity(p.b == columnMajor ? p.k : p.n)};
    problem.d = {.type = p.type, .layout = columnMajor, .ld = capacity(p.m)};
    problem.cSource = VKGEMM_C_IS_D;
    return problem;
}

/// Adds the seconds of its life.
class Timer {
   public:
    explicit Timer(double& sum) : sum_(sum) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

   private:
    double& sum_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vkgemm::blas
