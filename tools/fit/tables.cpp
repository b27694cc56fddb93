// SPDX-License-Identifier: MIT
#include "tables.h"

#include <algorithm>

#include "plan/base/concat.h"

namespace vkgemm::fit {
namespace {

constexpr std::string_view names_of_facts[] = {
#define X(name) #name,
    VKGEMM_TILE_FACTS(X)
#undef X
        "output"};

std::string listed(const std::vector<int>& numbers) {
    std::string out;
    for (const int x : numbers) out += ", " + std::to_string(x);
    return out;
}

// A module of the family for elements of that size: builds without it leave the row out.
std::string module_of(const TileKey& key) {
    return key.family + (key.bytes == 4 ? "_f32" : key.bytes == 2 ? "_f16" : "_i8");
}

}  // namespace

std::string weights_text(const Network& network, const std::vector<std::string>& devices) {
    std::string out =
        "// SPDX-License-Identifier: MIT\n"
        "// What each fact of tile_terms.h adds to the hidden units, and the units' output weights, in sixty-fourths. "
        "Written with\n// tile_terms.def by tools/fit.\n"
        "// First, parts of the names of the devices on which both hold.\n";
    for (const std::string& device : devices) out += "FITTED_ON(\"" + device + "\")\n";
    for (size_t fact = 0; fact < std::size(names_of_facts); ++fact)
        out += plan::concat({"FACT_WEIGHTS(", names_of_facts[fact], listed(network.weights_of_fact(fact)), ")\n"});
    return out;
}

std::string terms_text(const Network& network, const std::vector<TileInFit>& tiles) {
    std::vector<size_t> order;
    for (size_t i = 0; i < tiles.size(); ++i) order.push_back(i);
    std::ranges::sort(order, {}, [&](size_t i) {
        const TileKey& k = tiles[i].key;
        return std::tuple(k.family, ~k.bytes, k.rows, k.cols, k.depth, k.loads, ~k.invocations);
    });
    std::string out =
        "// SPDX-License-Identifier: MIT\n"
        "// Terms of single tiles. One row = one tile: module, family, BM, BN, BK, bytes of an element of A, DEPTH, WG "
        "or 0 for any;\n// the factor on a step, in hundredths; the offsets of the hidden units (tile_terms.h), in "
        "1/32; and what each fact adds to\n// the logarithm, in 1/128. Written by tools/fit, which leaves the factor "
        "as it is.\n";
    for (const size_t i : order) {
        const TileKey& k = tiles[i].key;
        out += plan::concat({"TILE_TERMS(",
                             module_of(k),
                             ", ",
                             k.family,
                             ", ",
                             k.rows,
                             ", ",
                             k.cols,
                             ", ",
                             k.depth,
                             ", ",
                             k.bytes,
                             ", ",
                             k.loads,
                             ", ",
                             k.invocations,
                             ", ",
                             uint32_t{tiles[i].step},
                             listed(network.offsets_of(i)),
                             listed(network.terms_of(i)),
                             ")\n"});
    }
    return out;
}

}  // namespace vkgemm::fit
