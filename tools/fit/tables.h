// SPDX-License-Identifier: MIT
// Makes src/plan/choice/fact_weights.def, and terms.def of the folders of families.
#pragma once
#include <map>

#include "network.h"

namespace vkgemm::fit {

/// The text of fact_weights.def, for devices whose names contain one of `devices`.
std::string weights_text(const Network&, const std::vector<std::string>& devices);
/// The texts of terms.def, by the folder of the family: "shaders/simt".
std::map<std::string, std::string> terms_texts(const Network&, const std::vector<TileInFit>& tiles);

}  // namespace vkgemm::fit
