// SPDX-License-Identifier: MIT
// A run as text: with the bytes of its operands it is a file, which gives the same bits when it is run again.
#include <cstring>

#include "api/api.h"
#include "support/random.h"
#include "vkgemm/operands.hpp"

using namespace vkgemm::test;

namespace {

/// Memory of one run: 64 KiB for each operand, full of f16 numbers from 1/8 to 1/4, which are small as f32 too.
struct Memory {
    static constexpr VkDeviceSize each = 1 << 16;
    vkgemm::host::Buffer buffer = vkgemm::test::buffer(VKGEMM_SLOT_COUNT * each);

    explicit Memory(uint64_t seed) {
        Random random(seed);
        auto* const words = reinterpret_cast<uint16_t*>(buffer.mapped().data());
        for (size_t i = 0; i < buffer.size() / 2; ++i)
            words[i] = static_cast<uint16_t>(0x3000 | (random.below(0x10000) & 0x83ff));
    }
    std::byte* at(VkgemmSlot slot) const { return buffer.mapped().data() + slot * each; }
    template <class T>
    void set(VkgemmSlot slot, const std::vector<T>& values) const {
        std::memcpy(at(slot), values.data(), values.size() * sizeof(T));
    }
    VkgemmRun run(const OwnedPlan& plan) const {
        const VkgemmPlanInfo info = info_of(plan.handle);
        VkgemmRun r{};
        r.structSize = sizeof r;
        VkgemmOperand* const all[] = {&r.a,         &r.b,      &r.c,       &r.d,       &r.bias, &r.scale, &r.residual,
                                      &r.workspace, &r.groups, &r.indices, &r.scalars, &r.b2,   &r.bias2};
        for (uint32_t i = 0; i < VKGEMM_SLOT_COUNT; ++i)
            if (info.requiredBytes[i]) *all[i] = {buffer.handle(), i * each, 0, 0};
        return r;
    }
};

/// Runs `run` and returns it as a file.
std::string captured(const OwnedPlan& plan, const VkgemmRun& run, const Memory& memory) {
    VkgemmRunAccess accesses[VKGEMM_SLOT_COUNT];
    uint32_t count = VKGEMM_SLOT_COUNT;
    expect(said([&](VkgemmError* e) { return vkgemmGetRunAccesses(plan.handle, &run, &count, accesses, e); }),
           VKGEMM_SUCCESS, {});
    std::vector<std::vector<std::byte>> before;
    std::vector<VkgemmOperandData> operands;
    VkgemmRunData data{};
    data.structSize = sizeof data;
    for (const VkgemmRunAccess& x : std::span(accesses).first(count)) {
        if (x.slot == VKGEMM_SLOT_WORKSPACE) continue;
        const std::byte* const begin = memory.buffer.mapped().data() + x.offset;
        before.emplace_back(begin, begin + x.size);
        if (x.slot == VKGEMM_SLOT_D) data.result = begin;
        operands.push_back({.slot = x.slot, .reserved = 0, .data = before.back().data(), .size = x.size});
    }
    const auto done = device().submit([&](VkCommandBuffer commands) {
        VkgemmError error{};
        const VkgemmResult code = vkgemmRecord(plan.handle, commands, &run, &error);
        return vkgemm::Status{code, error.vkResult, error.text};
    });
    REQUIRE_MESSAGE(bool(done), done.text);
    data.operandCount = static_cast<uint32_t>(operands.size());
    data.operands = operands.data();
    size_t size = 0;
    VkgemmError error{};
    REQUIRE_MESSAGE(vkgemmDescribeRun(plan.handle, &run, &data, nullptr, &size, &error) == VKGEMM_SUCCESS,
                    std::string(error.text));
    std::string file(size, '?');
    REQUIRE(vkgemmDescribeRun(plan.handle, &run, &data, file.data(), &size, &error) == VKGEMM_SUCCESS);
    file.pop_back();
    for (const auto& bytes : before) file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return file;
}

/// What the file says, after it was run again with the same bits.
vkgemm::host::Capture replayed(const std::string& file) {
    const auto c = vkgemm::host::parseCapture(file);
    REQUIRE_MESSAGE(bool(c), c.status().text);
    CHECK((c->hasData && c->hasResult));
    CHECK(c->device == device().info().name);
    const auto again = vkgemm::host::replay(device(), *c);
    REQUIRE_MESSAGE(bool(again), c->problem, " by ", c->kernel, " ", c->tile, ": ", again.status().text);
    CHECK_MESSAGE(again->checksum == c->resultChecksum, c->problem, " by ", c->kernel, " ", c->tile);
    const auto second = [](const std::string& of_two) { return of_two.substr(of_two.find('+') + 1); };
    CHECK(second(c->kernel) == again->kernel);  // of a pair of two products; all of others
    CHECK(second(c->tile) == again->tile);
    return *c;
}

VkgemmPlanOptions with_workspace(uint64_t bytes = Memory::each) {
    VkgemmPlanOptions o = options();
    o.workspaceLimit = bytes;
    return o;
}

void set_sizes(VkgemmRun& run, uint64_t m, uint64_t n, uint64_t k, uint64_t batch = 1) {
    run.flags |= VKGEMM_RECORD_SIZES;
    run.m = m;
    run.n = n;
    run.k = k;
    run.batch = batch;
}

}  // namespace

