// SPDX-License-Identifier: MIT
// Kernels in machine code on a mock: who gets them, what is loaded and launched, and what happens if that fails.
#include <cstdlib>

#include "api/api.h"
#include "plan/kernels/kernels.h"
#include "support/native_device.h"

using namespace vkgemm::test;

namespace {

constexpr VkQueueFlags computes = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr const char* big = "f16*f16 512x768x1024";  // 4 tiles of 128 rows, 3 of 256 columns

/// The build has machine code, and the device what the other kernels for f16 need.
bool can_test() {
    const vkgemm::plan::Kernel* const k = vkgemm::plan::find_kernel("wgmma_f16_128x256x64");
    const bool built = k && k->module.built();
    if (!built) MESSAGE("this build has no kernels in machine code");
    const bool has_others = bool(device().context().createPlan({.m = 8, .n = 8, .k = 8, .a = {.type = vkgemm::f16}}));
    return built && has_others && device().hasAddresses();
}

struct Native {
    NativeMock mock;
    std::vector<const char*> extensions;
    OwnedContext context;

    Said make(VkQueueFlags flags = computes, VkgemmNativeKernels use = VKGEMM_NATIVE_VERIFIED) {
        VkgemmContextInfo info = mock.context_info(extensions, flags);
        info.nativeKernels = use;
        return said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &context.handle, e); });
    }
    Said check(const char* kernel, const char* line = big) {
        VkgemmPlanOptions o = options();
        o.kernel = kernel;
        o.operands = VKGEMM_OPERANDS_ADDRESSES;
        const VkgemmProblem p = problem(line);
        return said([&](VkgemmError* e) { return vkgemmCheckKernel(context.handle, &p, &o, e); });
    }
    VkgemmPlan plan(OwnedPlan& out, const char* line = big, VkgemmPlanOptions o = options()) {
        plan_for(out, line, o, context.handle);
        return out.handle;
    }
};

VkgemmRun run_at(uint64_t a, uint64_t b, uint64_t d, uint64_t workspace = 0) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a.address = a;
    r.b.address = b;
    r.d.address = d;
    r.workspace.address = workspace;
    r.alpha = 0.5;
    return r;
}

/// Records without submitting: the addresses may be anything.
Said record(VkgemmPlan plan, const VkgemmRun& run) {
    Said out{};
    const auto ended = device().submit([&](VkCommandBuffer commands) -> vkgemm::Status {
        out = said([&](VkgemmError* e) { return vkgemmRecord(plan, commands, &run, e); });
        return {};
    });
    CHECK_MESSAGE(bool(ended), ended.text);
    return out;
}

VkgemmPlanOptions by_address(const char* kernel, const char* tile = nullptr) {
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    o.kernel = kernel;
    o.tile = tile;
    return o;
}
VkgemmPlanOptions with_workspace(VkgemmPlanOptions o) {
    o.workspaceLimit = 1 << 26;
    return o;
}

}  // namespace

TEST_CASE("a native kernel is launched with the arguments of the run") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    CHECK(n.mock.modules == 0);  // the empty one is destroyed again
    OwnedPlan plan;
    n.plan(plan, big, by_address("wgmma_f16_128x256x64"));
    CHECK(info_of(plan.handle).usesAddresses == 1);
    CHECK(n.mock.modules == 1);
    CHECK(n.mock.functions == 1);
    expect(record(plan.handle, run_at(0x100000, 0x300000, 0x900000)), VKGEMM_SUCCESS, {});
    REQUIRE(n.mock.launches.size() == 1);
    const NativeLaunch& l = n.mock.launches[0];
    CHECK(l.function == "wgmma_f16_128x256x64_nn");
    CHECK(l.groups == 12);  // one for each tile, for there are more multiprocessors
    CHECK(l.invocations == 384);
    CHECK(l.shared_bytes == vkgemm::native::wgmma_shared_bytes(128, 256, 64, 4, 2, 2));
    CHECK(l.parameters == 1);
    CHECK(l.args.args.a.x == 0x100000);
    CHECK(l.args.args.b.x == 0x300000);
    CHECK(l.args.args.d.x == 0x900000);
    CHECK(l.args.args.m == 512);
    CHECK(l.args.args.k == 1024);
    CHECK(l.args.args.alpha == 0x3f000000);  // 0.5
    CHECK(l.args.tiles_m == 4);
    CHECK(l.args.tiles_n == 3);
    CHECK(l.args.slices == 1);
}

