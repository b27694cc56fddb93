// SPDX-License-Identifier: MIT
// The explanation of a choice as data: complete, and the text is printed from it.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/device.h"
#include "support/string_util.h"
#include "vkgemm/vkgemm.hpp"

using namespace vkgemm;
using test::device;
using test::has_words;

namespace {

Explanation explained(const char* line, const PlanOptions& options = {}) {
    auto e = Explanation::create(device().context(), parseProblem(line)->problem, options);
    REQUIRE_MESSAGE(bool(e), e.status().text);
    return *std::move(e);
}

}  // namespace

TEST_CASE("explanation: one candidate for each kernel, the chosen one as the plan has it") {
    const char* line = "100x80x30000";
    const PlanOptions options{.flags = VKGEMM_PLAN_DRY, .workspaceLimit = 64 << 20};
    const Explanation e = explained(line, options);
    const VkgemmExplanationInfo info = e.info();
    const auto plan = device().context().createPlan(parseProblem(line)->problem, options);
    REQUIRE(plan);
    CHECK(info.result == VKGEMM_SUCCESS);
    CHECK(info.candidateCount == vkgemmKernelCount());
    REQUIRE(info.chosen < info.candidateCount);
    const auto all = e.candidates();
    const VkgemmCandidate& chosen = all[info.chosen];
    CHECK(chosen.state == VKGEMM_CANDIDATE_CHOSEN);
    CHECK(std::string(chosen.kernel) == plan->info().kernel);
    CHECK(std::string(chosen.tile) == plan->info().tile);
    CHECK(chosen.cost == plan->info().predictedCost);
    CHECK(info.workspaceBytes == plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    CHECK(chosen.workspaceBytes == info.workspaceBytes);
    CHECK(info.usesAddresses == plan->info().usesAddresses);
    CHECK(info.dispatchCount == plan->info().dispatchCount);
    REQUIRE(!e.dispatches().empty());
    for (const VkgemmDispatch& d : e.dispatches()) CHECK((d.groupsX > 0 && d.invocations > 0 && d.slots != 0));
    CHECK(std::ranges::count(all, VKGEMM_CANDIDATE_CHOSEN, &VkgemmCandidate::state) == 1);
    for (const VkgemmCandidate& c : all) {
        CAPTURE(std::string(c.kernel));
        CHECK((c.reason == VKGEMM_SUCCESS) == (c.state <= VKGEMM_CANDIDATE_SERVES));
        CHECK((c.reason == VKGEMM_SUCCESS) == (*c.reasonText == '\0'));
        CHECK((c.slices > 0) == (c.reason == VKGEMM_SUCCESS));
        if (c.state == VKGEMM_CANDIDATE_SERVES && !*info.tunedRow) CHECK(c.cost >= chosen.cost);
    }
}

TEST_CASE("explanation: its text has every candidate and every dispatch") {
    const Explanation e = explained("64x64x64");
    const auto text = device().context().explain(parseProblem("64x64x64")->problem);
    REQUIRE(text);
    for (const VkgemmCandidate& c : e.candidates()) CHECK(text->find(c.kernel) != std::string::npos);
    for (const VkgemmDispatch& d : e.dispatches())
        CHECK(text->find("dispatch   " + std::string(d.kernel)) != std::string::npos);
    CHECK(text->find("not        tiled_i32_8x8: ") != std::string::npos);
}

TEST_CASE("explanation: what nothing serves has the refusal, what is empty has neither") {
    const Explanation none = explained("64x64x64", {.kernel = "tiled_i32_8x8"});
    CHECK(none.info().result == VKGEMM_ERROR_UNSUPPORTED);
    CHECK(has_words(none.info().resultText, "tiled_i32_8x8"));
    CHECK(none.info().chosen == UINT32_MAX);
    CHECK(none.dispatches().empty());
    CHECK(none.candidates().size() == vkgemmKernelCount());
    CHECK(std::ranges::any_of(none.candidates(), [](const VkgemmCandidate& c) {
        return std::string_view(c.kernel) == "tiled_i32_8x8" && c.otherTypes;
    }));
    const Explanation empty = explained("0x64x64");
    CHECK(empty.info().isEmpty == 1);
    CHECK(empty.info().result == VKGEMM_SUCCESS);
    CHECK(empty.candidates().empty());
    CHECK(!Explanation::create(device().context(), parseProblem("64x64x64")->problem, {.kernel = "no_such"}));
}

TEST_CASE("rows: of tuned rows the nearest is found, of disabled kernels the reason is kept") {
    const auto rows =
        Rows::tuned("# head\nGPU | 64x64x64 | tiled_f32_8x8 | SPLIT=1\nGPU | 128x64x64 | block_f32_64x64 |\n");
    REQUIRE_MESSAGE(bool(rows), rows.status().text);
    REQUIRE(rows->all().size() == 2);
    CHECK(std::string(rows->all()[0].device) == "GPU");
    CHECK(std::string(rows->all()[0].tile) == "SPLIT=1");
    CHECK(rows->has(parseProblem("64x64x64")->problem));
    CHECK(!rows->has(parseProblem("72x64x64")->problem));
    CHECK(has_words(Rows::tuned("a | b\n").status().text, "line 1"));
    const auto disabled = Rows::disabledKernels("GPU | tiled_f32_8x8 | 8x8x8: D[0][0] is 1\n");
    REQUIRE(disabled);
    CHECK(std::string(disabled->all()[0].reason) == "8x8x8: D[0][0] is 1");
    CHECK(std::string(disabled->all()[0].kernel) == "tiled_f32_8x8");
}

TEST_CASE("what is known of types, problems and kernels is data") {
    CHECK(std::string(typeInfo(bf16).name) == "bf16");
    CHECK((typeInfo(bf16).exactBits == 8 && typeInfo(f64).bytes == 8 && !typeInfo(i8).isFloat));
    VkgemmTypeInfo info{};
    info.structSize = sizeof info;
    CHECK(vkgemmGetTypeInfo(VKGEMM_TYPE_DEFAULT, &info) == VKGEMM_ERROR_INVALID_ARGUMENT);
    info.structSize = 3;
    CHECK(vkgemmGetTypeInfo(f32, &info) == VKGEMM_ERROR_INVALID_ARGUMENT);
    const auto p = completeProblem(parseProblem("f16*f16 3x5x7 batch=2 layout=nt stride_b=0")->problem);
    REQUIRE(p);
    CHECK((p->accumulate == f32 && p->d.type == f16 && p->a.ld == 7 && p->b.ld == 7));
    CHECK((p->a.batchStride == 21 && p->b.batchStride == broadcast && p->d.batchStride == 15));
    double alpha = 1e-60, beta = 0;
    CHECK(convertFactors(parseProblem("8x8x8")->problem, alpha, beta).code == VKGEMM_ERROR_INVALID_ARGUMENT);
    alpha = 0.1;
    CHECK(convertFactors(parseProblem("8x8x8")->problem, alpha, beta));
    CHECK(alpha == double(0.1f));
    beta = 1;
    CHECK(convertFactors(parseProblem("8x8x8")->problem, alpha, beta).code == VKGEMM_ERROR_INVALID_PROBLEM);
    for (uint32_t i = 0; i < vkgemmKernelCount(); ++i) {
        const auto traits = kernelTraits(i);
        REQUIRE(traits);
        CHECK((traits->role == VKGEMM_KERNEL_PRODUCT) == !kernels()[i].helper);
        CHECK(tileConstants(i)->size() == traits->constantCount);
        CHECK(std::string((*tileConstants(i))[0].name) == "WG");
        CHECK((*tileConstants(i))[0].value > 0);
    }
    CHECK(!kernelTraits(vkgemmKernelCount()));
    const DeviceCaps caps = deviceCaps(device().context());
    CHECK((caps.limits.maxInvocations > 0 && caps.limits.maxStorageRange > 0));
    CHECK(caps.matrixShapes.size() == caps.limits.matrixShapeCount);
}
