// SPDX-License-Identifier: MIT
// What the public functions share: no exception leaves the library.
#pragma once
#include <new>

#include "vk/context.h"
#include "vk/convert.h"

namespace vkgemm::vk {

/// Runs `body`; an exception becomes a result. The sources are compiled with exceptions, whatever the project around
/// them is compiled with.
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
