// SPDX-License-Identifier: MIT
// What a chain refuses, with the product's number, the value and the limit; and what it reports.
#include <cstring>
#include <map>

#include "api/api.h"
#include "chain/network.h"

using namespace vkgemm::test;

namespace {

using OwnedChain = Owned<VkgemmChain, vkgemmDestroyChain>;

struct Problems {
    std::vector<VkgemmProblem> all;
    VkgemmChainProblem chain{};

    explicit Problems(std::initializer_list<const char*> lines, uint32_t kept = 0) {
        for (const char* line : lines) {
            all.push_back(problem(line));
            if (all.size() > 1) all.back().a = {};
        }
        chain = {.structSize = sizeof chain,
                 .problemCount = uint32_t(all.size()),
                 .pNext = nullptr,
                 .problems = all.data(),
                 .kept = kept,
                 .flags = 0};
    }
    Problems(const Problems&) = delete;
    Problems& operator=(const Problems&) = delete;
};

Said create(const Problems& p, OwnedChain& chain, const VkgemmPlanOptions& o = options(),
            VkgemmContext of = context()) {
    return said([&](VkgemmError* e) { return vkgemmCreateChain(of, &p.chain, &o, &chain.handle, e); });
}
bool is_one_dispatch(const OwnedChain& chain) {
    VkgemmChainInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetChainInfo(chain.handle, &info) == VKGEMM_SUCCESS);
    return info.isOneDispatch != 0;
}
void refused(const Problems& p, VkgemmResult code, const std::vector<std::string>& words,
             const VkgemmPlanOptions& o = options()) {
    OwnedChain chain;
    expect(create(p, chain, o), code, words);
    CHECK(chain.handle == nullptr);
    size_t size = 0;  // vkgemmExplainChain refuses the same
    expect(said([&](VkgemmError* e) { return vkgemmExplainChain(context(), &p.chain, &o, nullptr, &size, e); }), code,
           words);
}
VkgemmPlanOptions flags(uint32_t f) {
    VkgemmPlanOptions o = options();
    o.flags = f;
    return o;
}

/// A run of three products of 8 rows, f32, with every operand 4 KiB from the next.
struct Runs {
    vkgemm::host::Buffer memory = buffer(1 << 20);
    std::vector<VkgemmRun> all;
    VkgemmChainRun run{};

    explicit Runs(uint32_t kept = 1) {
        VkDeviceSize place = 0;
        const auto next = [&] { return at(memory, place += 4096); };
        for (uint32_t i = 0; i < 3; ++i) {
            VkgemmRun r{};
            r.structSize = sizeof r;
            if (i == 0) r.a = next();
            r.b = next();
            if (i == 2 || (kept >> i & 1)) r.d = next();
            all.push_back(r);
        }
        run = {.structSize = sizeof run,
               .flags = 0,
               .pNext = nullptr,
               .runs = all.data(),
               .runCount = 3,
               .workspace = at(memory, 1 << 19)};
    }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;
};
// A GPU, whose plans take descriptors where they can; those of a CPU take addresses.
VKAPI_ATTR void VKAPI_CALL properties_of_gpu(VkPhysicalDevice physical, VkPhysicalDeviceProperties2* out) {
    reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
        device().getInstanceProcAddr()(device().instance(), "vkGetPhysicalDeviceProperties2"))(physical, out);
    out->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL loader_of_gpu(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetPhysicalDeviceProperties2") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(properties_of_gpu);
    return device().getInstanceProcAddr()(instance, name);
}

Said check(const OwnedChain& chain, const Runs& r) {
    return said([&](VkgemmError* e) { return vkgemmCheckChainRun(chain.handle, &r.run, e); });
}

}  // namespace

