// SPDX-License-Identifier: MIT
// Groups of a table: what plans and runs refuse, what they ask for, and a table that the GPU wrote.
#include "api/api.h"

using namespace vkgemm::test;

namespace {

VkgemmRun run_of(const vkgemm::host::Buffer& memory) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.a = at(memory);
    r.b = at(memory, 1 << 18);
    r.d = at(memory, 2 << 18);
    r.groups = at(memory, 3 << 18);
    r.indices = at(memory, 4 << 18);
    r.workspace = at(memory, 5 << 18);
    return r;
}
Said check(const OwnedPlan& plan, const VkgemmRun& run) {
    return said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); });
}

/// Plans of 7 groups of up to 40 rows, and their runs.
struct Groups {
    vkgemm::host::Buffer memory = buffer(6 << 18);
    OwnedPlan table, indexed;

    Groups() {
        plan_for(table, "40x30x20 batch=7 groups=table upto=m");
        plan_for(indexed, "40x30x20 batch=7 groups=indexed per_row=4 upto=m");
    }
    Said run(const OwnedPlan& plan, void (*change)(VkgemmRun&)) const {
        VkgemmRun r = used_by(plan.handle, run_of(memory));
        change(r);
        return check(plan, r);
    }
};

void three_rows(VkgemmRun& r) {
    r.flags = VKGEMM_RECORD_SIZES;
    r.m = 3;
    r.n = 30;
    r.k = 20;
    r.batch = 7;
}

}  // namespace

TEST_CASE("groups: problems that cannot have them") {
    OwnedPlan none;
    const auto refused = [&](const char* line, VkgemmResult code, const std::vector<std::string>& words) {
        expect(make_plan(none, problem(line)), code, words);
        CHECK(none.handle == nullptr);
    };
    refused("64x32x16 groups=table packed_b=any", VKGEMM_ERROR_UNSUPPORTED, {"neither may come packed"});
    refused("64x32x16 groups=table upto=mb", VKGEMM_ERROR_UNSUPPORTED, {"number of groups"});
    refused("64x32x16 groups=table batch=1048577", VKGEMM_ERROR_UNSUPPORTED, {"1048576", "1048577"});
    refused("64x32x16 batch=8 groups=table ratio_b=4", VKGEMM_ERROR_UNSUPPORTED,
            {"outerBatch (1) and ratios (1, 4) must be left 0", "groups with the same offset share a matrix"});
    refused("64x32x16 groups=indexed", VKGEMM_ERROR_UNSUPPORTED, {"upTo"});
    refused("64x32x16 groups=indexed upto=m layout=tn", VKGEMM_ERROR_UNSUPPORTED, {"A must be row-major"});
    refused("64x32x16 groups=indexed upto=m layout_d=t", VKGEMM_ERROR_UNSUPPORTED, {"D must be row-major"});
    refused("q8_0*f32 64x32x64 groups=table upto=k", VKGEMM_ERROR_UNSUPPORTED, {"k cannot vary"});
    refused("64x32x16 groups=table upto=ms", VKGEMM_ERROR_UNSUPPORTED, {"strides out of upTo"});
    refused("64x32x16 groups=addresses residual", VKGEMM_ERROR_UNSUPPORTED, {"table of addresses", "residual"});
    refused("4x32x16 batch=2 groups=selected upto=m", VKGEMM_ERROR_UNSUPPORTED, {"fixed sizes", "upTo (1)"});
    refused("4x32x16 batch=2 groups=selected c=d", VKGEMM_ERROR_UNSUPPORTED, {"has no C", "GROUPING_TABLE"});
    refused("4x32x16 batch=2 groups=selected layout_d=t", VKGEMM_ERROR_UNSUPPORTED, {"row-major D", "GROUPING_TABLE"});
    refused("4x32x16 batch=2 groups=selected ratio_b=2", VKGEMM_ERROR_UNSUPPORTED, {"one level", "ratios (1, 2)"});
    refused("4x32x16 batch=2 groups=selected packed_b=any", VKGEMM_ERROR_UNSUPPORTED, {"neither may come packed"});
    refused("4x32x16 batch=2 groups=selected invariant", VKGEMM_ERROR_UNSUPPORTED, {"batchInvariant"});
    refused("4x32x16 batch=2 groups=selected scalars=alpha", VKGEMM_ERROR_UNSUPPORTED, {"grouped", "scalars"});
    refused("4x32x16 batch=1048577 groups=selected", VKGEMM_ERROR_UNSUPPORTED, {"1 to 1048576", "not 1048577"});
    refused("4x32x16 batch=2 groups=selected stride_b=1073741824", VKGEMM_ERROR_LIMIT,
            {"4294967295 bytes apart", "not 4294967296", "GROUPING_TABLE"});
    refused("64x32x16 batch=2 groups=selected", VKGEMM_ERROR_UNSUPPORTED,
            {"at most 16 rows or columns", "m is 64 and n is 32", "GROUPING_TABLE"});
    refused("64x32x16 per_row=2", VKGEMM_ERROR_UNSUPPORTED, {"indicesPerRow is 2"});
    plan_for(none, "4x32x16 batch=2 groups=selected stride_b=1073741820");  // 4 GiB less 16 bytes
    // Matrices of B have 2^32 elements together, but an address of 64 bits each. SwiftShader has no f16 in memory.
    OwnedPlan large;
    const Said got = make_plan(large, problem("f16*f16 1x16384x32768 batch=8 layout=nt groups=selected"));
    const bool lacks_f16 = got.text.find("not enabled on the device: storage16") != std::string::npos;
    CHECK_MESSAGE((got.code == VKGEMM_SUCCESS || lacks_f16), got.text);
}

