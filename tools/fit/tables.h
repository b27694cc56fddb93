// SPDX-License-Identifier: MIT
// Writes src/plan/choice/fact_weights.def and tile_terms.def.
#pragma once
#include "network.h"

namespace vkgemm::fit {

/// The text of fact_weights.def, for devices whose names contain one of `devices`.
std::string weights_text(const Network&, const std::vector<std::string>& devices);
/// The text of tile_terms.def.
std::string terms_text(const Network&, const std::vector<TileInFit>& tiles);

}  // namespace vkgemm::fit
