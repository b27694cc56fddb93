// SPDX-License-Identifier: MIT
// Sizes at record time: what is refused, what is needed, and that recording allocates nothing.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "api/mock.h"

using namespace vkgemm::test;

namespace {

thread_local int64_t allocations = 0;  // by operator new, on this thread

}  // namespace

// Of this whole program, so that any allocation of the library is counted.
void* operator new(size_t size) {
    ++allocations;
    if (void* const p = std::malloc(size ? size : 1)) return p;
    throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size ? size : 1);
}
// Not inlined: GCC 12 would warn that free() does not match the `operator new` that it does not inline.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace {

/// A mocked driver whose commands do nothing, so that only vkgemm's own allocations are counted.
int dispatches = 0, compilations = 0;

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer, uint32_t x, uint32_t y, uint32_t z) {
    CHECK(uint64_t{x} * y * z > 0);
    ++dispatches;
}
VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer, VkBuffer, VkDeviceSize) { ++dispatches; }
VKAPI_ATTR VkDeviceAddress VKAPI_CALL address(VkDevice, const VkBufferDeviceAddressInfo*) { return 1 << 20; }

VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice d, VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* a,
                                       VkPipeline* out) {
    ++compilations;
    return device_command<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(d, cache, count, infos, a, out);
}

std::vector<Mocked> driver =
    with_idle_commands({mocked("vkCmdDispatchIndirect", dispatch_indirect), mocked("vkCmdDispatch", dispatch),
                        mocked("vkGetBufferDeviceAddress", address), mocked("vkCreateComputePipelines", compile)});

VkgemmRun run_of(const vkgemm::host::Buffer& memory, uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.flags = VKGEMM_RECORD_SIZES;
    r.a = at(memory);
    r.b = at(memory, 1 << 16);
    r.d = at(memory, 1 << 17);
    r.workspace = at(memory, 1 << 18);
    r.m = m;
    r.n = n;
    r.k = k;
    r.batch = batch;
    return r;
}
Said check(const OwnedPlan& plan, const VkgemmRun& run) {
    return said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); });
}

}  // namespace

TEST_CASE("sizes that a run may not have") {
    const auto memory = buffer(1 << 20);
    OwnedPlan plan, fixed;
    plan_for(plan, "64x32x16 upto=mk lda=16");
    plan_for(fixed, "64x32x16");
    expect(check(plan, run_of(memory, 64, 32, 16)), VKGEMM_SUCCESS, {});
    expect(check(plan, run_of(memory, 65, 32, 16)), VKGEMM_ERROR_LIMIT, {"m is 65", "64"});
    expect(check(plan, run_of(memory, 5, 32, 17)), VKGEMM_ERROR_LIMIT, {"k is 17", "16"});
    expect(check(plan, run_of(memory, 5, 31, 3)), VKGEMM_ERROR_INVALID_ARGUMENT, {"n is 31", "32", "upTo"});
    expect(check(plan, run_of(memory, 5, 32, 3, 0)), VKGEMM_ERROR_INVALID_ARGUMENT, {"batch is 0", "1"});
    expect(check(plan, run_of(memory, UINT64_MAX - 1, 32, 3)), VKGEMM_ERROR_LIMIT, {"18446744073709551614"});
    expect(check(fixed, run_of(memory, 64, 32, 16)), VKGEMM_SUCCESS, {});
    expect(check(fixed, run_of(memory, 63, 32, 16)), VKGEMM_ERROR_INVALID_ARGUMENT, {"m is 63", "64"});
    VkgemmRun unset = run_of(memory, 5, 0, 0, 0);
    unset.flags = 0;
    expect(check(plan, unset), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmRun::m is 5", "VKGEMM_RECORD_SIZES"});

    OwnedPlan heads;
    plan_for(heads, "4x5x6 batch=12 ratio_b=4 outer=2 upto=b");
    expect(check(heads, run_of(memory, 4, 5, 6, 8)), VKGEMM_SUCCESS, {});
    expect(check(heads, run_of(memory, 4, 5, 6, 0)), VKGEMM_SUCCESS, {});
    expect(check(heads, run_of(memory, 4, 5, 6, 6)), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"batch is 6", "4 products share a matrix of B (ratioB)", "multiple"});
    expect(check(heads, run_of(memory, 4, 5, 6, 16)), VKGEMM_ERROR_LIMIT, {"batch is 16", "12"});

    OwnedPlan refused;
    VkgemmProblem p = problem("64x32x16");
    p.upTo = 32;
    expect(make_plan(refused, p), VKGEMM_ERROR_INVALID_ARGUMENT, {"upTo", "32"});
    p.upTo = 0;
    p.batchInvariant = 2;
    expect(make_plan(refused, p), VKGEMM_ERROR_INVALID_ARGUMENT, {"batchInvariant is 2"});
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "SPLIT=4";  // wants a workspace where K is long
    expect(make_plan(refused, problem("64x32x1600 upto=mk"), o), VKGEMM_ERROR_WORKSPACE, {"up to", "slices", "bytes"});
}

