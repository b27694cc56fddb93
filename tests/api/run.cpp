// SPDX-License-Identifier: MIT
// Recording: bad operands are refused before anything is recorded; one plan serves many threads; barriers as asked for.
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "api/api.h"

using namespace vkgemm::test;
using vkgemm::Status;

namespace {

Status as_status(const Said& s) { return {s.code, VK_SUCCESS, s.text}; }

/// A 20x30x40 product with everything that an operand can be, in buffers of their own.
struct Bench {
    OwnedPlan plan;
    vkgemm::host::Buffer a = buffer(1 << 16), b = buffer(1 << 16), c = buffer(1 << 16), d = buffer(1 << 16),
                         vectors = buffer(1 << 16);
    VkgemmRun run{};

    explicit Bench(const std::string& line = "20x30x40 c=separate bias=row scale=all residual",
                   const VkgemmPlanOptions& o = options()) {
        plan_for(plan, line, o);
        run.structSize = sizeof run;
        run.a = at(a);
        run.b = at(b);
        run.c = at(c);
        run.d = at(d);
        run.bias = at(vectors);
        run.scale = at(vectors, 4096);
        run.residual = at(vectors, 8192);
        run.alpha = 1;
        run.beta = 1;
        run = used_by(plan.handle, run);
    }
    Said check() const {
        return said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); });
    }
    Said record(VkCommandBuffer commands) const {
        return said([&](VkgemmError* e) { return vkgemmRecord(plan.handle, commands, &run, e); });
    }
};

void fill(const vkgemm::host::Buffer& b, size_t count, float (*value)(size_t)) {
    float* x = reinterpret_cast<float*>(b.mapped().data());
    for (size_t i = 0; i < count; ++i) x[i] = value(i);
}
const float* floats(const vkgemm::host::Buffer& b) { return reinterpret_cast<const float*>(b.mapped().data()); }

}  // namespace

