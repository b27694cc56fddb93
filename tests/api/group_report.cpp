// SPDX-License-Identifier: MIT
// Groups of a table that break rules: what a run counts, and what vkgemmCheckGroups says of the same table.
#include <cstring>
#include <numeric>
#include <random>

#include "api/api.h"

using namespace vkgemm::test;

namespace {

constexpr VkDeviceSize slot_bytes = 1 << 16;

struct Answer {
    Said check;
    VkgemmGroupReport checked{}, written{};
};

/// A plan, and one buffer with all operands of its runs. Where A, B and C have elements, each of them is 1.
class TableRun {
   public:
    explicit TableRun(const std::string& line, const VkgemmPlanOptions& o = options()) : problem_(problem(line)) {
        const Said got = make_plan(plan_, problem_, o);
        lacks = got.text.find("not enabled on the device") != std::string::npos;  // a device without f64
        if (lacks) return;
        REQUIRE_MESSAGE(got.code == VKGEMM_SUCCESS, line, ": ", got.text);
        run.structSize = sizeof run;
        run.a = at(memory_, 0, slot_bytes);
        run.b = at(memory_, slot_bytes, slot_bytes);
        if (problem_.cSource == VKGEMM_C_SEPARATE) run.c = at(memory_, 2 * slot_bytes, slot_bytes);
        run.d = at(memory_, 3 * slot_bytes, slot_bytes);
        run.groups = at(memory_, 4 * slot_bytes);
        const bool selects = problem_.grouping == VKGEMM_GROUPING_SELECTED;
        indices.resize(selects ? problem_.batch : problem_.m);
        std::iota(indices.begin(), indices.end(), 0);
        if (selects || problem_.grouping == VKGEMM_GROUPING_INDEXED)
            run.indices = at(memory_, 5 * slot_bytes, indices.size() * sizeof(uint32_t));
        if (selects) run.groups = {};
        if (problem_.grouping == VKGEMM_GROUPING_ADDRESSES) run.a = run.b = run.c = run.d = {};
        run.workspace = at(memory_, 6 * slot_bytes);
    }

    VkgemmPlan handle() const { return plan_.handle; }
    VkDeviceAddress address(VkDeviceSize offset) const { return memory_.address() + offset; }

    Said check(const std::vector<VkgemmGroup>& table, VkgemmGroupReport* report) const {
        return said([&](VkgemmError* e) {
            return vkgemmCheckGroups(plan_.handle, &run, table.data(), static_cast<uint32_t>(table.size()), report, e);
        });
    }

    Said check_indices(const std::vector<VkgemmGroup>& table, VkgemmGroupReport* report) const {
        return said([&](VkgemmError* e) {
            return vkgemmCheckIndices(plan_.handle, &run, table.data(), static_cast<uint32_t>(table.size()),
                                      indices.data(), static_cast<uint32_t>(indices.size()), report, e);
        });
    }

    /// Checks and runs the table. The report must not depend on which of both made it.
    template <class T>
    Answer submit(const std::vector<VkgemmGroup>& table, std::vector<T>& d) {
        Answer out;
        std::memset(&out.checked, 0x5a, sizeof out.checked);
        out.check = check(table, &out.checked);
        out.written = submitted(table, d);
        CHECK(out.written.computed + out.written.empty + out.written.skipped == table.size());
        const VkgemmResult if_none_is_skipped = out.written.clamped ? VKGEMM_INCOMPLETE : VKGEMM_SUCCESS;
        CHECK(out.check.code == (out.written.skipped ? VKGEMM_ERROR_OPERAND : if_none_is_skipped));
        CHECK(out.checked.skippedIndices == 0);
        out.checked.skippedIndices = out.written.skippedIndices;  // which vkgemmCheckIndices alone sees
        CHECK_MESSAGE(std::memcmp(&out.written, &out.checked, sizeof out.written) == 0, text_of(out.written),
                      " by the run, ", text_of(out.checked), " by vkgemmCheckGroups: ", out.check.text);
        return out;
    }

