// SPDX-License-Identifier: MIT
#pragma once

namespace vkgemm::tool {

/// The commit that the program was built from, as git describes it; "" if the sources were not in a repository.
const char* tool_commit();

}  // namespace vkgemm::tool
