// SPDX-License-Identifier: MIT
// Time slices: plans whose dispatches may take so long only, recorded at once or dispatch by dispatch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "api/mock.h"
#include "support/random.h"
#include "vkgemm/elements.hpp"

using namespace vkgemm::test;

namespace {

/// A, B, bias, C and the workspace in one buffer, and D between guards.
constexpr VkDeviceSize place = 1 << 19, workspace_bytes = 2 * place;

/// Options for about `parts` dispatches of each pass.
VkgemmPlanOptions cut(double parts, const char* kernel, const char* tile = nullptr) {
    VkgemmPlanOptions o = options();
    o.kernel = kernel;
    o.tile = tile;
    o.workspaceLimit = workspace_bytes;
    o.dispatchSeconds = parts > 0 ? 0.01 : 0;
    o.runSeconds = 0.01 * parts;
    return o;
}
/// The same by addresses, if the device has them: between dispatches with descriptors there are barriers.
VkgemmPlanOptions cut_by_addresses(double parts, const char* kernel, const char* tile = nullptr) {
    VkgemmPlanOptions o = cut(parts, kernel, tile);
    if (buffer(16).address() != 0) o.operands = VKGEMM_OPERANDS_ADDRESSES;
    return o;
}
uint32_t dispatches(const OwnedPlan& plan, const VkgemmRun& run) {
    uint32_t n = 0;
    const VkgemmRun used = used_by(plan.handle, run);
    expect(said([&](VkgemmError* e) { return vkgemmCountDispatches(plan.handle, &used, &n, e); }), VKGEMM_SUCCESS, {});
    return n;
}

struct Memory {
    vkgemm::host::Buffer buffer = vkgemm::test::buffer(4 * place + workspace_bytes);
    vkgemm::Type type = vkgemm::f32;  // of all but the workspace
    float* floats_of(size_t slot) const { return reinterpret_cast<float*>(buffer.mapped().data() + slot * place); }
    VkgemmRun run(double beta) const {
        VkgemmRun r{};
        r.structSize = sizeof r;
        r.flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
        r.a = at(buffer);
        r.b = at(buffer, place);
        r.d = at(buffer, 2 * place + 1024);
        r.bias = at(buffer, 3 * place);
        r.workspace = at(buffer, 4 * place);
        r.alpha = 0.75;
        r.beta = beta;
        return r;
    }
    void fill(uint64_t seed) const {
        Random random(seed);
        for (const size_t slot : {size_t{0}, size_t{1}, size_t{2}, size_t{3}})
            for (size_t i = 0; i < place; i += vkgemm::bytesOf(type))
                vkgemm::encode(type, float(random.below(2000)) / 999.f - 1, buffer.mapped().data() + slot * place + i);
        for (size_t i = 0; i < workspace_bytes / 4; ++i) floats_of(4)[i] = std::numeric_limits<float>::quiet_NaN();
    }
    /// Whatever D's slot holds, its guards too.
    std::string d() const { return {reinterpret_cast<const char*>(floats_of(2)), place}; }
};

void submit(const std::function<VkgemmResult(VkCommandBuffer, VkgemmError*)>& record) {
    const auto submitted = device().submit([&](VkCommandBuffer commands) -> vkgemm::Status {
        expect(said([&](VkgemmError* e) { return record(commands, e); }), VKGEMM_SUCCESS, {});
        return {};
    });
    CHECK_MESSAGE(bool(submitted), submitted.text);
}

/// D after one call, or after a submission for each `step` dispatches.
std::string result(const OwnedPlan& plan, const Memory& memory, const VkgemmRun& run, uint32_t step = 0) {
    memory.fill(7);
    const VkgemmRun used = used_by(plan.handle, run);
    if (step == 0) submit([&](VkCommandBuffer c, VkgemmError* e) { return vkgemmRecord(plan.handle, c, &used, e); });
    const uint32_t all = dispatches(plan, run);
    for (uint32_t first = 0; step && first < all; first += step)
        submit([&](VkCommandBuffer c, VkgemmError* e) {
            return vkgemmRecordDispatches(plan.handle, c, &used, first, step, e);
        });
    return memory.d();
}

// What a mocked driver was told: "barrier", "whole XxY", "Y0+Y of X".
std::vector<std::string> commands;
VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer, uint32_t x, uint32_t y, uint32_t) {
    commands.push_back("whole " + std::to_string(x) + "x" + std::to_string(y));
}
VKAPI_ATTR void VKAPI_CALL dispatch_base(VkCommandBuffer, uint32_t x0, uint32_t y0, uint32_t z0, uint32_t x, uint32_t y,
                                         uint32_t z) {
    CHECK((x0 == 0 && z0 == 0 && z == 1));
    commands.push_back(std::to_string(y0) + "+" + std::to_string(y) + " of " + std::to_string(x));
}
VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags,
                                   uint32_t, const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t,
                                   const VkImageMemoryBarrier*) {
    commands.push_back("barrier");
}
std::vector<std::string> specialized;  // the constants of each pipeline that was compiled
VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice d, VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* a,
                                       VkPipeline* out) {
    const VkSpecializationInfo& constants = *infos->stage.pSpecializationInfo;
    specialized.emplace_back(static_cast<const char*>(constants.pData), constants.dataSize);
    return device_command<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(d, cache, count, infos, a, out);
}