    /// The report that a run wrote, and D.
    template <class T>
    VkgemmGroupReport submitted(const std::vector<VkgemmGroup>& table, std::vector<T>& d) {
        upload(std::vector<T>(slot_bytes / sizeof(T), T(1)), 0);
        upload(std::vector<T>(slot_bytes / sizeof(T), T(1)), slot_bytes);
        upload(std::vector<T>(slot_bytes / sizeof(T), T(1)), 2 * slot_bytes);
        upload(std::vector<T>(slot_bytes / sizeof(T), T(-1)), 3 * slot_bytes);
        if (!table.empty()) upload(table, 4 * slot_bytes);
        upload(std::vector<uint32_t>(slot_bytes / sizeof(uint32_t), 20), 5 * slot_bytes);  // behind the last index
        upload(indices, 5 * slot_bytes);
        upload(std::vector<std::byte>(6 * slot_bytes, std::byte{0x5a}), 6 * slot_bytes);
        const vkgemm::Status done = device().submit([&](VkCommandBuffer commands) {
            VkgemmError error{};
            const VkgemmResult code = vkgemmRecord(plan_.handle, commands, &run, &error);
            return vkgemm::Status{code, error.vkResult, error.text};
        });
        REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
        std::vector<VkgemmGroupReport> written(1);
        REQUIRE(device().download(memory_, written, 6 * slot_bytes).code == VKGEMM_SUCCESS);
        d.resize(slot_bytes / sizeof(T));
        REQUIRE(device().download(memory_, d, 3 * slot_bytes).code == VKGEMM_SUCCESS);
        return written[0];
    }

    static std::string text_of(const VkgemmGroupReport& r) {
        std::string out;
        const auto add = [&](uint32_t x) { out += std::to_string(x) + " "; };
        for (const uint32_t x :
             {r.computed, r.empty, r.clamped, r.skipped, r.firstSkipped, r.firstSlot, r.firstFault, r.skippedIndices})
            add(x);
        for (const uint32_t x : r.faults) add(x);
        return out;
    }

    VkgemmRun run{};
    std::vector<uint32_t> indices{};
    bool lacks = false;

   private:
    template <class T>
    void upload(const std::vector<T>& values, VkDeviceSize offset) {
        REQUIRE(device().upload(memory_, values, offset).code == VKGEMM_SUCCESS);
    }

    VkgemmProblem problem_;
    OwnedPlan plan_;
    vkgemm::host::Buffer memory_ = buffer(12 * slot_bytes);
};

VkgemmPlanOptions unaligned(uint32_t bytes) {
    VkgemmPlanOptions o = options();
    o.operandAlignment = bytes;
    return o;
}

void check_alignment(const TableRun& t, std::vector<uint32_t> want) {
    const VkgemmPlanInfo info = info_of(t.handle());
    for (size_t i = 0; i < want.size(); ++i) CHECK_MESSAGE(info.groupAlignment[i] == want[i], i);
}

VkgemmGroup sized(uint32_t m, uint32_t n, uint32_t k, uint32_t first_index = 0) {
    VkgemmGroup out{};
    out.m = m;
    out.n = n;
    out.k = k;
    out.firstIndex = first_index;
    return out;
}

constexpr uint32_t element(VkgemmSlot slot) { return uint32_t(slot); }

}  // namespace

