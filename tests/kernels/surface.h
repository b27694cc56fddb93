// SPDX-License-Identifier: MIT
// Random problems over the whole public surface. Most of the time would go into compiling, so a draw fixes what
// pipelines depend on, and many problems share it.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/phases.h"
#include "kernels/rows.h"
#include "support/random.h"

namespace vkgemm::test {

/// What pipelines depend on.
struct Draw {
    Case base;  // kernel, tile, types, layouts, C, steps, upTo, groups, what comes packed, how operands are given
    const plan::Kernel* kernel = nullptr;  // which the types suit, also if the context chooses
    bool aligned = false;                  // sizes, strides and offsets are multiples of 16 elements
    uint32_t alignment = 16;               // of offsets, in bytes
    uint64_t grain_k = 1;                  // K is a multiple, for whole blocks
    uint64_t most_m = 70, most_n = 70;
};

bool is_gemv(const plan::Kernel&);

Draw some_draw(Random&, const plan::Kernel&);
/// A problem of the draw, and its run. It may be refused.
Case some_case(Random&, const Draw&);

/// Strides of a run that the problem's rules allow, most of them multiples of 16 bytes in one run of two; nullopt: the
/// problem's own.
std::optional<VkgemmRunStrides> strides_for(Random&, const Case&);

/// The dimensions of the surface: how many problems have each of them.
struct Dimension {
    const char* name;
    bool (*has)(const Case&);
};
const std::vector<Dimension>& dimensions();

struct SurfaceOptions {
    uint64_t seed = 1, count = 200;
    uint64_t seconds = 0;  // after which no problem is begun; 0: no limit
    uint32_t threads = 1;
    uint64_t of_a_draw = 40;
    std::optional<uint64_t> draw{};  // this one alone
};
struct SurfaceCounts {
    uint64_t done = 0, wrong = 0, draws = 0, offered = 0;
    std::map<std::string, uint64_t> of_dimension{};
    std::set<std::string> families{};
    size_t all_families = 0;
    double seconds = 0, processor = 0;  // processor time of the process
    PhaseSeconds phases{};              // of all threads together
};

/// Runs problems until there are so many. What is wrong is printed at once, with the command that repeats it; every
/// half minute, how many problems were run. A draw depends on the seed and its number alone, not on the threads.
SurfaceCounts run_surface(const SurfaceOptions&);
/// One line for each dimension, with its count, and where the time went.
std::string to_text(const SurfaceCounts&);

}  // namespace vkgemm::test
