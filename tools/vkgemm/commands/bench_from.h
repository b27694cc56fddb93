// SPDX-License-Identifier: MIT
// vkgemm bench --from: shows what was measured before.
#pragma once
#include <string>

#include "commands/command.h"

namespace vkgemm::tool {

struct BenchFiles {
    std::string from, csv, plot;  // files; the last two may be empty
};

/// Table, CSV and picture of a saved run. exit_wrong if one of our results was wrong.
int show_saved_bench(const Session& session, const BenchFiles& options);

}  // namespace vkgemm::tool
