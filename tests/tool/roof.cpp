// SPDX-License-Identifier: MIT
// What bounds a product, and how far a result may be off.
#include "tools/vkgemm/measure/roof.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tools/vkgemm/measure/deviation.h"
#include "tools/vkgemm/measure/numbers.h"

using namespace vkgemm::tool;

TEST_CASE("a product is bounded by the smaller of what arithmetic and memory allow") {
    const Roof deep = roof_of(1e12, 1e9, 50e12, 4e12);  // 1000 a byte: memory would allow 4000e12
    CHECK((deep.intensity == 1000 && deep.limit == 50e12 && !deep.by_memory));
    const Roof flat = roof_of(1e9, 1e9, 50e12, 4e12);
    CHECK((flat.intensity == 1 && flat.limit == 4e12 && flat.by_memory));
    CHECK(roof_of(1e9, 1e9, 0, 4e12).by_memory);  // no peak is known
    CHECK((roof_of(1e9, 1e9, 50e12, 0).limit == 50e12 && !roof_of(1e9, 1e9, 50e12, 0).by_memory));
    CHECK(roof_of(1e9, 1e9, 0, 0).limit == 0);
    CHECK(roof_of(0, 1e9, 50e12, 4e12).limit == 0);
    CHECK(roof_of(1e9, 0, 50e12, 4e12).limit == 0);
}

TEST_CASE("plain units bound no product that matrix units fit") {
    CHECK(peak_of(50e12, {}) == 50e12);
    CHECK(peak_of(50e12, 900e12) == 900e12);
    CHECK(peak_of(50e12, 40e12) == 50e12);
    CHECK(peak_of(0, {}) == 0);  // memory alone bounds it
    CHECK(!peak_of(50e12, 0));   // they are there, and could not be measured
}

TEST_CASE("a roof in words") {
    CHECK(roof_text(roof_of(1e12, 1e9, 50e12, 4e12), 25e12, false, false) ==
          "1000 FLOP/B: measured roof 50.00 TFLOP/s, by arithmetic; reached 50 %");
    CHECK(roof_text(roof_of(3e9, 9e9, 50e12, 3e12), 0, true, false) ==
          "0.3333 OP/B: measured roof 1.000 TOP/s, by copy bandwidth");
    CHECK(roof_text(roof_of(1e12, 1e9, 50e12, 4e12), 75e12, false, false).ends_with("150 %, so the roof is too low"));
    CHECK(roof_text(roof_of(1e9, 1e9, 50e12, 4e12), 8e12, false, false).ends_with("reached 200 %"));  // from caches
    CHECK(roof_text({}, 1e12, false, false) == "");
}

TEST_CASE("machine code has no share of a roof that only shaders have") {
    Roof plain = roof_of(1e12, 1e9, 34e12, 4e12);
    plain.of_shaders = true;
    const std::string text = roof_text(plain, 53e12, false, true);
    CHECK(text.find('%') == std::string::npos);
    CHECK(text.find("34.00 TFLOP/s, by arithmetic of shaders; native kernels may exceed it") != std::string::npos);
    CHECK(roof_text(plain, 17e12, false, false).find("reached 50 %") != std::string::npos);
    Roof flat = roof_of(1e9, 1e9, 50e12, 4e12);  // memory bounds machine code, too
    flat.of_shaders = true;
    CHECK(roof_text(flat, 2e12, false, true).find("reached 50 %") != std::string::npos);
}

TEST_CASE("a deviation is that of the worst element, by the magnitudes of its sum") {
    const auto c = parse_case("3x2x4");
    REQUIRE(c);
    OperandBytes operands;
    const auto fill = [&](VkgemmSlot slot, std::vector<float> values) {
        operands[slot].resize(values.size() * 4);
        for (size_t i = 0; i < values.size(); ++i) encode(vkgemm::f32, values[i], &operands[slot][i * 4]);
    };
    fill(VKGEMM_SLOT_A, {1, -1, 1, -1, 1, 1, 1, 1, 2, 2, 2, 2});
    fill(VKGEMM_SLOT_B, {1, 1, 1, 1, 1, 1, 1, 1});
    fill(VKGEMM_SLOT_D, {0, 0, 4, 4, 8, 8});
    CHECK(has_deviation(*c));
    CHECK(deviation_of(*c, operands, operands[VKGEMM_SLOT_D]) == 0);
    fill(VKGEMM_SLOT_D, {0, 0.5, 4, 4, 8, 8});  // the sum cancels, its magnitudes are 4
    CHECK(deviation_of(*c, operands, operands[VKGEMM_SLOT_D]) == 0.125);
    fill(VKGEMM_SLOT_D, {0, 0.5, 4, NAN, 8, 8});
    CHECK(std::isinf(deviation_of(*c, operands, operands[VKGEMM_SLOT_D])));
    for (const char* none : {"i32*i32 8x8x8", "8x8x8 beta=1", "8x8x8 bias=col", "0x8x8"})
        CHECK(!has_deviation(*parse_case(none)));
}
