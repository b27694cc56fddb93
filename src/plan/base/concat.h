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

/// Characters, to which it refers, or a whole number, of an enum too, in decimal. Two words, for there are a thousand.
class TextPiece {
   public:
    TextPiece(std::string_view s) : text_(s.data()), size_(s.size()) {}
    TextPiece(const char* s) : TextPiece(std::string_view(s)) {}
    TextPiece(const std::string& s) : TextPiece(std::string_view(s)) {}
    TextPiece(const char& c) : text_(&c), size_(1) {}
    template <class Number>
    requires(std::integral<Number> || std::is_enum_v<Number>) TextPiece(Number x)
        : text_(x < 0 ? negative : number), size_(static_cast<uint64_t>(x)) {}

    void append_to(std::string& out) const;

   private:
    static const char number[1], negative[1];  // in place of characters

    const char* text_;
    uint64_t size_;  // or the number
};

#if defined(__GNUC__)  // compilers keep what leads to a text apart and small
#    define VKGEMM_COLD [[gnu::cold]]
#else
#    define VKGEMM_COLD
#endif

/// concat({"m is ", m, ", above the limit of ", limit})
VKGEMM_COLD std::string concat(std::initializer_list<TextPiece> pieces);

/// A refusal with this text, if it is to be in words.
Refusal refusal(Wording wording, VkgemmResult code, std::initializer_list<TextPiece> text);

}  // namespace vkgemm::plan