TEST_CASE("chains: problems that do not meet") {
    refused(Problems({"8x16x4", "8x4x15"}), VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "k is 15", "n", "16"});
    refused(Problems({"8x16x4", "8x4x16", "9x4x4"}), VKGEMM_ERROR_INVALID_PROBLEM, {"product 2", "m is 9", "8"});
    refused(Problems({"8x16x4 batch=2", "8x4x16 batch=3"}), VKGEMM_ERROR_INVALID_PROBLEM,
            {"product 1", "batch is 3", "2"});
    refused(Problems({"8x16x4 upto=m", "8x4x16"}), VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "upTo is 0", "is 1"});
    Problems stated({"8x16x4", "8x4x16"});
    stated.all[1].a.ld = 17;
    refused(stated, VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "leading dimension of A is 17", "16"});
    stated.all[1].a = {};
    stated.all[1].a.type = VKGEMM_TYPE_F16;
    refused(stated, VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "type of A is f16", "f32"});
    stated.all[1].a = {};
    stated.all[1].a.layout = VKGEMM_LAYOUT_COLUMN_MAJOR;
    refused(stated, VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "layout of A is 1", "is 0"});
    stated.all[1].a = {.type = VKGEMM_TYPE_F32,
                       .layout = VKGEMM_LAYOUT_ROW_MAJOR,
                       .ld = 16,
                       .batchStride = 0};  // the same matrix in words
    OwnedChain chain;
    expect(create(stated, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
}

TEST_CASE("chains: products that no chain can have") {
    const auto second = [](const char* line, const std::vector<std::string>& words) {
        std::vector<std::string> all = words;
        all.emplace_back("product 1");
        refused(Problems({"8x16x4", line}), VKGEMM_ERROR_UNSUPPORTED, all);
    };
    second("8x4x16 groups=table", {"1 groups", "upTo 0", "VKGEMM_UP_TO_M"});
    second("8x4x16 groups=table batch=2 upto=m", {"2 groups", "batch 1"});
    second("8x4x16 groups=indexed upto=m", {"groups"});
    second("8x4x16 packed_b=any", {"packed"});
    second("8x4x16 outer=2", {"outer batch (2)"});
    second("8x4x16 batch=2 ratio_b=2", {"ratios (1, 2)"});
    second("8x4x16 upto=n", {"upTo is 2", "m (1)"});
    Problems narrow({"8x16x4", "8x4x16"});
    narrow.all[1].b.ld = 3;
    refused(narrow, VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "ldb is 3", "4"});
    refused(Problems({"8x16x4", "8x4x16"}), VKGEMM_ERROR_UNSUPPORTED, {"DEFER_COMPILE"},
            flags(VKGEMM_PLAN_DEFER_COMPILE));
    refused(Problems({"8x16x4", "8x4x16"}), VKGEMM_ERROR_UNSUPPORTED, {"FAIL_ON_COMPILE"},
            flags(VKGEMM_PLAN_FAIL_ON_COMPILE));
}