TEST_CASE("a described run gives the same bits again") {
    for (const char* line : {"20x30x40", "f16*f16 9x8x7 beta=2 batch=2 layout=tn bias=col ldb=24",
                             "20x30x40 c=separate bias=row residual act=relu", "17x9x33 batch=6 ratio_b=3",
                             "i8*i8->f16 8x16x32 scale=col", "f16*q4_0->f32 5x96x256 layout=nt", "4x4x4 alpha=0"})
        for (const uint64_t workspace : {uint64_t{0}, uint64_t{Memory::each}}) {
            if (!stores_types_of(line)) continue;
            CAPTURE(line);
            const Memory memory(7);
            OwnedPlan plan;
            plan_for(plan, line, with_workspace(workspace));
            VkgemmRun run = memory.run(plan);
            run.beta = std::strstr(line, "beta") ? 2 : 0;
            run.alpha = 0.5;
            if (std::strstr(line, "alpha=0")) {
                run.alpha = 0;
                run.flags = VKGEMM_RECORD_ZERO_ALPHA;
            }
            const auto c = replayed(captured(plan, run, memory));
            CHECK(c.kernel == info_of(plan.handle).kernel);
            CHECK(c.workspace == info_of(plan.handle).requiredBytes[VKGEMM_SLOT_WORKSPACE]);
            CHECK(c.addresses == (info_of(plan.handle).usesAddresses != 0));
        }
}

TEST_CASE("a described run of sizes that vary has the kernel of its range") {
    const struct {
        const char* line;
        uint64_t n, k;
    } rows[] = {{"f16*q4_0->f32 64x96x256 layout=nt upto=m", 96, 256},
                {"64x30x40 upto=mk", 30, 33},
                {"64x30x400 upto=mn", 8, 400},
                {"f16*f16 64x64x128 layout=nt upto=m", 64, 128}};
    for (const auto& row : rows)
        for (const uint64_t workspace : {uint64_t{0}, uint64_t{Memory::each}}) {
            if (!stores_types_of(row.line)) continue;
            CAPTURE(row.line);
            const Memory memory(8);
            OwnedPlan plan;
            plan_for(plan, row.line, with_workspace(workspace));
            for (const uint64_t m : {1, 2, 5, 33, 64}) {
                VkgemmRun run = memory.run(plan);
                set_sizes(run, m, row.n, row.k);
                const auto c = replayed(captured(plan, run, memory));
                CHECK(has_words(c.problem, " " + std::to_string(m) + "x" + std::to_string(row.n)));
            }
        }
}

// A level of the batch merges into rows or columns unless they vary.
TEST_CASE("a described run has rows and columns that vary where levels of the batch would merge") {
    const Memory memory(14);
    VkgemmPlanOptions o = with_workspace();
    o.kernel = "tiled_f32_8x8";
    OwnedPlan plan;
    plan_for(plan,
             "2x69x20 outer=3 upto=ms layout=nt layout_d=t lda=32 ldd=8 outer_stride_a=0 outer_stride_b=1380 "
             "outer_stride_d=552",
             o);
    VkgemmRun run = memory.run(plan);
    set_sizes(run, 1, 69, 20);
    CHECK(has_words(replayed(captured(plan, run, memory)).problem, " 1x69x20", "upto=n"));
}