std::vector<Mocked> driver = with_idle_commands({mocked("vkCmdDispatchBase", dispatch_base),
                                                 mocked("vkCmdDispatch", dispatch),
                                                 mocked("vkCmdPipelineBarrier", barrier),
                                                 {"vkCmdBeginDebugUtilsLabel", nullptr},
                                                 {"vkCmdEndDebugUtilsLabel", nullptr},
                                                 mocked("vkCreateComputePipelines", compile)});
void make_mocked(OwnedContext& c) {
    const VkgemmContextInfo info = mocked_context_info<driver>();
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
}

const auto some_commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});

}  // namespace

TEST_CASE("sliced products have the same bits, in one submission or in many") {
    const struct {
        const char *problem, *kernel, *tile;
        double beta;
    } rows[] = {
        {"203x117x129 layout=nt", "naive_f32_8x8", "", 0},
        {"203x117x129 batch=3 bias=col c=d", "tiled_f32_8x8", "", 0.5},
        {"203x117x129 batch=2 layout=tn", "tiled_f32_8x8", "RASTER=4", 0},
        {"61x57x1029 bias=row act=relu c=d", "tiled_f32_8x8", "SPLIT=3,PACK=4", -1},
        {"203x117x129", "vec4_f32_64x64", "", 0},
        {"33x517x129 layout=nt c=d", "cpu_f32_2x32", "", 2},
        {"203x317x129 bias=col c=d", "simt_f32_64x64x16", "", 0.5},
        {"61x57x1029 layout=nt", "simt_f32_32x32x16", "SPLIT=3,PACK=4", 0},
        {"8x900x132 layout=nt bias=col c=d", "gemv_f32_8x32", "", 0.5},
        {"4x124x1028", "gemv_f32_8x32", "SPLIT=3", 0},
        {"f16*f16 203x117x129 bias=row act=relu c=d", "coopmat_f16_16x16x64_mma8", "", 0.5},
        {"f16*f16 203x117x129 layout=nt", "coopmat_packed_f16_16x16x64_mma8", "", 0},
    };
    Memory memory;
    for (const auto& row : rows) {
        CAPTURE(std::string(row.problem));
        CAPTURE(std::string(row.kernel));
        memory.type = std::string_view(row.problem).starts_with("f16") ? vkgemm::f16 : vkgemm::f32;
        if (memory.type == vkgemm::f16 && !device().context().checkKernel({.kernel = row.kernel}, nullptr))
            continue;  // its matrices are a CPU driver's
        OwnedPlan whole;
        plan_for(whole, row.problem, cut(0, row.kernel, row.tile));
        const VkgemmRun run = memory.run(row.beta);
        const std::string expected = result(whole, memory, run);
        memory.fill(7);
        CHECK(memory.d() != expected);
        for (const double parts : {2.0, 5.0, 40.0}) {
            CAPTURE(parts);
            OwnedPlan sliced;
            plan_for(sliced, row.problem, cut(parts, row.kernel, row.tile));
            CHECK(dispatches(sliced, run) > dispatches(whole, run));
            CHECK(info_of(sliced.handle).dispatchCount == dispatches(sliced, run));
            CHECK(result(sliced, memory, run) == expected);
            CHECK(result(sliced, memory, run, 3) == expected);
            if (parts == 2) CHECK(result(sliced, memory, run, 1) == expected);
        }
    }
}

