// SPDX-License-Identifier: MIT
// Kernels whose values exceed the registers of a device lose to those whose values fit.
#include "plan/device/registers.h"

#include <doctest/doctest.h>

#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

/// An H200 under another name: it has the features, the sizes and the matrix shapes of all that are named here.
DeviceCaps named(uint32_t vendor, const char* name) {
    DeviceCaps caps = device("h200");
    caps.vendor = vendor;
    caps.name = name;
    caps.driver = "a driver";
    return caps;
}
const DeviceCaps navi31 = named(0x1002, "AMD Radeon Graphics (RADV NAVI31)");
const DeviceCaps gfx1201 = named(0x1002, "AMD Radeon Graphics (RADV GFX1201)");
const DeviceCaps ampere = named(0x10de, "NVK GA102");
const DeviceCaps adreno = named(0x5143, "Turnip Adreno (TM) 740");
const DeviceCaps adreno660 = named(0x5143, "Turnip Adreno (TM) 660");
const DeviceCaps arc = named(0x8086, "Intel(R) Arc(tm) A770 Graphics (DG2)");
const DeviceCaps m1 = named(0x10005, "Apple M1 (G13G A0)");

const char* chosen_for(const char* line, const DeviceCaps& caps) {
    const auto choice = select(caps, normalise(*complete(parse_problem(line)->problem)).problem, {});
    REQUIRE(choice);
    return choice->kernel->name.data();
}
bool spills(const Kernel& k, const Tile& t, const DeviceCaps& caps) {
    const auto live = k.module.family.live_registers;
    const Registers registers = registers_of(caps);
    return live && live(t, k.module.element_bytes(), registers) > registers.limit(t.WG);
}
bool spills(const char* kernel, const DeviceCaps& caps) {
    const Kernel* const k = find_kernel(kernel);
    REQUIRE(k);
    return spills(*k, k->tile, caps);
}

}  // namespace

TEST_CASE("registers: a row is found by vendor and name") {
    CHECK(registers_of(named(0x10de, "NVIDIA H200")).of_invocation == 0);
    CHECK(registers_of(named(0, "RADV GFX12")).of_invocation == 0);
    CHECK(registers_of(navi31).fragment_copies == 2);
    CHECK(registers_of(gfx1201).fragment_copies == 1);
    CHECK(registers_of(ampere).keeps_loaded);
    CHECK(registers_of(adreno).of_invocation == 192);
    CHECK(registers_of(adreno660).of_invocation == 128);
    CHECK(registers_of(named(0x5143, "Turnip Adreno (TM) 630")).of_invocation == 192);
    CHECK(registers_of(m1).of_invocation == 128);
    CHECK(registers_of(arc).of_invocation == 128);
    CHECK(registers_of(named(0x10005, "llvmpipe")).of_invocation == 0);  // its vendor is Mesa too
    CHECK(registers_of(ampere).limit(128) == 253);
    CHECK(registers_of(ampere).limit(1024) == 64);
}

// As Mesa 26.1.6 compiled them.
TEST_CASE("registers: what spills, and what does not") {
    for (const char* both : {"coopmat_f16_128x160x64", "coopmat_f16_128x80x32", "coopmat_f16h_256x256x32",
                             "coopmat_mixed_f16_128x128x64", "coopmat_resident_f16_512x64x128", "simt_i8_128x128x8"}) {
        CAPTURE(both);
        CHECK(spills(both, navi31));
        CHECK(spills(both, gfx1201));
    }
    for (const char* none : {"coopmat_f16_128x64x64", "coopmat_f16_64x64x32", "coopmat_packed_f16_128x128x32",
                             "coopmat_f16_80x128x32_straight", "simt_f32_128x128x16", "simt_f32_64x128x16"}) {
        CAPTURE(none);
        CHECK(!spills(none, navi31));
        CHECK(!spills(none, gfx1201));
    }
    for (const char* twice :
         {"coopmat_f16_128x128x64", "coopmat_f16_128x128x32", "coopmat_f16_192x96x64", "coopmat_f16_128x48x64",
          "coopmat_f16_64x80x64", "coopmat_f16h_128x128x32", "coopmat_resident_f16_128x64x64"}) {
        CAPTURE(twice);
        CHECK(spills(twice, navi31));
        CHECK(!spills(twice, gfx1201));
    }
    CHECK(spills("coopmat_packed_f16_128x128x64", ampere));
    CHECK(spills("coopmat_f16_192x96x64", ampere));  // of 384 invocations
    CHECK(spills("coopmat_i8_128x256x64", ampere));  // where D has rows of any length
    CHECK(!spills("coopmat_f16_128x256x32", ampere));
    CHECK(spills("simt_f32_128x128x8", adreno));
    CHECK(!spills("simt_f32_64x128x8", adreno));
    for (const DeviceCaps* narrow : {&arc, &m1, &adreno660}) {
        CAPTURE(narrow->name);
        CHECK(spills("simt_f32_64x128x8", *narrow));
        CHECK(!spills("simt_f32_64x64x16", *narrow));
    }
    CHECK(spills("simt_i8_64x64x16", arc));
    CHECK(!spills("simt_i8_32x32x16", arc));
    CHECK(!spills("gemv_f32_1x64", adreno));
    CHECK(spills("gemv_f32_1x64", adreno660));
}

