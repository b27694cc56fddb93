// SPDX-License-Identifier: MIT
#include "plan/choice/tile_terms.h"

#include <algorithm>
#include <cmath>

#include "families.h"  // made by cmake/rows.cmake, like rows.def and terms.def
#include "selected_modules.h"

namespace vkgemm::plan {
namespace {

// A number for the name of a family. The name itself would be a pointer, which has to be relocated.
constexpr uint32_t number_of(std::string_view family) {
    uint32_t hash = 2166136261;
    for (const char c : family) hash = (hash ^ uint8_t(c)) * 16777619;
    return hash;
}

constexpr uint32_t bytes_of(Type a) { return info(a == mixed ? f32 : a).bytes; }

// The tile of every row, by the name of its kernel. A row of terms whose kernel is gone does not compile.
#define KERNEL(module, tile, ...) [[maybe_unused]] constexpr Tile module##_##tile = {__VA_ARGS__};
#include "rows.def"
#define MODULE(module, fam, role, a, b, d, acc, ...)                                   \
    [[maybe_unused]] constexpr uint32_t module##_family = number_of(family::fam.name); \
    [[maybe_unused]] constexpr uint32_t module##_bytes = bytes_of(a);
#define NATIVE MODULE
#include "rows.def"

// Of all kernels of this family, element size and tile.
struct RowOfTerms {
    uint32_t family;  // number_of() its name
    uint16_t bytes, rows, cols, depth, loads, invocations;
    TileTerms terms;
};
constexpr RowOfTerms row_of(uint32_t family, uint32_t bytes, const Tile& t, const TileTerms& terms) {
    return {.family = family,
            .bytes = uint16_t(bytes),
            .rows = uint16_t(t.BM),
            .cols = uint16_t(t.BN),
            .depth = uint16_t(t.BK),
            .loads = uint16_t(t.DEPTH),
            .invocations = uint16_t(t.WG),
            .terms = terms};
}

// Of a tile with facts: the offsets, and then what the facts add.
template <class... Numbers>
constexpr TileTerms make_terms(int step, [[maybe_unused]] Numbers... numbers) {
    TileTerms out = {.step = uint8_t(step)};
#if VKGEMM_HAS_TILE_TERMS
    if constexpr (sizeof...(numbers) > 0) {
        constexpr size_t facts = size_t(TileFact::count);
        static_assert(sizeof...(numbers) == hidden_units + facts);
        const int8_t all[] = {int8_t(numbers)...};
        out.has_facts = true;
        std::copy_n(all, hidden_units, out.offsets);
        std::copy_n(all + hidden_units, facts, out.of_facts);
    }
#endif
    return out;
}
#define TERMS(module, tile, ...) \
    IN_BUILD_##module(row_of(module##_family, module##_bytes, module##_##tile, make_terms(__VA_ARGS__)), )
constexpr RowOfTerms rows_of_terms[] = {
#include "terms.def"
    {},  // for builds without any of these modules
};
#undef TERMS

constexpr char fitted_devices[][24] = {
#define FITTED_ON(part_of_name) part_of_name,
#define FACT_WEIGHTS(...)
#include "plan/choice/fact_weights.def"
#undef FITTED_ON
#undef FACT_WEIGHTS
};
bool is_fitted(const DeviceCaps& dev) {
    return std::ranges::any_of(fitted_devices,
                               [&](const char* part) { return dev.name.find(part) != std::string::npos; });
}

#if VKGEMM_HAS_TILE_TERMS
#    define FITTED_ON(part_of_name)
// In units of weight_unit.
constexpr int8_t packed_weights[size_t(TileFact::count) + 1][hidden_units] = {
#    define FACT_WEIGHTS(fact, ...) {__VA_ARGS__},
#    include "plan/choice/fact_weights.def"
#    undef FACT_WEIGHTS
};
constexpr std::string_view names_of_weights[] = {
#    define FACT_WEIGHTS(fact, ...) #    fact,
#    include "plan/choice/fact_weights.def"
#    undef FACT_WEIGHTS
};
constexpr std::string_view names_of_facts[] = {
#    define X(name) #    name,
    VKGEMM_TILE_FACTS(X)
#    undef X
        "output"};
static_assert(std::ranges::equal(names_of_weights, names_of_facts));
#    undef FITTED_ON

HiddenUnits unpack(const int8_t (&packed)[hidden_units], float unit) {
    HiddenUnits out;
    for (size_t i = 0; i < hidden_units; ++i) out[i] = float(packed[i]) * unit;
    return out;
}

struct FactWeights {
    std::array<HiddenUnits, size_t(TileFact::count)> of_facts;
    HiddenUnits output;
};
FactWeights unpack_all() {
    FactWeights out;
    for (size_t i = 0; i < out.of_facts.size(); ++i) out.of_facts[i] = unpack(packed_weights[i], weight_unit);
    out.output = unpack(packed_weights[out.of_facts.size()], weight_unit);
    return out;
}
const FactWeights& fact_weights() {
    static const FactWeights weights = unpack_all();
    return weights;
}
#endif

}  // namespace

const TileTerms* find_tile_terms(const Kernel& k, const Tile& t, const DeviceCaps& dev) {
    const ElementBytes bytes = k.module.element_bytes();
    if (!is_fitted(dev) || bytes.accumulator == 8 || !k.module.family.variant.empty()) return nullptr;
    const uint32_t family = number_of(k.module.family.name);
    for (const RowOfTerms& x : rows_of_terms)
        if (x.rows == t.BM && x.cols == t.BN && x.depth == t.BK && x.family == family && x.bytes == bytes.a &&
            x.loads == t.DEPTH && x.invocations == t.WG)
            return &x.terms;
    return nullptr;
}

#if VKGEMM_HAS_TILE_TERMS
TermSum::TermSum(const TileTerms& terms) : terms_(&terms), units_(unpack(terms.offsets, offset_unit)) {}

void TermSum::add(TileFact first, std::span<const float> values) {
    const HiddenUnits* weights = &fact_weights().of_facts[size_t(first)];
    const int8_t* linear = &terms_->of_facts[size_t(first)];
    HiddenUnits sum = units_;
    for (const float x : values) {
        if (x != 0)
            for (size_t i = 0; i < hidden_units; ++i) sum[i] += x * (*weights)[i];
        linear_ += x * float(*linear++) * term_unit;
        ++weights;
    }
    units_ = sum;
}

double TermSum::factor() const {
    const HiddenUnits& output = fact_weights().output;
    float sum = linear_;
    for (size_t i = 0; i < hidden_units; ++i) sum += std::max(units_[i], 0.0F) * output[i];
    return std::exp(std::clamp(double(sum), -most_correction, most_correction));
}
#endif

}  // namespace vkgemm::plan
