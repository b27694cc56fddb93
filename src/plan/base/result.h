// SPDX-License-Identifier: MIT
#pragma once
#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace vkgemm::plan {

/// Why something was refused: the kind (numbered as the public codes are) and a sentence for the reader of a log.
struct Refusal {
    enum Kind {
        argument = -1,
        problem = -2,
        unsupported = -3,
        limit = -4,
        tile = -5,
        operand = -6,
        workspace = -7,
        missing_function = -8,
        memory = -9,
        device_lost = -10,
        vulkan = -11,
        parse = -12
    };
    Kind kind;
    std::string why;
    int vk_result = 0;
};

/// A value or the reason there is none.
template <class T>
class Result {
   public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Refusal refusal) : state_(std::in_place_index<1>, std::move(refusal)) {}
    explicit operator bool() const { return state_.index() == 0; }
    T& value() { return assert(*this), *std::get_if<0>(&state_); }
    const T& value() const { return assert(*this), *std::get_if<0>(&state_); }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    Refusal& refusal() { return assert(!*this), *std::get_if<1>(&state_); }
    const Refusal& refusal() const { return assert(!*this), *std::get_if<1>(&state_); }

   private:
    std::variant<T, Refusal> state_;
};

}  // namespace vkgemm::plan
