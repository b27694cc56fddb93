// SPDX-License-Identifier: MIT
// Quantised tensors as runtimes store them, with codes, scales and zero points apart: put into blocks of groups, and
// multiplied exactly. Weights of u8 have a scale and a zero point for each column or group; activations of i8 have a
// scale for each 128 elements of a row.
#include "api/api.h"
#include "plan/problem/problem.h"
#include "vkgemm/formats.hpp"

using namespace vkgemm::test;

namespace {

/// A matrix whose rows (of A) or columns (of B) lie along k. element(line, i) is scale * (code - zero).
struct Quantised {
    vkgemm::Type type;
    size_t lines = 0, k = 0;
    int (*code)(size_t line, size_t i);
    double (*scale)(size_t line, size_t group) = [](size_t, size_t) { return 1.0; };
    double (*zero)(size_t line, size_t group) = [](size_t, size_t) { return 0.0; };

    size_t group() const { return vkgemm::blockElements(type); }
    double element(size_t line, size_t i) const {
        return scale(line, i / group()) * (code(line, i) - zero(line, i / group()));
    }
    std::vector<std::byte> blocks() const {
        std::vector<std::byte> out(lines * k / group() * vkgemm::bytesOf(type));
        std::vector<uint8_t> codes(group());
        std::byte* at = out.data();
        for (size_t line = 0; line < lines; ++line)
            for (size_t g = 0; g < k / group(); ++g, at += vkgemm::bytesOf(type)) {
                for (size_t i = 0; i < group(); ++i) codes[i] = static_cast<uint8_t>(code(line, g * group() + i));
                if (group() == 1)
                    vkgemm::encode(type, element(line, g), at);
                else
                    REQUIRE(bool(
                        vkgemm::encodeGroup(type, codes, scale(line, g), zero(line, g), {at, vkgemm::bytesOf(type)})));
            }
        return out;
    }
};

int signed_code(size_t line, size_t i) { return static_cast<int>((line * 7 + i * 5) % 15) - 7; }
int unsigned_code(size_t line, size_t i) { return static_cast<int>((line * 101 + i * 37) % 256); }
double of_line(size_t line, size_t) { return std::ldexp(1, -static_cast<int>(line % 3)); }
double of_group(size_t line, size_t g) { return std::ldexp(1, static_cast<int>((line + 2 * g) % 3) - 1); }
double zero_of_line(size_t line, size_t) { return 100 + 13.0 * static_cast<double>(line); }
double zero_of_group(size_t line, size_t g) { return static_cast<double>((line * 29 + g * 71) % 256); }

std::string name_of(vkgemm::Type type) { return std::string(vkgemm::plan::info(type).name); }

/// D of A by B on the device, and how many of its elements differ from the sums of the elements.
size_t wrong(const Quantised& a, const Quantised& b, const char* accuracy) {
    const vkgemm::host::Device& d = device();
    const std::string line = name_of(a.type) + "*" + name_of(b.type) + "+f32->f32 " + std::to_string(a.lines) + "x" +
                             std::to_string(b.lines) + "x" + std::to_string(a.k) + " layout=nt" + accuracy;
    const auto plan = d.context().createPlan(vkgemm::parseProblem(line.c_str())->problem);
    REQUIRE_MESSAGE(bool(plan), line, ": ", plan.status().text);
    std::vector<float> result(a.lines * b.lines);
    const auto made = [&](std::vector<std::byte> data) {
        data.resize((data.size() + 15) / 16 * 16);
        auto buffer = d.createBuffer(data.size());
        REQUIRE(bool(buffer));
        REQUIRE(bool(d.upload(*buffer, data)));
        return *std::move(buffer);
    };
    const auto on_a = made(a.blocks()), on_b = made(b.blocks()), on_d = *d.createBuffer(result.size() * sizeof(float));
    const auto submitted = d.submit([&](VkCommandBuffer commands) {
        return plan->record(commands, {.a = on_a.operand(), .b = on_b.operand(), .d = on_d.operand()});
    });
    REQUIRE_MESSAGE(bool(submitted), submitted.text);
    REQUIRE(bool(d.download(on_d, result)));
    size_t differ = 0;
    for (size_t r = 0; r < a.lines; ++r)
        for (size_t c = 0; c < b.lines; ++c) {
            double sum = 0;  // multiples of 1/8 below 2^21: exact in f32 in any order
            for (size_t i = 0; i < a.k; ++i) sum += a.element(r, i) * b.element(c, i);
            if (result[r * b.lines + c] != sum) ++differ;
        }
    return differ;
}

}  // namespace

TEST_CASE("quantised: u8 weights with a scale and a zero point for each column, and for each group") {
    const auto check = [](vkgemm::Type type, size_t rows, bool columns, const char* accuracy) {
        CAPTURE(name_of(type));
        CAPTURE(rows);
        CHECK(wrong({.type = VKGEMM_TYPE_F32, .lines = rows, .k = 256, .code = signed_code},
                    {.type = type,
                     .lines = 7,
                     .k = 256,
                     .code = unsigned_code,
                     .scale = columns ? of_line : of_group,
                     .zero = columns ? zero_of_line : zero_of_group},
                    accuracy) == 0);
    };
    for (const vkgemm::Type type : {VKGEMM_TYPE_U8_G32, VKGEMM_TYPE_U8_G64, VKGEMM_TYPE_U8_G32_F32,
                                    VKGEMM_TYPE_U8_G64_F32, VKGEMM_TYPE_U8_G128_F32})
        check(type, 6, false, "");
    for (const size_t rows : {1, 40}) {
        check(VKGEMM_TYPE_U8_G128, rows, true, "");
        check(VKGEMM_TYPE_U8_G128, rows, false, " accuracy=narrow");
    }
}

TEST_CASE("quantised: i8 activations with a scale for each 128 elements") {
    const auto four_bits = [](size_t line, size_t i) { return unsigned_code(line, i) % 16; };
    const auto eight = [](size_t, size_t) { return 8.0; };
    const struct {
        Quantised weights;
        const char* accuracy;
    } rows[] = {
        {{.type = VKGEMM_TYPE_U8_G128, .code = unsigned_code, .scale = of_group, .zero = zero_of_group}, ""},
        {{.type = VKGEMM_TYPE_I8_G128_F32, .code = signed_code, .scale = of_line}, " accuracy=narrow"},
        {{.type = VKGEMM_TYPE_U4_G64, .code = four_bits, .scale = of_group, .zero = eight}, ""},
    };
    for (const vkgemm::Type type : {VKGEMM_TYPE_I8_G128, VKGEMM_TYPE_I8_G128_F32})
        for (const size_t lines : {1, 40})
            for (auto [weights, accuracy] : rows) {
                CAPTURE(lines);
                CAPTURE(name_of(weights.type));
                weights.lines = 9;
                weights.k = 512;
                CHECK(wrong({.type = type, .lines = lines, .k = 512, .code = signed_code, .scale = of_group}, weights,
                            accuracy) == 0);
            }
}

TEST_CASE("quantised: a K that a group does not divide is refused with both numbers") {
    const VkgemmProblem p = problem("f16*u8_g128 4x8x192 layout=nt");
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    OwnedPlan plan;
    expect(said([&](VkgemmError* e) { return vkgemmCreatePlan(device().context().handle(), &p, &o, &plan.handle, e); }),
           VKGEMM_ERROR_UNSUPPORTED, {"u8_g128", "192", "128"});
}