TEST_CASE("chains: a C that is D needs a D that is kept") {
    refused(Problems({"8x16x4 c=d", "8x4x16"}), VKGEMM_ERROR_INVALID_PROBLEM,
            {"product 0", "cSource is D", "VkgemmChainProblem::kept"});
    OwnedChain kept, last;
    expect(create(Problems({"8x16x4 c=d", "8x4x16"}, 1), kept, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    expect(create(Problems({"8x16x4", "8x4x16 c=d"}), last, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
}

TEST_CASE("chains: a bad description") {
    Problems p({"8x16x4", "8x4x16"});
    p.chain.problemCount = 0;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"problemCount is 0", "1 to 32"});
    p.chain.problemCount = 33;
    refused(p, VKGEMM_ERROR_LIMIT, {"problemCount is 33", "1 to 32"});
    p.chain.problemCount = 2;
    p.chain.kept = 4;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"kept is 4", "product 2", "2 products"});
    p.chain.kept = 3;
    p.chain.flags = 2;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"flags", "unknown bits: 2"});
    p.chain.flags = 0;
    p.chain.problems = nullptr;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"problems is null"});
    p.chain.problems = p.all.data();
    p.all[1].structSize -= 8;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"product 1", "structSize"});
    p.chain.structSize = 4;
    refused(p, VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmChainProblem::structSize is 4"});
    const VkgemmPlanOptions o = options();
    expect(said([&](VkgemmError* e) { return vkgemmCreateChain(context(), &p.chain, &o, nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"chain is null"});
    OwnedChain chain;
    expect(said([&](VkgemmError* e) { return vkgemmCreateChain(nullptr, &p.chain, &o, &chain.handle, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"context is null"});
}

TEST_CASE("chains: runs that are refused, before anything is recorded") {
    OwnedChain chain;
    Problems p({"8x16x4", "8x12x16", "8x4x12"}, 1);
    expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    const auto bad = [&](const auto& spoil, VkgemmResult code, const std::vector<std::string>& words) {
        Runs r;
        expect(check(chain, r), VKGEMM_SUCCESS, {});
        spoil(r);
        expect(check(chain, r), code, words);
        expect(said([&](VkgemmError* e) {
                   return vkgemmRecordChain(chain.handle, reinterpret_cast<VkCommandBuffer>(&r), &r.run, e);
               }),
               code, words);
    };
    bad([](Runs& r) { r.run.runCount = 2; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"runCount is 2", "3 products"});
    bad([](Runs& r) { r.run.flags = VKGEMM_RECORD_SIZES; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"unknown bits: 8"});
    bad([](Runs& r) { r.run.runs = nullptr; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"runs is null"});
    bad([](Runs& r) { r.all[1].structSize -= 8; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"product 1", "structSize"});
    bad([](Runs& r) { r.all[1].flags = VKGEMM_RECORD_BARRIER_AFTER; }, VKGEMM_ERROR_INVALID_ARGUMENT,
        {"product 1", "flags is 2"});
    bad([](Runs& r) { r.all[0].d = {}; }, VKGEMM_ERROR_OPERAND, {"product 0", "operand d", "missing", "512 bytes"});
    bad([](Runs& r) { r.all[1].d = r.all[2].d; }, VKGEMM_ERROR_OPERAND, {"product 1", "operand d", "not kept"});
    bad([](Runs& r) { r.all[2].a = r.all[0].a; }, VKGEMM_ERROR_OPERAND, {"product 2", "operand a", "product before"});
    bad([](Runs& r) { r.all[0].workspace = r.run.workspace; }, VKGEMM_ERROR_OPERAND, {"product 0", "workspace"});
    bad([](Runs& r) { r.all[2].b = {}; }, VKGEMM_ERROR_OPERAND, {"product 2", "operand b", "missing", "192 bytes"});
    bad([](Runs& r) { r.all[2].b = r.all[0].d; }, VKGEMM_ERROR_OPERAND,
        {"product 2", "operand b overlaps the D of product 0: its bytes 0 to 192 are bytes 0 to 192 of that D"});
    bad([](Runs& r) { r.all[2].d = r.all[0].a; }, VKGEMM_ERROR_OPERAND,
        {"product 0", "operand a", "overlaps the D of product 2"});
    bad([](Runs& r) { r.all[2].d.offset = r.all[0].d.offset + 496; }, VKGEMM_ERROR_OPERAND,
        {"operand d", "overlaps the D of product"});
    bad([](Runs& r) { r.all[2].d.offset += 4; }, VKGEMM_ERROR_OPERAND, {"product 2", "operand d", "multiple of 16"});
    bad([](Runs& r) { r.all[1].m = 8; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"product 1", "m is 8"});
    bad([](Runs& r) { r.all[1].beta = 2; }, VKGEMM_ERROR_INVALID_PROBLEM, {"product 1", "beta"});
    CHECK(vkgemmCheckChainRun(nullptr, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    Runs r;
    expect(said([&](VkgemmError* e) { return vkgemmRecordChain(chain.handle, nullptr, &r.run, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"commandBuffer is null"});
    expect(said([&](VkgemmError* e) {
               return vkgemmRecordChain(chain.handle, reinterpret_cast<VkCommandBuffer>(&r), &r.run, e);
           }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"DRY"});
}

TEST_CASE("chains: an operand that a product has no use for is refused") {
    if (!device().hasAddresses()) return;
    for (const uint32_t separate : {uint32_t{VKGEMM_CHAIN_SEPARATE}, 0U}) {
        CAPTURE(separate);
        Problems p({"8x16x4 bias=col", "8x12x16", "8x4x12"}, 1);
        p.chain.flags = separate;
        OwnedChain chain;
        expect(create(p, chain, flags(VKGEMM_PLAN_DRY), chain_context()), VKGEMM_SUCCESS, {});
        CHECK(is_one_dispatch(chain) == (separate == 0));
        Runs r;
        r.all[0].bias = at(r.memory, 1 << 18);
        expect(check(chain, r), VKGEMM_SUCCESS, {});
        for (const UnusedOperand& row : unused_operands) {
            r.all[1].*row.operand = at(r.memory, 1 << 18);
            const bool counts = row.operand == &VkgemmRun::groups;  // as product 0 may have them
            expect(check(chain, r), VKGEMM_ERROR_OPERAND,
                   {"product 1", row.name, "must be zero", counts ? "product 0" : row.why});
            r.all[1].*row.operand = {};
        }
    }
}

TEST_CASE("chains: runs of an older header, whose structs end before the sizes") {
    OwnedChain chain;
    const Problems p({"8x16x4", "8x12x16", "8x4x12"}, 1);
    expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    Runs r;
    constexpr size_t size = offsetof(VkgemmRun, m);
    std::vector<std::byte> older(r.all.size() * size);
    for (size_t i = 0; i < r.all.size(); ++i) {
        r.all[i].structSize = size;
        std::memcpy(&older[i * size], &r.all[i], size);
    }
    r.run.runs = reinterpret_cast<const VkgemmRun*>(older.data());
    expect(check(chain, r), VKGEMM_SUCCESS, {});
}

TEST_CASE("chains: a run of no rows needs no operand, also of one dispatch") {
    const auto memory = buffer(1 << 16);
    for (const char* line : {"16x16x16 upto=m", "f16*f16 16x16x16 upto=m"}) {
        if (!stores_types_of(line)) continue;
        CAPTURE(line);
        OwnedChain chain;
        const Problems p({line, line}, 1);
        expect(create(p, chain, flags(VKGEMM_PLAN_DRY), chain_context()), VKGEMM_SUCCESS, {});
        CHECK(is_one_dispatch(chain) == device().hasAddresses());
        VkgemmRun runs[2] = {};
        for (VkgemmRun& r : runs) {
            r.structSize = sizeof r;
            r.flags = VKGEMM_RECORD_SIZES;
            r.n = r.k = 16;
            r.batch = 1;
        }
        VkgemmChainRun run{};
        run.structSize = sizeof run;
        run.runs = runs;
        run.runCount = 2;
        run.workspace = at(memory);
        expect(said([&](VkgemmError* e) { return vkgemmCheckChainRun(chain.handle, &run, e); }), VKGEMM_SUCCESS, {});
        for (VkgemmRun& r : runs) r.m = 1;
        expect(said([&](VkgemmError* e) { return vkgemmCheckChainRun(chain.handle, &run, e); }), VKGEMM_ERROR_OPERAND,
               {"missing"});
    }
}

TEST_CASE("chains: a group that has the rows") {
    if (!device().hasAddresses()) return;
    refused(Problems({"8x16x4 upto=m", "8x4x16 groups=table upto=m"}), VKGEMM_ERROR_INVALID_PROBLEM,
            {"product 1", "grouping is 1", "is 0"});
    for (const char* line : {"16x16x16 upto=m groups=table", "f16*f16 16x16x16 upto=m groups=table"}) {
        if (!stores_types_of(line)) continue;
        CAPTURE(line);
        OwnedChain chain;
        const Problems p({line, line, line}, 1);
        expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
        Runs r;
        expect(check(chain, r), VKGEMM_ERROR_OPERAND, {"product 0", "operand groups", "missing", "64 bytes"});
        r.all[0].groups = at(r.memory, 1 << 18);
        expect(check(chain, r), VKGEMM_SUCCESS, {});
        r.all[1].groups = at(r.memory, 1 << 18);
        expect(check(chain, r), VKGEMM_ERROR_OPERAND, {"product 1", "operand groups", "product 0"});
        r.all[1].groups = {};
        r.all[0].groups = r.all[2].d;
        expect(check(chain, r), VKGEMM_ERROR_OPERAND, {"operand groups", "overlaps", "D"});
        uint32_t count = 0, groups = 0;
        REQUIRE(vkgemmGetChainAccesses(chain.handle, &count, nullptr) == VKGEMM_SUCCESS);
        std::vector<VkgemmChainAccess> all(count);
        REQUIRE(vkgemmGetChainAccesses(chain.handle, &count, all.data()) == VKGEMM_SUCCESS);
        for (const VkgemmChainAccess& x : all) groups += x.access.slot == VKGEMM_SLOT_GROUPS;
        CHECK(groups == 1);
    }
}

TEST_CASE("chains: the workspace of separate plans") {
    OwnedChain chain;
    Problems p({"8x16x4", "8x12x16", "8x4x12"}, 1);
    p.chain.flags = VKGEMM_CHAIN_SEPARATE;
    expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    Runs r;
    r.run.workspace = {};
    expect(check(chain, r), VKGEMM_ERROR_WORKSPACE, {"384 bytes"});
    r.run.workspace = at(r.memory, 1 << 19, 383);
    expect(check(chain, r), VKGEMM_ERROR_WORKSPACE, {"383", "384"});
    r.run.workspace.size = 384;
    expect(check(chain, r), VKGEMM_SUCCESS, {});
    r.run.workspace.offset += 4;
    VkgemmChainInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetChainInfo(chain.handle, &info) == VKGEMM_SUCCESS);
    expect(check(chain, r), VKGEMM_ERROR_WORKSPACE, {"multiple of " + std::to_string(info.workspaceAlignment)});
    r.run.workspace.offset = r.all[0].b.offset;
    expect(check(chain, r), VKGEMM_ERROR_WORKSPACE, {"overlaps operand b of product 0: its bytes 0 to ", " of b;"});
}

TEST_CASE("chains: operands of products that differ in their binding") {
    if (!device().hasAddresses()) return;
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = loader_of_gpu;
    OwnedContext gpu;
    REQUIRE(vkgemmCreateContext(&info, &gpu.handle, nullptr) == VKGEMM_SUCCESS);
    Problems p({"8x16x4", "8x12x16 scalars=alpha", "8x4x12"}, 1);  // scalars are read by address alone
    p.chain.flags = VKGEMM_CHAIN_SEPARATE;
    const VkgemmPlanOptions o = flags(VKGEMM_PLAN_DRY);
    OwnedChain chain;
    expect(said([&](VkgemmError* e) { return vkgemmCreateChain(gpu.handle, &p.chain, &o, &chain.handle, e); }),
           VKGEMM_SUCCESS, {});
    Runs r;
    r.all[1].scalars = at(r.memory, 1 << 18);
    expect(check(chain, r), VKGEMM_SUCCESS, {});
    const VkgemmOperand b = r.all[1].b;
    r.all[1].b = r.all[0].d;
    expect(check(chain, r), VKGEMM_ERROR_OPERAND, {"product 1", "operand b", "overlaps the D of product 0"});
    r.all[1].b = b;
    r.all[2].d.offset = b.offset + 16;
    expect(check(chain, r), VKGEMM_ERROR_OPERAND, {"product 1", "operand b", "overlaps the D of product 2"});
}

TEST_CASE("chains: sizes of runs that differ between products") {
    OwnedChain chain;
    Problems p({"8x16x4 upto=m", "8x12x16 upto=m", "8x4x12 upto=m"}, 1);
    expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    const uint64_t sizes[3][2] = {{16, 4}, {12, 16}, {4, 12}};
    const auto sized = [&](Runs& r) {
        for (size_t i = 0; i < 3; ++i) {
            r.all[i].flags = VKGEMM_RECORD_SIZES;
            r.all[i].m = 5;
            r.all[i].n = sizes[i][0];
            r.all[i].k = sizes[i][1];
            r.all[i].batch = 1;
        }
    };
    Runs good, other_m, unsized, above, other_k;
    for (Runs* r : {&good, &other_m, &unsized, &above, &other_k}) sized(*r);
    expect(check(chain, good), VKGEMM_SUCCESS, {});
    Runs whole;
    sized(whole);
    whole.all[0].m = VKGEMM_SIZE_OF_PROBLEM;
    whole.all[1].m = whole.all[2].m = 8;
    expect(check(chain, whole), VKGEMM_SUCCESS, {});
    other_m.all[2].m = 6;
    expect(check(chain, other_m), VKGEMM_ERROR_INVALID_ARGUMENT, {"product 2", "m is 6", "5"});
    unsized.all[1].flags = 0;
    expect(check(chain, unsized), VKGEMM_ERROR_INVALID_ARGUMENT, {"product 1", "does not state its sizes"});
    for (VkgemmRun& x : above.all) x.m = 9;
    expect(check(chain, above), VKGEMM_ERROR_LIMIT, {"product 0", "m is 9", "8"});
    other_k.all[1].k = 15;
    expect(check(chain, other_k), VKGEMM_ERROR_INVALID_ARGUMENT, {"product 1", "k is 15", "16"});
}

TEST_CASE("chains: what a chain reports") {
    OwnedChain chain;
    Problems p({"8x16x4 bias=col", "8x12x16", "8x4x12 residual"}, 1);
    p.chain.flags = VKGEMM_CHAIN_SEPARATE;
    expect(create(p, chain, flags(VKGEMM_PLAN_DRY)), VKGEMM_SUCCESS, {});
    VkgemmChainInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetChainInfo(chain.handle, &info) == VKGEMM_SUCCESS);
    CHECK(info.isOneDispatch == 0);
    CHECK(std::string(info.kernel).empty());
    CHECK(info.workspaceBytes == 8 * 12 * 4);
    CHECK(info.workspaceAlignment >= 16);
    CHECK(info.workspaceAlignment <= 256);
    CHECK(info.dispatchCount == 3);
    CHECK(info.flops == 2.0 * 8 * (16 * 4 + 12 * 16 + 4 * 12));
    CHECK(vkgemmGetChainInfo(nullptr, &info) == VKGEMM_ERROR_INVALID_ARGUMENT);

    uint32_t count = 0;
    REQUIRE(vkgemmGetChainAccesses(chain.handle, &count, nullptr) == VKGEMM_SUCCESS);
    std::vector<VkgemmChainAccess> all(count);
    REQUIRE(vkgemmGetChainAccesses(chain.handle, &count, all.data()) == VKGEMM_SUCCESS);
    constexpr VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT, writes = VK_ACCESS_SHADER_WRITE_BIT;
    std::map<std::pair<uint32_t, VkgemmSlot>, std::pair<VkAccessFlags, VkDeviceSize>> got;
    for (const VkgemmChainAccess& x : all) got[{x.product, x.access.slot}] = {x.access.access, x.access.size};
    const decltype(got) expected = {{{0, VKGEMM_SLOT_A}, {reads, 128}},
                                    {{0, VKGEMM_SLOT_B}, {reads, 256}},
                                    {{0, VKGEMM_SLOT_BIAS}, {reads, 64}},
                                    {{0, VKGEMM_SLOT_D}, {writes, 512}},
                                    {{1, VKGEMM_SLOT_B}, {reads, 768}},
                                    {{2, VKGEMM_SLOT_B}, {reads, 192}},
                                    {{2, VKGEMM_SLOT_RESIDUAL}, {reads, 128}},
                                    {{2, VKGEMM_SLOT_D}, {writes, 128}},
                                    {{UINT32_MAX, VKGEMM_SLOT_WORKSPACE}, {reads | writes, 384}}};
    CHECK(got == expected);
    count = 2;
    CHECK(vkgemmGetChainAccesses(chain.handle, &count, all.data()) == VKGEMM_INCOMPLETE);
    CHECK(count == expected.size());
    const auto text = vkgemm::Chain::explain(device().context(), {});
    CHECK(text.status().code == VKGEMM_ERROR_INVALID_ARGUMENT);
    size_t size = 0;
    const VkgemmPlanOptions o = options();
    REQUIRE(vkgemmExplainChain(context(), &p.chain, &o, nullptr, &size, nullptr) == VKGEMM_SUCCESS);
    std::string explained(size, ' ');
    REQUIRE(vkgemmExplainChain(context(), &p.chain, &o, explained.data(), &size, nullptr) == VKGEMM_SUCCESS);
    for (const char* part : {"3 plans", "VKGEMM_CHAIN_SEPARATE", "product 1: ", "8x12x16", "its D is in the workspace",
                             "workspace: 384 bytes"})
        CHECK_MESSAGE(explained.find(part) != std::string::npos, part, " is not in:\n", explained);
}