// What no row fits is given to the row that exceeds the registers least, if it is not much slower.
TEST_CASE("registers: the factor of a step grows with what does not fit") {
    const Problem p = normalise(*complete(parse_problem("u8*u8 1024x1024x1024")->problem)).problem;
    const auto factor = [&](const char* kernel, const Problem& problem, bool a_narrow = false) {
        const Kernel* const k = find_kernel(kernel);
        REQUIRE(k);
        const KernelCost cost(*k, k->tile, arc);
        return ProductCost(cost, problem).spill_factor(a_narrow, false);
    };
    const double least = factor("simt_u8_32x32x16", p), more = factor("simt_u8_64x64x16", p);
    CHECK(least == 1);
    CHECK(more > 8);
    CHECK(factor("simt_u8_64x128x8", p) > 2 * more);
    CHECK(factor("simt_u8_128x128x8", p) > 2 * factor("simt_u8_64x128x8", p));
    CHECK(factor("simt_u8_64x64x16", p, true) > more);
    Problem ragged = p;
    ragged.m = 1023;
    CHECK(factor("simt_u8_64x64x16", ragged) == more);
    // Intel's matrix units take more where a tile crosses an edge
    CHECK(factor("coopmat_i8_128x256x64_mma8x16x32", p) == 1);
    CHECK(factor("coopmat_i8_128x256x64_mma8x16x32", ragged) > 8);
}

// Without a workspace. An H200, which was timed, reads ahead.
TEST_CASE("registers: large products on RDNA carry no fragments from step to step") {
    const DeviceCaps h200 = device("h200");
    for (const char* types : {"f16*f16", "bf16*bf16", "i8*i8"})
        for (const char* rest : {" 4096x4096x4096", " 4095x4097x4096 layout=nt"}) {
            const std::string line = std::string(types) + rest;
            CAPTURE(line);
            for (const DeviceCaps* rdna : {&navi31, &gfx1201}) {
                DeviceCaps caps = *rdna;  // with AMD's shape for i8
                caps.matrix_shapes.push_back(
                    {.a = i8, .b = i8, .accumulate = i32, .result = i32, .m = 16, .n = 16, .k = 16});
                std::erase_if(caps.matrix_shapes, [](const MatrixShape& s) { return s.a == i8 && s.k == 32; });
                CAPTURE(caps.name);
                const std::string name = chosen_for(line.c_str(), caps);
                CAPTURE(name);
                CHECK((name.find("_turn") != std::string::npos || name.find("128x256x32") != std::string::npos));
            }
            CHECK(std::string(chosen_for(line.c_str(), h200)).find("_turn") == std::string::npos);
        }
}

TEST_CASE("registers: Intel multiplies on its matrix units") {
    DeviceCaps a770 = device("a770");
    DeviceCaps b580 = device("b580");
    for (const std::string types : {"f16*f16", "bf16*bf16", "i8*i8"})
        for (const char* rest : {" 4096x4096x4096", " 1023x1023x1023", " 16x4096x4096"}) {
            // 8 columns of i8 in rows begin within 16 bytes, and are not read by units of 8x8x32
            const std::string line = types + rest + (types == "i8*i8" ? " layout=nt" : "");
            CAPTURE(line);
            CHECK(std::string(chosen_for(line.c_str(), a770)).find("_mma8x8x") != std::string::npos);
            CHECK(std::string(chosen_for(line.c_str(), b580)).find("_mma8x16x") != std::string::npos);
        }
}