TEST_CASE("group report: f64 whose leading dimension is a multiple of 16 bytes and not of 32") {
    const char* const line = "f64*f64 4x4x4 batch=3 groups=table";
    std::vector<VkgemmGroup> table(3);
    for (uint32_t i = 0; i < 3; ++i) {
        table[i].offsetB = 2 + 64 * i;  // 16 bytes past a multiple of 32, which suffices
        table[i].offsetD = 16 * i;
    }
    table[1].ldb = 6;
    table[2].ldb = 8;
    std::vector<double> d;
    TableRun wide(line);
    if (wide.lacks) return;
    check_alignment(wide, {32, 32, 0, 32});
    const Answer got = wide.submit(table, d);
    CHECK(got.written.computed == 2);
    CHECK(got.written.skipped == 1);
    CHECK(got.written.faults[VKGEMM_GROUP_FAULT_MISALIGNED_LD] == 1);
    CHECK(got.written.firstSkipped == 1);
    CHECK(got.written.firstSlot == element(VKGEMM_SLOT_B));
    CHECK(got.written.firstFault == VKGEMM_GROUP_FAULT_MISALIGNED_LD);
    expect(got.check, VKGEMM_ERROR_OPERAND,
           {"groups[1]", "ldb is 6", "48 bytes", "multiple of 32 bytes", "groupAlignment", "operandAlignment"});
    for (size_t i = 0; i < 48; ++i) CHECK_MESSAGE(d[i] == (i / 16 == 1 ? -1 : 4), i);

    TableRun any(line, unaligned(8));  // the plan that the text recommends
    check_alignment(any, {8, 8, 0, 8});
    const Answer all = any.submit(table, d);
    CHECK(all.written.computed == 3);
    CHECK(all.written.firstSkipped == UINT32_MAX);
    for (size_t i = 0; i < 48; ++i) CHECK_MESSAGE(d[i] == 4, i);
}

TEST_CASE("group report: where alpha is 0, no group is skipped for an A or B that is not read") {
    TableRun t("8x8x8 batch=2 upto=m groups=table");
    std::vector<VkgemmGroup> table(2);
    for (uint32_t i = 0; i < 2; ++i) {
        table[i].m = 8;
        table[i].offsetD = 64 * i;
    }
    table[1].offsetA = uint64_t{1} << 40;
    std::vector<float> d;
    CHECK(t.submit(table, d).written.skipped == 1);
    t.run.flags = VKGEMM_RECORD_ZERO_ALPHA;
    const Answer got = t.submit(table, d);
    CHECK(got.written.computed == 2);
    CHECK(got.check.code == VKGEMM_SUCCESS);
    for (size_t i = 0; i < 128; ++i) CHECK_MESSAGE(d[i] == 0, i);
}

TEST_CASE("group report: every rule is broken on purpose, and each group counts once") {
    TableRun t("8x8x8 batch=10 upto=m groups=table c=separate");
    check_alignment(t, {16, 16, 16, 16});
    t.run.beta = 1;
    std::vector<VkgemmGroup> table(10);
    for (uint32_t i = 0; i < 10; ++i) {
        table[i].m = 8;
        table[i].offsetD = 64 * i;
    }
    table[1].m = 0;
    table[2].m = 9;
    table[3].lda = 7;
    table[4].ldb = 10;
    table[5].offsetC = 2;
    table[6].offsetD = uint64_t{1} << 40;
    table[7].ldd = 0x7ffffffc;
    table[8].offsetB = UINT64_MAX - 3;
    table[9].lda = 7;
    table[9].offsetD = 1;
    std::vector<float> d;
    const Answer got = t.submit(table, d);
    CHECK(got.written.computed == 2);
    CHECK(got.written.empty == 1);
    CHECK(got.written.clamped == 1);
    CHECK(got.written.skipped == 7);
    CHECK(got.written.firstSkipped == 3);
    CHECK(got.written.firstSlot == element(VKGEMM_SLOT_A));
    CHECK(got.written.firstFault == VKGEMM_GROUP_FAULT_SHORT_LD);
    CHECK(TableRun::text_of(got.written) == "2 1 1 7 3 0 2 0 0 0 2 1 1 2 1 0 ");
    expect(got.check, VKGEMM_ERROR_OPERAND, {"groups[3]", "lda is 7", "8 elements", "7 of 10 groups"});
    for (size_t i = 0; i < 640; ++i) CHECK_MESSAGE(d[i] == (i / 64 == 0 || i / 64 == 2 ? 9 : -1), i);

    const std::vector<std::vector<std::string>> words = {
        {"lda is 7"},
        {"ldb is 10", "40 bytes", "16 bytes"},
        {"offsetC is 2", "8 bytes", "16 bytes"},
        {"D would end 4398046511360 bytes", "which has 65536"},
        {"D spans 15032385516 elements", "2147483647"},
        {"offsetB is 18446744073709551612", "beyond"},
        {"lda is 7"},
    };
    for (size_t i = 0; i < words.size(); ++i) {  // each alone
        std::vector<VkgemmGroup> one(10);
        one[i + 3] = table[i + 3];
        const Said said = t.check(one, nullptr);
        expect(said, VKGEMM_ERROR_OPERAND, words[i]);
        expect(said, VKGEMM_ERROR_OPERAND, {"groups[" + std::to_string(i + 3) + "] would be skipped"});
        CHECK(said.text.find(" of 10 groups") == std::string::npos);
    }
}

