// SPDX-License-Identifier: MIT
// What a run reads and writes, in the words of synchronization2; the workspace of many problems; labels for debuggers.
#include <map>

#include "api/mock.h"

using namespace vkgemm::test;

namespace {

constexpr VkAccessFlags2 reads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT, writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;

/// A run with an operand of 4 KiB in each slot that the plan uses, so that places differ.
VkgemmRun run_in(const OwnedPlan& plan, const vkgemm::host::Buffer& memory, double alpha = 1, double beta = 0) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    VkDeviceSize at = 4096;
    for (VkgemmOperand* x : {&r.a, &r.b, &r.c, &r.d, &r.bias, &r.scale, &r.residual, &r.workspace}) {
        *x = {memory.handle(), at, 0, 0};
        at += 4096;
    }
    r.alpha = alpha;
    r.beta = beta;
    if (alpha == 0) r.flags = VKGEMM_RECORD_ZERO_ALPHA;
    return used_by(plan.handle, r);
}

using Accesses = std::map<VkgemmSlot, VkgemmRunAccess>;
Accesses accesses_of(const OwnedPlan& plan, const VkgemmRun& run) {
    uint32_t count = 77;
    VkgemmRunAccess all[VKGEMM_SLOT_COUNT];
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, &count, nullptr, e); }),
           VKGEMM_SUCCESS, {});
    const uint32_t asked = count;
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, &count, all, e); }),
           VKGEMM_SUCCESS, {});
    CHECK(count == asked);
    Accesses out;
    for (uint32_t i = 0; i < count; ++i) {
        CHECK(all[i].stage == VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
        CHECK(all[i].reserved == 0);
        CHECK(out.try_emplace(all[i].slot, all[i]).second);
    }
    return out;
}

VkgemmPlanOptions dry() {
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    o.operandAlignment = 4;
    return o;
}

// What a mocked driver was told, one word a call.
std::string commands;
bool described = false;  // descriptors were pushed
VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer, const VkDebugUtilsLabelEXT* label) {
    CHECK(label->sType == VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT);
    commands += "begin(" + std::string(label->pLabelName) + ") ";
}
VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer) { commands += "end "; }
VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) { commands += "dispatch "; }
VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags,
                                   uint32_t, const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t,
                                   const VkImageMemoryBarrier*) {
    commands += "barrier ";
}
VKAPI_ATTR void VKAPI_CALL describe(VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout, uint32_t, uint32_t,
                                    const VkWriteDescriptorSet*) {
    described = true;
}
std::vector<Mocked> driver =
    with_idle_commands({mocked("vkCmdBeginDebugUtilsLabel", begin_label), mocked("vkCmdEndDebugUtilsLabel", end_label),
                        mocked("vkCmdDispatch", dispatch), mocked("vkCmdPipelineBarrier", barrier),
                        mocked("vkCmdPushDescriptorSet", describe)});

}  // namespace

TEST_CASE("a run touches what its factors leave to be touched") {
    constexpr VkAccessFlags2 both = reads | writes;
    const struct {
        const char* problem;
        double alpha, beta;
        std::map<VkgemmSlot, VkAccessFlags2> touched;
    } rows[] = {
        {"2x3x4", 1, 0, {{VKGEMM_SLOT_A, reads}, {VKGEMM_SLOT_B, reads}, {VKGEMM_SLOT_D, writes}}},
        {"2x3x4", 0, 0, {{VKGEMM_SLOT_D, writes}}},
        {"2x3x4 c=d", 1, 0, {{VKGEMM_SLOT_A, reads}, {VKGEMM_SLOT_B, reads}, {VKGEMM_SLOT_D, writes}}},
        {"2x3x4 c=d", 1, 2, {{VKGEMM_SLOT_A, reads}, {VKGEMM_SLOT_B, reads}, {VKGEMM_SLOT_D, both}}},
        {"2x3x4 c=d", 0, 2, {{VKGEMM_SLOT_D, both}}},
        {"2x3x4 c=separate", 0, 0, {{VKGEMM_SLOT_D, writes}}},
        {"2x3x4 c=separate", 0, -1, {{VKGEMM_SLOT_C, reads}, {VKGEMM_SLOT_D, writes}}},
        {"2x3x4 c=separate bias=col residual",
         1,
         0,
         {{VKGEMM_SLOT_A, reads},
          {VKGEMM_SLOT_B, reads},
          {VKGEMM_SLOT_D, writes},
          {VKGEMM_SLOT_BIAS, reads},
          {VKGEMM_SLOT_RESIDUAL, reads}}},
        {"2x3x4 act=drelu",
         1,
         0,
         {{VKGEMM_SLOT_A, reads}, {VKGEMM_SLOT_B, reads}, {VKGEMM_SLOT_D, writes}, {VKGEMM_SLOT_RESIDUAL, reads}}},
        {"2x3x0 c=d", 1, 1, {{VKGEMM_SLOT_D, both}}},
        {"0x3x4", 1, 0, {}},
    };
    const auto memory = buffer(1 << 16);
    for (const auto& row : rows) {
        CAPTURE(row.problem);
        OwnedPlan plan;
        plan_for(plan, row.problem, dry());
        const VkgemmRun run = run_in(plan, memory, row.alpha, row.beta);
        const Accesses got = accesses_of(plan, run);
        CHECK(got.size() == row.touched.size());
        for (const auto& [slot, access] : row.touched) {
            REQUIRE(got.contains(slot));
            CHECK(got.at(slot).access == access);
            CHECK(got.at(slot).buffer == memory.handle());
            CHECK(got.at(slot).offset == 4096 * (uint64_t(slot) + 1));
            CHECK(got.at(slot).size == info_of(plan.handle).requiredBytes[slot]);
            const VkDeviceAddress at = memory.address() + got.at(slot).offset;
            CHECK(got.at(slot).address == (info_of(plan.handle).usesAddresses ? at : 0));
        }
    }
}

