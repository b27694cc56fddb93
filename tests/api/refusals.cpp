// SPDX-License-Identifier: MIT
// Bad input to plans: each fault has its own code and a sentence that names the value and what would do.
#include <functional>

#include "api/api.h"
#include "plan/problem/epilogue.h"

using namespace vkgemm::test;

namespace {

Said plan_with(const VkgemmProblem* p, const VkgemmPlanOptions* o, VkgemmContext in = context()) {
    OwnedPlan plan;
    plan.handle = reinterpret_cast<VkgemmPlan>(uintptr_t{1});  // must be overwritten, also by a refusal
    const Said got = said([&](VkgemmError* e) { return vkgemmCreatePlan(in, p, o, &plan.handle, e); });
    CHECK((got.code < 0) == (plan.handle == nullptr));
    return got;
}

uint32_t shared_limit() {
    VkPhysicalDeviceProperties properties;
    const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
        device().getInstanceProcAddr()(device().instance(), "vkGetPhysicalDeviceProperties"));
    get(device().physicalDevice(), &properties);
    return properties.limits.maxComputeSharedMemorySize;
}

}  // namespace

TEST_CASE("problems that are refused") {
    const struct {
        std::string what;
        std::function<void(VkgemmProblem&)> change;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {"structSize 0",
         [](VkgemmProblem& p) { p.structSize = 0; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"structSize", "0", "sizeof"}},
        {"pNext", [](VkgemmProblem& p) { p.pNext = &p; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"pNext", "NULL"}},
        {"type",
         [](VkgemmProblem& p) { p.b.type = static_cast<VkgemmType>(77); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"b.type", "77"}},
        {"layout",
         [](VkgemmProblem& p) { p.d.layout = static_cast<VkgemmLayout>(2); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"d.layout", "2"}},
        {"cSource",
         [](VkgemmProblem& p) { p.cSource = static_cast<VkgemmC>(3); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"cSource", "3"}},
        {"accumulate",
         [](VkgemmProblem& p) { p.accumulate = static_cast<VkgemmType>(78); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"accumulate", "78"}},
        {"accuracy",
         [](VkgemmProblem& p) { p.accuracy = static_cast<VkgemmAccuracy>(99); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"accuracy", "99"}},
        {"steps",
         [](VkgemmProblem& p) { p.epilogueCount = 5; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"epilogueCount", "5", "4"}},
        {"step",
         [](VkgemmProblem& p) {
             p.epilogueCount = 1;
             p.epilogue[0].kind = static_cast<VkgemmStepKind>(99);
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"epilogue[0].kind is 99", "1 to " + std::to_string(std::size(vkgemm::plan::step_info))}},
        {"a bias's type",
         [](VkgemmProblem& p) { p.biasType = static_cast<VkgemmType>(99); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"biasType is 99"}},
        {"scalars",
         [](VkgemmProblem& p) { p.scalars = 32; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"scalars has unknown bits: 32"}},
        {"no step",
         [](VkgemmProblem& p) {
             p.epilogueCount = 2;
             p.epilogue[0].kind = VKGEMM_STEP_RELU;
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"epilogue[1].kind is VKGEMM_STEP_NONE", "epilogueCount is 2"}},
        {"ld", [](VkgemmProblem& p) { p.a.ld = 2; }, VKGEMM_ERROR_INVALID_PROBLEM, {"lda", "2", "40"}},
        {"f64 with shorter sums",
         [](VkgemmProblem& p) {
             p.a.type = VKGEMM_TYPE_F64;
             p.accumulate = VKGEMM_TYPE_F32;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"f64*f64+f32->f64"}},
        {"m",
         [](VkgemmProblem& p) {
             p.m = uint64_t{1} << 31;
             p.n = p.k = 1;
             p.upTo = VKGEMM_UP_TO_M;
         },
         VKGEMM_ERROR_LIMIT,
         {"m is 2147483648", "2147483647", "split the product"}},
        {"ld",
         [](VkgemmProblem& p) { p.a.ld = uint64_t{1} << 32; },
         VKGEMM_ERROR_LIMIT,
         {"A", "2147483647", "split the product"}},
        {"span",
         [](VkgemmProblem& p) {
             p.m = 2;
             p.n = p.k = 1;
             p.a.ld = 2147483647;
             p.upTo = VKGEMM_UP_TO_M;
         },
         VKGEMM_ERROR_LIMIT,
         {"A spans 2147483648 elements", "2147483647", "sizes that vary"}},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        VkgemmProblem p = problem("20x30x40");
        row.change(p);
        expect(plan_with(&p, nullptr), row.code, row.words);
    }
    const VkgemmProblem p = problem("20x30x40");
    expect(plan_with(nullptr, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmProblem", "null"});
    expect(plan_with(&p, nullptr, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"context", "null"});
    expect(said([&](VkgemmError* e) { return vkgemmCreatePlan(context(), &p, nullptr, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"plan", "null"});
    CHECK(vkgemmCreatePlan(nullptr, nullptr, nullptr, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("f64 and i32 beside another type are refused") {
    const auto refused = [](const char* line, const std::vector<std::string>& words) {
        const VkgemmProblem p = problem(line);
        expect(plan_with(&p, nullptr), VKGEMM_ERROR_UNSUPPORTED, words);
    };
    refused("f32*f64 8x8x8", {"f32*f64+f32->f32", "f64", "with its own type only"});
    refused("f64*q8_0 8x8x32 layout=nt", {"f64*q8_0", "with its own type only"});
    refused("i32*f32 8x8x8", {"i32*f32+f32->f32", "i32", "with its own type only"});
}

TEST_CASE("options that are refused") {
    const struct {
        std::string what;
        std::function<void(VkgemmPlanOptions&)> change;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {"structSize",
         [](VkgemmPlanOptions& o) { o.structSize = 1; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"VkgemmPlanOptions", "structSize", "1"}},
        {"pNext", [](VkgemmPlanOptions& o) { o.pNext = &o; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"pNext"}},
        {"dry and deferred",
         [](VkgemmPlanOptions& o) { o.flags = VKGEMM_PLAN_DRY | VKGEMM_PLAN_DEFER_COMPILE; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"flags", "VKGEMM_PLAN_DRY", "at most one"}},
        {"kernel",
         [](VkgemmPlanOptions& o) { o.kernel = "tiled_f32_8x9"; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"tiled_f32_8x9", "did you mean"}},
        {"types",
         [](VkgemmPlanOptions& o) { o.kernel = "tiled_i32_8x8"; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"tiled_i32_8x8", "i32", "f32"}},
        {"constant", [](VkgemmPlanOptions& o) { o.tile = "BX=3"; }, VKGEMM_ERROR_TILE, {"BX", "did you mean"}},
        {"number", [](VkgemmPlanOptions& o) { o.tile = "BM=x"; }, VKGEMM_ERROR_TILE, {"BM", "'x'"}},
        {"rule",
         [](VkgemmPlanOptions& o) {
             o.kernel = "tiled_f32_8x8";
             o.tile = "BM=9,TM=2";
         },
         VKGEMM_ERROR_TILE,
         {"BM*BN 72", "WG 64", "TM*TN 2"}},
        {"operands",
         [](VkgemmPlanOptions& o) { o.operands = static_cast<VkgemmOperandKind>(3); },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"operands", "3"}},
        {"alignment",
         [](VkgemmPlanOptions& o) { o.operandAlignment = 12; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"operandAlignment", "12"}},
        {"alignment 2^31",
         [](VkgemmPlanOptions& o) { o.operandAlignment = 1u << 31; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"operandAlignment", "2147483648", "1048576"}},
        {"alignment 2^21",
         [](VkgemmPlanOptions& o) { o.operandAlignment = 1u << 21; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"operandAlignment", "2097152", "1048576"}},
        {"flags", [](VkgemmPlanOptions& o) { o.flags = 128; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"flags", "128"}},
    };
    const VkgemmProblem p = problem("20x30x40");
    for (const auto& row : rows) {
        INFO(row.what);
        VkgemmPlanOptions o = options();
        row.change(o);
        expect(plan_with(&p, &o), row.code, row.words);
    }
}

TEST_CASE("shared memory and invocations over the limit are refused before the driver sees them") {
    const size_t messages = device().messageCount();
    const VkgemmProblem p = problem("20x30x40");
    VkgemmPlanOptions o = options();
    // two tiles of 8 x BK floats, the least of them above the limit
    const uint32_t depth = std::min(4096u, shared_limit() / (16 * 4) + 1);
    const std::string tile = "BK=" + std::to_string(depth);
    o.kernel = "tiled_f32_8x8";
    o.tile = tile.c_str();
    if (uint64_t{depth} * 64 > shared_limit())
        expect(plan_with(&p, &o), VKGEMM_ERROR_TILE,
               {"shared memory", std::to_string(uint64_t{depth} * 64), std::to_string(shared_limit())});
    o.tile = "WG=4096,BM=64,BN=64,BK=1";
    expect(plan_with(&p, &o), VKGEMM_ERROR_TILE, {"WG 4096", "limit"});
    CHECK(device().messageCount() == messages);
}

TEST_CASE("a subgroup size that the device does not grant is refused before the driver sees it") {
    const size_t messages = device().messageCount();
    const VkgemmProblem p = problem("20x30x40");
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "SG=3";
    expect(plan_with(&p, &o), VKGEMM_ERROR_TILE, {"SG is 3"});
    o.tile = "SG=4096";
    expect(plan_with(&p, &o), VKGEMM_ERROR_TILE, {"SG is 4096"});
    // Every size that there is, on ever larger work groups: made without a word of the layer, or refused.
    for (const uint32_t size : {4u, 8u, 16u, 32u, 64u, 128u})
        for (const char* const kernel : {"tiled_f32_8x8", "tiled_f32_16x16", "tiled_f32_32x32"}) {
            const std::string tile = "SG=" + std::to_string(size);
            o.kernel = kernel;
            o.tile = tile.c_str();
            const Said got = plan_with(&p, &o);
            if (got.code != VKGEMM_SUCCESS) expect(got, VKGEMM_ERROR_TILE, {kernel});
        }
    CHECK(device().messageCount() == messages);
}

TEST_CASE("a kernel is checked without compiling it, and without a problem where there is none") {
    const VkgemmProblem f32 = problem("20x30x40"), i32 = problem("i32*i32 20x30x40");
    const auto check = [](const char* kernel, const char* tile, const VkgemmProblem* p, VkgemmContext in = context()) {
        VkgemmPlanOptions o = options();
        o.kernel = kernel;
        o.tile = tile;
        return said([&](VkgemmError* e) { return vkgemmCheckKernel(in, p, &o, e); });
    };
    expect(check("tiled_f32_8x8", nullptr, nullptr), VKGEMM_SUCCESS, {});
    expect(check("tiled_f32_8x8", "BK=16", &f32), VKGEMM_SUCCESS, {});
    expect(check("tiled_f32_8x8", "SPLIT=4", nullptr), VKGEMM_SUCCESS, {});  // what it wants depends on the problem
    expect(check("tiled_f32_8x8", nullptr, &i32), VKGEMM_ERROR_UNSUPPORTED, {"i32", "f32"});
    expect(check("tiled_f32_8x8", "BM=9", nullptr), VKGEMM_ERROR_TILE, {"BM*BN 72", "WG 64"});
    expect(check("tiled_f32_8x8", "STAGES=2", nullptr), VKGEMM_ERROR_TILE, {"STAGES 2", "tiled reads WG"});
    expect(check("tiled_f32_8x8", "BM=", nullptr), VKGEMM_ERROR_TILE, {"BM"});
    expect(check("tilde", nullptr, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"tilde"});
    expect(check("reduce_f32_64", nullptr, nullptr), VKGEMM_ERROR_UNSUPPORTED, {"slices of a split K"});
    expect(check(nullptr, nullptr, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"kernel", "null"});
    expect(check("tiled_f32_8x8", nullptr, nullptr, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"context"});
    expect(said([&](VkgemmError* e) { return vkgemmCheckKernel(context(), &f32, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"kernel", "null"});
}

TEST_CASE("a check answers what planning answers, word for word") {
    const struct {
        const char* line;
        const char* kernel;
        const char* tile;
        uint64_t workspace;
        uint32_t alignment;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {"20x30x400", "tiled_f32_8x8", "SPLIT=4", 0, 0, VKGEMM_ERROR_WORKSPACE, {"4 slices", "9600", "allows 0"}},
        {"20x30x400", "tiled_f32_8x8", "SPLIT=4", 9599, 0, VKGEMM_ERROR_WORKSPACE, {"9600", "9599"}},
        {"20x30x400", "tiled_f32_8x8", "SPLIT=4", 9600, 0, VKGEMM_SUCCESS, {}},
        {"20x30x41", "tiled_f32_8x8", "PACK=4", 0, 0, VKGEMM_ERROR_WORKSPACE, {"packed operands", "allows 0"}},
        {"20x30x41", "tiled_f32_8x8", "PACK=4", 1 << 20, 0, VKGEMM_SUCCESS, {}},
        {"20x30x41", "tiled_f32_8x8", "PACK=5", 1 << 20, 0, VKGEMM_ERROR_TILE, {"PACK 5"}},
        {"64x8x64", "gemv_f32_16x8", nullptr, 0, 4, VKGEMM_ERROR_UNSUPPORTED, {"16 bytes"}},
        {"20x30x40", "reduce_f32_64", nullptr, 0, 0, VKGEMM_ERROR_UNSUPPORTED, {"slices of a split K"}},
        {"20x30x40", "tiled_f32_8x8", "BM=9", 0, 0, VKGEMM_ERROR_TILE, {"BM*BN 72", "WG 64"}},
        {"20x30x40 lda=50", "tiled_f32_8x8", "TX=9", 0, 0, VKGEMM_ERROR_TILE, {"TX"}},
        {"0x30x40", "tilde", nullptr, 0, 0, VKGEMM_ERROR_INVALID_ARGUMENT, {"tilde"}},
        {"0x30x40", nullptr, "TX=9", 0, 0, VKGEMM_ERROR_TILE, {"TX"}},
        {"2147483648x1x1 upto=m", "tiled_f32_8x8", nullptr, 0, 0, VKGEMM_ERROR_LIMIT, {"2147483648"}},
        {"20x30x40", "tiled_f32_8x8", nullptr, 0, 3, VKGEMM_ERROR_INVALID_ARGUMENT, {"operandAlignment", "3"}},
    };
    for (const auto& row : rows) {
        INFO(std::string(row.line));
        const VkgemmProblem p = problem(row.line);
        VkgemmPlanOptions o = options();
        o.kernel = row.kernel;
        o.tile = row.tile;
        o.workspaceLimit = row.workspace;
        o.operandAlignment = row.alignment;
        const Said planned = plan_with(&p, &o);
        expect(planned, row.code, row.words);
        if (!row.kernel) continue;
        const Said checked = said([&](VkgemmError* e) { return vkgemmCheckKernel(context(), &p, &o, e); });
        CHECK(checked.code == planned.code);
        CHECK(checked.text == planned.text);
    }
}

TEST_CASE("what asks a plan asks it politely") {
    OwnedPlan plan;
    plan_for(plan, "20x30x40 c=separate bias=row");
    VkgemmPlanInfo info{};
    CHECK(vkgemmGetPlanInfo(plan.handle, &info) == VKGEMM_ERROR_INVALID_ARGUMENT);  // structSize 0
    CHECK(vkgemmGetPlanInfo(nullptr, &info) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmGetPlanInfo(plan.handle, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    info = info_of(plan.handle);
    CHECK(info.flops == 2.0 * 20 * 30 * 40);
    CHECK(info.errorBound > 0);
    CHECK(info.operandAlignment == 16);
    CHECK(info.slotCount == VKGEMM_SLOT_COUNT);
    CHECK(std::string(info.tile).find("BM=") != std::string::npos);

    uint32_t count = 0;
    REQUIRE(vkgemmGetPlanAccesses(plan.handle, &count, nullptr) == VKGEMM_SUCCESS);
    CHECK(count == 5);
    VkgemmAccess accesses[VKGEMM_SLOT_COUNT] = {};
    count = 2;
    CHECK(vkgemmGetPlanAccesses(plan.handle, &count, accesses) == VKGEMM_INCOMPLETE);
    CHECK(count == 5);
    CHECK(accesses[1].size != 0);
    CHECK(accesses[2].size == 0);  // not a byte beyond
    count = VKGEMM_SLOT_COUNT;
    REQUIRE(vkgemmGetPlanAccesses(plan.handle, &count, accesses) == VKGEMM_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        CHECK(accesses[i].stage == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
        CHECK(accesses[i].access == VkAccessFlags(accesses[i].slot == VKGEMM_SLOT_D ? VK_ACCESS_SHADER_WRITE_BIT
                                                                                    : VK_ACCESS_SHADER_READ_BIT));
        CHECK(accesses[i].size == info.requiredBytes[accesses[i].slot]);
    }
    CHECK(vkgemmGetPlanAccesses(nullptr, &count, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmGetPlanAccesses(plan.handle, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);

    VkPipeline pipelines[4];
    count = 0;
    CHECK(vkgemmGetPlanPipelines(plan.handle, &count, pipelines) == VKGEMM_INCOMPLETE);
    CHECK(count == 1);
    CHECK(vkgemmGetPlanPipelines(plan.handle, &count, pipelines) == VKGEMM_SUCCESS);
    CHECK(pipelines[0] != VK_NULL_HANDLE);
    CHECK(vkgemmGetPlanPipelines(nullptr, &count, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    vkgemmDestroyPlan(nullptr);
    vkgemmDestroyContext(nullptr);
}

TEST_CASE("an operand that the plan has no use for is refused, and a workspace is not") {
    const auto memory = buffer(1 << 16), d = buffer(1 << 16);
    const auto check = [&](const std::string& line, VkgemmOperand VkgemmRun::*extra, const VkgemmOperand& given) {
        OwnedPlan plan;
        plan_for(plan, line);
        VkgemmRun run{};
        run.structSize = sizeof run;
        run.a = run.b = at(memory);
        run.d = at(d);
        run.*extra = given;
        return said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); });
    };
    for (const UnusedOperand& row : unused_operands) {
        expect(check("20x30x40 act=relu", row.operand, at(memory)), VKGEMM_ERROR_OPERAND,
               {row.name, "must be zero", row.why});
        expect(check("20x30x40 upto=m", row.operand, at_address(16)), VKGEMM_ERROR_OPERAND, {row.name, "must be zero"});
        expect(check("0x30x40", row.operand, at(memory)), VKGEMM_SUCCESS, {});  // whose runs need none
    }
    expect(check("20x30x40", &VkgemmRun::workspace, at(memory)), VKGEMM_SUCCESS, {});
    expect(check("20x30x0", &VkgemmRun::a, at(memory)), VKGEMM_SUCCESS, {});
}

TEST_CASE("a reason that is too long for VkgemmError is cut, and shows it") {
    OwnedPlan none;
    VkgemmPlanOptions o = options();
    o.tile = "BN=4096";  // refused by every kernel for a reason of its own
    const Said got = make_plan(none, problem("64x64x64"), o);
    CHECK(got.code < 0);
    CHECK(got.text.size() == sizeof(VkgemmError::text) - 1);
    CHECK_MESSAGE(got.text.ends_with(" ..."), got.text);
}