TEST_CASE("group report: indices that there are not") {
    TableRun t("40x8x8 batch=4 upto=m groups=indexed");
    std::vector<VkgemmGroup> table(4);
    table[0].m = 10;
    table[1].firstIndex = 40;  // an expert without rows, behind the last one
    table[2].firstIndex = 40;
    table[2].m = 1;
    table[3].firstIndex = 35;
    table[3].m = 10;
    std::vector<float> d;
    const Answer got = t.submit(table, d);
    CHECK(TableRun::text_of(got.written) == "2 1 1 1 2 9 1 0 0 1 0 0 0 0 0 0 ");
    expect(got.check, VKGEMM_ERROR_OPERAND, {"groups[2]", "firstIndex is 40", "40 indices"});
    for (size_t i = 0; i < 320; ++i) CHECK_MESSAGE(d[i] == (i / 8 < 10 || i / 8 >= 35 ? 8 : -1), i);
}

TEST_CASE("group report: more indices than D has rows, for which there are no work groups") {
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    TableRun t("40x8x8 batch=4 upto=m groups=indexed", o);
    std::vector<VkgemmGroup> table(4);
    for (VkgemmGroup& g : table) g.m = 40;
    std::vector<float> d;
    const Answer got = t.submit(table, d);
    CHECK(TableRun::text_of(got.written) == "1 0 0 3 1 9 1 0 0 3 0 0 0 0 0 0 ");
    expect(got.check, VKGEMM_ERROR_OPERAND, {"groups[1]", "more indices together than D has rows", "3 of 4 groups"});
    for (size_t i = 0; i < 320; ++i) CHECK_MESSAGE(d[i] == 8, i);
}

TEST_CASE("group report: indices beyond D are counted, if the plan asks for it") {
    for (const bool counts : {true, false}) {
        VkgemmPlanOptions o = options();
        o.flags = counts ? VKGEMM_PLAN_COUNT_INDICES : 0;
        // More groups than list_tiles has invocations, of which only the first four have indices.
        TableRun t("400x8x8 batch=700 upto=m groups=indexed", o);
        if (t.lacks) continue;
        std::vector<VkgemmGroup> table(700);
        for (uint32_t i = 0; i < 4; ++i) {
            table[i].firstIndex = 90 * i;
            table[i].m = 90;
        }
        table[3].ldb = 1;  // whose indices do not count, and neither does the last one, which no group has
        table[699].firstIndex = 360;
        table[699].m = 39;
        for (const uint32_t i : {0, 88, 89, 90, 270, 280, 398, 399}) t.indices[i] = i % 2 ? 400 : UINT32_MAX;
        std::vector<float> d;
        const Answer got = t.submit(table, d);
        CHECK(got.written.skippedIndices == (counts ? 5 : 0));  // 0, 88, 89, 90 and 398
        CHECK((got.written.computed == 4 && got.written.skipped == 1 && got.written.empty == 695));
        VkgemmGroupReport seen{};
        expect(t.check_indices(table, &seen), VKGEMM_ERROR_OPERAND, {"groups[3]", "ldb is 1"});
        CHECK(seen.skippedIndices == 5);
        if (counts) CHECK(TableRun::text_of(seen) == TableRun::text_of(got.written));
        table[3].ldb = 0;
        expect(t.check_indices(table, &seen), VKGEMM_ERROR_OPERAND,
               {"indices[0], of groups[0], is 4294967295", "D has 400 rows", "7 indices would be skipped"});
        CHECK(seen.skippedIndices == 7);
        for (size_t i = 0; i < 3200; ++i) {
            const size_t row = i / 8;
            const bool is_left = row == 0 || (row >= 88 && row <= 90) || (row >= 270 && row < 360) || row >= 398;
            CHECK_MESSAGE(d[i] == (is_left ? -1 : 8), i);
        }
    }
}

