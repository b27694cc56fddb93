// SPDX-License-Identifier: MIT
// Texts made of pieces. One call of one function takes far less code than a chain of `+`, each with a temporary string
// to be destroyed; most code of this library's size was in the texts of refusals.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "plan/base/result.h"

namespace vkgemm::plan {

/// Characters, to which it refers, or a whole number, of an enum too, in decimal.
class TextPiece {
   public:
    TextPiece(const char* s) : text_(s) {}
    TextPiece(std::string_view s) : text_(s) {}
    TextPiece(const std::string& s) : text_(s) {}
    TextPiece(const char& c) : text_(&c, 1) {}
    template <class Number>
    requires(std::integral<Number> || std::is_enum_v<Number>) TextPiece(Number x)
        : is_number_(true), negative_(x < 0), number_(x < 0 ? 0 - uint64_t(x) : uint64_t(x)) {}

    void append_to(std::string& out) const;

   private:
    std::string_view text_;
    bool is_number_ = false, negative_ = false;
    uint64_t number_ = 0;  // without its sign
};

/// concat({"m is ", m, ", above the limit of ", limit})
std::string concat(std::initializer_list<TextPiece> pieces);

/// A refusal with this text, if it is to be in words.
Refusal refusal(Wording wording, VkgemmResult code, std::initializer_list<TextPiece> text);

}  // namespace vkgemm::plan