TEST_CASE("a run is not described whose kernel serves neither its sizes alone nor a range of them") {
    set_environment("VKGEMM_KERNEL", "gemv_f32_1x8");
    OwnedContext c;
    const VkgemmContextInfo info = context_info();
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    set_environment("VKGEMM_KERNEL", "");
    const Memory memory(15);
    OwnedPlan plan;  // gemv wants rows of 16 bytes, and at most 16 of them: 8, but neither 7 nor, merged, 32
    const VkgemmProblem p = problem("8x40x64 outer=4 upto=m layout=tn lda=32 outer_stride_a=8 outer_stride_b=0");
    expect(make_plan(plan, p, options(), c.handle), VKGEMM_FALLBACK_USED, {"gemv_f32_1x8"});
    VkgemmRun run = memory.run(plan);
    size_t size = 0;
    const auto described = [&] {
        return said([&](VkgemmError* e) { return vkgemmDescribeRun(plan.handle, &run, nullptr, nullptr, &size, e); });
    };
    expect(described(), VKGEMM_ERROR_UNSUPPORTED, {"gemv_f32_1x8", "sizes do not vary"});
    set_sizes(run, 7, 40, 64);
    expect(described(), VKGEMM_SUCCESS, {});
}

TEST_CASE("a described run has its own strides") {
    const Memory memory(9);
    OwnedPlan plan;
    plan_for(plan, "16x12x24 batch=3 upto=mbs", with_workspace());
    for (const uint64_t ld : {24, 25, 32}) {
        VkgemmRun run = memory.run(plan);
        set_sizes(run, 11, 12, 24, 2);
        run.flags |= VKGEMM_RECORD_STRIDES;
        run.strides.lda = ld;
        run.strides.batchStrideB = VKGEMM_BROADCAST;
        run.strides.ldd = 20;
        const auto c = replayed(captured(plan, run, memory));
        CHECK(has_words(c.problem, "ldd=20", "stride_b=0", "batch=2"));
    }
}

TEST_CASE("a described run of groups has its table and its indices") {
    if (!device().hasAddresses()) return;
    const Memory memory(10);
    std::vector<VkgemmGroup> table(3);
    for (uint32_t i = 0; i < 3; ++i) {
        table[i].m = 5 + i;
        table[i].n = 12;
        table[i].k = 24;
        table[i].firstIndex = 7 * i;
        table[i].offsetA = i * 8 * 24;
        table[i].offsetB = i * 24 * 12;
        table[i].offsetD = i * 8 * 12;
    }
    for (const char* line :
         {"8x12x24 batch=3 upto=m groups=table", "24x12x24 batch=3 upto=m groups=indexed per_row=2",
          "2x12x24 batch=3 groups=selected layout=nt", "f16*q4_0->f32 1x12x64 batch=3 groups=selected layout=nt"}) {
        CAPTURE(line);
        OwnedPlan plan;
        plan_for(plan, line, with_workspace());
        VkgemmRun run = memory.run(plan);
        const bool is_indexed = std::strstr(line, "indexed"), is_selected = std::strstr(line, "selected");
        memory.set(VKGEMM_SLOT_GROUPS, table);
        std::vector<uint32_t> indices(21);
        for (uint32_t i = 0; i < 21; ++i) indices[i] = is_indexed ? i % 24 : (i * 3 + 4) % 5;
        memory.set(VKGEMM_SLOT_INDICES, indices);
        if (is_selected) run.b.size = 5 * info_of(plan.handle).requiredBytes[VKGEMM_SLOT_B] / 3;  // 5 matrices, not 3
        const std::string file = captured(plan, run, memory);
        CHECK(has_words(file, is_selected ? "operand indices 12 " : "operand groups "));
        if (is_indexed) CHECK(has_words(file, "operand indices 96 "));
        replayed(file);
    }
}

