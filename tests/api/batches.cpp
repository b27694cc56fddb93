// SPDX-License-Identifier: MIT
// Batches of two levels through the API: what is refused, and that sizes, counts, accesses and texts are those of all
// products.
#include "api/api.h"
#include "vkgemm/explain.h"

using namespace vkgemm::test;

namespace {

VkgemmRun run_in(const vkgemm::host::Buffer& memory) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a = at(memory);
    r.b = at(memory, 1 << 16);
    r.d = at(memory, 1 << 17);
    r.workspace = at(memory, 1 << 18);
    return r;
}

Said check(VkgemmPlan plan, const VkgemmRun& run) {
    return said([&](VkgemmError* e) { return vkgemmCheckRun(plan, &run, e); });
}

VkgemmPlanOptions dry() {
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    o.operandAlignment = 4;
    return o;
}

}  // namespace

TEST_CASE("two levels: problems that are refused, with values and limits") {  // tests/plan/levels.cpp has all rules
    const auto refused = [](void (*change)(VkgemmProblem&), VkgemmResult code, const std::vector<std::string>& words) {
        VkgemmProblem p = problem("1x1x40 batch=12 outer=4 outer_stride_a=0");
        change(p);
        OwnedPlan plan;
        expect(make_plan(plan, p, dry()), code, words);
    };
    refused([](VkgemmProblem& p) { p.ratioA = 5; }, VKGEMM_ERROR_INVALID_PROBLEM, {"ratio_a is 5", "batch is 12"});
    refused([](VkgemmProblem& p) { p.grouping = VKGEMM_GROUPING_TABLE; }, VKGEMM_ERROR_UNSUPPORTED,
            {"groups", "outerBatch (4)"});
    refused(
        [](VkgemmProblem& p) {
            p.batch = 5000;
            p.outerBatch = 4097;
        },
        VKGEMM_ERROR_LIMIT, {"4097 repetitions", "4096"});
}

TEST_CASE("two levels: sizes, counts and accesses are those of all products") {
    OwnedPlan plan;
    plan_for(plan, "4x5x6 batch=4 outer=3 ratio_b=2 outer_stride_a=200 bias=row", dry());
    const VkgemmPlanInfo info = info_of(plan.handle);
    CHECK(info.requiredBytes[VKGEMM_SLOT_A] == 4 * (2 * 200 + 4 * 24));
    CHECK(info.requiredBytes[VKGEMM_SLOT_B] == 4 * (3 * 2 * 30));
    CHECK(info.requiredBytes[VKGEMM_SLOT_D] == 4 * (3 * 4 * 20));
    CHECK(info.requiredBytes[VKGEMM_SLOT_BIAS] == 4 * 4);
    CHECK(info.flops == 2.0 * 4 * 5 * 6 * 12);
    CHECK(info.dispatchCount == 4);  // a batch of 3, four times
    const auto memory = buffer(1 << 20);
    VkgemmRun run = run_in(memory);
    run.bias = run.workspace;
    uint32_t count = 0;
    REQUIRE(vkgemmCountDispatches(plan.handle, &run, &count, nullptr) == VKGEMM_SUCCESS);
    CHECK(count == 4);
    VkgemmRunAccess all[VKGEMM_SLOT_COUNT];
    count = VKGEMM_SLOT_COUNT;
    REQUIRE(vkgemmGetRunAccesses(plan.handle, &run, &count, all, nullptr) == VKGEMM_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) CHECK(all[i].size == info.requiredBytes[all[i].slot]);

    const VkgemmProblem p = problem("4x5x6 batch=4 outer=3 ratio_b=2 outer_stride_a=200 bias=row");
    OwnedExplanation e;
    const VkgemmPlanOptions o = dry();
    REQUIRE(vkgemmCreateExplanation(context(), &p, &o, &e.handle, nullptr) == VKGEMM_SUCCESS);
    VkgemmExplanationInfo explained{};
    explained.structSize = sizeof explained;
    REQUIRE(vkgemmGetExplanationInfo(e.handle, &explained) == VKGEMM_SUCCESS);
    CHECK(explained.dispatchCount == 4);
    REQUIRE(explained.noteCount == 1);
    CHECK(std::string(vkgemmGetNote(e.handle, 0)) == "the levels of the batch take 4 repetitions of a batch of 3");

    run.a.size = info.requiredBytes[VKGEMM_SLOT_A] - 4;
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"operand a", "1980", "1984"});
    run.a.size = 0;
    run.a.offset = run.d.offset + 20 * 4 * 11;  // the last of D's matrices
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"operand a", "overlaps D"});
    run.a.offset = run.d.offset + 20 * 4 * 12;
    expect(check(plan.handle, run), VKGEMM_SUCCESS, {});
}

