// SPDX-License-Identifier: MIT
// Packing an operand ahead: what vkgemmCreatePack gives and refuses, and runs with packed operands.
#include "api/api.h"
#include "plan/problem/problem_text.h"

using namespace vkgemm::test;

namespace {

Said pack_of(VkgemmPlan product, VkgemmSlot slot, OwnedPlan& pack) {
    pack.handle = reinterpret_cast<VkgemmPlan>(uintptr_t{1});  // must be overwritten, also by a refusal
    const Said got = said([&](VkgemmError* e) { return vkgemmCreatePack(product, slot, &pack.handle, e); });
    CHECK((got.code < 0) == (pack.handle == nullptr));
    return got;
}

VkgemmRun run_with(const vkgemm::host::Buffer& b, const vkgemm::host::Buffer& d) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.b = at(b);
    r.d = at(d);
    return r;
}

Said check(VkgemmPlan plan, const VkgemmRun& r) {
    return said([&](VkgemmError* e) { return vkgemmCheckRun(plan, &r, e); });
}

}  // namespace

TEST_CASE("packing: its plan names both sides, and what is not packed is refused") {
    OwnedPlan product, plain, pack;
    plan_for(product, "40x50x60 packed_b=any");
    plan_for(plain, "40x50x60");
    expect(pack_of(product.handle, VKGEMM_SLOT_B, pack), VKGEMM_SUCCESS, {});
    const VkgemmPlanInfo of_pack = info_of(pack.handle), of_product = info_of(product.handle);
    CHECK(of_pack.requiredBytes[VKGEMM_SLOT_B] == 50 * 60 * 4);
    CHECK(of_pack.requiredBytes[VKGEMM_SLOT_D] == of_product.requiredBytes[VKGEMM_SLOT_B]);
    CHECK(of_pack.requiredBytes[VKGEMM_SLOT_A] == 0);
    CHECK(of_pack.dispatchCount == 1);
    CHECK(of_product.packedB != VKGEMM_PACKED_NONE);
    CHECK(of_product.packedA == VKGEMM_PACKED_NONE);
    OwnedPlan none;
    expect(pack_of(product.handle, VKGEMM_SLOT_A, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"packedA"});
    expect(pack_of(plain.handle, VKGEMM_SLOT_B, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"packedB"});
    expect(pack_of(product.handle, VKGEMM_SLOT_D, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"3"});
    expect(pack_of(nullptr, VKGEMM_SLOT_B, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"product"});
    expect(pack_of(pack.handle, VKGEMM_SLOT_B, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"packedB"});
    expect(said([&](VkgemmError* e) { return vkgemmCreatePack(product.handle, VKGEMM_SLOT_B, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"pack"});
}

TEST_CASE("packing: plans for other sizes of A take the same key, and no other") {
    OwnedPlan product, other;
    plan_for(product, "40x50x60 packed_b=any");
    VkgemmProblem p = problem("3x50x60");
    p.packedB = info_of(product.handle).packedB;
    expect(make_plan(other, p), VKGEMM_SUCCESS, {});
    CHECK(info_of(other.handle).packedB == p.packedB);
    const std::string key = vkgemm::plan::key_text(p.packedB);
    p.packedB ^= 2;
    OwnedPlan none;
    expect(make_plan(none, p), VKGEMM_ERROR_UNSUPPORTED,
           {"B is packed for another layout", "its key is " + vkgemm::plan::key_text(p.packedB), "reads " + key,
            "packedB = VKGEMM_PACKED_ANY"});
    p.packedB = info_of(product.handle).packedB;
    p.n = 51;
    expect(make_plan(none, p), VKGEMM_ERROR_UNSUPPORTED, {"packed for another layout", "its key is " + key, "reads "});
}

TEST_CASE("packing: runs with a packed operand that is short, misaligned or in the way are refused") {
    OwnedPlan product, pack;
    plan_for(product, "40x50x60 packed_b=any");
    expect(pack_of(product.handle, VKGEMM_SLOT_B, pack), VKGEMM_SUCCESS, {});
    const uint64_t bytes = info_of(product.handle).requiredBytes[VKGEMM_SLOT_B];
    const vkgemm::host::Buffer b = buffer(1 << 16), packed = buffer(1 << 16);
    VkgemmRun r = run_with(b, packed);
    expect(check(pack.handle, r), VKGEMM_SUCCESS, {});
    r.d.size = bytes - 1;
    expect(check(pack.handle, r), VKGEMM_ERROR_OPERAND, {"operand d", std::to_string(bytes)});
    r.d.size = 0;
    r.d.offset = 8;
    expect(check(pack.handle, r), VKGEMM_ERROR_OPERAND, {"operand d", "8", "16"});
    r = run_with(packed, packed);
    expect(check(pack.handle, r), VKGEMM_ERROR_OPERAND, {"overlaps D"});
    r = run_with(packed, b);
    expect(check(product.handle, r), VKGEMM_ERROR_OPERAND, {"operand a"});
    r.a = at(b, 1 << 15);
    expect(check(product.handle, r), VKGEMM_SUCCESS, {});
    r.b.offset = 4;
    expect(check(product.handle, r), VKGEMM_ERROR_OPERAND, {"operand b", "16", "packed"});
    r.b.offset = 0;
    r.b.size = bytes - 4;
    expect(check(product.handle, r), VKGEMM_ERROR_OPERAND, {"operand b", std::to_string(bytes)});
}

TEST_CASE("packing: a dry product has a dry pack") {
    OwnedPlan product, pack;
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    plan_for(product, "40x50x60 packed_b=any", o);
    expect(pack_of(product.handle, VKGEMM_SLOT_B, pack), VKGEMM_SUCCESS, {});
    const vkgemm::host::Buffer b = buffer(1 << 16), packed = buffer(1 << 16);
    expect(check(pack.handle, run_with(b, packed)), VKGEMM_SUCCESS, {});
    uint32_t pipelines = 1;
    CHECK(vkgemmGetPlanPipelines(pack.handle, &pipelines, nullptr) == VKGEMM_SUCCESS);
    CHECK(pipelines == 0);
    const VkgemmRun run = run_with(b, packed);
    const auto commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});  // refused before it is used
    if (pipelines == 0)
        expect(said([&](VkgemmError* e) { return vkgemmRecord(pack.handle, commands, &run, e); }),
               VKGEMM_ERROR_INVALID_ARGUMENT, {"VKGEMM_PLAN_DRY"});
}

