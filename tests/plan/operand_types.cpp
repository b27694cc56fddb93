// SPDX-License-Identifier: MIT
// Operands of the epilogue with types of their own, and sums of whole numbers with a D of another type: which kernels
// serve, what the shaders are told, and what a run must bring. Scalars in memory.
#include <doctest/doctest.h>

#include <bit>

#include "plan/problem/problem_text.h"
#include "plan/steps/steps.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem completed(std::string_view line) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), read.status().text);
    const Result<Problem> p = complete(read->problem);
    REQUIRE_MESSAGE(bool(p), std::string(line), ": ", p.status().text);
    return *p;
}

Steps steps_of(const DeviceCaps& dev, std::string_view line, uint64_t workspace = 0) {
    const Problem p = completed(line);
    const Normalised n = normalise(p);
    Request request;
    request.workspace_limit = workspace;
    const Result<Choice> choice = select(dev, n.problem, request);
    REQUIRE_MESSAGE(bool(choice), choice.status().text);
    return make_steps(*choice, p, n, dev, request);
}

std::string refusal(const DeviceCaps& dev, std::string_view line) {
    const Result<Choice> choice = select(dev, normalise(completed(line)).problem, {});
    return choice ? "" : choice.status().text;
}

}  // namespace

TEST_CASE("types of the epilogue's operands have defaults") {
    const Problem f = completed("f16*f16 8x8x8 bias=col scale=row residual");
    CHECK((f.biasType == f16 && f.scaleType == f16 && f.residualType == f16 && f.c.type == f16));
    CHECK(finished_in(f) == f32);
    const Problem i = completed("i8*i8->i8 8x8x8 bias=col scale=row residual act=gelu");
    CHECK((i.biasType == f32 && i.scaleType == f32 && i.residualType == i8 && i.c.type == i8));
    CHECK((is_scaled(i) && finished_in(i) == f32));
    const Problem w = completed("i8*i8 8x8x8 bias=col");
    CHECK((!is_scaled(w) && finished_in(w) == i32 && w.biasType == i32));
}

TEST_CASE("the shader is told of a type that is not D's, and of no other") {
    const DeviceCaps h200 = device("h200");
    const char* const line =
        "f16*f16 512x512x512 beta=1 c=separate c_type=f32 bias=col bias_type=bf16 residual scale=all";
    const ProblemConstants c = steps_of(h200, line).steps.back().constants;
    CHECK((c.FORMAT_C == f32 && c.FORMAT_BIAS == bf16 && c.FORMAT_SCALE == 0 && c.FORMAT_RESIDUAL == 0));
    CHECK((c.FORMAT_D == 0 && c.SLOPE == 0));
    const Steps plain = steps_of(h200, "f16*f16 512x512x512 beta=1 bias=col bias_type=f16 leaky=0.25");
    CHECK((plain.steps.back().constants.FORMAT_C == 0 && plain.steps.back().constants.FORMAT_BIAS == 0));
    CHECK(std::bit_cast<float>(plain.steps.back().constants.SLOPE) == 0.25f);
}

TEST_CASE("a kernel serves whatever types its epilogue reads; sums of i8 take D's of four types") {
    for (const char* const name : {"h200", "lavapipe"})
        for (const char* const d : {"f32", "f16", "bf16", "i8"}) {
            const std::string line = std::string("i8*i8->") + d + " 512x512x512 bias=col bias_type=i32 scale=col";
            const Steps steps = steps_of(device(name), line);
            CHECK(steps.steps.back().kernel->module.d == scaled);
            CHECK(steps.steps.back().constants.FORMAT_D == static_cast<uint32_t>(*find_type(d)));
            CHECK(steps.steps.back().constants.FORMAT_BIAS == VKGEMM_TYPE_I32);
        }
    CHECK(steps_of(device("swiftshader"), "64x64x64 bias=col bias_type=f16").steps.size() == 1);
    CHECK(has_words(refusal(device("swiftshader"), "i8*i8->f32 64x64x64"), "storage8", "storage16"));
    CHECK(has_words(refusal(device("h200"), "u8*u8->f32 64x64x64"), "u8*u8+i32->f32", "i8*i8+i32->f32|f16|bf16|i8"));
}

