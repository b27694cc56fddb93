// SPDX-License-Identifier: MIT
#include "plan/choice/tile_terms.h"

#include <algorithm>
#include <cmath>

#include "plan/device/verified_drivers.h"
#include "selected_modules.h"  // made by CMakeLists.txt

namespace vkgemm::plan {
namespace {

// The names are in the rows, because pointers would have to be relocated.
constexpr char family_names[][16] = {"gemv", "tiled", "block", "vec4", "simt", "coopmat", "coopmat_packed", "bf16x3"};
enum class FamilyOfTerms : uint8_t { gemv, tiled, block, vec4, simt, coopmat, coopmat_packed, bf16x3 };

struct RowOfTerms {
    FamilyOfTerms family;
    uint8_t rows, cols, depth;  // 256 is 0
    uint8_t bytes, loads;       // of an element of A; DEPTH
    TileTerms terms;
};
template <class... Terms>
constexpr TileTerms make_terms(int step, [[maybe_unused]] Terms... of_facts) {
#if VKGEMM_HAS_TILE_TERMS
    static_assert(sizeof...(of_facts) == 0 || sizeof...(of_facts) == size_t(TileFact::count));
    return {uint8_t(step), {int8_t(of_facts)...}};
#else
    return {uint8_t(step)};
#endif
}
#define TILE_TERMS(module, family, rows, cols, depth, bytes, loads, ...)                                  \
    IN_BUILD_##module({FamilyOfTerms::family, uint8_t(rows), uint8_t(cols), uint8_t(depth), bytes, loads, \
                       make_terms(__VA_ARGS__)}, )
constexpr RowOfTerms rows_of_terms[] = {
#include "plan/choice/tile_terms.def"
    {},  // for builds without any of these modules
};
#undef TILE_TERMS

}  // namespace

const TileTerms* find_tile_terms(const Kernel& k, const Tile& t, const DeviceCaps& dev) {
    const ElementBytes bytes = k.module.element_bytes();
    if (dev.vendor != nvidia_vendor || bytes.accumulator == 8 || k.module.is_native()) return nullptr;
    if (std::max({t.BM, t.BN, t.BK}) > 256) return nullptr;
    for (const RowOfTerms& x : rows_of_terms)
        if (x.bytes == bytes.a && x.rows == uint8_t(t.BM) && x.cols == uint8_t(t.BN) && x.depth == uint8_t(t.BK) &&
            x.loads == t.DEPTH && k.module.family.name == family_names[size_t(x.family)])
            return &x.terms;
    return nullptr;
}

double factor_of(double hundredths) {
    return std::exp(std::clamp(hundredths / 100, -most_correction, most_correction));
}

}  // namespace vkgemm::plan
