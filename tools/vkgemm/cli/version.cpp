// SPDX-License-Identifier: MIT
// A file of its own, because it is compiled again after every commit.
#include "cli/version.h"

#include "commit.h"  // each build writes it

namespace vkgemm::tool {

const char* tool_commit() { return VKGEMM_COMMIT; }
const char* tool_repository() { return VKGEMM_REPOSITORY; }

}  // namespace vkgemm::tool