TEST_CASE("runs that are refused, and leave the command buffer as it was") {
    const struct {
        std::string what;
        std::function<void(Bench&)> change;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {"structSize",
         [](Bench& x) { x.run.structSize = 8; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"VkgemmRun", "structSize", "8"}},
        {"pNext", [](Bench& x) { x.run.pNext = &x; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"pNext"}},
        {"flags", [](Bench& x) { x.run.flags = 1u << 20; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"flags", "1048576"}},
        {"zero alpha",
         [](Bench& x) { x.run.flags = VKGEMM_RECORD_ZERO_ALPHA; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"alpha is 1", "VKGEMM_RECORD_ZERO_ALPHA"}},
        {"underflow", [](Bench& x) { x.run.alpha = 1e-60; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"alpha is 1e-60", "0"}},
        {"overflow", [](Bench& x) { x.run.beta = 1e300; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"beta is 1e+300"}},
        {"buffer and address",
         [](Bench& x) { x.run.a.address = 4096; },
         VKGEMM_ERROR_OPERAND,
         {"operand a", "has an address", "VKGEMM_OPERANDS_BUFFERS"}},
        {"address alone",
         [](Bench& x) { x.run.d = at_address(4096); },
         VKGEMM_ERROR_OPERAND,
         {"operand d", "has an address", "VKGEMM_OPERANDS_ADDRESSES"}},
        {"no A", [](Bench& x) { x.run.a = {}; }, VKGEMM_ERROR_OPERAND, {"operand a", "missing", "3200"}},
        {"no C", [](Bench& x) { x.run.c = {}; }, VKGEMM_ERROR_OPERAND, {"operand c", "missing", "2400"}},
        {"no D", [](Bench& x) { x.run.d = {}; }, VKGEMM_ERROR_OPERAND, {"operand d", "missing"}},
        {"no bias", [](Bench& x) { x.run.bias = {}; }, VKGEMM_ERROR_OPERAND, {"operand bias", "missing", "80"}},
        {"no scale", [](Bench& x) { x.run.scale = {}; }, VKGEMM_ERROR_OPERAND, {"operand scale", "missing", "4"}},
        {"no residual", [](Bench& x) { x.run.residual = {}; }, VKGEMM_ERROR_OPERAND, {"operand residual", "missing"}},
        {"A misaligned",
         [](Bench& x) { x.run.a.offset = 4; },
         VKGEMM_ERROR_OPERAND,
         {"operand a", "4", "16", "operandAlignment"}},
        {"A beyond 2^64",
         [](Bench& x) { x.run.a.offset = UINT64_MAX - 1023; },
         VKGEMM_ERROR_OPERAND,
         {"operand a", "would end beyond 2^64"}},
        {"D misaligned", [](Bench& x) { x.run.d.offset = 8; }, VKGEMM_ERROR_OPERAND, {"operand d", "8", "16"}},
        {"bias misaligned", [](Bench& x) { x.run.bias.offset = 2; }, VKGEMM_ERROR_OPERAND, {"operand bias", "2", "4"}},
        {"A too small", [](Bench& x) { x.run.a.size = 3199; }, VKGEMM_ERROR_OPERAND, {"operand a", "3199", "3200"}},
        {"residual too small",
         [](Bench& x) { x.run.residual.size = 4; },
         VKGEMM_ERROR_OPERAND,
         {"operand residual", "4", "2400"}},
        {"D on A", [](Bench& x) { x.run.d = x.run.a; }, VKGEMM_ERROR_OPERAND, {"operand a", "overlaps D"}},
        {"D in B", [](Bench& x) { x.run.d = at(x.b, 16 * 256); }, VKGEMM_ERROR_OPERAND, {"operand b", "overlaps D"}},
        {"D across C",
         [](Bench& x) { x.run.c = at(x.d, 16); },
         VKGEMM_ERROR_OPERAND,
         {"operand c", "overlaps D", "exactly"}},
        {"D on the bias",
         [](Bench& x) { x.run.bias = at(x.d, 400); },
         VKGEMM_ERROR_OPERAND,
         {"operand bias", "overlaps D"}},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        Bench x;
        row.change(x);
        expect(x.check(), row.code, row.words);
        const Status submitted = device().submit([&](VkCommandBuffer commands) {
            expect(x.record(commands), row.code, row.words);
            return Status{};
        });
        CHECK(submitted.code == VKGEMM_SUCCESS);
    }
    Bench x;
    expect(x.check(), VKGEMM_SUCCESS, {});
    expect(said([&](VkgemmError* e) { return vkgemmCheckRun(nullptr, &x.run, e); }), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"plan", "null"});
    expect(said([&](VkgemmError* e) { return vkgemmCheckRun(x.plan.handle, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmRun", "null"});
    expect(x.record(VK_NULL_HANDLE), VKGEMM_ERROR_INVALID_ARGUMENT, {"commandBuffer", "null"});
    CHECK(vkgemmRecord(nullptr, VK_NULL_HANDLE, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("numbers that do not fit the sums, and a C that is not there") {
    Bench none("20x30x40");
    expect(none.check(), VKGEMM_ERROR_INVALID_PROBLEM, {"beta", "no C"});
    none.run.beta = 0;
    expect(none.check(), VKGEMM_SUCCESS, {});
    Bench whole("i32*i32 20x30x40 c=separate");
    whole.run.alpha = 0.5;
    expect(whole.check(), VKGEMM_ERROR_INVALID_ARGUMENT, {"alpha", "0.5", "whole", "i32"});
    whole.run.alpha = 1;
    whole.run.beta = 4294967296.0;
    expect(whole.check(), VKGEMM_ERROR_INVALID_ARGUMENT, {"beta", "4294967296"});
    whole.run.beta = NAN;
    expect(whole.check(), VKGEMM_ERROR_INVALID_ARGUMENT, {"beta", "nan"});
}

TEST_CASE("scalars in memory must be given, and lie apart; the run's own are not looked at") {
    Bench x("20x30x40 c=d scalars=alpha,beta,monitor");
    x.run.alpha = x.run.beta = 1e300;
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand scalars is missing", "24 bytes"});
    x.run.scalars = at(x.vectors, 2);
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand scalars", "offset 2", "4 bytes", "VkgemmScalars"});
    x.run.scalars = at(x.d, 4);
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand scalars", "overlaps D"});
    x.run.scalars = at(x.vectors, 4);
    expect(x.check(), VKGEMM_SUCCESS, {});
    Bench y("20x30x40 c=d scalars=alpha");
    y.run.scalars = at(y.vectors);
    y.run.beta = 1e300;
    expect(y.check(), VKGEMM_ERROR_INVALID_ARGUMENT, {"beta", "1e+300"});
}

TEST_CASE("a bias of 16 bits beside another D begins at a multiple of 4 bytes") {
    Bench x("20x30x40 bias=row bias_type=f16");
    x.run.beta = 0;
    x.run.bias = at(x.vectors, 2);
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand bias", "offset 2", "16 bits", "4 bytes"});
    x.run.bias = at(x.vectors, 4);
    expect(x.check(), VKGEMM_SUCCESS, {});
}

TEST_CASE("a dry plan checks runs, and cannot be recorded") {
    VkgemmPlanOptions dry = options();
    dry.flags = VKGEMM_PLAN_DRY;
    Bench x("20x30x40 c=separate", dry);
    expect(x.check(), VKGEMM_SUCCESS, {});
    const Status submitted = device().submit([&](VkCommandBuffer commands) {
        expect(x.record(commands), VKGEMM_ERROR_INVALID_ARGUMENT, {"VKGEMM_PLAN_DRY"});
        return Status{};
    });
    CHECK(submitted.code == VKGEMM_SUCCESS);
    CHECK(info_of(x.plan.handle).requiredBytes[VKGEMM_SLOT_A] == 3200);
    x.run.d = x.run.a;
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "overlaps D"});
}

TEST_CASE("alpha is 1 where it is not set, 0 with the flag, and what it is in C++") {
    Bench x("20x30x40");
    fill(x.a, 800, [](size_t) { return 1.0f; });
    fill(x.b, 1200, [](size_t) { return 1.0f; });
    VkgemmRun run{};  // as a C caller leaves it
    run.structSize = sizeof run;
    run.a = at(x.a);
    run.b = at(x.b);
    run.d = at(x.d);
    const auto first = [&] {
        fill(x.d, 600, [](size_t) { return -7.0f; });
        const Status done = device().submit([&](VkCommandBuffer commands) {
            return as_status(said([&](VkgemmError* e) { return vkgemmRecord(x.plan.handle, commands, &run, e); }));
        });
        REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
        for (size_t i = 1; i < 600; ++i) CHECK(floats(x.d)[i] == floats(x.d)[0]);
        return floats(x.d)[0];
    };
    CHECK(first() == 40);
    run.alpha = -0.0;
    CHECK(first() == 40);
    run.alpha = 3;
    CHECK(first() == 120);
    run.alpha = 0;
    run.flags = VKGEMM_RECORD_ZERO_ALPHA;
    CHECK(first() == 0);
    vkgemm::Run wrapped{.a = x.a.operand(), .b = x.b.operand(), .d = x.d.operand()};
    for (const auto& [alpha, sum] : {std::pair{1.0, 40.0f}, {0.0, 0.0f}, {-0.0, 0.0f}, {2.0, 80.0f}}) {
        wrapped.alpha = alpha;
        run = vkgemm::convert::toC(wrapped);
        CHECK(first() == sum);
    }
}

TEST_CASE("overlaps that are allowed") {
    Bench x;
    x.run.c = x.run.d;
    expect(x.check(), VKGEMM_SUCCESS, {});  // D exactly on C
    x.run.residual = x.run.d;
    expect(x.check(), VKGEMM_SUCCESS, {});  // and on the residual
    x.run.b = x.run.a;
    x.run.b.offset = 512;
    expect(x.check(), VKGEMM_SUCCESS, {});  // what is only read may overlap
    x.run.a = at(x.d, 1 << 15);
    expect(x.check(), VKGEMM_SUCCESS, {});   // one buffer, other bytes
    Bench halves("20x32x40 lda=80 ldd=80");  // A and D side by side in rows of 80
    halves.run.beta = 0;
    halves.run.a = at(halves.d, 0);
    halves.run.d = at(halves.d, 160);
    expect(halves.check(), VKGEMM_SUCCESS, {});
    halves.run.d.offset = 144;
    expect(halves.check(), VKGEMM_ERROR_OPERAND, {"operand a", "overlaps D"});
}

TEST_CASE("a plan for operands of 2^31-1 elements is made, and refuses the buffer that ends before them") {
    if (!device().hasAddresses()) return;  // which reach further than descriptors
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    Bench x("2x1x1 lda=2147483646", o);
    x.run.beta = 0;
    CHECK(info_of(x.plan.handle).requiredBytes[VKGEMM_SLOT_A] == 8589934588);
    x.run.a = at_address(x.a.address(), 1 << 16);
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "65536", "8589934588"});
    x.run.a.size = 8589934587;
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "8589934587", "8589934588"});
}

