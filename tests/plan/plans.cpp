// SPDX-License-Identifier: MIT
// Whole plans: what make_plan() puts together of ranges of sizes, packed operands and slices.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "plan/plan.h"
#include "plan/problem/problem_text.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

constexpr uint64_t much = uint64_t{1} << 30;

const DeviceCaps& h200() {
    static const DeviceCaps caps = device("h200");
    return caps;
}

Plan planned(const std::string& line, const Request& request) {
    const auto read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    auto made = make_plan(DeviceKernels(h200()), read->problem, request);
    REQUIRE_MESSAGE(bool(made), line, ": ", made.status().text);
    return *std::move(made);
}

Request with_workspace() {
    Request request;
    request.workspace_limit = much;
    return request;
}

}  // namespace

TEST_CASE("plans: the workspace is the largest of all ranges of sizes, wherever that is") {
    int smaller = 0;
    for (const char* line :
         {"512x30000x1024 upto=m layout=nt", "4096x4096x4096 upto=m layout=nt", "f16*f16->f32 4096x256x8192 upto=m"}) {
        const Plan p = planned(line, with_workspace());
        uint64_t most = 0;
        for (const Bucket& b : p.buckets) most = std::max(most, b.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes);
        CAPTURE(line);
        CHECK(p.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes == most);
        smaller += p.buckets.back().steps.slots[VKGEMM_SLOT_WORKSPACE].bytes < most;
    }
    CHECK(smaller > 0);  // of the largest sizes
}

TEST_CASE("plans: all ranges of sizes read a packed operand in one layout") {
    const Plan a = planned("f16*f16 4096x512x4096 upto=n packed_a=any", with_workspace());
    const Plan b = planned("f16*f16 512x4096x4096 upto=m packed_b=any", with_workspace());
    REQUIRE((a.buckets.size() > 2 && b.buckets.size() > 2));
    for (const Bucket& x : a.buckets) CHECK(x.choice.schedule.a.key == a.buckets.back().choice.schedule.a.key);
    for (const Bucket& x : b.buckets) CHECK(x.choice.schedule.b.key == b.buckets.back().choice.schedule.b.key);
    CHECK((a.steps.packed_keys[VKGEMM_SLOT_A] != 0 && b.steps.packed_keys[VKGEMM_SLOT_B] != 0));
    const auto pack = plan_pack(b, VKGEMM_SLOT_B);  // which has one size
    REQUIRE(pack);
    CHECK((pack->problem.completed.upTo == 0 && pack->problem.given.upTo == 0));
}

TEST_CASE("plans: a limit of a dispatch's time cuts packing ahead too, and a measured time replaces the estimate") {
    Request request = with_workspace();
    request.dispatch_seconds = 1e-9;
    const Plan short_ones = planned("f16*f16 4096x4096x4096 packed_b=any", request);
    REQUIRE(short_ones.packs[VKGEMM_SLOT_B].steps.size() == 1);
    CHECK(short_ones.packs[VKGEMM_SLOT_B].steps[0].is_sliced());
    CHECK(short_ones.steps.steps.back().is_sliced());
    request = {};
    request.dispatch_seconds = 0.001;
    const auto dispatches = [&](double seconds) {
        request.run_seconds = seconds;
        const Plan p = planned("4096x4096x4096", request);
        return dispatch_count(p.steps.steps, p.steps.parts);
    };
    CHECK(dispatches(0.001) == 1);
    CHECK(dispatches(0.01) >= 10);
    CHECK(dispatches(0.01) < 20);
}

TEST_CASE("plans: operations are those of both levels of the batch") {
    CHECK(planned("4x5x6 batch=3 outer=2", {}).flops == 2.0 * 4 * 5 * 6 * 3 * 2);
}

TEST_CASE("plans: parts share the largest workspace") {
    const auto steps = [](const char* line) {
        Request request = with_workspace();
        request.kernel = "tiled_f32_8x8";
        request.tile = "SPLIT=4";
        return planned(line, request).steps;
    };
    for (const bool larger_first : {false, true}) {
        Steps all = steps(larger_first ? "64x64x256" : "8x8x256");
        add_part(all, steps(larger_first ? "8x8x256" : "64x64x256"));
        CHECK(all.slots[VKGEMM_SLOT_WORKSPACE].bytes == 4 * 4 * 64 * 64);
        CHECK(all.steps[2].waits);  // the first of the second part
    }
}

