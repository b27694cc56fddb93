// SPDX-License-Identifier: MIT
#pragma once

namespace vkgemm::tool {

/// The commit that the program was built from, as git describes it; "" if the sources were not in a repository.
const char* tool_commit();
/// Where they came from, such as "https://github.com/owner/name"; "" if that is not GitHub, or not known.
const char* tool_repository();

}  // namespace vkgemm::tool
