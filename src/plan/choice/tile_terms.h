// SPDX-License-Identifier: MIT
// What the constants of the families miss: a small neural network over facts of the problem and its schedule, whose
// value is the logarithm of a factor on the predicted time. It has one layer of hidden units, which all tiles share but
// for their offsets, and beside it a linear regression for each tile. A hidden unit is its offset and what the facts
// add to it, or 0 if that is negative.
#pragma once
#include <array>
#include <span>

#include "plan/kernels/kernels.h"

// 0: a build of few types or families, which is to be small. Its tiles have factors of their steps, and no terms.
#ifndef VKGEMM_HAS_TILE_TERMS
#    define VKGEMM_HAS_TILE_TERMS 1
#endif

namespace vkgemm::plan {

/// The facts, in the order of the rows of fact_weights.def. "log" is the logarithm to the base of 2. The first ones do
/// not change if K is split. tools/fit fits what is made of them to measurements.
#define VKGEMM_TILE_FACTS(X)                                                                                       \
    X(a_along)    /* 1 if A is k-contiguous, as the product reads it */                                            \
    X(b_along)    /* the same for B */                                                                             \
    X(both_along) /* both are */                                                                                   \
    X(a_narrow)   /* 1 if A is not read in 16-byte chunks */                                                       \
    X(b_narrow)   /* the same for B */                                                                             \
    X(a_single)   /* 1 if A is k-contiguous, and not read in 16-byte chunks */                                     \
    X(b_single)   /* the same for B */                                                                             \
    X(narrow)     /* 1 if neither A nor B is read in 16-byte chunks */                                             \
    X(a_packed)   /* 1 if A is packed first */                                                                     \
    X(b_packed)   /* the same for B */                                                                             \
    X(m)          /* x = log(m / 128) / 4 */                                                                       \
    X(m2)         /* its square */                                                                                 \
    X(n)          /* the same for n */                                                                             \
    X(n2)                                                                                                          \
    X(edge_m)       /* log(m rounded up to the tile / m) */                                                        \
    X(edge_n)       /* the same for n */                                                                           \
    X(tiles_m)      /* log of the tiles along m, up to 8 of them, / 2 */                                           \
    X(tiles_n)      /* the same for n */                                                                           \
    X(batch)        /* log of the batch / 4 */                                                                     \
    X(ragged)       /* 1 if not all rows of D begin at multiples of 16 bytes */                                    \
    X(groups)       /* log of the work groups of the busiest multiprocessor, up to 32 of them, / 3 */              \
    X(rounds)       /* log(these / those that it holds at once) / 2, from -3/2 to 3/2 */                           \
    X(further)      /* the same from 0 to 2 */                                                                     \
    X(idle)         /* log(multiprocessors / work groups) / 2, from 0 to 2 */                                      \
    X(uneven)       /* how much more the busiest has than the mean, if none is idle: 0.25 for a fourth */          \
    X(last_round)   /* how much more rounds there are than if the last were full, up to 1, if there are several */ \
    X(k)            /* log(depth of a slice / 128) / 4 */                                                          \
    X(k2)           /* its square */                                                                               \
    X(edge_k)       /* log(that depth rounded up to steps / that depth) */                                         \
    X(steps)        /* log of the steps of a slice, up to 256 of them, / 4 */                                      \
    X(slices)       /* log of the slices, / 3 */                                                                   \
    X(split)        /* 1 if there are several */                                                                   \
    X(k_idle)       /* k * idle */                                                                                 \
    X(k_rounds)     /* k * rounds */                                                                               \
    X(a_rounds)     /* a_narrow * rounds */                                                                        \
    X(b_rounds)     /* b_narrow * rounds */                                                                        \
    X(time)         /* log(predicted cycles of all passes / 32768) / 3 */                                          \
    X(launch_part)  /* the part of these cycles that is the launch */                                              \
    X(steps_part)   /* the same of steps */                                                                        \
    X(results_part) /* of results */                                                                               \
    X(memory_part)  /* of memory traffic, from -1 */                                                               \
    X(passes_part)  /* of further passes */

enum class TileFact : uint8_t {
#define X(name) name,
    VKGEMM_TILE_FACTS(X)
#undef X
        count
};

using TileFacts = std::array<float, size_t(TileFact::count)>;

inline constexpr size_t hidden_units = 32;
using HiddenUnits = std::array<float, hidden_units>;

/// Of one tile.
struct TileTerms {
    uint8_t step = 100;      // factor on the time of a step of K, in hundredths
    bool has_facts = false;  // else that factor is all
#if VKGEMM_HAS_TILE_TERMS
    int8_t offsets[hidden_units] = {};              // of the hidden units, in units of offset_unit
    int8_t of_facts[size_t(TileFact::count)] = {};  // what each fact adds to the logarithm, in units of term_unit
#endif
};
inline constexpr float offset_unit = 1.0F / 32, term_unit = 1.0F / 128, weight_unit = 1.0F / 64;

/// Null: there are none. They hold for the devices that fact_weights.def names, and none were fitted to sums of f64.
const TileTerms* find_tile_terms(const Kernel&, const Tile&, const DeviceCaps&);

#if VKGEMM_HAS_TILE_TERMS
/// The value of the network for one tile, while facts are added.
class TermSum {
   public:
    TermSum() = default;
    explicit TermSum(const TileTerms&);
    /// Of the facts from `first` on.
    void add(TileFact first, std::span<const float> values);
    /// The factor. Its logarithm is limited to +-most_correction, because facts beyond those that were measured must
    /// not decide alone.
    double factor() const;

   private:
    const TileTerms* terms_ = nullptr;
    HiddenUnits units_ = {};
    float linear_ = 0;
};
#else
struct TermSum {};
#endif
inline constexpr double most_correction = 0.5, least_factor = 0.6065;  // e^-0.5, rounded down

/// Whether a product may have terms: not one of few operations, because none were fitted to those.
constexpr bool has_terms(const Problem& p) {
    return VKGEMM_HAS_TILE_TERMS && 2 * double(p.m) * double(p.n) * double(p.k) * double(p.batch) >= 1e7;
}

}  // namespace vkgemm::plan
