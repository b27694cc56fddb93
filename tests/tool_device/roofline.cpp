// SPDX-License-Identifier: MIT
// What bench holds its rates against is measured on the device, and checked like everything that it times.
#include "tools/vkgemm/measure/roofline.h"

#include <doctest/doctest.h>

#include "support/device.h"

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