TEST_CASE("sliced products of a batch whose levels take several dispatches") {
    const Memory memory;
    const char* const line = "41x57x129 batch=4 outer=3 outer_stride_b=0 bias=row c=d";
    for (const char* tile : {"SPLIT=1", "SPLIT=3"}) {
        const bool split = std::string_view(tile) == "SPLIT=3";
        OwnedPlan whole, sliced;
        plan_for(whole, line, cut(0, "tiled_f32_8x8", tile));
        plan_for(sliced, line, cut(12, "tiled_f32_8x8", tile));
        const VkgemmRun run = memory.run(0.5);
        const uint32_t passes = split ? 2 : 1;
        CHECK(dispatches(whole, run) == 3 * passes);
        CHECK(dispatches(sliced, run) > 2 * dispatches(whole, run));
        CHECK(info_of(sliced.handle).dispatchCount == dispatches(sliced, run));
        const std::string expected = result(whole, memory, run);
        for (const uint32_t step : {0u, 1u, 5u}) CHECK(result(sliced, memory, run, step) == expected);
        CHECK(result(whole, memory, run, 1) == expected);
        OwnedContext c;
        make_mocked(c);
        OwnedPlan mocked;
        plan_for(mocked, line, cut(0, "tiled_f32_8x8", tile), c.handle);
        commands.clear();
        REQUIRE(vkgemmRecord(mocked.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
        // Repetitions that share a workspace wait for each other; the run has a barrier before and one after.
        CHECK(std::ranges::count(commands, "barrier") == 2 + (split ? 5 : 0));
    }
}

TEST_CASE("sliced products of sizes that vary, and sliced packing ahead") {
    const Memory memory;
    OwnedPlan whole, sliced;
    const char* const line = "203x117x129 upto=mk lda=129 layout=nt ldb=129";
    plan_for(whole, line, cut(0, "tiled_f32_8x8"));
    plan_for(sliced, line, cut(8, "tiled_f32_8x8"));
    VkgemmRun run = memory.run(0);
    uint32_t most = 0;
    for (const uint64_t m : {uint64_t{203}, uint64_t{101}, uint64_t{7}, uint64_t{0}}) {
        run.flags |= VKGEMM_RECORD_SIZES;
        run.m = m;
        run.n = 117;
        run.k = m / 2;
        run.batch = 1;
        CAPTURE(m);
        if (m == 203) most = dispatches(sliced, run);
        CHECK(dispatches(sliced, run) <= most);
        CHECK((dispatches(sliced, run) == 0) == (m == 0));
        CHECK(result(sliced, memory, run) == result(whole, memory, run));
        CHECK(result(sliced, memory, run, 2) == result(whole, memory, run));
    }
    CHECK(most >= 4);

    VkgemmProblem p = problem("64x117x129");
    p.packedB = VKGEMM_PACKED_ANY;
    OwnedPlan product, pack, sliced_product, sliced_pack;
    REQUIRE(make_plan(product, p, cut(0, "tiled_f32_8x8", "PACK=3")).code == VKGEMM_SUCCESS);
    REQUIRE(make_plan(sliced_product, p, cut(4, "tiled_f32_8x8", "PACK=3")).code == VKGEMM_SUCCESS);
    REQUIRE(vkgemmCreatePack(product.handle, VKGEMM_SLOT_B, &pack.handle, nullptr) == VKGEMM_SUCCESS);
    REQUIRE(vkgemmCreatePack(sliced_product.handle, VKGEMM_SLOT_B, &sliced_pack.handle, nullptr) == VKGEMM_SUCCESS);
    VkgemmRun once = memory.run(0);
    once.alpha = 1;
    CHECK(dispatches(sliced_pack, once) > 1);
    CHECK(result(sliced_pack, memory, once, 1) == result(pack, memory, once));
}

TEST_CASE("the dispatches of a pass follow one another, with barriers where passes and runs meet") {
    OwnedContext c;
    make_mocked(c);
    OwnedPlan plan;
    plan_for(plan, "80x80x1000", cut_by_addresses(4, "tiled_f32_8x8", "SPLIT=2"), c.handle);
    const auto memory = buffer(1 << 22);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
    run.a = at(memory);
    run.b = at(memory, 1 << 19);
    run.d = at(memory, 1 << 20);
    run.workspace = at(memory, 1 << 21);
    commands.clear();
    REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
    const std::vector<std::string> all = commands;
    const std::vector<std::string> product = {"barrier",   "0+1 of 50", "1+1 of 50",
                                              "2+1 of 50", "3+1 of 50", "barrier"};  // 10 x 10 tiles, 2 slices of K
    REQUIRE(all.size() > product.size());
    CHECK(std::vector(all.begin(), all.begin() + 6) == product);
    CHECK(all.back() == "barrier");
    const uint32_t count = dispatches(plan, run);
    CHECK(all.size() == count + 3);
    std::vector<std::string> in_parts;
    for (uint32_t first = 0; first < count; ++first) {
        commands.clear();
        REQUIRE(vkgemmRecordDispatches(plan.handle, some_commands, &run, first, 1, nullptr) == VKGEMM_SUCCESS);
        in_parts.insert(in_parts.end(), commands.begin(), commands.end());
    }
    CHECK(in_parts == all);
    commands.clear();
    REQUIRE(vkgemmRecordDispatches(plan.handle, some_commands, &run, 3, UINT32_MAX, nullptr) == VKGEMM_SUCCESS);
    CHECK(commands == std::vector(all.begin() + 4, all.end()));
    commands.clear();
    REQUIRE(vkgemmRecordDispatches(plan.handle, some_commands, &run, 0, 0, nullptr) == VKGEMM_SUCCESS);
    CHECK(commands.empty());
    expect(said([&](VkgemmError* e) { return vkgemmRecordDispatches(plan.handle, some_commands, &run, count, 1, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"first is " + std::to_string(count), std::to_string(count) + " dispatches"});
    expect(said([&](VkgemmError* e) { return vkgemmCountDispatches(plan.handle, &run, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"count is null"});

    const auto explained = device().context().explain({.m = 80, .n = 80, .k = 1000});
    CHECK(bool(explained));
    const VkgemmPlanOptions o = cut_by_addresses(4, "tiled_f32_8x8", "SPLIT=2");
    const VkgemmProblem p = problem("80x80x1000");
    OwnedExplanation why;
    REQUIRE(vkgemmCreateExplanation(c.handle, &p, &o, &why.handle, nullptr) == VKGEMM_SUCCESS);
    VkgemmExplanationInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetExplanationInfo(why.handle, &info) == VKGEMM_SUCCESS);
    CHECK(info.dispatchCount == count);
}

TEST_CASE("dispatches of several rows of work groups end with the grid") {
    OwnedContext c;
    make_mocked(c);
    OwnedPlan plan;
    // 327,500 groups, up to 65,535 to a row; nothing runs
    plan_for(plan, "5240x4000x8", cut_by_addresses(2, "tiled_f32_8x8"), c.handle);
    const auto memory = buffer(4096);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a = at(memory);
    run.b = at(memory, 1 << 20);
    run.d = at(memory, 2 << 20);
    if (info_of(plan.handle).usesAddresses && memory.address() == 0) return;
    commands.clear();
    REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
    REQUIRE(commands.size() >= 2);
    uint64_t rows = 0, across = 0;
    for (const std::string& line : commands) {
        REQUIRE(line.find(" of ") != std::string::npos);
        CHECK(std::stoull(line) == rows);
        rows += std::stoull(line.substr(line.find('+') + 1));
        across = std::stoull(line.substr(line.find(" of ") + 4));
    }
    CHECK(rows * across >= 327500);
    CHECK((rows - 1) * across < 327500);
}

TEST_CASE("times that make no sense, and how few dispatches are enough") {
    OwnedPlan plan;
    VkgemmPlanOptions o = cut(0, "tiled_f32_8x8");
    o.flags = VKGEMM_PLAN_DRY;
    for (const double x : {-1.0, std::nan(""), double(INFINITY)})
        for (double VkgemmPlanOptions::*field : {&VkgemmPlanOptions::dispatchSeconds, &VkgemmPlanOptions::runSeconds}) {
            VkgemmPlanOptions wrong = o;
            wrong.*field = x;
            expect(make_plan(plan, problem("80x80x8"), wrong), VKGEMM_ERROR_INVALID_ARGUMENT,
                   {field == &VkgemmPlanOptions::runSeconds ? "runSeconds" : "dispatchSeconds", "in seconds"});
        }
    const auto count = [&](double dispatch, double run, const char* line = "80x80x8") {
        OwnedPlan p;
        o.dispatchSeconds = dispatch;
        o.runSeconds = run;
        plan_for(p, line, o);
        return info_of(p.handle).dispatchCount;
    };
    CHECK(count(0, 1) == 1);
    CHECK(count(1, 1) == 1);
    CHECK(count(1, 1.01) == 2);
    CHECK(count(0.125, 1) == 8);
    CHECK(count(1e-30, 1) == 100);                 // one work group each
    CHECK(count(1e-30, 1, "8000x800x8") == 4000);  // 100,000 work groups, at most 4096 dispatches
    CHECK(count(1, 0) == 1);                       // estimated
    CHECK(count(1e-9, 0) == 100);
    CHECK(count(1e-9, 0, "0x80x8") == 0);

    const PFN_vkVoidFunction base = std::exchange(driver[0].function, nullptr);
    OwnedContext c;
    make_mocked(c);
    driver[0].function = base;
    o.dispatchSeconds = 1;
    expect(make_plan(plan, problem("80x80x8"), o, c.handle), VKGEMM_ERROR_MISSING_FUNCTION, {"vkCmdDispatchBase"});
}

// A driver may find compiled code by the shader and the constants, and ignore the pipeline's flags.
TEST_CASE("pipelines that differ in flags differ in constants") {
    OwnedContext c;  // destroyed after its plans
    make_mocked(c);
    OwnedPlan whole, sliced;
    specialized.clear();
    plan_for(whole, "80x80x8", cut(0, "naive_f32_8x8"), c.handle);
    plan_for(sliced, "80x80x8", cut(4, "naive_f32_8x8"), c.handle);
    REQUIRE(specialized.size() == 2);
    CHECK(specialized[0] != specialized[1]);
}

TEST_CASE("pipelines of sliced passes have keys of their own") {
    OwnedContext c;  // destroyed after its plans
    OwnedPlan whole, sliced, again;
    plan_for(whole, "80x80x8 layout=nt", cut(0, "naive_f32_8x8"));
    VkgemmPlanOptions o = cut(4, "naive_f32_8x8");
    o.flags = VKGEMM_PLAN_DRY;
    const VkgemmContextInfo info = context_info();
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    plan_for(sliced, "80x80x8 layout=nt", o, c.handle);
    const auto keys = [](VkgemmPlan plan) {
        char text[400];
        size_t size = sizeof text;
        REQUIRE(vkgemmGetPlanKeys(plan, text, &size) == VKGEMM_SUCCESS);
        return std::string(text);
    };
    CHECK(has_words(keys(sliced.handle), "DISPATCH_BASE=1"));
    CHECK(!has_words(keys(whole.handle), "DISPATCH_BASE"));
    REQUIRE(vkgemmCompilePipelines(c.handle, keys(sliced.handle).c_str(), nullptr) == VKGEMM_SUCCESS);
    o.flags = VKGEMM_PLAN_FAIL_ON_COMPILE;
    plan_for(again, "80x80x8 layout=nt", o, c.handle);
    const auto mixed = device().context().createPlan(
        {.m = 80, .n = 80, .k = 8},
        {.kernel = "naive_f32_8x8", .flags = VKGEMM_PLAN_DRY, .dispatchSeconds = 1, .runSeconds = 3});
    REQUIRE(mixed);
    CHECK(mixed->info().dispatchCount == 3);

    OwnedPlan ranges, sliced_ranges;  // of which the largest are sliced, with the constants of smaller ones
    o.flags = VKGEMM_PLAN_DRY;
    const char* tall = "65536x80x8 upto=m layout=nt";  // on any device a few of its rows take less time than all
    plan_for(sliced_ranges, tall, o);
    o.dispatchSeconds = 0;
    plan_for(ranges, tall, o);
    CHECK(info_of(sliced_ranges.handle).pipelineCount > info_of(ranges.handle).pipelineCount);
}
