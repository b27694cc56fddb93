// SPDX-License-Identifier: MIT
#include "vk/convert.h"

#include <algorithm>
#include <cstring>

#include "plan/base/concat.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

// Copies what fits into `capacity` bytes with the terminating null, and cuts no UTF-8 character in two.
size_t copy_text(std::string_view text, char* to, size_t capacity) {
    size_t n = std::min(text.size(), capacity - 1);
    if (n < text.size())
        while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
    return n;
}

// Control characters, which a quoted word may hold, become blanks, so that the text is one line.
void put_text(VkgemmError* error, std::string_view text, int32_t r) {
    if (!error) return;
    error->vkResult = r;
    size_t n = copy_text(text, error->text, sizeof error->text);
    if (n < text.size()) {  // cut, and shown to be
        constexpr std::string_view end = " ...";
        n = copy_text(text, error->text, sizeof error->text - end.size());
        n += copy_text(end, error->text + n, end.size() + 1);
    }
    std::replace_if(
        error->text, error->text + n, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
}

}  // namespace

VkgemmResult to_result(VkgemmError* error, const Status& status) {
    put_text(error, status.text, status.vkResult);
    return status.code;
}

VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text) {
    put_text(error, text, VK_SUCCESS);
    return positive;
}

VkgemmResult success(VkgemmError* error) { return to_result(error, VKGEMM_SUCCESS, ""); }

VkgemmResult copy_text(std::string_view text, char* to, size_t* size) {
    if (!size) return VKGEMM_ERROR_INVALID_ARGUMENT;
    const size_t capacity = *size;
    *size = text.size() + 1;
    if (!to) return VKGEMM_SUCCESS;
    if (capacity == 0) return VKGEMM_INCOMPLETE;
    return copy_text(text, to, capacity) == text.size() ? VKGEMM_SUCCESS : VKGEMM_INCOMPLETE;
}

Result<Problem> problem_from(const VkgemmProblem* given) {
    Result<VkgemmProblem> from = read_struct(given);
    if (!from) return from.status();
    constexpr uint32_t known =
        VKGEMM_UP_TO_M | VKGEMM_UP_TO_N | VKGEMM_UP_TO_K | VKGEMM_UP_TO_BATCH | VKGEMM_UP_TO_STRIDES;
    if (from->upTo & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"upTo has unknown bits: ", from->upTo & ~known})};
    if (from->batchInvariant > 1)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"batchInvariant is ", from->batchInvariant, "; known are 0 and 1"})};
    constexpr uint32_t scalars = VKGEMM_SCALARS_ALPHA | VKGEMM_SCALARS_BETA | VKGEMM_SCALARS_CLAMP |
                                 VKGEMM_SCALARS_MONITOR | VKGEMM_SCALARS_LARGEST;
    if (from->scalars & ~scalars)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"scalars has unknown bits: ", from->scalars & ~scalars})};
    // The entries behind the steps were not checked, and may hold anything.
    std::fill(from->epilogue + from->epilogueCount, std::end(from->epilogue), VkgemmEpilogueStep{});
    Problem p = convert::fromC(*from);
    if (p.batch == 0) p.batch = 1;
    return p;
}

std::optional<Status> write_problem(const VkgemmProblem& filled, VkgemmProblem* out) {
    if (auto why = check_output(out)) return why;
    if (!fits(filled, *out))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       plan::concat({"the problem needs fields that a VkgemmProblem of ", out->structSize,
                                     " bytes does not have; compile against this version's header"})};
    write_struct(filled, out);
    return std::nullopt;
}

}  // namespace vkgemm::vk