TEST_CASE("a size of a run may be the problem's") {
    const vkgemm::Problem p{.m = 64, .n = 32, .k = 16, .batch = 3, .upTo = VKGEMM_UP_TO_M | VKGEMM_UP_TO_N};
    const auto plan = device().context().createPlan(p, {.flags = VKGEMM_PLAN_DRY});
    REQUIRE(plan);
    const auto memory = buffer(1 << 20);
    vkgemm::Run run{.a = memory.operand(),
                    .b = {.buffer = memory.handle(), .offset = 1 << 16},
                    .d = {.buffer = memory.handle(), .offset = 1 << 17}};
    const auto bytes = [&](const vkgemm::Sizes& sizes) {
        run.sizes = sizes;
        const auto all = plan->accesses(run);
        REQUIRE_MESSAGE(bool(all), all.status().text);
        std::vector<uint64_t> out;
        for (const VkgemmRunAccess& x : *all) out.push_back(x.size);
        return out;
    };
    CHECK(bytes({.m = 5}) == bytes({.m = 5, .n = 32, .k = 16, .batch = 3}));
    CHECK(bytes({}) == bytes({.m = 64, .n = 32, .k = 16, .batch = 3}));
}

TEST_CASE("a run that keeps strides has the problem's where its own are 0") {
    const auto memory = buffer(1 << 20);
    OwnedPlan plan;
    plan_for(plan, "16x12x24 batch=3 upto=mbs lda=32 ldb=20 stride_b=0 c=separate ldc=14 ldd=16");
    VkgemmRun run = run_of(memory, 5, 12, 24, 2);
    run.c = at(memory, 1 << 18);
    run.beta = 1;
    const auto bytes = [&](uint32_t flags) {
        run.flags = VKGEMM_RECORD_SIZES | flags;
        VkgemmRunAccess all[VKGEMM_SLOT_COUNT];
        uint32_t count = VKGEMM_SLOT_COUNT;
        REQUIRE(vkgemmGetRunAccesses(plan.handle, &run, &count, all, nullptr) == VKGEMM_SUCCESS);
        REQUIRE(count == 4);
        return std::vector<uint64_t>{all[0].size / 4, all[1].size / 4, all[2].size / 4, all[3].size / 4};
    };
    constexpr uint32_t own = VKGEMM_RECORD_STRIDES, keeps = own | VKGEMM_RECORD_KEEP_STRIDES;
    const std::vector<uint64_t> of_problem = {16 * 32 + 4 * 32 + 24, 23 * 20 + 12, 16 * 14 + 4 * 14 + 12,
                                              16 * 16 + 4 * 16 + 12};
    CHECK(bytes(0) == of_problem);
    CHECK(bytes(keeps) == of_problem);
    CHECK(bytes(own) == std::vector<uint64_t>{2 * 5 * 24, 2 * 24 * 12, 2 * 5 * 12, 2 * 5 * 12});
    run.strides.ldd = 40;
    run.strides.batchStrideD = 200;
    CHECK(bytes(keeps) == std::vector<uint64_t>{of_problem[0], of_problem[1], of_problem[2], 200 + 4 * 40 + 12});
    run.strides = {};
    run.flags = VKGEMM_RECORD_SIZES | VKGEMM_RECORD_KEEP_STRIDES;
    expect(check(plan, run), VKGEMM_ERROR_INVALID_ARGUMENT, {"VKGEMM_RECORD_KEEP_STRIDES", "VKGEMM_RECORD_STRIDES"});
}