TEST_CASE("packing: a captured problem is a product, never a pack") {
    VkgemmContextInfo info = context_info();
    std::string line;
    info.recorded = [](void* user, const char* problem, VkgemmPlan, const VkgemmRun*) {
        *static_cast<std::string*>(user) += problem;
    };
    info.recordedUser = &line;
    OwnedContext c;
    REQUIRE(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }).code == VKGEMM_SUCCESS);
    OwnedPlan product, pack;
    plan_for(product, "40x50x60 packed_b=any", options(), c.handle);
    expect(pack_of(product.handle, VKGEMM_SLOT_B, pack), VKGEMM_SUCCESS, {});
    const vkgemm::host::Buffer b = buffer(1 << 16), packed = buffer(1 << 16);
    const vkgemm::Status done = device().submit([&](VkCommandBuffer commands) {
        const VkgemmRun run = run_with(b, packed);
        return vkgemm::Status{vkgemmRecord(pack.handle, commands, &run, nullptr), 0, ""};
    });
    CHECK(done.code == VKGEMM_SUCCESS);
    CHECK(line.empty());
}

TEST_CASE("packing: sizes may vary where the packed operand's do not") {
    OwnedPlan varying, fixed, none;
    plan_for(varying, "40x50x60 packed_b=any upto=m");
    const uint64_t key = info_of(varying.handle).packedB;
    CHECK(key != VKGEMM_PACKED_NONE);
    VkgemmProblem p = problem("7x50x60");
    p.packedB = key;
    expect(make_plan(fixed, p), VKGEMM_SUCCESS, {});
    for (const char* sizes : {"n", "k", "mk"})
        expect(make_plan(none, problem(std::string("40x50x60 packed_b=any upto=") + sizes)), VKGEMM_ERROR_UNSUPPORTED,
               {"B comes packed"});
    expect(make_plan(none, problem("40x50x60 packed_a=any upto=m")), VKGEMM_ERROR_UNSUPPORTED, {"A comes packed"});
    // A batch may vary where its matrices share the packed operand.
    for (const char* x : {"a", "b"}) {
        const std::string line = std::string("40x50x60 batch=3 upto=b packed_") + x + "=any";
        expect(make_plan(none, problem(line)), VKGEMM_ERROR_UNSUPPORTED, {" comes packed", "batch"});
        OwnedPlan shared;
        plan_for(shared, line + " stride_" + x + "=0");
    }
}

TEST_CASE("packing: a pack has the sizes of the plan, also where a run may have others") {
    OwnedPlan product, pack;
    plan_for(product, "40x50x60 packed_b=any upto=m");
    expect(pack_of(product.handle, VKGEMM_SLOT_B, pack), VKGEMM_SUCCESS, {});
    const vkgemm::host::Buffer b = buffer(1 << 16), packed = buffer(1 << 16);
    VkgemmRun r = run_with(b, packed);
    expect(check(pack.handle, r), VKGEMM_SUCCESS, {});
    r.flags = VKGEMM_RECORD_SIZES;
    r.m = 7;
    r.n = 50;
    r.k = 60;
    r.batch = 1;
    expect(check(pack.handle, r), VKGEMM_ERROR_INVALID_ARGUMENT, {"m is 7", "40 alone"});
}