TEST_CASE("addresses are operands too") {
    if (!device().hasAddresses()) return;
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    Bench x("20x30x40", o);
    x.run.beta = 0;
    CHECK(info_of(x.plan.handle).usesAddresses == 1);
    expect(x.check(), VKGEMM_SUCCESS, {});  // buffers, whose addresses are asked for
    x.run.a = at_address(x.a.address());
    expect(x.check(), VKGEMM_SUCCESS, {});
    x.run.a.address += 4;
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "address", "16"});
    x.run.a = at_address(x.d.address() + 64);
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a overlaps D: its bytes 0 to 2336 are bytes 64 to 2400 of D;"});
    x.run.a = {};
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "missing", "address"});
    x.run.a = at(x.a);
    x.run.a.address = x.a.address();
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "both a buffer and an address"});
}

TEST_CASE("an element's alignment is enough when it was promised") {
    VkgemmPlanOptions o = options();
    o.operandAlignment = 1;
    Bench x("20x30x40", o);
    x.run.beta = 0;
    x.run.a.offset = 4;
    CHECK(info_of(x.plan.handle).operandAlignment == 4);
    expect(x.check(), VKGEMM_SUCCESS, {});
    x.run.a.offset = 6;
    expect(x.check(), VKGEMM_ERROR_OPERAND, {"operand a", "multiple of 4"});
}

