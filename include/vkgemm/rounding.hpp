// SPDX-License-Identifier: MIT
//
// Rounding up. Header only, without Vulkan; a later version may change it.
#ifndef VKGEMM_ROUNDING_HPP
#define VKGEMM_ROUNDING_HPP

#include <type_traits>

namespace vkgemm {

/// How many `unit` hold `x`. Neither is negative, and `unit` is not 0.
template <class T>
constexpr T divUp(T x, std::type_identity_t<T> unit) {
    return (x + unit - 1) / unit;
}

/// The next multiple of `unit`, or `x` itself if it is one. Neither is negative, and `unit` is not 0.
template <class T>
constexpr T roundUp(T x, std::type_identity_t<T> unit) {
    return divUp(x, unit) * unit;
}

}  // namespace vkgemm
#endif