TEST_CASE("layouts are functions, epilogues are arguments, and the grid stops at the multiprocessors") {
    if (!can_test()) return;
    Native n;
    n.mock.multiprocessors = 7;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan nt, tn, relu;
    n.plan(nt, "f16*f16 512x768x1024 layout=nt", by_address("wgmma_f16_128x256x64"));
    n.plan(tn, "f16*f16 512x768x1024 layout=tn", by_address("wgmma_f16_128x256x64"));
    n.plan(relu, "f16*f16 512x768x1024 layout=tn act=relu", by_address("wgmma_f16_128x256x64"));
    CHECK(n.mock.modules == 1);
    CHECK(n.mock.functions == 2);
    for (OwnedPlan* p : {&nt, &tn, &relu})
        expect(record(p->handle, run_at(0x10000, 0x200000, 0x900000)), VKGEMM_SUCCESS, {});
    REQUIRE(n.mock.launches.size() == 3);
    CHECK(n.mock.launches[0].function == "wgmma_f16_128x256x64_nt");
    CHECK(n.mock.launches[1].function == "wgmma_f16_128x256x64_tn");
    CHECK(n.mock.launches[2].function == "wgmma_f16_128x256x64_tn");
    CHECK(n.mock.launches[0].groups == 7);
    CHECK(n.mock.launches[1].args.constants[vkgemm::native::STEP_0] == VKGEMM_STEP_NONE);
    CHECK(n.mock.launches[2].args.constants[vkgemm::native::STEP_0] == VKGEMM_STEP_RELU);
}

TEST_CASE("K is split over a native product and an ordinary second pass, with a barrier between them") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan plan;
    n.plan(plan, "f16*f16 128x256x65536", with_workspace(by_address("wgmma_f16_128x256x64", "SPLIT=8")));
    expect(record(plan.handle, run_at(1 << 24, 1 << 28, 1 << 20, 1 << 30)), VKGEMM_SUCCESS, {});
    REQUIRE(n.mock.launches.size() == 1);
    const auto& x = n.mock.launches[0].args;
    CHECK(x.slices == 8);
    CHECK(x.args.k_chunk == 8192);
    CHECK(x.args.d.x == 1 << 30);  // the workspace
    CHECK(x.constants[vkgemm::native::PARTIAL] == 1);
    CHECK(n.mock.launches[0].groups == 8);
    CHECK(n.mock.commands == std::vector<std::string>{"launch", "barrier", "dispatch"});
    uint32_t count = 0;
    const VkgemmRun run = run_at(1 << 24, 1 << 28, 1 << 20, 1 << 30);
    expect(said([&](VkgemmError* e) { return vkgemmCountDispatches(plan.handle, &run, &count, e); }), VKGEMM_SUCCESS,
           {});
    CHECK(count == 2);
}

TEST_CASE("an operand without 16-byte pitches is packed first, or refused in words") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan plan;
    n.plan(plan, "f16*f16 512x768x1027",
           with_workspace(by_address("wgmma_f16_128x256x64", "SPLIT=1")));  // A alone has rows of 2054 bytes
    expect(record(plan.handle, run_at(1 << 24, 1 << 28, 1 << 20, 1 << 30)), VKGEMM_SUCCESS, {});
    CHECK(n.mock.commands == std::vector<std::string>{"dispatch", "barrier", "launch"});
    REQUIRE(n.mock.launches.size() == 1);
    CHECK(n.mock.launches[0].args.args.a.x == 1 << 30);
    CHECK(n.mock.launches[0].args.args.lda == 1056);
    expect(n.check("wgmma_f16_128x256x64", "f16*f16 512x768x1027"), VKGEMM_ERROR_UNSUPPORTED,
           {"multiples of 16 bytes", "leading dimension of A is 1027", "workspace"});
    expect(n.check("wgmma_f16_128x256x64", "f16*f16 512x768x1027 lda=1032"), VKGEMM_SUCCESS, {});
}