namespace {

/// The least power of two that a run accepts as the distance of one operand from a multiple of 2^32.
uint32_t least_alignment(VkgemmPlan plan, VkgemmRun run, VkgemmOperand VkgemmRun::*operand) {
    const VkDeviceAddress begin = (run.*operand).address;
    for (uint32_t bytes = 1; bytes <= 64; bytes *= 2) {
        (run.*operand).address = begin + bytes;
        const Said got = said([&](VkgemmError* e) { return vkgemmCheckRun(plan, &run, e); });
        if (got.code == VKGEMM_SUCCESS) return bytes;
        expect(got, VKGEMM_ERROR_OPERAND, {"not a multiple of"});
    }
    return 0;
}

}  // namespace

TEST_CASE("the alignment that a plan reports is the largest that a run demands of a matrix") {
    constexpr std::pair<VkgemmSlot, VkgemmOperand VkgemmRun::*> matrices[] = {
        {VKGEMM_SLOT_A, &VkgemmRun::a},
        {VKGEMM_SLOT_B, &VkgemmRun::b},
        {VKGEMM_SLOT_C, &VkgemmRun::c},
        {VKGEMM_SLOT_D, &VkgemmRun::d},
        {VKGEMM_SLOT_RESIDUAL, &VkgemmRun::residual}};
    for (const std::string line :
         {"f32*f32 20x30x40", "f16*f16 20x30x40 c=separate c_type=f32", "bf16*bf16 20x30x40 residual residual_type=f16",
          "f16*f16+f32->f32 20x30x40", "f32*f16 20x30x40", "i8*i8 20x30x40", "i8*i8+i32->f16 20x30x40 c=separate"})
        for (const char* varying : {"", " upto=s", " upto=ms"})
            for (const uint32_t promised : {2u, 8u}) {
                if (!stores_types_of(line)) continue;
                CAPTURE(line + varying);
                CAPTURE(promised);
                VkgemmPlanOptions o = options();
                o.operandAlignment = promised;
                o.operands = VKGEMM_OPERANDS_ADDRESSES;
                o.flags = VKGEMM_PLAN_DRY;
                OwnedPlan plan;
                plan_for(plan, line + varying, o);
                const VkgemmPlanInfo info = info_of(plan.handle);
                for (const bool has_strides : {false, true}) {
                    if (has_strides && !*varying) continue;
                    VkgemmRun run{};
                    run.structSize = sizeof run;
                    run.beta = line.find("c=separate") == line.npos ? 0 : 1;
                    run.flags = has_strides ? VKGEMM_RECORD_STRIDES : 0;
                    for (const auto& [slot, operand] : matrices)
                        if (info.requiredBytes[slot]) (run.*operand).address = (VkDeviceAddress{slot} + 1) << 32;
                    uint32_t largest = 0;
                    for (const auto& [slot, operand] : matrices)
                        if (info.requiredBytes[slot])
                            largest = std::max(largest, least_alignment(plan.handle, run, operand));
                    CHECK(info.operandAlignment == largest);
                }
            }
}

