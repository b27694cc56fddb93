// SPDX-License-Identifier: MIT
// What a plan would gain from a workspace.
#include "plan/workspace_gain.h"

#include <doctest/doctest.h>

#include "plan/problem/problem_text.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem problem_of(const std::string& line) {
    const auto read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    return read->problem;
}

uint64_t workspace_of(const Plan& plan) { return plan.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes; }

}  // namespace

TEST_CASE("workspace: the gain is that of the plan which has it, and that plan gains no more") {
    size_t gains = 0;
    for (const char* device : {"h200", "lavapipe", "swiftshader"}) {
        const DeviceCaps caps = vkgemm::test::device(device);
        const DeviceKernels kernels(caps);
        for (const char* line : {"128x128x65536", "f16*f16 64x64x65536", "f16*f16 4095x4095x4095 layout=tn",
                                 "f16*q4_0->f32 64x96x256 layout=nt", "f16*f16 512x4096x4096 upto=m", "64x64x64"}) {
            CAPTURE(device);
            CAPTURE(line);
            Request request;
            const Problem p = problem_of(line);
            const auto without = make_plan(kernels, p, request);
            if (!without) continue;  // SwiftShader has no f16
            const auto gain = workspace_gain(kernels, *without, request);
            if (!gain) continue;
            ++gains;
            CHECK(gain->factor >= 1.1);
            request.workspace_limit = gain->bytes;
            const auto with = make_plan(kernels, p, request);
            REQUIRE(with);
            CHECK(with->choice.kernel == gain->kernel);
            CHECK(workspace_of(*with) == gain->bytes);
            CHECK(without->cost / with->cost == doctest::Approx(gain->factor));
            const auto more = workspace_gain(kernels, *with, request);
            CHECK((!more || more->factor * gain->factor > gain->factor));
            request.workspace_limit = largest_useful_workspace;
            CHECK(!workspace_gain(kernels, *make_plan(kernels, p, request), request));
        }
    }
    CHECK(gains >= 3);
}

TEST_CASE("workspace: products that are empty, small or batch-invariant, and packs, gain nothing") {
    const DeviceCaps caps = device("h200");
    const DeviceKernels kernels(caps);
    for (const char* line : {"0x8x8", "16x16x16", "4096x4096x4096", "128x128x65536 invariant"}) {
        CAPTURE(line);
        const auto plan = make_plan(kernels, problem_of(line), {});
        REQUIRE(plan);
        CHECK(!workspace_gain(kernels, *plan, {}));
    }
    const auto product = make_plan(kernels, problem_of("f16*f16 4096x4096x4096 packed_b=any"), {});
    REQUIRE(product);
    CHECK(!workspace_gain(kernels, *plan_pack(*product, VKGEMM_SLOT_B), {}));
}

TEST_CASE("workspace: in words") {
    const Kernel& kernel = kernels().front();
    CHECK(to_text(WorkspaceGain{.kernel = &kernel, .bytes = uint64_t{24} << 20, .factor = 2.13}) ==
          "a workspace of 25165824 bytes (24 MiB) allows " + std::string(kernel.name) + ": predicted 2.1 times faster");
    CHECK(to_text(WorkspaceGain{.kernel = &kernel, .bytes = 1537, .factor = 9.96}).find("(1.6 KiB)") !=
          std::string::npos);
    CHECK(to_text(WorkspaceGain{.kernel = &kernel, .bytes = 1537, .factor = 9.96}).ends_with("10 times faster"));
    CHECK(to_text(WorkspaceGain{.kernel = &kernel, .bytes = 1537, .factor = 9.96, .slices = 2})
              .find(std::string(kernel.name) + " with K in 2 slices: predicted") != std::string::npos);
}
