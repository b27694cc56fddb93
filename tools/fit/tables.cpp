// SPDX-License-Identifier: MIT
#include "tables.h"

#include <algorithm>
#include <numeric>
#include <tuple>

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

std::string_view folder_of(const plan::Kernel& k) {
    if (k.module.is_native()) return "native";
    struct Row {
        std::string_view module, folder;
    };
    static constexpr Row rows[] = {
#define FOLDER(module, folder) {#module, folder},
#include "folders.def"
#undef FOLDER
    };
    return std::ranges::find(rows, k.module.name, &Row::module)->folder;
}

}  // namespace

std::string weights_text(const Network& network, const std::vector<std::string>& devices) {
    std::string out =
        "// SPDX-License-Identifier: MIT\n"
        "// What each fact of tile_terms.h adds to the hidden units, and the units' output weights, in sixty-fourths. "
        "Written with\n// terms.def of the families by tools/fit.\n"
        "// First, parts of the names of the devices on which both hold.\n";
    for (const std::string& device : devices) out += "FITTED_ON(\"" + device + "\")\n";
    for (size_t fact = 0; fact < std::size(names_of_facts); ++fact)
        out += plan::concat({"FACT_WEIGHTS(", names_of_facts[fact], listed(network.weights_of_fact(fact)), ")\n"});
    return out;
}

std::map<std::string, std::string> terms_texts(const Network& network, const std::vector<TileInFit>& tiles) {
    std::vector<size_t> order(tiles.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) {
        const plan::Kernel& k = *tiles[i].kernel;
        const plan::Tile& t = k.tile;
        return std::tuple(k.module.family.name, ~k.module.element_bytes().a, t.BM, t.BN, t.BK, t.DEPTH, ~t.WG);
    });
    std::map<std::string, std::string> out;
    for (const size_t i : order) {
        const plan::Kernel& k = *tiles[i].kernel;
        std::string& text = out[std::string(folder_of(k))];
        if (text.empty())
            text =
                "// SPDX-License-Identifier: MIT\n"
                "// What corrects the cost of the tiles of this folder (src/plan/choice/tile_terms.h). One row = "
                "module "
                "and tile of a row\n// KERNEL, whose terms all kernels of that family, tile and element size share; "
                "the "
                "factor on a step, in hundredths; the\n// offsets of the hidden units, in 1/32; what each fact adds to "
                "the logarithm, in 1/128. Written by tools/fit, which leaves\n// the factor as it is.\n";
        text +=
            plan::concat({"TERMS(", k.module.name, ", ", k.name.substr(k.module.name.size() + 1), ", ",
                          uint32_t{tiles[i].step}, listed(network.offsets_of(i)), listed(network.terms_of(i)), ")\n"});
    }
    return out;
}

}  // namespace vkgemm::fit