TEST_CASE("scalars in memory are touched, and what they leave out cannot be known") {
    const vkgemm::host::Buffer memory = buffer(1 << 18);
    OwnedPlan plan;
    const VkgemmPlanOptions o = dry();
    plan_for(plan, "20x30x8 c=separate scalars=alpha,beta,monitor", o);
    VkgemmRun run = run_in(plan, memory, 0, 0);
    run.scalars = at(memory, 1 << 17);
    const Accesses touched = accesses_of(plan, run);
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C}) CHECK(touched.count(slot) == 1);
    CHECK(touched.at(VKGEMM_SLOT_SCALARS).access ==
          (VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT));
    CHECK(touched.at(VKGEMM_SLOT_SCALARS).size == sizeof(VkgemmScalars));
}

TEST_CASE("a run touches the bytes of its own sizes, and by address it has no buffer") {
    const auto memory = buffer(1 << 16);
    OwnedPlan plan;
    plan_for(plan, "8x3x4 upto=m", dry());
    VkgemmRun run = run_in(plan, memory);
    run.flags = VKGEMM_RECORD_SIZES;
    run.m = 5;
    run.n = 3;
    run.k = 4;
    run.batch = 1;
    CHECK(accesses_of(plan, run).at(VKGEMM_SLOT_A).size == 5 * 4 * 4);
    CHECK(accesses_of(plan, run).at(VKGEMM_SLOT_D).size == 5 * 3 * 4);
    run.m = 9;
    uint32_t count = 5;
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, &count, nullptr, e); }),
           VKGEMM_ERROR_LIMIT, {"m is 9", "8"});
    run.m = 5;
    count = 1;
    VkgemmRunAccess one[2];
    one[1].size = 4711;
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, &count, one, e); }),
           VKGEMM_INCOMPLETE, {"3 accesses", "room for 1"});
    CHECK(count == 3);
    CHECK(one[1].size == 4711);
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, nullptr, one, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"count is null"});
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(nullptr, &run, &count, one, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"plan is null"});
    if (!device().hasAddresses()) return;
    VkgemmPlanOptions o = dry();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    OwnedPlan addressed;
    plan_for(addressed, "2x3x4", o);
    VkgemmRun by_address = run_in(addressed, memory);
    by_address.a = {.buffer = VK_NULL_HANDLE, .offset = 16, .size = 0, .address = memory.address() + 64};
    const VkgemmRunAccess a = accesses_of(addressed, by_address).at(VKGEMM_SLOT_A);
    CHECK(a.buffer == VK_NULL_HANDLE);
    CHECK(a.offset == 0);
    CHECK(a.address == memory.address() + 80);
    CHECK(a.size == 32);
}

TEST_CASE("the largest workspace of a list of problems") {
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "SPLIT=2";
    o.workspaceLimit = 1 << 20;
    std::vector<VkgemmProblem> all = {problem("16x8x512"), problem("32x24x512"), problem("8x8x512")};
    const auto ask = [&](uint64_t* bytes, uint32_t count) {
        return said([&](VkgemmError* e) { return vkgemmQueryWorkspace(context(), all.data(), count, &o, bytes, e); });
    };
    uint64_t bytes = 1;
    expect(ask(&bytes, 0), VKGEMM_SUCCESS, {});
    CHECK(bytes == 0);
    expect(ask(&bytes, 3), VKGEMM_SUCCESS, {});
    CHECK(bytes == 2 * 32 * 24 * 4);
    const auto wrapped =
        device().context().queryWorkspace(std::vector<vkgemm::Problem>{{.m = 16, .n = 8, .k = 512}},
                                          {.kernel = "tiled_f32_8x8", .tile = "SPLIT=2", .workspaceLimit = 1 << 20});
    REQUIRE(wrapped);
    CHECK(*wrapped == 2 * 16 * 8 * 4);
    all[1].k = uint64_t{1} << 40;
    bytes = 99;
    expect(ask(&bytes, 3), VKGEMM_ERROR_LIMIT, {"problems[1]: "});
    CHECK(bytes == 99);
    all[1].structSize = 8;
    expect(ask(&bytes, 3), VKGEMM_ERROR_INVALID_ARGUMENT, {"problems[1]: ", "structSize is 8"});
    expect(ask(nullptr, 1), VKGEMM_ERROR_INVALID_ARGUMENT, {"bytes is null"});
}

TEST_CASE("a label with problem and kernel is around a product, if the driver has labels") {
    for (const bool labels : {true, false}) {
        if (!labels) driver[0].function = driver[1].function = nullptr;
        const VkgemmContextInfo info = mocked_context_info<driver>();
        OwnedContext c;
        REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
        VkgemmPlanOptions o = options();
        o.kernel = "tiled_f32_8x8";
        o.tile = "SPLIT=2";
        o.workspaceLimit = 1 << 20;
        OwnedPlan plan;
        plan_for(plan, "16x8x512 upto=m", o, c.handle);
        const auto memory = buffer(1 << 20);
        VkgemmRun run = run_in(plan, memory);
        run.a.offset = 1 << 16;
        run.b.offset = 1 << 17;
        run.d.offset = 1 << 18;
        run.workspace.offset = 1 << 19;
        run.flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
        commands.clear();
        described = false;
        const auto some_commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});
        REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
        CHECK(described == !info_of(plan.handle).usesAddresses);
        const std::string inside = "barrier dispatch barrier dispatch barrier ";
        CHECK(commands ==
              (labels ? "begin(vkgemm f32*f32+f32->f32 16x8x512 upto=m, tiled_f32_8x8) " + inside + "end " : inside));
    }
}
