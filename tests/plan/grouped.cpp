// SPDX-License-Identifier: MIT
// Groups of a table and selected matrices: what a run must bring, how the list is made, what a run may change.
#include "plan/steps/grouped.h"

#include <doctest/doctest.h>

#include "plan/choice/select.h"
#include "plan/choice/tuned.h"
#include "plan/plan.h"
#include "plan/repeated.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

const DeviceCaps& h200() {
    static const DeviceCaps caps = device("h200");
    return caps;
}

Plan planned(const std::string& line, const Request& request = {}) {
    auto made = make_plan(DeviceKernels(h200()), parse_problem(line)->problem, request);
    REQUIRE_MESSAGE(bool(made), line, ": ", made.status().text);
    return *std::move(made);
}

Request forced(const char* kernel, const char* tile = "") {
    Request request;
    request.kernel = kernel;
    request.tile = tile;
    return request;
}

}  // namespace

TEST_CASE("grouped: a product that selects its B chooses from several, which a buffer has as many of as fit") {
    CHECK(completed_line("4x5x6 groups=selected").b.batchStride == 30);
    CHECK(completed_line("4x5x6").b.batchStride == 0);
    const Problem p = completed_line("4x5x6 groups=selected stride_b=32");
    CHECK((selectable(p, 119).matrices == 0 && selectable(p, 120).matrices == 1));
    CHECK((selectable(p, 120 + 127).matrices == 1 && selectable(p, 120 + 128).matrices == 2));
    CHECK(selectable(p, 120).apart == 128);
}

TEST_CASE("grouped: rows that several indices share are rounded up, and those of D are of all groups") {
    const Problem p = completed_line("f16*f16 31x64x8 batch=4 groups=indexed per_row=8 upto=m");
    CHECK(rows_of_a(p) == 4);
    const BySlot<Requirement> needs = requirements_of(p, 16);
    CHECK((needs[VKGEMM_SLOT_A].bytes == 2 * 4 * 8 && needs[VKGEMM_SLOT_D].bytes == 2 * 31 * 64));
    CHECK(needs[VKGEMM_SLOT_B].bytes == 2 * 4 * 8 * 64);
}

TEST_CASE("grouped: the list has a header and a place for each group, and knows where C is D") {
    for (const char* c : {"", " c=d"}) {
        const Plan p = planned(std::string("f16*f16 64x64x64 batch=5 groups=table upto=m") + c);
        CHECK(p.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes ==
              list_begin_bytes + 4 * (LIST_HEADER_WORDS + 5 * LISTED_WORDS));
        CHECK(((p.steps.steps[0].constants.TABLE_HAS & TABLE_C_IS_D) != 0) == (*c != 0));
    }
}

TEST_CASE("grouped: work groups without a list of their number are enough for any spread of rows") {
    const auto groups = [](const char* sizes, uint64_t batch) {
        const Plan p =
            planned("f16*f16 " + std::string(sizes) + "x64x64 groups=indexed upto=m batch=" + std::to_string(batch),
                    forced("tiled_f16_16x16"));
        return p.steps.steps[1].groups;
    };
    CHECK(groups("64", 5) == (5 + (64 - 5) / 16) * 4);  // each of five groups has a tile that is not whole
    CHECK(groups("3", 5) == 3 * 4);
    CHECK(groups("16", 1) == 4);
}

TEST_CASE("grouped: rows of single products do not decide, and a run keeps the order of tiles") {
    const TunedRows rows(tuned_for(h200(), *parse_tuned("H200 | f16*f16 64x64x64 batch=5 | tiled_f16_8x8 |")));
    Request request;
    request.tuned = &rows;
    const char* const line = "f16*f16 64x64x64 batch=5 groups=table upto=m";
    CHECK(planned(line, request).choice.kernel == planned(line).choice.kernel);

    const Plan p = planned("f16*f16 64x64x64 batch=5 groups=table upto=m", forced("tiled_f16_16x16", "RASTER=4"));
    CHECK(p.steps.steps[1].args.raster == 4);
    SizedSteps run;
    const Sizes sizes = {.m = 20, .n = 64, .k = 64, .batch = 5};
    set_grouped_run(run, p.steps, with_sizes(p.problem, sizes), h200(), 16);
    CHECK((run.steps[1].args.raster == 4 && run.steps[1].args.m == 20 && run.table->m == 20));
}

TEST_CASE("grouped: without list_tiles, plans that need it are refused, and others are made") {
    DeviceCaps caps = h200();
    caps.disabled = {{.kernel = std::string(DeviceKernels(h200()).lister()->name), .why = "D[0][0] is wrong"}};
    const DeviceKernels device(caps);
    const auto why = [&](const char* line, bool counts) {
        Request request;
        request.count_indices = counts;
        const auto made = make_plan(device, parse_problem(line)->problem, request);
        return made ? std::string() : made.status().text;
    };
    CHECK(has_words(why("f16*f16 64x64x64 batch=5 groups=table upto=m", false), "list_tiles", "disabled"));
    CHECK(has_words(why("f16*f16 4x64x64 batch=5 groups=selected", true), "list_tiles", "disabled"));
    CHECK(why("f16*f16 4x64x64 batch=5 groups=selected", false) == "");
}