TEST_CASE("group report: indices beyond the matrices of B are counted, if the plan asks for it") {
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_COUNT_INDICES;
    TableRun t("2x8x8 batch=300 groups=selected", o);
    if (t.lacks) return;
    const uint64_t matrices = slot_bytes / 256;
    for (uint32_t i = 0; i < 300; ++i) t.indices[i] = static_cast<uint32_t>(i % matrices);
    t.indices[17] = static_cast<uint32_t>(matrices);
    t.indices[299] = UINT32_MAX;
    CHECK(info_of(t.handle()).dispatchCount == 2);
    std::vector<float> d;
    const std::string report = "298 0 0 2 17 9 1 0 0 2 0 0 0 0 0 0 ";
    CHECK(TableRun::text_of(t.submitted({}, d)) == report);
    VkgemmGroupReport seen{};
    expect(t.check_indices({}, &seen), VKGEMM_ERROR_OPERAND, {"indices[17] is 256", "B has 256 matrices", "2 of 300"});
    CHECK(TableRun::text_of(seen) == report);
    for (size_t i = 0; i < 4800; ++i) CHECK_MESSAGE(d[i] == (i / 16 == 17 || i / 16 == 299 ? -1 : 8), i);
    t.run.workspace = {};
    expect(said([&](VkgemmError* e) { return vkgemmCheckRun(t.handle(), &t.run, e); }), VKGEMM_ERROR_WORKSPACE,
           {"workspace", "64"});
    TableRun plain("2x8x8 batch=300 groups=selected");
    CHECK(info_of(plain.handle()).requiredBytes[VKGEMM_SLOT_WORKSPACE] == 0);
    CHECK(info_of(plain.handle()).dispatchCount == 1);
}

TEST_CASE("group report: addresses") {
    TableRun t("8x8x8 batch=3 upto=m groups=addresses");
    std::vector<VkgemmGroup> table(3);
    for (uint32_t i = 0; i < 3; ++i) {
        table[i].m = 8;
        table[i].offsetA = t.address(0);
        table[i].offsetB = t.address(slot_bytes);
        table[i].offsetD = t.address(3 * slot_bytes + 256 * i);
    }
    table[1].offsetA += 8;
    table[2].ldd = 9;
    std::vector<float> d;
    const Answer got = t.submit(table, d);
    CHECK(TableRun::text_of(got.written) == "1 0 0 2 1 0 4 0 0 0 0 1 1 0 0 0 ");
    expect(got.check, VKGEMM_ERROR_OPERAND, {"groups[1]", "offsetA is the address", "16 bytes", "2 of 3"});
    for (size_t i = 0; i < 192; ++i) CHECK_MESSAGE(d[i] == (i < 64 ? 8 : -1), i);
}

TEST_CASE("group report: operands have the caller's names if the problem is transposed") {
    TableRun t("8x16x4 batch=2 groups=table layout_d=t");
    std::vector<VkgemmGroup> table(2);
    table[0].ldb = 15;
    table[1].lda = 3;
    std::vector<float> d;
    const Answer got = t.submit(table, d);
    CHECK(got.written.firstSlot == element(VKGEMM_SLOT_B));
    CHECK(got.written.faults[VKGEMM_GROUP_FAULT_SHORT_LD] == 2);
    expect(got.check, VKGEMM_ERROR_OPERAND, {"ldb is 15", "16 elements"});
}