TEST_CASE("registers: Intel reads large operands straight from memory, once they are packed") {
    Request request;
    request.workspace_limit = 1 << 30;
    const auto chosen = [&](const DeviceCaps& caps, const std::string& line) {
        return select(caps, normalise(*complete(parse_problem(line)->problem)).problem, request)->kernel->name;
    };
    const DeviceCaps a770 = device("a770"), b580 = device("b580");
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
        const std::string rest = std::string(" 4096x4096x4096 layout=") + layout;
        CAPTURE(rest);
        CHECK(chosen(a770, "f16*f16" + rest) == "coopmat_packed_f16_96x96_8x8x16");
        CHECK(chosen(a770, "i8*i8" + rest) == "coopmat_packed_i8_96x96_8x8x32");
        CHECK(chosen(b580, "f16*f16" + rest) == "coopmat_packed_f16_64x64_8x16x16");
        CHECK(chosen(b580, "i8*i8" + rest) == "coopmat_packed_i8_64x64_8x16");
    }
}

// Of those that ask for a size, an A770 has 128 values in subgroups of 8, and half of them in subgroups of 16.
TEST_CASE("registers: in wider subgroups an invocation has fewer") {
    CHECK(registers_of(arc).limit(128, 2) == 64);
    CHECK(registers_of(navi31).limit(128, 2) == 256);
    const std::string on_a770 = chosen_for("4096x4096x4096", device("a770"));
    CHECK(on_a770 == "simt_f32_128x128x8_sg8");
    CHECK(chosen_for("4096x4096x4096", device("b580")) == std::string("simt_f32_128x128x16_sg16"));
    CHECK(!spills("simt_f32_128x128x8_sg8", arc));
}

// What an invocation copies by single elements takes more registers than what it copies by 16 bytes.
TEST_CASE("registers: Intel takes other tiles for operands that are read element by element") {
    const DeviceCaps a770 = device("a770"), b580 = device("b580");
    const auto factor = [&](const char* name, const DeviceCaps& caps, bool a_narrow, bool b_narrow) {
        const Kernel* const k = find_kernel(name);
        REQUIRE(k);
        const KernelCost cost(*k, k->tile, caps);
        const Problem p = normalise(*complete(parse_problem("411x166x1998")->problem)).problem;
        return ProductCost(cost, p).spill_factor(a_narrow, b_narrow);
    };
    CHECK(factor("simt_f32_32x64x8", a770, false, false) == 1);
    CHECK(factor("simt_f32_32x64x8", a770, true, true) > 8);
    CHECK(factor("simt_f32_32x64x32", a770, true, true) > 8);
    CHECK(factor("simt_f32_32x32x32", a770, true, true) > 8);
    CHECK(factor("simt_f32_32x32x16", a770, true, true) == 1);
    CHECK(factor("simt_f32_128x128x8_sg8", a770, true, true) == 1);
    CHECK(factor("simt_f32_64x64x4_sg8", a770, true, true) == 1);
    CHECK(factor("simt_i8_32x32x16", a770, true, true) > 8);
    CHECK(factor("simt_i8_64x64x16_sg8", a770, true, true) == 1);
    CHECK(factor("simt_f64_32x32x8", b580, true, true) > 8);
    CHECK(factor("simt_f64_64x64x8_sg16", b580, true, true) == 1);
    CHECK(factor("simt_f32_32x64x8", navi31, true, true) == 1);  // AMD's were not found to
    // of matrix units, by an edge
    CHECK(factor("coopmat_f16_128x256x32_mma8x16x16", b580, false, false) > 8);
    CHECK(factor("coopmat_f16_64x64x32_mma8x16x16", b580, true, true) == 1);
    CHECK(factor("coopmat_f16_128x128x32_mma8x8x16", a770, true, true) == 1);
}

TEST_CASE("registers: no choice spills, with and without workspace") {
    for (const DeviceCaps* caps : {&navi31, &gfx1201, &ampere, &adreno})
        for (const std::string& line : problem_lines()) {
            const Result<ProblemText> read = parse_problem(line);
            REQUIRE(read);
            const Result<Problem> full = complete(read->problem);
            if (!full) continue;
            for (const uint64_t workspace : {uint64_t{0}, uint64_t{1} << 30}) {
                Request request;
                request.workspace_limit = workspace;
                const auto choice = select(*caps, normalise(*full).problem, request);
                if (!choice || choice->kernel->module.is_mixed()) continue;
                CAPTURE(caps->name);
                CAPTURE(line);
                CAPTURE(std::string(choice->kernel->name));
                CHECK(!spills(*choice->kernel, choice->tile, *caps));
            }
        }
}

TEST_CASE("registers: a kernel that spills may be named") {
    Request request;
    request.kernel = "coopmat_f16_128x128x64";
    const Problem p = normalise(*complete(parse_problem("f16*f16 1024x1024x1024")->problem)).problem;
    CHECK(select(navi31, p, request));
}
