// SPDX-License-Identifier: MIT
#include "plan/base/concat.h"

namespace vkgemm::plan {

const char TextPiece::number[1] = {}, TextPiece::negative[1] = {};

void TextPiece::append_to(std::string& out) const {
    if (text_ == number)
        out += std::to_string(size_);
    else if (text_ == negative)
        out += '-' + std::to_string(0 - size_);
    else if (size_)
        out.append(text_, size_);
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
