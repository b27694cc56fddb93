// SPDX-License-Identifier: MIT
//
// Rounding up to multiples. Header only, without Vulkan; a later version may change it.
#ifndef VKGEMM_ROUNDING_HPP
#define VKGEMM_ROUNDING_HPP

#include <type_traits>

namespace vkgemm {

/// The next multiple of `unit`, or `x` itself if it is one. Neither is negative, and `unit` is not 0.
template <class T>
constexpr T roundUp(T x, std::type_identity_t<T> unit) {
    return (x + unit - 1) / unit * unit;
}

}  // namespace vkgemm
#endif