TEST_CASE("two levels: C may be D only where every stride is the same") {
    OwnedPlan same, other;
    plan_for(same, "4x5x6 batch=4 outer=3 c=separate outer_stride_c=100 outer_stride_d=100", dry());
    plan_for(other, "4x5x6 batch=4 outer=3 c=separate outer_stride_c=80 outer_stride_d=100", dry());
    const auto memory = buffer(1 << 20);
    VkgemmRun run = run_in(memory);
    run.c = run.d;
    run.beta = 1;
    expect(check(same.handle, run), VKGEMM_SUCCESS, {});
    expect(check(other.handle, run), VKGEMM_ERROR_OPERAND, {"operand c", "overlaps D"});
}

TEST_CASE("two levels: a recorded problem is the one that was planned, with the sizes of its run") {
    VkgemmContextInfo info = context_info();
    std::string lines;
    info.recorded = [](void* user, const char* problem, VkgemmPlan, const VkgemmRun*) {
        *static_cast<std::string*>(user) += std::string(problem) + ";";
    };
    info.recordedUser = &lines;
    OwnedContext c;
    REQUIRE(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }).code == VKGEMM_SUCCESS);
    const std::string line = "f32*f32+f32->f32 4x5x6 batch=4 outer=3 ratio_b=2 outer_stride_a=200";
    OwnedPlan plan, varying;
    plan_for(plan, line, options(), c.handle);
    plan_for(varying, line + " upto=m", options(), c.handle);
    const auto memory = buffer(1 << 20);
    const vkgemm::Status done = device().submit([&](VkCommandBuffer commands) {
        VkgemmRun run = run_in(memory);
        const VkgemmResult first = vkgemmRecord(plan.handle, commands, &run, nullptr);
        run.flags = VKGEMM_RECORD_SIZES;
        run.m = 3;
        run.n = 5;
        run.k = 6;
        run.batch = 4;
        return vkgemm::Status{first ? first : vkgemmRecord(varying.handle, commands, &run, nullptr), 0, ""};
    });
    CHECK(done.code == VKGEMM_SUCCESS);
    CHECK(lines == line +
                       ";f32*f32+f32->f32 3x5x6 batch=4 outer=3 ratio_b=2 lda=6 ldb=5 ldd=5 stride_a=24 stride_b=30 "
                       "stride_d=20 outer_stride_a=200 outer_stride_b=60 outer_stride_d=80;");
}

TEST_CASE("operands beyond 32-bit indices: sizes, counts, and what an explanation tells") {
    for (const char* line :
         {"70000x40000x4096", "2147483648x1x1", "4096x40000x70000", "4x5x6 outer=4 outer_stride_b=1073741824"}) {
        INFO(line);
        OwnedPlan plan;
        plan_for(plan, line, dry());
        CHECK(info_of(plan.handle).dispatchCount >= 2);
    }
    OwnedPlan plan;
    plan_for(plan, "70000x40000x4096", dry());
    CHECK(info_of(plan.handle).requiredBytes[VKGEMM_SLOT_D] == uint64_t{4} * 70000 * 40000);
    CHECK(info_of(plan.handle).flops == 2.0 * 70000 * 40000 * 4096);

    const VkgemmProblem p = problem("70000x40000x4096");
    OwnedExplanation e;
    const VkgemmPlanOptions o = dry();
    REQUIRE(vkgemmCreateExplanation(context(), &p, &o, &e.handle, nullptr) == VKGEMM_SUCCESS);
    const std::string note = vkgemmGetNote(e.handle, 0);
    CHECK(has_words(note, "cut into ", " parts that 32-bit indices and descriptors reach, of at most ", "x40000x4096"));
}
