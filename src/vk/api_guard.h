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

}  // namespace vkgemm::vk