TEST_CASE("strides that a run may not have") {
    const auto memory = buffer(1 << 20);
    OwnedPlan plan, fixed, none;
    plan_for(plan, "64x32x16 batch=4 ratio_b=2 upto=ms");
    plan_for(fixed, "64x32x16 upto=m");
    VkgemmRun run = run_of(memory, 5, 32, 16, 4);
    expect(check(plan, run), VKGEMM_SUCCESS, {});  // the plan's own
    run.strides.lda = 17;
    expect(check(plan, run), VKGEMM_ERROR_INVALID_ARGUMENT, {"strides", "VKGEMM_RECORD_STRIDES"});
    run.flags |= VKGEMM_RECORD_STRIDES;
    expect(check(plan, run), VKGEMM_SUCCESS, {});
    run.a.size = (3 * 5 * 17 + 4 * 17 + 16) * 4;
    run.b.size = 2 * 16 * 32 * 4;
    run.d.size = 4 * 5 * 32 * 4;
    expect(check(plan, run), VKGEMM_SUCCESS, {});
    run.a.size -= 1;
    expect(check(plan, run), VKGEMM_ERROR_OPERAND, {"operand a"});
    run.a.size = 0;
    run.strides.lda = 15;
    expect(check(plan, run), VKGEMM_ERROR_INVALID_PROBLEM, {"lda is 15", "16"});
    run.strides.lda = 0;
    run.strides.batchStrideD = 5 * 32 - 1;
    expect(check(plan, run), VKGEMM_ERROR_INVALID_PROBLEM, {"stride_d is 159", "overwrite itself"});
    run.strides.batchStrideD = 0;
    run.strides.batchStrideB = VKGEMM_BROADCAST;
    expect(check(plan, run), VKGEMM_ERROR_INVALID_ARGUMENT, {"batchStrideB", "2 products"});
    run.strides.batchStrideB = 0;
    run.strides.batchStrideA = VKGEMM_BROADCAST;
    expect(check(plan, run), VKGEMM_SUCCESS, {});
    run.strides.lda = uint64_t{1} << 33;
    expect(check(plan, run), VKGEMM_ERROR_LIMIT, {"8589934592", "leading dimension of A"});
    VkgemmRun other = run_of(memory, 5, 32, 16);
    other.flags |= VKGEMM_RECORD_STRIDES;
    expect(check(fixed, other), VKGEMM_ERROR_INVALID_ARGUMENT, {"VKGEMM_RECORD_STRIDES", "VKGEMM_UP_TO_STRIDES"});
    expect(make_plan(none, problem("64x32x16 upto=s packed_b=any")), VKGEMM_ERROR_UNSUPPORTED, {"strides cannot vary"});
    expect(make_plan(none, problem("64x32x16 upto=s invariant")), VKGEMM_ERROR_UNSUPPORTED, {"strides cannot vary"});
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "PACK=4";
    o.workspaceLimit = 1 << 20;
    expect(make_plan(none, problem("64x32x16 upto=s"), o), VKGEMM_ERROR_UNSUPPORTED, {"strides vary from run to run"});
}