TEST_CASE("groups: a kernel that computes one product is refused by name") {
    OwnedPlan none;
    VkgemmPlanOptions o = options();
    o.kernel = "naive_f32_8x8";
    expect(make_plan(none, problem("64x32x16 groups=table upto=m"), o), VKGEMM_ERROR_UNSUPPORTED,
           {"naive_f32_8x8", "groups of a table"});
    VkgemmProblem p = problem("64x32x16");
    p.grouping = VkgemmGrouping(5);
    expect(make_plan(none, p), VKGEMM_ERROR_INVALID_ARGUMENT, {"grouping is 5"});
}

TEST_CASE("groups: what a plan asks for") {
    const Groups g;
    const VkgemmPlanInfo info = info_of(g.table.handle), of_indexed = info_of(g.indexed.handle);
    CHECK(info.requiredBytes[VKGEMM_SLOT_GROUPS] == 7 * sizeof(VkgemmGroup));
    CHECK(info.requiredBytes[VKGEMM_SLOT_INDICES] == 0);
    CHECK(info.requiredBytes[VKGEMM_SLOT_A] == 7 * 40 * 20 * 4);
    CHECK(info.dispatchCount == 2);
    CHECK(info.usesAddresses == 1);
    CHECK(of_indexed.requiredBytes[VKGEMM_SLOT_A] == 10 * 20 * 4);
    CHECK(of_indexed.requiredBytes[VKGEMM_SLOT_B] == 7 * 20 * 30 * 4);
    CHECK(of_indexed.requiredBytes[VKGEMM_SLOT_D] == 40 * 30 * 4);
    CHECK(of_indexed.requiredBytes[VKGEMM_SLOT_INDICES] == 40 * 4);
}

TEST_CASE("groups: what a run must bring") {
    const Groups g;
    expect(g.run(g.table, [](VkgemmRun&) {}), VKGEMM_SUCCESS, {});
    expect(g.run(g.indexed, [](VkgemmRun&) {}), VKGEMM_SUCCESS, {});
    // A of one group, where more are not stated
    expect(g.run(g.table, [](VkgemmRun& r) { r.a.size = 40 * 20 * 4; }), VKGEMM_SUCCESS, {});
    expect(g.run(g.table, [](VkgemmRun& r) { r.a.size = 40 * 20 * 4 - 1; }), VKGEMM_ERROR_OPERAND,
           {"operand a", "3199", "3200"});
    expect(g.run(g.table, [](VkgemmRun& r) { r.groups.size = 7 * 64 - 1; }), VKGEMM_ERROR_OPERAND,
           {"operand groups", "447", "448"});
    expect(g.run(g.table, [](VkgemmRun& r) { r.groups.offset += 2; }), VKGEMM_ERROR_OPERAND,
           {"operand groups", "4 bytes"});
    expect(g.run(g.table, [](VkgemmRun& r) { r.groups = {}; }), VKGEMM_ERROR_OPERAND, {"operand groups", "missing"});
    expect(g.run(g.table, [](VkgemmRun& r) { r.indices = r.groups; }), VKGEMM_ERROR_OPERAND,
           {"operand indices must be zero", "grouping"});
    expect(g.run(g.indexed, [](VkgemmRun& r) { r.indices = {}; }), VKGEMM_ERROR_OPERAND,
           {"operand indices", "missing"});
    expect(g.run(g.table, [](VkgemmRun& r) { r.groups.offset = r.d.offset; }), VKGEMM_ERROR_OPERAND,
           {"operand groups", "overlaps D"});

    OwnedPlan by_address;
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    plan_for(by_address, "40x30x20 batch=7 groups=table upto=m", o);
    expect(g.run(by_address, [](VkgemmRun& r) { r.workspace = at_address(1 << 20); }), VKGEMM_ERROR_WORKSPACE,
           {"operand workspace", "VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT"});
}