TEST_CASE("group report: random tables, counted by the run as by vkgemmCheckGroups") {
    const char* const lines[] = {"8x8x8 batch=600 upto=mnk groups=table",
                                 "7x8x12 batch=300 upto=m groups=table layout=tn layout_d=t c=separate",
                                 "f64*f64 8x8x8 batch=300 upto=k groups=table layout=nt c=d",
                                 "f32*q8_0 9x16x64 batch=300 upto=m groups=table layout=nt",
                                 "60x12x16 batch=40 per_row=3 upto=m groups=indexed layout=nt c=d",
                                 "i32*i32 5x6x7 batch=300 upto=mn groups=table"};
    std::mt19937_64 random(3);
    for (const char* line : lines) {
        CAPTURE(line);
        TableRun t(line);
        if (t.lacks) continue;
        const auto size = [&] {
            return static_cast<uint32_t>(random() % 8 ? random() % 20 : random() >> random() % 64);
        };
        const auto ld = [&] { return random() % 2 ? 0 : random() % 6 ? 4 * size() : size(); };
        const auto offset = [&] {
            return random() % 5 ? random() % 16 * 32 : random() % 2 ? random() % 20000 : random() >> random() % 64;
        };
        std::vector<VkgemmGroup> table(problem(line).batch);
        for (VkgemmGroup& g : table) {
            for (uint32_t* x : {&g.m, &g.n, &g.k}) *x = size();
            for (uint32_t* x : {&g.lda, &g.ldb, &g.ldc, &g.ldd}) *x = ld();
            for (uint64_t* x : {&g.offsetA, &g.offsetB, &g.offsetC, &g.offsetD}) *x = offset();
            g.firstIndex = 4 * size();
        }
        std::vector<float> d;
        const Answer got = t.submit(table, d);
        CHECK_MESSAGE(got.written.computed * 20 > table.size(), TableRun::text_of(got.written));
        CHECK_MESSAGE(got.written.skipped * 20 > table.size(), TableRun::text_of(got.written));
    }
}

