// SPDX-License-Identifier: MIT
// Enums that a caller set. A value outside its enum may not even be loaded as one, so they are checked as integers, and
// before any other code reads them.
#pragma once
#include <cstring>
#include <optional>

#include "plan/base/result.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// The bits of an enum, whatever they are.
template <class Enum>
int32_t enum_value(const Enum& from) {
    static_assert(sizeof from == sizeof(int32_t));
    int32_t value;
    std::memcpy(&value, &from, sizeof value);
    return value;
}

/// Refuses a value of an enum that is none of first to last.
std::optional<Status> check_enum(const char* what, int32_t value, int32_t first, int32_t last);

/// Why one of the enums of a struct is refused. Of the epilogue's steps, only those below epilogueCount are checked.
std::optional<Status> check_enums(const VkgemmProblem&);
std::optional<Status> check_enums(const VkgemmPlanOptions&);
std::optional<Status> check_enums(const VkgemmContextInfo&);
std::optional<Status> check_enums(const VkgemmNeedsInfo&);

}  // namespace vkgemm::vk