TEST_CASE("groups: what a run of other sizes must bring") {
    const Groups g;
    expect(g.run(g.table, three_rows), VKGEMM_SUCCESS, {});
    const auto beyond_m = [](VkgemmRun& r) {
        three_rows(r);
        r.m = 41;
    };
    expect(g.run(g.table, beyond_m), VKGEMM_ERROR_LIMIT, {"m is 41", "40"});
    const auto another_n = [](VkgemmRun& r) {
        three_rows(r);
        r.n = 29;
    };
    expect(g.run(g.table, another_n), VKGEMM_ERROR_INVALID_ARGUMENT, {"n is 29", "30"});
    const auto nothing = [](VkgemmRun& r) {
        three_rows(r);
        r.m = 0;
        r.a = {};
    };
    expect(g.run(g.table, nothing), VKGEMM_SUCCESS, {});
    const auto just_enough = [](VkgemmRun& r) {
        three_rows(r);
        r.a.size = 20 * 4;
        r.d.size = 3 * 30 * 4;  // four indices share a row
    };
    expect(g.run(g.indexed, just_enough), VKGEMM_SUCCESS, {});
    const auto too_little = [](VkgemmRun& r) {
        three_rows(r);
        r.a.size = 20 * 4 - 4;
    };
    expect(g.run(g.indexed, too_little), VKGEMM_ERROR_OPERAND, {"operand a", "76", "80"});
}

TEST_CASE("groups: what a batch that selects matrices of B must bring") {
    const auto memory = buffer(6 << 18);
    OwnedPlan plan;
    plan_for(plan, "4x32x20 batch=7 groups=selected");
    const VkgemmPlanInfo info = info_of(plan.handle);
    CHECK(info.dispatchCount == 1);
    CHECK(info.requiredBytes[VKGEMM_SLOT_GROUPS] == 0);
    CHECK(info.requiredBytes[VKGEMM_SLOT_INDICES] == 7 * 4);
    CHECK(info.requiredBytes[VKGEMM_SLOT_WORKSPACE] == 0);
    VkgemmRun r = used_by(plan.handle, run_of(memory));
    expect(check(plan, r), VKGEMM_ERROR_OPERAND, {"operand b has no size", "all of them (one has 2560)"});
    r.b.size = 20 * 32 * 4;  // one matrix
    expect(check(plan, r), VKGEMM_SUCCESS, {});
    r.b.size -= 1;
    expect(check(plan, r), VKGEMM_ERROR_OPERAND, {"operand b", "2559", "2560"});
    r.b.size = 7 * 20 * 32 * 4;
    r.indices = {};
    expect(check(plan, r), VKGEMM_ERROR_OPERAND, {"operand indices", "missing"});
    r.indices = run_of(memory).indices;
    r.indices.offset = r.d.offset;
    expect(check(plan, r), VKGEMM_ERROR_OPERAND, {"operand indices", "overlaps D"});
}

TEST_CASE("groups: a size that a command before wrote") {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"));
    const auto update = reinterpret_cast<PFN_vkCmdUpdateBuffer>(get(device().handle(), "vkCmdUpdateBuffer"));
    const auto memory = buffer(6 << 18);
    std::vector<float> a(8 * 4), b(4 * 4), d(8 * 4, -1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = float(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i) b[i] = float(i % 5) - 2;
    OwnedPlan plan;
    plan_for(plan, "8x4x4 groups=table upto=m");
    VkgemmRun r = used_by(plan.handle, run_of(memory));
    r.flags = VKGEMM_RECORD_BARRIER_BEFORE;
    REQUIRE(device().upload(memory, a).code == VKGEMM_SUCCESS);
    REQUIRE(device().upload(memory, b, 1 << 18).code == VKGEMM_SUCCESS);
    for (const uint32_t rows : {0u, 1u, 5u, 8u, 9u, UINT32_MAX}) {
        REQUIRE(device().upload(memory, d, 2 << 18).code == VKGEMM_SUCCESS);
        const vkgemm::Status done = device().submit([&](VkCommandBuffer commands) {
            VkgemmGroup group{};
            group.m = rows;
            update(commands, memory.handle(), r.groups.offset, sizeof group, &group);
            VkgemmError error{};
            const VkgemmResult code = vkgemmRecord(plan.handle, commands, &r, &error);
            return vkgemm::Status{code, error.vkResult, error.text};
        });
        REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
        std::vector<float> got(d.size());
        REQUIRE(device().download(memory, got, 2 << 18).code == VKGEMM_SUCCESS);
        for (size_t i = 0; i < 8; ++i)
            for (size_t j = 0; j < 4; ++j) {
                float sum = i < rows ? 0.f : -1.f;
                for (size_t k = 0; k < 4 && i < rows; ++k) sum += a[i * 4 + k] * b[k * 4 + j];
                CHECK_MESSAGE(got[i * 4 + j] == sum, rows, " rows, element ", i, ", ", j);
            }
    }
}