TEST_CASE("a described pair of two products has the kernels of both") {
    const char* const line = "40x20x36 layout=nt bias=col pair=relu";
    VkgemmPlanOptions o = with_workspace();
    o.kernel = "tiled_f32_8x8+naive_f32_8x8";
    o.tile = "SPLIT=2+";
    const Memory memory(13);
    OwnedPlan plan;
    plan_for(plan, line, o);
    CHECK(info_of(plan.handle).kernel == std::string("naive_f32_8x8"));
    const auto c = replayed(captured(plan, memory.run(plan), memory));
    CHECK(c.kernel == "tiled_f32_8x8+naive_f32_8x8");
    CHECK(c.tile.find("SPLIT=2+WG=64") != std::string::npos);
    const auto refused = [&](const char* of, VkgemmResult code, const std::vector<std::string>& words) {
        OwnedPlan none;
        expect(make_plan(none, problem(of), o), code, words);
    };
    refused("40x20x36", VKGEMM_ERROR_UNSUPPORTED, {"'+'", "a pair whose sizes do not vary"});
    refused("40x20x36 layout=nt pair=relu upto=m", VKGEMM_ERROR_UNSUPPORTED, {"a pair whose sizes do not vary"});
    o.tile = "BM=7+";
    refused(line, VKGEMM_ERROR_TILE, {"the first product of the pair: ", "BM"});
    VkgemmError error{};
    CHECK(vkgemmCheckKernel(context(), nullptr, &o, &error) == VKGEMM_ERROR_TILE);
    o.tile = "+BM=7";
    refused(line, VKGEMM_ERROR_TILE, {"the second product of the pair: ", "BM"});
    o.tile = "SPLIT=2";
    refused(line, VKGEMM_ERROR_INVALID_ARGUMENT, {"tile has no '+'"});
    o.tile = "SPLIT=2+";
    o.workspaceLimit = 0;
    refused(line, VKGEMM_ERROR_WORKSPACE, {"at least 3200 bytes", "workspaceLimit is 0"});
    o.kernel = "tiled_f32_8x8";
    refused(line, VKGEMM_ERROR_INVALID_ARGUMENT, {"tile has a '+'"});
    o.kernel = "+naive_f32_8x8";
    refused(line, VKGEMM_ERROR_INVALID_ARGUMENT, {"unknown kernel ''"});
    o.kernel = "tiled_f32_8+naive_f32_8x8";
    refused(line, VKGEMM_ERROR_INVALID_ARGUMENT, {"'tiled_f32_8'"});
}

TEST_CASE("a described run has its scalars and its packed operands") {
    const Memory memory(11);
    if (device().hasAddresses()) {
        memory.set(VKGEMM_SLOT_SCALARS, std::vector<VkgemmScalars>{{2, 3, -1, 1, 0, 0}});
        OwnedPlan plan;
        plan_for(plan, "16x12x24 c=separate clamp=-9:9 scalars=alpha,beta,clamp,largest", with_workspace());
        const VkgemmRun run = memory.run(plan);
        const std::string file = captured(plan, run, memory);
        CHECK(has_words(file, "operand scalars 24 "));
        replayed(file);
    }
    VkgemmPlanOptions o = with_workspace();
    o.kernel = "tiled_f32_8x8";
    o.tile = "PACK=3";
    OwnedPlan product, pack;
    plan_for(product, "16x12x24 packed_b=any", o);
    REQUIRE(vkgemmCreatePack(product.handle, VKGEMM_SLOT_B, &pack.handle, nullptr) == VKGEMM_SUCCESS);
    const auto c = replayed(captured(product, memory.run(product), memory));
    CHECK(!has_words(c.problem, "packed_b=any"));
    CHECK(has_words(c.problem, "packed_b="));
    const VkgemmRun run = memory.run(pack);
    size_t size = 0;
    expect(said([&](VkgemmError* e) { return vkgemmDescribeRun(pack.handle, &run, nullptr, nullptr, &size, e); }),
           VKGEMM_ERROR_UNSUPPORTED, {"pack"});
}