TEST_CASE("group report: sizes above their bounds are computed in part, and the check names the first") {
    struct Row {
        const char* line;
        VkgemmGroup group;
        std::vector<std::string> words;
    };
    const Row rows[] = {
        {"8x16x4 batch=2 upto=m groups=table", sized(9, 0, 0), {"m of groups[1] is 9", "bound 8"}},
        {"8x16x4 batch=2 upto=mn groups=table layout_d=t", sized(8, 17, 0), {"n of groups[1] is 17", "bound 16"}},
        {"8x16x4 batch=2 upto=mk groups=table layout_d=t", sized(10, 0, 4), {"m of groups[1] is 10", "bound 8"}},
        {"8x16x4 batch=2 upto=k groups=table", sized(0, 0, 5), {"k of groups[1] is 5", "bound 4"}},
        {"8x16x4 batch=2 upto=m groups=indexed", sized(3, 0, 0, 6), {"3 indices from firstIndex 6", "there are 8"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.line);
        TableRun t(row.line);
        VkgemmGroupReport report{};
        expect(t.check({{}, row.group}, &report), VKGEMM_INCOMPLETE, row.words);
        CHECK(report.clamped == 1);
    }
}

TEST_CASE("group report: what vkgemmCheckIndices refuses") {
    TableRun t("8x8x8 batch=2 upto=m groups=indexed");
    const std::vector<VkgemmGroup> table = {sized(8, 0, 0), {}};
    VkgemmGroupReport report{};
    expect(t.check_indices(table, nullptr), VKGEMM_SUCCESS, {});
    t.indices[7] = 8;
    expect(t.check_indices(table, &report), VKGEMM_ERROR_OPERAND,
           {"indices[7], of groups[0], is 8", "D has 8 rows", "would be skipped"});
    CHECK(report.skippedIndices == 1);
    t.indices.pop_back();
    expect(t.check_indices(table, &report), VKGEMM_ERROR_INVALID_ARGUMENT, {"indexCount is 7", "8 indices"});
    expect(t.check_indices({{}, {}, {}}, &report), VKGEMM_ERROR_INVALID_ARGUMENT, {"groupCount is 3", "2 groups"});
    const auto refused = [](const TableRun& of, const VkgemmGroup* groups, uint32_t count, uint32_t indices) {
        return said([&](VkgemmError* e) {
            return vkgemmCheckIndices(of.handle(), &of.run, groups, count, nullptr, indices, nullptr, e);
        });
    };
    expect(refused(t, table.data(), 2, 8), VKGEMM_ERROR_INVALID_ARGUMENT, {"indices is null"});
    expect(refused(t, nullptr, 2, 8), VKGEMM_ERROR_INVALID_ARGUMENT, {"groups is null"});
    const TableRun plain("8x8x8 batch=2 upto=m groups=table");
    expect(refused(plain, table.data(), 2, 0), VKGEMM_ERROR_INVALID_ARGUMENT, {"no indices", "INDEXED", "SELECTED"});
    const TableRun selected("2x8x8 batch=2 groups=selected");
    if (selected.lacks) return;
    expect(refused(selected, table.data(), 2, 2), VKGEMM_ERROR_INVALID_ARGUMENT, {"groupCount is 2", "must be 0"});
    expect(refused(selected, nullptr, 0, 2), VKGEMM_ERROR_INVALID_ARGUMENT, {"indices is null"});
    expect(refused(selected, nullptr, 0, 3), VKGEMM_ERROR_INVALID_ARGUMENT, {"indexCount is 3", "2 indices"});
    expect(selected.check_indices({}, &report), VKGEMM_SUCCESS, {});
    CHECK(report.computed == 2);
    TableRun none("0x8x8 batch=2 groups=selected");
    none.indices = {9999, 9999};
    expect(none.check_indices({}, &report), VKGEMM_SUCCESS, {});  // no rows: nothing is skipped
    CHECK((report.empty == 2 && report.computed == 0 && report.skipped == 0));
}

TEST_CASE("group report: what vkgemmCheckGroups refuses") {
    TableRun t("8x8x8 batch=2 upto=m groups=table");
    std::vector<VkgemmGroup> table(2);
    VkgemmGroupReport report{};
    expect(t.check(table, nullptr), VKGEMM_SUCCESS, {});
    expect(t.check(table, &report), VKGEMM_SUCCESS, {});
    CHECK(report.empty == 2);
    table.resize(3);
    expect(t.check(table, &report), VKGEMM_ERROR_INVALID_ARGUMENT, {"groupCount is 3", "2 groups"});
    const auto refused = [&](VkgemmPlan plan, const VkgemmRun* run, const VkgemmGroup* groups) {
        return said([&](VkgemmError* e) { return vkgemmCheckGroups(plan, run, groups, 2, nullptr, e); });
    };
    expect(refused(t.handle(), &t.run, nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"groups is null"});
    expect(refused(t.handle(), nullptr, table.data()), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmRun is null"});
    expect(refused(nullptr, &t.run, table.data()), VKGEMM_ERROR_INVALID_ARGUMENT, {"plan is null"});
    VkgemmRun run = t.run;
    run.d.size = 1;
    expect(refused(t.handle(), &run, table.data()), VKGEMM_ERROR_OPERAND, {"operand d"});
    OwnedPlan plain;
    plan_for(plain, "8x8x8 batch=2");
    run = t.run;
    run.groups = run.workspace = {};
    expect(refused(plain.handle, &run, table.data()), VKGEMM_ERROR_INVALID_ARGUMENT, {"no table of groups"});
    check_alignment(t, {16, 16, 0, 16});
    CHECK(info_of(plain.handle).groupAlignment[0] == 0);

    run = t.run;  // a run that computes nothing, whatever the table holds
    run.flags = VKGEMM_RECORD_SIZES;
    run.n = run.k = 8;
    run.batch = 2;
    VkgemmGroup bad[2]{};
    for (VkgemmGroup& g : bad) {
        g.m = 8;
        g.lda = 1;
    }
    CHECK(vkgemmCheckGroups(t.handle(), &run, bad, 2, &report, nullptr) == VKGEMM_SUCCESS);
    CHECK(report.empty == 2);
    run.m = 3;
    CHECK(vkgemmCheckGroups(t.handle(), &run, bad, 2, &report, nullptr) == VKGEMM_ERROR_OPERAND);
    CHECK(report.skipped == 2);
    CHECK(vkgemmCheckGroups(t.handle(), &run, bad, 2, nullptr, nullptr) == VKGEMM_ERROR_OPERAND);
}