TEST_CASE("elements of one byte are multiplied along k, so other layouts are packed") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan plan;
    n.plan(plan, "i8*i8 512x768x1024", with_workspace(by_address("wgmma_i8_128x256x128", "SPLIT=1")));
    VkgemmRun run = run_at(1 << 24, 1 << 28, 1 << 20, 1 << 30);
    run.alpha = 2;
    expect(record(plan.handle, run), VKGEMM_SUCCESS, {});
    CHECK(n.mock.commands == std::vector<std::string>{"dispatch", "barrier", "launch"});
    REQUIRE(n.mock.launches.size() == 1);
    CHECK(n.mock.launches[0].function == "wgmma_i8_128x256x128_nt");
    expect(n.check("wgmma_i8_128x256x128", "i8*i8 512x768x1024"), VKGEMM_ERROR_UNSUPPORTED,
           {"one byte", "B is row-major", "workspace"});
    expect(n.check("wgmma_i8_128x256x128", "i8*i8 512x768x1024 layout=nt"), VKGEMM_SUCCESS, {});
}

TEST_CASE("one function multiplies every pair of e4m3 and e5m2, whose types are arguments") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan one, other;
    const VkgemmPlanOptions o = by_address("wgmma_fp8_128x256x128");
    n.plan(one, "e4m3*e5m2->bf16 512x768x1024 layout=nt accuracy=narrow", o);
    n.plan(other, "e5m2*e4m3->f32 512x768x1024 layout=nt accuracy=narrow bias=col", o);
    CHECK(n.mock.functions == 1);
    expect(record(one.handle, run_at(0x10000, 0x200000, 0x900000)), VKGEMM_SUCCESS, {});
    VkgemmRun run = run_at(0x10000, 0x200000, 0x900000);
    run.bias.address = 0x600000;
    expect(record(other.handle, run), VKGEMM_SUCCESS, {});
    REQUIRE(n.mock.launches.size() == 2);
    using namespace vkgemm::native;
    const uint32_t *const first = n.mock.launches[0].args.constants, *const second = n.mock.launches[1].args.constants;
    CHECK(n.mock.launches[0].function == "wgmma_fp8_128x256x128_nt");
    CHECK(n.mock.launches[0].shared_bytes == wgmma_shared_bytes(128, 256, 128, 4, 1, 2));
    CHECK((first[FORMAT_A] == VKGEMM_TYPE_E4M3 && first[FORMAT_B] == VKGEMM_TYPE_E5M2));
    CHECK(first[FORMAT_D] == VKGEMM_TYPE_BF16);
    CHECK((second[FORMAT_A] == VKGEMM_TYPE_E5M2 && second[FORMAT_B] == VKGEMM_TYPE_E4M3));
    CHECK((second[FORMAT_D] == VKGEMM_TYPE_F32 && second[FORMAT_BIAS] == VKGEMM_TYPE_F32));
    expect(n.check("wgmma_fp8_128x256x128", "e4m3*e4m3 512x768x1024 layout=nt"), VKGEMM_ERROR_UNSUPPORTED,
           {"accuracy=narrow"});
    expect(n.check("wgmma_fp8_128x256x128", "e4m3*f16 512x768x1024 layout=nt accuracy=narrow"),
           VKGEMM_ERROR_UNSUPPORTED, {"multiplies fp8*fp8+f32->f32|f16|bf16"});
}

TEST_CASE("an empty sum is launched in the layouts that every module has") {
    if (!can_test()) return;
    for (const std::string kernel : {"wgmma_bf16x3_128x128x64", "wgmma_f16x2_128x128x64"}) {
        CAPTURE(kernel);
        Native n;
        expect(n.make(), VKGEMM_SUCCESS, {});
        const char* const accuracy = kernel.find("bf16x3") == std::string::npos ? "f32_split_rows" : "f32_split";
        const std::string line = std::string("f32*f32 5x7x0 layout=nn accuracy=") + accuracy;
        OwnedPlan plan;
        n.plan(plan, line.c_str(), with_workspace(by_address(kernel.c_str())));
        expect(record(plan.handle, run_at(0x10000, 0x200000, 0x900000)), VKGEMM_SUCCESS, {});
        REQUIRE(n.mock.launches.size() == 1);
        CHECK(n.mock.launches[0].function == kernel + "_nt");
    }
}