TEST_CASE("a run is described without its operands, and wrong operands are refused") {
    const Memory memory(12);
    OwnedPlan plan;
    plan_for(plan, "20x30x40");
    VkgemmRun run = memory.run(plan);
    size_t size = 0;
    VkgemmError error{};
    REQUIRE(vkgemmDescribeRun(plan.handle, &run, nullptr, nullptr, &size, &error) == VKGEMM_SUCCESS);
    std::string text(size, '?');
    REQUIRE(vkgemmDescribeRun(plan.handle, &run, nullptr, text.data(), &size, &error) == VKGEMM_SUCCESS);
    text.pop_back();
    const auto c = vkgemm::host::parseCapture(text);
    REQUIRE_MESSAGE(bool(c), c.status().text);
    CHECK(!c->hasData);
    CHECK(c->problem == "f32*f32+f32->f32 20x30x40");
    CHECK(vkgemm::host::replay(device(), *c).status().code == VKGEMM_ERROR_PARSE);
    size = 10;
    CHECK(vkgemmDescribeRun(plan.handle, &run, nullptr, text.data(), &size, &error) == VKGEMM_INCOMPLETE);

    const std::vector<std::byte> bytes(Memory::each);
    std::vector<VkgemmOperandData> all = {{VKGEMM_SLOT_A, 0, bytes.data(), 20 * 40 * 4},
                                          {VKGEMM_SLOT_B, 0, bytes.data(), 40 * 30 * 4},
                                          {VKGEMM_SLOT_D, 0, bytes.data(), 20 * 30 * 4}};
    const auto describe = [&](uint32_t count) {
        const VkgemmRunData data{
            .structSize = sizeof data, .operandCount = count, .operands = all.data(), .result = nullptr};
        return said([&](VkgemmError* e) { return vkgemmDescribeRun(plan.handle, &run, &data, nullptr, &size, e); });
    };
    expect(describe(3), VKGEMM_SUCCESS, {});
    expect(describe(2), VKGEMM_ERROR_INVALID_ARGUMENT, {"operands[2]", "operand d", "2400 bytes"});
    all.push_back(all[2]);
    expect(describe(4), VKGEMM_ERROR_INVALID_ARGUMENT, {"operandCount is 4", "3 operands"});
    all[1].size -= 4;
    expect(describe(3), VKGEMM_ERROR_INVALID_ARGUMENT, {"operands[1]", "operand b", "4800 bytes"});
    run.d.offset = 4;
    expect(describe(3), VKGEMM_ERROR_OPERAND, {"operand d"});
    OwnedPlan empty;
    plan_for(empty, "0x3x4");
    const VkgemmRun none = memory.run(empty);
    expect(said([&](VkgemmError* e) { return vkgemmDescribeRun(empty.handle, &none, nullptr, nullptr, &size, e); }),
           VKGEMM_ERROR_UNSUPPORTED, {"computes nothing"});
}

TEST_CASE("the context reports runs of all kinds, and packs without a text") {
    std::vector<std::string> lines;
    VkgemmContextInfo info = context_info();
    info.recorded = [](void* user, const char* problem, VkgemmPlan, const VkgemmRun*) {
        static_cast<std::vector<std::string>*>(user)->push_back(problem);
    };
    info.recordedUser = &lines;
    OwnedContext c;
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    const Memory memory(13);
    std::memset(memory.at(VKGEMM_SLOT_GROUPS), 0, Memory::each);
    std::memset(memory.at(VKGEMM_SLOT_INDICES), 0, Memory::each);
    const auto record = [&](const OwnedPlan& plan) {
        VkgemmRun run = memory.run(plan);
        if (run.b.buffer) run.b.size = Memory::each;  // which a batch that selects matrices needs
        lines.clear();
        const auto done = device().submit([&](VkCommandBuffer commands) {
            return vkgemm::Status{vkgemmRecord(plan.handle, commands, &run, nullptr), VK_SUCCESS, ""};
        });
        CHECK_MESSAGE(bool(done), done.text);
        REQUIRE(lines.size() == 1);
        return lines[0];
    };
    std::vector<std::string> all = {"f32*f32+f32->f32 20x30x40"};
    if (device().hasAddresses())
        all.insert(all.end(), {"f32*f32+f32->f32 8x12x24 batch=3 upto=m groups=table",
                               "f32*f32+f32->f32 2x12x24 batch=3 groups=selected layout=nt"});
    for (const std::string& line : all) {
        OwnedPlan plan;
        plan_for(plan, line, with_workspace(), c.handle);
        CHECK(record(plan) == line);
    }
    VkgemmPlanOptions o = with_workspace();
    o.kernel = "tiled_f32_8x8";
    o.tile = "PACK=3";
    OwnedPlan product, pack;
    plan_for(product, "16x12x24 packed_b=any", o, c.handle);
    REQUIRE(vkgemmCreatePack(product.handle, VKGEMM_SLOT_B, &pack.handle, nullptr) == VKGEMM_SUCCESS);
    CHECK(record(pack).empty());
}
