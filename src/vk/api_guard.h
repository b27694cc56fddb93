// SPDX-License-Identifier: MIT
// What the public functions share: no exception leaves the library, neither of C++ nor of floating point.
#pragma once
#include <new>

#include "vk/context.h"
#include "vk/convert.h"
#include "vkgemm/float_exceptions.hpp"

namespace vkgemm::vk {

/// Runs `body`; an exception becomes a result. The sources are compiled with exceptions, whatever the project around
/// them is compiled with. Drivers raise floating-point exceptions on the caller's thread, so they are held.
template <class Body>
VkgemmResult guarded(VkgemmError* error, const Body& body) {
    const HoldFloatExceptions held;
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return to_result(error, VKGEMM_ERROR_OUT_OF_MEMORY, "out of host memory");
    } catch (...) {
        return to_result(error, VKGEMM_ERROR_OUT_OF_MEMORY, "a system call failed inside vkgemm");
    }
}

/// Destroys what the handle points to; null is allowed.
template <class T>
void destroy(T* handle) {
    const HoldFloatExceptions held;
    delete handle;
}

}  // namespace vkgemm::vk
