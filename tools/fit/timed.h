// SPDX-License-Identifier: MIT
// What `vkgemm bench --random --csv` measured, with the facts by which the cost model judges each candidate.
#pragma once
#include <map>

#include "plan/choice/select.h"

namespace vkgemm::fit {

using plan::hidden_units;
using plan::HiddenUnits;
using plan::TileFacts;

inline constexpr size_t no_tile = SIZE_MAX;

struct Sample {
    size_t tile = no_tile;  // in Timings::tiles; no_tile: its cost is not fitted
    TileFacts facts = {};
    float log_cost = 0;     // without terms; with those of the tables where it is not fitted
    float log_seconds = 0;  // of what nobody timed: what teachers predict
    bool is_final = false;  // timed in turn with the other best ones
};

struct TimedProblem {
    std::string text, kind;
    size_t file = 0;   // in which it was; generated_file: in none
    float weight = 1;  // how many problems it counts for
    std::vector<Sample> samples;
};
inline constexpr size_t generated_file = SIZE_MAX;

/// A tile that has terms of its own, a row TERMS.
struct TileInFit {
    const plan::Kernel* kernel;  // the first one of its family, size of elements and tile, which share the terms
    uint8_t step = 100;          // the factor on a step, in hundredths, which is not fitted here
};

struct Timings {
    std::vector<TileInFit> tiles;
    std::vector<TimedProblem> problems;
};

/// Whose terms are fitted. Shaders are compared with one another; machine code (native) also with shaders, whose costs
/// are then those of the tables.
enum class Fitted : uint8_t { shaders, native };

/// Reads CSV files and derives the facts.
class Reader {
   public:
    explicit Reader(const plan::DeviceCaps& caps, Fitted fitted = Fitted::shaders);

    /// Its problems are of file `number`, and count `weight` times.
    plan::Result<size_t> add(const std::string& path, size_t number, float weight);
    /// Problems that nobody timed, with some of the schedules that they may have.
    void generate(size_t count, unsigned seed);
    /// Rows that were left out, because this build has no such kernel or it has no terms.
    size_t left_out() const { return left_out_; }
    const Timings& timings() const { return timings_; }

   private:
    bool is_fitted(const plan::Kernel&) const;
    const plan::Kernel* namesake(const plan::Kernel&, const plan::Tile&) const;
    std::optional<Sample> sample(const plan::Kernel&, const plan::Tile&, const plan::Problem&);
    std::optional<size_t> tile_of(const plan::Kernel&, const plan::Tile&);  // nullopt: a tile that no kernel has

    const plan::DeviceCaps& caps_;
    plan::DeviceKernels device_;
    Fitted fitted_;
    std::map<const plan::Kernel*, size_t> index_;
    Timings timings_;
    size_t left_out_ = 0;
};

}  // namespace vkgemm::fit
