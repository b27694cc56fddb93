// SPDX-License-Identifier: MIT
#include "plan/base/concat.h"

namespace vkgemm::plan {

void TextPiece::append_to(std::string& out) const {
    out += text_;
    if (negative_) out += '-';
    if (is_number_) out += std::to_string(number_);
}

std::string concat(std::initializer_list<TextPiece> pieces) {
    std::string out;
    for (const TextPiece& x : pieces) x.append_to(out);
    return out;
}

Refusal refusal(Wording wording, VkgemmResult code, std::initializer_list<TextPiece> text) {
    return {code, wording == Wording::in_words ? concat(text) : std::string()};
}

}  // namespace vkgemm::plan