TEST_CASE("a workspace is asked for, and refused where it is missing, short or in the way") {
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "SPLIT=4";
    o.workspaceLimit = 1 << 16;
    Bench x("20x30x400", o);
    x.run.beta = 0;
    const VkgemmPlanInfo info = info_of(x.plan.handle);
    const uint64_t bytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    CHECK(bytes == 4 * 20 * 30 * 4);
    CHECK(info.dispatchCount == 2);
    CHECK(info.workspaceAlignment >= 16);
    expect(x.check(), VKGEMM_ERROR_WORKSPACE, {"workspace", "missing", std::to_string(bytes)});
    x.run.workspace = at(x.c, 0, bytes - 1);
    expect(x.check(), VKGEMM_ERROR_WORKSPACE, {"workspace", std::to_string(bytes - 1), std::to_string(bytes)});
    x.run.workspace = at(x.c, 4, bytes);
    expect(x.check(), VKGEMM_ERROR_WORKSPACE, {"workspace", "multiple of"});
    x.run.workspace = at(x.d, 0, bytes);
    expect(
        x.check(), VKGEMM_ERROR_WORKSPACE,
        {"operand workspace overlaps operand d: its bytes 0 to 2400 are bytes 0 to 2400 of d; give it memory of its"});
    x.run.workspace = at(x.a, 0, bytes);
    expect(x.check(), VKGEMM_ERROR_WORKSPACE, {"workspace", "overlaps", "memory of its own"});
    x.run.workspace = at(x.c, 0, bytes);
    expect(x.check(), VKGEMM_SUCCESS, {});
    Bench y("20x30x400 c=d scalars=alpha", o);
    y.run.workspace = at(y.c, 0, bytes);
    y.run.scalars = at(y.c, bytes - 4);
    expect(y.check(), VKGEMM_ERROR_WORKSPACE, {"overlaps operand scalars"});
    y.run.scalars = at(y.vectors);
    expect(y.check(), VKGEMM_SUCCESS, {});
    o.workspaceLimit = bytes - 1;
    OwnedPlan refused;
    expect(make_plan(refused, problem("20x30x400"), o), VKGEMM_ERROR_WORKSPACE,
           {"slices", std::to_string(bytes), std::to_string(bytes - 1)});
}

TEST_CASE("an empty plan records nothing and wants nothing") {
    OwnedPlan plan;
    plan_for(plan, "0x30x40");
    CHECK(info_of(plan.handle).dispatchCount == 0);
    CHECK(std::string(info_of(plan.handle).kernel) == "");
    uint32_t count = 7;
    CHECK(vkgemmGetPlanAccesses(plan.handle, &count, nullptr) == VKGEMM_SUCCESS);
    CHECK(count == 0);
    VkgemmRun run{};
    run.structSize = sizeof run;
    const Status done = device().submit([&](VkCommandBuffer commands) {
        return as_status(said([&](VkgemmError* e) { return vkgemmRecord(plan.handle, commands, &run, e); }));
    });
    CHECK(done.code == VKGEMM_SUCCESS);
}

TEST_CASE("two dependent products in one command buffer, with vkgemm's barriers") {
    Bench x("64x64x64"), y("64x64x64");
    fill(x.a, 4096, [](size_t i) { return i % 65 == 0 ? 2.0f : 0.0f; });  // twice the identity
    fill(x.b, 4096, [](size_t i) { return static_cast<float>(i % 97); });
    x.run.beta = y.run.beta = 0;
    y.run.a = x.run.a;
    y.run.b = x.run.d;  // the second reads what the first wrote
    constexpr uint32_t before = VKGEMM_RECORD_BARRIER_BEFORE, after = VKGEMM_RECORD_BARRIER_AFTER;
    for (const auto& [first_flags, second_flags] :
         {std::pair{after, 0u}, {0u, before}, {before | after, before | after}}) {
        x.run.flags = first_flags;
        y.run.flags = second_flags;
        const Status done = device().submit([&](VkCommandBuffer commands) {
            Status first = as_status(x.record(commands));
            return first.code == VKGEMM_SUCCESS ? as_status(y.record(commands)) : first;
        });
        REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
        size_t wrong = 0;
        for (size_t i = 0; i < 4096; ++i) wrong += floats(y.d)[i] != 4.0f * static_cast<float>(i % 97);
        CHECK(wrong == 0);
    }
}