TEST_CASE("plans: a kernel that multiplies nothing cannot be asked for") {
    Request request;
    request.kernel = "pack_16_64x64";
    const auto why = unfit_request(h200(), request);
    REQUIRE(why);
    CHECK(why->code == VKGEMM_ERROR_UNSUPPORTED);
    request.kernel = "tiled_f32_8x8";
    CHECK(!unfit_request(h200(), request));
}

TEST_CASE("plans: a pair of few rows is one dispatch, with B2 in C's place and its bias in the residual's") {
    for (const char* types : {"f16*f16", "f32*q4_0", "f32*q4_k accuracy=mxint8"}) {
        std::string line = types;
        line.insert(std::min(line.find(" acc"), line.size()), " 1x14336x4096 layout=nt bias=col pair=silu");
        CAPTURE(line);
        const Plan p = planned(line, with_workspace());
        REQUIRE(p.steps.steps.size() == 1);
        const vkgemm::plan::Step& s = p.steps.steps[0];
        CHECK(s.kernel->module.family.name.starts_with("gemv"));
        CHECK((s.constants.PAIR == 1 && s.constants.STEP_1 == VKGEMM_STEP_GATE_SILU));
        CHECK((s.slots[BIND_B] == VKGEMM_SLOT_B && s.slots[BIND_C] == VKGEMM_SLOT_B2));
        CHECK((s.slots[BIND_BIAS] == VKGEMM_SLOT_BIAS && s.slots[BIND_RESIDUAL] == VKGEMM_SLOT_BIAS2));
        CHECK(p.steps.slots[VKGEMM_SLOT_B2].bytes == p.steps.slots[VKGEMM_SLOT_B].bytes);
        CHECK(p.steps.slots[VKGEMM_SLOT_BIAS2].bytes == p.steps.slots[VKGEMM_SLOT_BIAS].bytes);
        CHECK(p.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes == 0);
        CHECK(p.flops == 4.0 * 14336 * 4096);
    }
}

TEST_CASE("plans: a pair of many rows is two products with the gate in the workspace, and one dispatch without it") {
    const std::string line = "f16*f16 512x14336x4096 layout=nt bias=col pair=silu scale=row";
    const Plan two = planned(line, with_workspace());
    const uint64_t gate = uint64_t{512} * 14336 * 4;  // as f32
    REQUIRE(two.steps.steps.size() >= 2);
    const vkgemm::plan::Step &first = two.steps.steps.front(), &last = two.steps.steps.back();
    CHECK(two.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes >= gate);
    CHECK((two.steps.parts.size() == 2 && last.waits));
    CHECK((first.slots[BIND_B] == VKGEMM_SLOT_B2 && last.slots[BIND_B] == VKGEMM_SLOT_B));
    CHECK((first.slots[BIND_BIAS] == VKGEMM_SLOT_BIAS2 && last.slots[BIND_BIAS] == VKGEMM_SLOT_BIAS));
    CHECK((first.slots[BIND_D] == VKGEMM_SLOT_WORKSPACE && last.slots[BIND_RESIDUAL] == VKGEMM_SLOT_WORKSPACE));
    CHECK((first.offsets[BIND_D] == 0 && first.bytes[BIND_D] == gate && last.offsets[BIND_RESIDUAL] == 0));
    CHECK((first.constants.STEP_1 == 0 && last.constants.STEP_1 == VKGEMM_STEP_GATE_SILU));
    CHECK((last.constants.STEP_2 == VKGEMM_STEP_SCALE_ROW && last.constants.FORMAT_RESIDUAL == VKGEMM_TYPE_F32));
    CHECK((first.constants.PAIR == 0 && last.constants.PAIR == 0));
    for (const Requirement& r : {two.steps.slots[VKGEMM_SLOT_RESIDUAL], two.steps.slots[VKGEMM_SLOT_C]})
        CHECK(r.bytes == 0);
    Request none;
    const Plan one = planned(line, none);
    REQUIRE(one.steps.steps.size() == 1);
    CHECK((one.steps.steps[0].constants.PAIR == 1 && one.cost > two.cost));
    CHECK(planned(line + " invariant", with_workspace()).steps.steps.size() == 1);
}
