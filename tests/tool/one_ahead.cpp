// SPDX-License-Identifier: MIT
#include "measure/one_ahead.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

using vkgemm::tool::OneAhead;

TEST_CASE("each thing but the first is made while the one before it is in use") {
    const auto here = std::this_thread::get_id();
    std::atomic<size_t> made = 0;
    const auto make = [&](bool in_other_thread) {
        return [&, in_other_thread](size_t i) {
            CHECK((std::this_thread::get_id() != here) == in_other_thread);
            CHECK(made++ == i);
            return std::to_string(i);
        };
    };
    OneAhead<std::string> things(3, make(false), make(true));
    things.wait();  // for nothing
    CHECK(made == 0);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(things.take(i) == std::to_string(i));
        things.wait();
        CHECK(made == std::min<size_t>(i + 2, 3));  // there is none behind the last
    }
}
