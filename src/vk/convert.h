// SPDX-License-Identifier: MIT
// Between the public structs and the plain data of src/plan: words checked, defaults kept, text cut to fit.
#pragma once
#include "plan/problem/problem_text.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// The public code of a refusal, and its words in *error (may be null).
VkgemmResult to_result(VkgemmError* error, const plan::Refusal&);
VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text);
VkgemmResult success(VkgemmError* error);

/// Writes text by the rule of vkgemmFormatProblem. *size: in, the room; out, the need.
VkgemmResult copy_text(std::string_view text, char* to, size_t* size);

/// Every public input struct: present, of the size this version knows, with nothing chained.
template <class T>
std::optional<plan::Refusal> check_struct(const T* s, const char* name) {
    using plan::Refusal;
    if (!s) return Refusal{Refusal::argument, std::string(name) + " is null"};
    if (s->structSize != sizeof(T))
        return Refusal{Refusal::argument, std::string(name) + "::structSize is " + std::to_string(s->structSize) +
                                              "; this version knows " + std::to_string(sizeof(T)) +
                                              " (set it to sizeof, and build against the header of the library)"};
    if constexpr (requires { s->pNext; })
        if (s->pNext) return Refusal{Refusal::argument, std::string(name) + "::pNext must be null in this version"};
    return std::nullopt;
}

/// Words outside their enums and broken counts are refused; the problem is not completed yet.
plan::Result<plan::Problem> problem_from(const VkgemmProblem*);
VkgemmProblem problem_to(const plan::Problem&);

VkgemmType type_to(plan::Type);

}  // namespace vkgemm::vk