TEST_CASE("a run needs operands of its sizes, and none if it is empty") {
    const auto memory = buffer(1 << 20);
    OwnedPlan plan;
    plan_for(plan, "64x32x16 upto=mn ldb=32 ldd=32");
    CHECK(info_of(plan.handle).requiredBytes[VKGEMM_SLOT_A] == 64 * 16 * 4);
    VkgemmRun run = run_of(memory, 3, 5, 16);
    run.a.size = 3 * 16 * 4;
    run.b.size = (15 * 32 + 5) * 4;
    run.d.size = (2 * 32 + 5) * 4;
    expect(check(plan, run), VKGEMM_SUCCESS, {});
    for (VkgemmOperand* x : {&run.a, &run.b, &run.d}) {
        const uint64_t bytes = x->size--;
        expect(check(plan, run), VKGEMM_ERROR_OPERAND, {std::to_string(bytes - 1), std::to_string(bytes)});
        x->size = bytes;
    }
    run.d = at(memory, 3 * 16 * 4);  // behind these rows of A, inside those of the largest sizes
    expect(check(plan, run), VKGEMM_SUCCESS, {});
    run.m = 4;
    run.a.size = 0;
    expect(check(plan, run), VKGEMM_ERROR_OPERAND, {"operand a", "overlaps D"});
    VkgemmRun none = run_of(memory, 0, 5, 16);
    none.a = none.b = none.d = {};
    expect(check(plan, none), VKGEMM_SUCCESS, {});
    none.m = 1;
    none.n = 0;
    expect(check(plan, none), VKGEMM_SUCCESS, {});
}

TEST_CASE("recording sizes that were never seen compiles and allocates nothing") {
    const VkgemmContextInfo info = mocked_context_info<driver>();
    OwnedContext c;
    REQUIRE(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }).code == VKGEMM_SUCCESS);
    const auto memory = buffer(1 << 22);
    for (const VkgemmOperandKind kind : {VKGEMM_OPERANDS_BUFFERS, VKGEMM_OPERANDS_ADDRESSES})
        for (const char* tile : {"", "SPLIT=2,PACK=4", "SPLIT=2"}) {
            const bool strided = std::strcmp(tile, "SPLIT=2") == 0;
            VkgemmPlanOptions o = options();
            o.kernel = "tiled_f32_8x8";
            o.tile = tile;
            o.workspaceLimit = 1 << 20;
            o.operands = kind;
            OwnedPlan plan;
            plan_for(plan,
                     strided ? "40x24x100 batch=2 upto=mnkbs" : "40x24x100 batch=2 upto=mnkb ldb=24 lda=100 ldd=24", o,
                     c.handle);
            const int compiled = compilations;
            const auto some_commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});
            for (uint64_t i = 0; i < 300; ++i) {
                VkgemmRun run = run_of(memory, i * 7 % 41, i * 5 % 25, i * 11 % 101, i % 3);
                if (strided) {
                    run.flags |= VKGEMM_RECORD_STRIDES;
                    run.strides.lda = 101 + i % 3;
                    run.strides.ldb = 28;
                }
                const bool is_empty = run.m == 0 || run.n == 0 || run.batch == 0;
                if (kind == VKGEMM_OPERANDS_BUFFERS) run.workspace.offset = 1 << 21;
                if (kind == VKGEMM_OPERANDS_ADDRESSES) {
                    run.a = at_address(1 << 20);
                    run.b = at_address(2 << 20);
                    run.d = at_address(3 << 20);
                    run.workspace = at_address(4 << 20);
                }
                VkgemmError error;
                dispatches = 0;
                const int64_t before = allocations;
                const VkgemmResult code = vkgemmRecord(plan.handle, some_commands, &run, &error);
                const int64_t made = allocations - before;
                CHECK_MESSAGE(code == VKGEMM_SUCCESS, error.text);
                CHECK(made == 0);
                CHECK((dispatches == 0) == is_empty);
            }
            CHECK(compilations == compiled);
        }
}

