// SPDX-License-Identifier: MIT
// Checks of what the caller passes, and copies of results and texts to the caller.
#pragma once
#include "plan/problem/problem_text.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// Writes text and vkResult to *error, which may be null, and returns the code.
VkgemmResult to_result(VkgemmError* error, const Status&);
VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text);
VkgemmResult success(VkgemmError* error);

/// Writes text by the rule of vkgemmFormatProblem. *size: in, the bytes at `to`; out, the bytes needed.
VkgemmResult copy_text(std::string_view text, char* to, size_t* size);

/// The reason against a public input struct that is null, of another size than this version's, or has a pNext.
template <class T>
std::optional<Status> check_struct(const T* s, const char* name) {
    using plan::Refusal;
    if (!s) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, std::string(name) + " is null"};
    if (s->structSize != sizeof(T))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       std::string(name) + "::structSize is " + std::to_string(s->structSize) +
                           "; this version knows " + std::to_string(sizeof(T)) +
                           " (set it to sizeof, and build against the header of the library)"};
    if constexpr (requires { s->pNext; })
        if (s->pNext)
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, std::string(name) + "::pNext must be null in this version"};
    return std::nullopt;
}

/// Refuses values outside their enums and an epilogue that is too long. The problem is not completed.
Result<Problem> problem_from(const VkgemmProblem*);

}  // namespace vkgemm::vk
