// SPDX-License-Identifier: MIT
// What bench holds its rates against is measured on the device, and checked like everything that it times.
#include "tools/vkgemm/measure/roofline.h"

#include <doctest/doctest.h>

#include <csignal>

#include "support/device.h"
#include "tools/vkgemm/cli/terminal.h"

using namespace vkgemm::tool;

TEST_CASE("the roof is measured: multiply-adds, and a copy that arrives") {
    Roofline roofline(vkgemm::test::device());
    const auto product = parse_case("64x64x64"), of_parts = parse_case("64x64x64 accuracy=f32_split");
    REQUIRE((product && of_parts));
    CHECK(roofline.of(*product).limit > 0);
    CHECK(roofline.copied() > 0);  // 0 also where the last piece was not there
    REQUIRE(roofline.peaks().contains("f32"));
    CHECK(roofline.peaks().at("f32") > 0);
    CHECK(roofline.of(*of_parts).limit == 0);
}

TEST_CASE("the roof is not measured after Ctrl-C, and one that was measured before is kept") {
    Roofline roofline(vkgemm::test::device());
    const auto floats = parse_case("64x64x64"), integers = parse_case("i32*i32 64x64x64");
    REQUIRE((floats && integers));
    const auto interrupt = [] {
        watch_signals();
        std::raise(SIGINT);
    };
    interrupt();
    CHECK(roofline.of(*floats).limit == 0);
    CHECK(roofline.copied() == 0);
    watch_signals();
    const double limit = roofline.of(*floats).limit;
    CHECK(limit > 0);
    interrupt();
    CHECK(roofline.of(*floats).limit == limit);
    CHECK(roofline.of(*integers).limit == 0);
    CHECK(!roofline.peaks().contains("i32"));
    watch_signals();
}