// The counts of a plan have room for a few more. Its time: tests/host_cost.
TEST_CASE("what a runtime plans again and records compiles nothing, and hardly allocates") {
    const VkgemmContextInfo info = mocked_context_info<driver>();
    OwnedContext c;
    REQUIRE(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }).code == VKGEMM_SUCCESS);
    const auto memory = buffer(1 << 22);
    const auto some_commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});
    const struct {
        const char* line;
        int64_t most;  // allocations of one plan
    } rows[] = {{"32x24x64", 40},
                {"32x24x64 upto=m", 160},
                {"32x24x64 layout=nt packed_b=any upto=m", 160},
                {"f32*q4_0 32x24x64 layout=nt", 40},
                {"f32*q4_0 32x24x64 layout=nt upto=m", 160},
                {"32x24x64 batch=3 groups=table upto=m", 50},
                {"32x24x64 batch=3 groups=addresses upto=m", 50},
                {"f32*q4_0 32x24x64 batch=3 layout=nt groups=indexed per_row=2 upto=m", 50}};
    for (const auto& row : rows) {
        CAPTURE(row.line);
        VkgemmPlanOptions o = options();
        o.workspaceLimit = 1 << 20;
        OwnedPlan plan, again;
        const VkgemmProblem p = problem(row.line);
        if (make_plan(plan, p, o, c.handle).code == VKGEMM_ERROR_UNSUPPORTED) continue;  // as SwiftShader's packs
        const int compiled = compilations;
        int64_t before = allocations;
        REQUIRE(vkgemmCreatePlan(c.handle, &p, &o, &again.handle, nullptr) == VKGEMM_SUCCESS);
        CHECK(allocations - before <= row.most);
        for (uint64_t i = 1; i <= 32; ++i) {
            VkgemmRun run = run_of(memory, p.upTo ? i : 32, 24, 64, p.grouping ? 3 : 1);
            run.groups = at(memory, 3 << 18);
            run.indices = at(memory, 7 << 17);
            run = used_by(again.handle, run);
            VkgemmError error{};
            before = allocations;
            dispatches = 0;
            const VkgemmResult code = vkgemmRecord(again.handle, some_commands, &run, &error);
            CHECK(allocations == before);
            CHECK_MESSAGE(code == VKGEMM_SUCCESS, error.text);
            CHECK(dispatches > 0);
        }
        CHECK(compilations == compiled);
    }
}

TEST_CASE("what is recorded is told with the sizes of the run and the strides of the plan") {
    VkgemmContextInfo info = mocked_context_info<driver>();
    std::string line;
    info.recorded = [](void* user, const char* problem, VkgemmPlan, const VkgemmRun* run) {
        *static_cast<std::string*>(user) = problem + std::string(" ") + std::to_string(run->m);
    };
    info.recordedUser = &line;
    OwnedContext c;
    REQUIRE(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }).code == VKGEMM_SUCCESS);
    OwnedPlan plan;
    plan_for(plan, "40x24x10 batch=3 stride_b=0 upto=mb", options(), c.handle);
    const auto memory = buffer(1 << 20);
    VkgemmRun run = run_of(memory, 7, 24, 10, 2);
    const auto some_commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});
    REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
    CHECK(line == "f32*f32+f32->f32 7x24x10 batch=2 lda=10 ldb=24 ldd=24 stride_a=400 stride_b=0 stride_d=960 7");
    line.clear();
    run = run_of(memory, 7, 24, 10, 0);  // which no text can state
    REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
    CHECK(line == "");
    run.flags = 0;
    run.m = run.n = run.k = run.batch = 0;
    REQUIRE(vkgemmRecord(plan.handle, some_commands, &run, nullptr) == VKGEMM_SUCCESS);
    CHECK(line == "f32*f32+f32->f32 40x24x10 batch=3 upto=mb stride_b=0 0");
}

TEST_CASE("the explanation has the kernel of each range, and the C++ wrapper the sizes of a run") {
    const vkgemm::Problem p{.m = 64, .n = 32, .k = 16, .upTo = VKGEMM_UP_TO_M};
    const auto text = device().context().explain(p);
    REQUIRE(text);
    CHECK_MESSAGE(has_words(*text, "up to 1x32x16: ", "up to 64x32x16: "), *text);
    const auto plan = device().context().createPlan(p);
    REQUIRE(plan);
    const auto memory = buffer(1 << 16);
    const vkgemm::Run run{.a = memory.operand(),
                          .b = memory.operand(),
                          .d = {.buffer = memory.handle(), .offset = 1 << 15},
                          .sizes = vkgemm::Sizes{.m = 65, .n = 32, .k = 16}};
    CHECK(plan->check(run).code == VKGEMM_ERROR_LIMIT);
    const auto line = vkgemm::formatProblem(p);
    REQUIRE(line);
    CHECK(has_words(*line, "upto=m"));
    CHECK(vkgemm::parseProblem(line->c_str())->problem.upTo == VKGEMM_UP_TO_M);
}