TEST_CASE("sizes at record time make new arguments, with one function") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan plan;
    n.plan(plan, "f16*f16 4096x4096x4096 upto=m", by_address("wgmma_f16_128x256x64"));
    CHECK(n.mock.functions == 1);
    VkgemmRun run = run_at(1 << 24, 1 << 28, 1 << 30);
    run.flags = VKGEMM_RECORD_SIZES;
    run.m = 200;
    run.n = 4096;
    run.k = 4096;
    run.batch = 1;
    expect(record(plan.handle, run), VKGEMM_SUCCESS, {});
    REQUIRE(n.mock.launches.size() == 1);
    CHECK(n.mock.launches[0].args.args.m == 200);
    CHECK(n.mock.launches[0].groups == 2 * 16);
    run.m = 0;
    expect(record(plan.handle, run), VKGEMM_SUCCESS, {});
    CHECK(n.mock.launches.size() == 1);
}

TEST_CASE("products by buffer read addresses where they may be native, and nothing else changes") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    OwnedPlan f16, other, cut;
    n.plan(f16);
    CHECK(std::string(info_of(f16.handle).kernel).starts_with("wgmma_f16_"));
    CHECK(info_of(f16.handle).usesAddresses == 1);
    const auto a = buffer(1 << 20), b = buffer(1 << 21), d = buffer(1 << 20);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a.buffer = a.handle();
    run.b.buffer = b.handle();
    run.d.buffer = d.handle();
    expect(record(f16.handle, run), VKGEMM_SUCCESS, {});
    CHECK(n.mock.launches.size() == 1);
    n.plan(other, "512x768x1024");
    CHECK(info_of(other.handle).usesAddresses == 0);
    VkgemmPlanOptions o = options();
    o.dispatchSeconds = 0.001;
    n.plan(cut, big, o);
    CHECK(!std::string(info_of(cut.handle).kernel).starts_with("wgmma_"));
    o.kernel = "wgmma_f16_128x256x64";
    OwnedPlan refused;
    expect(make_plan(refused, problem(big), o, n.context.handle), VKGEMM_ERROR_UNSUPPORTED, {"dispatchSeconds"});
}

TEST_CASE("a plan may leave native kernels out") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_NO_NATIVE;
    OwnedPlan shader, refused;
    n.plan(shader, big, o);
    CHECK(!std::string(info_of(shader.handle).kernel).starts_with("wgmma_"));
    CHECK(info_of(shader.handle).usesAddresses == 0);
    o.kernel = "wgmma_f16_128x256x64";
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    expect(make_plan(refused, problem(big), o, n.context.handle), VKGEMM_ERROR_UNSUPPORTED, {"VKGEMM_PLAN_NO_NATIVE"});
}

TEST_CASE("who gets no native kernel, and why") {
    if (!can_test()) return;
    const char* const kernel = "wgmma_f16_128x256x64";
    SUBCASE("a family with graphics") {
        Native n;
        expect(n.make(computes | VK_QUEUE_GRAPHICS_BIT), VKGEMM_SUCCESS, {});
        CHECK(n.mock.loads == 0);
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED, {"VK_QUEUE_GRAPHICS_BIT", "queueFlags is 7", "48128"});
    }
    SUBCASE("a family that the caller does not name") {
        Native n;
        expect(n.make(0), VKGEMM_SUCCESS, {});
        CHECK(n.mock.loads == 0);
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED, {"queueFlags is 0"});
    }
    SUBCASE("another driver, unless the caller asks") {
        Native n, asked;
        asked.mock.driver_version = n.mock.driver_version = 581u << 22;
        expect(asked.make(computes, VKGEMM_NATIVE_ANY_DRIVER), VKGEMM_SUCCESS, {});
        expect(asked.check(kernel), VKGEMM_SUCCESS, {});
    }
    SUBCASE("another driver") {
        Native n;
        n.mock.driver_version = 581u << 22;
        expect(n.make(), VKGEMM_SUCCESS, {});
        CHECK(n.mock.loads == 0);
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED,
               {"not verified", "NVIDIA H200", "580.159.04", "nativeKernels"});
    }
    SUBCASE("the caller who wants none") {
        Native n;
        expect(n.make(computes, VKGEMM_NATIVE_OFF), VKGEMM_SUCCESS, {});
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED, {"VKGEMM_NATIVE=0", "switched off"});
    }
    SUBCASE("the user who wants none") {
        setenv("VKGEMM_NATIVE", "0", 1);
        Native n, ignoring;
        expect(n.make(), VKGEMM_SUCCESS, {});
        unsetenv("VKGEMM_NATIVE");
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED, {"VKGEMM_NATIVE=0", "switched off"});
    }
    SUBCASE("a device of another architecture") {
        Native n;
        n.mock.most_bytes = 0;
        expect(n.make(), VKGEMM_SUCCESS, {});
        CHECK(n.mock.loads == 1);
        expect(n.check(kernel), VKGEMM_ERROR_UNSUPPORTED, {"sm_90a", "does not load"});
    }
    SUBCASE("a tile that was not compiled") {
        Native n;
        expect(n.make(), VKGEMM_SUCCESS, {});
        VkgemmPlanOptions o = by_address(kernel, "BN=128");
        OwnedPlan plan;
        expect(make_plan(plan, problem(big), o, n.context.handle), VKGEMM_ERROR_TILE, {"compiled for its own tile"});
    }
    SUBCASE("a value that nobody knows") {
        Native n;
        expect(n.make(computes, VkgemmNativeKernels(3)), VKGEMM_ERROR_INVALID_ARGUMENT, {"nativeKernels is 3"});
    }
}

