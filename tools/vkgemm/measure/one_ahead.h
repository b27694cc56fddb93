// SPDX-License-Identifier: MIT
// Things that are made one after the other, each while the one before it is in use.
#pragma once
#include <functional>
#include <future>

namespace vkgemm::tool {

template <class T>
class OneAhead {
   public:
    using Make = std::function<T(size_t index)>;
    /// Of the first `count` things, each but the first is made by `ahead`, in a thread of its own, when the one before
    /// it is asked for. All others are made by `first`, when they are asked for.
    OneAhead(size_t count, Make first, Make ahead)
        : count_(count), first_(std::move(first)), ahead_(std::move(ahead)) {}

    /// They are asked for in turn.
    T take(size_t index) {
        T out = next_.valid() ? next_.get() : first_(index);
        if (index + 1 < count_) next_ = std::async(std::launch::async, ahead_, index + 1);
        return out;
    }
    /// Until the next one is made. From then until take() nothing is being made.
    void wait() const {
        if (next_.valid()) next_.wait();
    }

   private:
    size_t count_;
    Make first_, ahead_;
    std::future<T> next_;
};

}  // namespace vkgemm::tool
