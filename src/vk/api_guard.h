// SPDX-License-Identifier: MIT
// What every public function shares: no exception leaves the library, versions are checked, choices are put into words.
#pragma once
#include <new>

#include "vk/context.h"
#include "vk/convert.h"

namespace vkgemm::vk {

/// Runs `body`; the one exception the library can meet, memory running out, becomes a result.
template <class Body>
VkgemmResult guarded(VkgemmError* error, const Body& body) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return to_result(error, VKGEMM_ERROR_OUT_OF_MEMORY, "out of host memory");
    } catch (...) {
        return to_result(error, VKGEMM_ERROR_OUT_OF_MEMORY, "a system call failed inside vkgemm");
    }
}

/// The chosen kernel in words, and every other row with its cost or the reason against it; one a line.
std::string explanation(const plan::Choice&, const plan::Steps&);
std::string candidates_text(const std::vector<plan::Candidate>&, const plan::Kernel* chosen);

}  // namespace vkgemm::vk