TEST_CASE("one plan, recorded by many threads at once") {
    OwnedPlan plan;
    plan_for(plan, "64x64x64");
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            auto made_a = device().createBuffer(16384, vkgemm::host::Memory::host),
                 made_b = device().createBuffer(16384, vkgemm::host::Memory::host),
                 made_d = device().createBuffer(16384, vkgemm::host::Memory::host);
            if (!made_a || !made_b || !made_d) return void(++wrong);
            fill(*made_a, 4096, [](size_t i) { return i % 65 == 0 ? 1.0f : 0.0f; });
            fill(*made_b, 4096, [](size_t i) { return static_cast<float>(i % 89); });
            VkgemmRun run{};
            run.structSize = sizeof run;
            run.a = at(*made_a);
            run.b = at(*made_b);
            run.d = at(*made_d);
            for (int round = 1; round < 9; ++round) {
                run.alpha = t * 10 + round;
                const Status done = device().submit([&](VkCommandBuffer commands) {
                    const VkgemmResult code = vkgemmRecord(plan.handle, commands, &run, nullptr);
                    return Status{code, VK_SUCCESS, ""};
                });
                wrong += done.code != VKGEMM_SUCCESS;
                for (size_t i = 0; i < 4096; ++i)
                    wrong += floats(*made_d)[i] != static_cast<float>(run.alpha) * static_cast<float>(i % 89);
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("threads that want one pipeline get one") {
    std::vector<std::thread> threads;
    std::array<OwnedPlan, 8> plans;
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.tile = "BK=24";  // nobody else's
    const VkgemmProblem p = problem("77x66x55 bias=col");
    const VkgemmContext c = context();  // opened before, because it is opened when it is first asked for
    for (OwnedPlan& plan : plans) threads.emplace_back([&] { vkgemmCreatePlan(c, &p, &o, &plan.handle, nullptr); });
    for (std::thread& t : threads) t.join();
    VkPipeline first = VK_NULL_HANDLE;
    for (OwnedPlan& plan : plans) {
        REQUIRE(plan.handle);
        VkPipeline pipeline = VK_NULL_HANDLE;
        uint32_t count = 1;
        REQUIRE(vkgemmGetPlanPipelines(plan.handle, &count, &pipeline) == VKGEMM_SUCCESS);
        if (!first) first = pipeline;
        CHECK(pipeline == first);
    }
}

TEST_CASE("operands by descriptors can be demanded") {
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_DESCRIPTORS;
    o.flags = VKGEMM_PLAN_DRY;
    OwnedPlan plan;
    const Said made = make_plan(plan, problem("16x16x16"), o);
    if (made.code != VKGEMM_SUCCESS)  // a device without push descriptors
        return expect(made, VKGEMM_ERROR_UNSUPPORTED, {"VKGEMM_OPERANDS_DESCRIPTORS needs push descriptors"});
    CHECK(info_of(plan.handle).usesAddresses == 0);
    const auto memory = buffer(1 << 14);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a = at(memory);
    run.b = at(memory, 1024);
    run.d = at_address(4096);
    expect(said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); }), VKGEMM_ERROR_OPERAND,
           {"operand d", "has an address"});
    OwnedPlan none;
    expect(make_plan(none, problem("16x16x16 batch=4 upto=m groups=table"), o), VKGEMM_ERROR_UNSUPPORTED,
           {"groups are reached by address", "VKGEMM_OPERANDS_DESCRIPTORS"});
    if (device().hasAddresses())
        expect(make_plan(none, problem("16x16x16 scalars=alpha"), o), VKGEMM_ERROR_UNSUPPORTED,
               {"scalars in memory", "VKGEMM_OPERANDS_DESCRIPTORS"});
}