TEST_CASE("slices of a scaled product are whole numbers, and the last pass does the rest") {
    const Steps steps = steps_of(device("h200"), "i8*i8->f16 64x64x65536 scale=all", 1 << 28);
    REQUIRE(steps.steps.size() == 2);
    const Step &product = steps.steps[0], &reduce = steps.steps[1];
    CHECK((product.constants.PARTIAL == 1 && product.constants.FORMAT_D == 0 && product.constants.FORMAT_SCALE == 0));
    CHECK((reduce.constants.FORMAT_D == f16 && reduce.constants.FORMAT_SCALE == f16));
    CHECK(reduce.kernel->module.family.name == "reduce_k");
    CHECK(counted_in(product)[BIND_D] == 4);
    CHECK((counted_in(reduce)[BIND_D] == 2 && counted_in(reduce)[BIND_A] == 4));
}

TEST_CASE("what a run must bring: bytes of its type, in words of four where it is read in words") {
    const auto need = [](std::string_view line, VkgemmSlot slot) { return requirements_of(completed(line), 16)[slot]; };
    CHECK(need("f16*f16 8x7x8 bias=col bias_type=f32", VKGEMM_SLOT_BIAS).bytes == 28);
    CHECK(need("f16*f16 8x7x8 bias=col", VKGEMM_SLOT_BIAS).bytes == 14);
    CHECK(need("f16*f16 8x7x8 bias=col", VKGEMM_SLOT_BIAS).alignment == 2);
    CHECK(need("f32*f32 8x7x8 bias=col bias_type=f16", VKGEMM_SLOT_BIAS).bytes == 16);
    CHECK(need("f32*f32 8x7x8 bias=col bias_type=f16", VKGEMM_SLOT_BIAS).alignment == 4);
    CHECK(need("f32*f32 3x7x8 residual residual_type=bf16", VKGEMM_SLOT_RESIDUAL).bytes == 44);
    CHECK(need("f16*f16 3x7x8 c=separate c_type=f32", VKGEMM_SLOT_C).bytes == 84);
    CHECK(need("i8*i8->i8 3x7x8 residual", VKGEMM_SLOT_RESIDUAL).bytes == 21);
    CHECK(need("i8*i8->i8 3x7x8 scale=row", VKGEMM_SLOT_SCALE).bytes == 12);
    // An A of mixed types may begin within a word, and its last element end in another one.
    for (const auto& [alignment, bytes] : {std::pair{1u, 26u}, {2u, 26u}, {4u, 24u}, {16u, 24u}})
        CHECK(requirements_of(completed("f16*f32->f32 1x7x11"), alignment)[VKGEMM_SLOT_A].bytes == bytes);
}

TEST_CASE("what a run must bring of 16 bits beside whole sums: elements, for no kernel reads them in words") {
    constexpr const char* line =
        "i8*i8->f32 3x7x8 bias=col bias_type=f16 scale=row scale_type=bf16 residual "
        "residual_type=f16 c=separate c_type=bf16";
    const BySlot<Requirement> needs = requirements_of(completed(line), 1);
    const std::pair<VkgemmSlot, uint64_t> bytes[] = {
        {VKGEMM_SLOT_BIAS, 14}, {VKGEMM_SLOT_SCALE, 6}, {VKGEMM_SLOT_RESIDUAL, 42}, {VKGEMM_SLOT_C, 42}};
    for (const auto& wanted : bytes) {
        const Requirement& need = needs[wanted.first];
        CAPTURE(wanted.first);
        CHECK(need.bytes == wanted.second);
        CHECK(need.alignment == 2);
    }
    CHECK(requirements_of(completed("i8*i8->f32 3x7x8 scale=all scale_type=f16"), 1)[VKGEMM_SLOT_SCALE].bytes == 2);
}

TEST_CASE("scalars in memory are an operand of the pass that finishes D, by address") {
    DeviceCaps h200 = device("h200");
    const Steps steps = steps_of(h200, "f16*f16 64x64x65536 c=d clamp=0:1 scalars=alpha,beta,clamp,monitor", 1 << 28);
    CHECK(steps.binding == Binding::addresses);
    REQUIRE(steps.steps.size() == 2);
    CHECK((steps.steps[0].constants.SCALARS == 0 && steps.steps[1].constants.SCALARS == 15));
    const Requirement& brings = steps.slots[VKGEMM_SLOT_SCALARS];
    CHECK((brings.bytes == 24 && brings.alignment == 4 && brings.reads && brings.writes));
    CHECK(steps_of(h200, "f16*f16 64x64x64").binding == Binding::descriptors);
    const Steps read = steps_of(h200, "f16*f16 64x64x64 scalars=alpha");
    CHECK((read.binding == Binding::addresses && !read.slots[VKGEMM_SLOT_SCALARS].writes));
    h200.features &= ~need::buffer_address;
    CHECK(has_words(refusal(h200, "64x64x64 scalars=monitor"), "scalars in memory", "bufferDeviceAddress"));
}