TEST_CASE("machine code that the driver refuses is an error of the plan, and none is loaded before") {
    if (!can_test()) return;
    for (const bool is_module : {true, false}) {
        CAPTURE(is_module);
        Native n;
        if (is_module)
            n.mock.most_bytes = 10000;  // the empty one is loaded
        else
            n.mock.knows_functions = false;
        expect(n.make(), VKGEMM_SUCCESS, {});
        CHECK(n.mock.loads == 1);
        OwnedPlan refused, shader;
        expect(make_plan(refused, problem(big), by_address("wgmma_f16_128x256x64"), n.context.handle),
               VKGEMM_ERROR_VULKAN,
               {is_module ? "vkCreateCuModuleNVX" : "vkCreateCuFunctionNVX", "-3", "VKGEMM_PLAN_NO_NATIVE"});
        CHECK((n.mock.modules == 0 && n.mock.functions == 0));
        VkgemmPlanOptions o = options();
        o.flags = VKGEMM_PLAN_NO_NATIVE;
        n.plan(shader, big, o);
        CHECK(!std::string(info_of(shader.handle).kernel).starts_with("wgmma_"));
        expect(make_plan(refused, problem(big), options(), n.context.handle), VKGEMM_ERROR_VULKAN,
               {"VKGEMM_PLAN_NO_NATIVE"});
    }
}

TEST_CASE("functions are shared, trimmed, prewarmed and destroyed as pipelines are") {
    if (!can_test()) return;
    Native n;
    expect(n.make(), VKGEMM_SUCCESS, {});
    std::string keys;
    {
        OwnedPlan one, two, later;
        n.plan(one, big, by_address("wgmma_f16_128x256x64"));
        n.plan(two, "f16*f16 1024x1024x1024 act=gelu", by_address("wgmma_f16_128x256x64"));
        CHECK(n.mock.functions == 1);
        CHECK(info_of(one.handle).pipelineCount == 1);
        VkgemmPlanOptions defer = by_address("wgmma_f16_128x128x64");
        defer.flags = VKGEMM_PLAN_DEFER_COMPILE;
        n.plan(later, big, defer);
        CHECK(info_of(later.handle).missingPipelines == 0);  // loaded at once
        size_t size = 0;
        REQUIRE(vkgemmGetPlanKeys(one.handle, nullptr, &size) == VKGEMM_SUCCESS);
        keys.resize(size);
        REQUIRE(vkgemmGetPlanKeys(one.handle, keys.data(), &size) == VKGEMM_SUCCESS);
        CHECK(keys.find("wgmma_f16_128x256x64 addresses") != std::string::npos);
        uint32_t count = 1;
        VkPipeline none = VK_NULL_HANDLE;
        CHECK(vkgemmGetPlanPipelines(one.handle, &count, &none) == VKGEMM_SUCCESS);
        CHECK(none == VK_NULL_HANDLE);
    }
    uint32_t destroyed = 0;
    CHECK(vkgemmTrimPipelines(n.context.handle, &destroyed) == VKGEMM_SUCCESS);
    CHECK(destroyed == 2);
    CHECK(n.mock.functions == 0);
    CHECK(n.mock.modules == 0);
    expect(said([&](VkgemmError* e) { return vkgemmCompilePipelines(n.context.handle, keys.c_str(), e); }),
           VKGEMM_SUCCESS, {});
    CHECK(n.mock.functions == 1);
    vkgemmDestroyContext(n.context.handle);
    n.context.handle = nullptr;
    CHECK(n.mock.functions == 0);
    CHECK(n.mock.modules == 0);
}
