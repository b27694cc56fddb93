// SPDX-License-Identifier: MIT
// Choosing, pinned: (device, problem) -> kernel. A change of the cost model shows here as changed lines.
#include "plan/choice/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <set>

#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem normalised(const std::string& line) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    const Result<Problem> full = complete(read->problem);
    REQUIRE_MESSAGE(bool(full), line, ": ", full.status().text);
    return normalise(*full).problem;
}

Result<Choice> choose(const std::string& caps, const std::string& line, const Request& request = {}) {
    return select(device(caps), normalised(line), request);
}

/// The refusal of a request that must be refused.
Status refusal(const std::string& caps, const std::string& line, const Request& request = {}) {
    const Result<Choice> choice = choose(caps, line, request);
    REQUIRE_MESSAGE(!choice, "chosen: ", std::string(choice->kernel->name));
    return choice.status();
}

Request forced(const std::string& kernel, const std::string& tile = "") {
    Request r;
    r.kernel = kernel;
    r.tile = tile;
    return r;
}

}  // namespace

TEST_CASE("the golden table: who is chosen") {
    for (const std::string& line : lines_of("choices.txt")) {
        const auto field = fields_of(line);
        REQUIRE_MESSAGE(field.size() == 3, line);
        const Kernel* const expected = find_kernel(field[2]);
        if (expected && expected->module.is_native() && !expected->module.built()) continue;  // there was no nvcc
        const Result<Choice> choice = choose(field[0], field[1]);
        CAPTURE(line);
        CHECK((choice ? std::string(choice->kernel->name) : "none") == field[2]);
    }
}

TEST_CASE("nothing is divided by zero and no infinity multiplied by zero") {
    Request packs;
    packs.workspace_limit = 1 << 30;
    for (const std::string& line : lines_of("choices.txt")) {
        const auto field = fields_of(line);
        for (const Request& request : {Request{}, packs}) {
            std::feclearexcept(FE_ALL_EXCEPT);
            static_cast<void>(choose(field[0], field[1], request));
            CAPTURE(line);
            CHECK(!std::fetestexcept(FE_INVALID));
            CHECK(!std::fetestexcept(FE_DIVBYZERO));
            CHECK(!std::fetestexcept(FE_OVERFLOW));
        }
    }
}

TEST_CASE("blocks are decoded once where a workspace allows it and rows are many") {
    Request request;
    request.workspace_limit = 1 << 30;
    const auto family = [&](const std::string& problem) {
        const Result<Choice> choice = choose("h200", problem + " layout=nt accuracy=narrow", request);
        REQUIRE_MESSAGE(bool(choice), choice.status().text);
        return choice->kernel->module.family.name;
    };
    for (const std::string format : {"q8_0", "q4_k", "mxfp4"}) {
        CAPTURE(format);
        CHECK(family("f16*" + format + " 1x4096x14336") == "gemv_blocks");
        CHECK(family("f16*" + format + " 4x4096x14336") == "gemv_blocks");
        CHECK(family("f16*" + format + " 16x4096x14336") == "coopmat");
        CHECK(family("f16*" + format + " 64x4096x14336") == "coopmat");
        CHECK(family("f16*" + format + " 512x4096x14336") == "coopmat_packed");
    }
}

TEST_CASE("a format whose staged blocks exceed the device's shared memory leaves the kernel out") {
    REQUIRE(device("swiftshader").shared_bytes == 32768);
    const std::string end = " 1x64x4096 layout=nt";
    CHECK(bool(choose("swiftshader", "f32*q4_0" + end, forced("gemv_blocks_f32_1x16"))));
    const Status why = refusal("swiftshader", "f32*q8_0" + end, forced("gemv_blocks_f32_1x16"));
    CHECK_MESSAGE(has_words(why.text, "shared memory", "format"), why.text);
    CHECK(bool(choose("swiftshader", "f32*q8_0" + end, forced("gemv_blocks_f32_1x16", "WG=64,BN=8"))));
    for (const char* format : {"q8_0", "q4_0", "q5_1", "q6_k", "nvfp4"})
        CHECK_MESSAGE(bool(choose("swiftshader", std::string("f32*") + format + end)), format);
}

TEST_CASE("something always fits: every f32 and i32 corner on every device") {
    int checked = 0;
    for (const std::string& file : device_files()) {
        const Result<DeviceCaps> caps = parse_device_caps(file_text(file));
        REQUIRE(caps);
        for (const char* problems : {"problems/corners.txt", "problems/seeds.txt"})
            for (const std::string& line : lines_of(problems)) {
                const Problem p = normalised(line);
                if (p.a.type != f32 && p.a.type != i32) continue;
                const Result<Choice> choice = select(*caps, p, {});
                const bool fits = bool(choice);
                CHECK_MESSAGE(fits, file, ": ", line, ": ", choice.status().text);
                ++checked;
            }
    }
    CHECK(checked > 60);
}

TEST_CASE("no row is dead: on a device that has everything each can be forced") {
    for (const Kernel& kernel : kernels()) {
        CAPTURE(kernel.name);
        if (!kernel.module.is_product()) continue;  // it is added, never chosen
        if (kernel.module.is_native() && !kernel.module.built()) continue;
        Problem p = normalised("300x300x300");
        if (kernel.module.family.refuses(p))
            p = normalised(kernel.tile.BM < kernel.tile.BN ? "8x304x320 layout=nt" : "304x8x320 layout=nt");
        const bool few = kernel.module.family.reads_chunk64;  // rows, by columns of blocks
        if (kernel.module.is_mixed() && kernel.module.family.uses_matrix_units && !few) p = normalised("304x304x304");
        if (kernel.module.family.in_one_step) p = normalised("304x304x16");
        if (kernel.module.is_native() && kernel.tile.BN == 32) p = normalised("300x300x300 layout=nt");
        if (is_straight(kernel.module.family, kernel.tile)) p = normalised("304x304x304 layout=nt");
        p.a.type = kernel.module.is_mixed() ? f16 : kernel.module.a;
        p.b.type = kernel.module.is_mixed() ? f32 : kernel.module.b;
        if (few) p.b.type = VKGEMM_TYPE_Q8_0;
        p.accumulate = kernel.module.accumulate;
        p.c.type = p.d.type = kernel.module.d == scaled ? f16 : kernel.module.d;
        p.accuracy = kernel.module.family.accuracy;
        Request request = forced(std::string(kernel.name));
        request.workspace_limit = 64 << 20;  // for the operands of `coopmat_packed`
        const Result<Choice> choice = select(device(kernel.module.is_native() ? "h200_native" : "huge"), p, request);
        REQUIRE_MESSAGE(bool(choice), choice.status().text);
        CHECK(choice->kernel == &kernel);
        CHECK(choice->tile == kernel.tile);
    }
}

TEST_CASE("matrices straight from memory: both operands k-contiguous and on 16 bytes, and 16 bits") {
    const auto choose_straight = [](const std::string& line, uint32_t alignment = 256) {
        Request request = forced("coopmat_f16_64x32x256_straight");
        request.operand_alignment = alignment;
        return select(device("h200"), normalised(line), request);
    };
    CHECK(choose_straight("f16*f16 64x4096x4096 layout=nt"));
    CHECK(choose_straight("f16*f16 63x4095x4096 layout=nt"));
    for (const char* layout : {"nn", "tn", "tt"}) {
        const auto none = choose_straight(std::string("f16*f16 64x4096x4096 layout=") + layout);
        REQUIRE_FALSE(bool(none));
        CHECK(none.status().text.find("column-major B") != std::string::npos);
    }
    CHECK_FALSE(choose_straight("f16*f16 64x4096x4097 layout=nt"));
    CHECK_FALSE(choose_straight("f16*f16 64x4096x4096 layout=nt lda=4100"));
    CHECK_FALSE(choose_straight("f16*f16 64x4096x4096 layout=nt", 2));
    for (const char* kernel : {"coopmat_f16h_64x64x32", "coopmat_i8_64x64x64", "coopmat_mixed_f16_64x64x64"}) {
        const Kernel* row = find_kernel(kernel);
        REQUIRE(row);
        const auto tile = with_constants(row->tile, "STAGES=0");
        REQUIRE(bool(tile));
        CHECK(broken_rules(row->module.family, *tile, row->module.element_bytes()).count == 1);
    }
}

TEST_CASE("operands are taken apart only as far as the problem allows, and as the product wants them") {
    Request request;
    request.workspace_limit = 1 << 30;
    const auto chosen = [&](const std::string& line) {
        const Result<Choice> choice = choose("h200", line, request);
        REQUIRE_MESSAGE(bool(choice), choice.status().text);
        const Family& family = choice->kernel->module.family;
        for (const Packing& x : {choice->schedule.a, choice->schedule.b})
            CHECK((x.kernel ? x.kernel->module.family.operand_split == family.operand_split
                            : family.operand_split.count == 1));
        return std::string(choice->kernel->name);
    };
    for (const std::string size : {"4096x4096x4096", "8192x8192x8192"}) {
        CAPTURE(size);
        CHECK(chosen(size).starts_with("simt_"));
        CHECK(chosen(size + " accuracy=f32_split").starts_with("bf16x3_"));
        CHECK(chosen(size + " accuracy=f32_split_rows").starts_with("f16x2_"));
    }
    CHECK(chosen("64x64x1000000 accuracy=f32_split_rows").starts_with("simt_"));  // few groups would read all of it
}

TEST_CASE("more work groups of coopmat run at once where A or B is k-contiguous and takes less shared memory") {
    const Kernel& k = *find_kernel("coopmat_f16_16x64x128");
    const auto bytes = [&](bool a, bool b) {
        return k.module.family.shared_bytes_of_layouts(k.tile, k.module.element_bytes(), {a, b});
    };
    CHECK(bytes(true, true) == 16 * 17 * (16 + 64));        // each row of a tile takes 16 chunks and one
    CHECK(bytes(true, false) == 16 * (17 * 16 + 9 * 128));  // each k of B 8 and one
    CHECK(bytes(false, true) == 16 * (3 * 128 + 17 * 64));
    CHECK(bytes(false, false) == k.module.family.shared_bytes(k.tile, k.module.element_bytes()));
    const Result<DeviceCaps> h200 = parse_device_caps(file_text("devices/h200.txt"));
    const KernelCost cost(k, k.tile, *h200);
    for (const bool a : {false, true})
        for (const bool b : {false, true}) CHECK(cost.at_once[a][b] == (a || b ? 2 : 1));
    const Problem p = normalised("f16*f16 64x64x64 layout=nn");
    CHECK(ProductCost(cost, p).effects_of(operands(p), 16).at_once == cost.at_once[true][false]);
}

TEST_CASE("the chosen one costs least, and every other says its cost or the reason against it") {
    for (const std::string& file : device_files()) {
        const Result<DeviceCaps> caps = parse_device_caps(file_text(file));
        for (const std::string& line : problem_lines()) {
            const Problem p = normalised(line);
            const Result<Choice> choice = select(*caps, p, {});
            if (!choice) continue;
            const std::vector<Candidate> all = list_candidates(*caps, p, {});
            CHECK(all.size() == kernels().size());
            for (const Candidate& other : all) {
                CHECK((other.kernel != choice->kernel || !other.why));
                if (other.why)
                    CHECK(!other.why->text.empty());
                else if (other.kernel->module.is_native() == choice->kernel->module.is_native())
                    CHECK(other.schedule.cost >= choice->schedule.cost);
            }
            const KernelCost of_kernel(*choice->kernel, choice->tile, *caps);
            const ProductCost cost(of_kernel, p);
            const OperandEffects effects = cost.effects_of(choice->schedule.operands(), Request{}.operand_alignment);
            const CostParts parts = cost.parts(choice->schedule.split, effects);
            CAPTURE(file);
            CAPTURE(line);
            CAPTURE(choice->kernel->name);
            CHECK(choice->schedule.cost ==
                  parts.weighted(no_weights) * cost.correction(parts, choice->schedule.split, effects));
        }
    }
}

TEST_CASE("operands reach the shader by descriptors, or by addresses, or not at all") {
    DeviceCaps d = device("huge");
    Request by_address;
    by_address.addresses = true;
    CHECK(*choose_binding(d, {}) == Binding::descriptors);
    CHECK(*choose_binding(d, by_address) == Binding::addresses);
    d.kind = DeviceKind::cpu;
    CHECK(*choose_binding(d, {}) == Binding::addresses);  // without a test for every access
    Request by_descriptor;
    by_descriptor.descriptors = true;
    CHECK(*choose_binding(d, by_descriptor) == Binding::descriptors);
    for (const char* line : {"64x64x64 scalars=alpha", "64x64x64 batch=2 groups=table"})
        CHECK(has_words(choose_binding(d, parse_problem(line)->problem, by_descriptor).status().text,
                        "VKGEMM_OPERANDS_DESCRIPTORS"));
    DeviceCaps few = d;
    few.max_storage_buffers = 6;
    CHECK(has_words(choose_binding(few, by_descriptor).status().text, "7 storage buffers", "has 6"));
    d.features &= ~need::buffer_address;
    CHECK(*choose_binding(d, {}) == Binding::descriptors);
    d = device("huge");
    d.max_storage_buffers = 6;
    CHECK(*choose_binding(d, {}) == Binding::addresses);  // too few for all operands at once
    d.max_storage_buffers = 7;
    d.features &= ~need::push_descriptor;
    CHECK(*choose_binding(d, {}) == Binding::addresses);
    d.features &= ~need::buffer_address;
    CHECK(has_words(choose_binding(d, {}).status().text, "bufferDeviceAddress", "7"));
    d.features |= need::push_descriptor;
    CHECK(*choose_binding(d, {}) == Binding::descriptors);
    const Result<Binding> refused = choose_binding(d, by_address);
    REQUIRE(!refused);
    CHECK(refused.status().code == VKGEMM_ERROR_UNSUPPORTED);
    CHECK(has_words(refused.status().text, "bufferDeviceAddress"));
}

TEST_CASE("refusals say the value, the limit and what would work") {
    const struct {
        std::string device, problem, kernel, tile;
        VkgemmResult kind;
        std::vector<std::string> words;
    } rows[] = {
        {"bare",
         "f32*f32 9x9x9",
         "tiled_f32_9x9",
         "",
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"tiled_f32_9x9", "did you mean"}},
        {"bare",
         "f32*f32 9x9x9",
         "tiled_i32_8x8",
         "",
         VKGEMM_ERROR_UNSUPPORTED,
         {"tiled_i32_8x8", "i32*i32+i32->i32", "f32*f32+f32->f32"}},
        {"bare", "f64*f64 9x9x9", "", "", VKGEMM_ERROR_UNSUPPORTED, {"float64"}},
        {"swiftshader", "f64*f64 9x9x9", "", "", VKGEMM_ERROR_UNSUPPORTED, {"float64"}},
        {"h200", "f64*f64+f32->f64 9x9x9", "", "", VKGEMM_ERROR_UNSUPPORTED, {"f64*f64+f32->f64", "f64*f64+f64->f64"}},
        {"bare", "f32*f32+f64->f32 9x9x9", "", "", VKGEMM_ERROR_UNSUPPORTED, {"f32*f32+f64->f32"}},
        {"bare", "f32*f32 9x9x9", "tiled_f32_16x16", "", VKGEMM_ERROR_LIMIT, {"WG 256", "limit 128"}},
        {"h200", "f32*f32 9x9x9", "block_f32_128x128", "BK=64", VKGEMM_ERROR_TILE, {"shared memory", "67584", "49152"}},
        {"h200", "f32*f32 9x9x9", "vec4_f32_64x64", "TM=5", VKGEMM_ERROR_TILE, {"TM 5", "vector 4", "BK*TM 80"}},
        {"h200", "f32*f32 9x9x9", "vec4_f32_64x64", "XX=5", VKGEMM_ERROR_TILE, {"XX"}},
        {"h200",
         "f32*f32 64x64x64",
         "bf16x3_f32_64x64x32",
         "",
         VKGEMM_ERROR_UNSUPPORTED,
         {"needs accuracy=f32_split or accuracy=f32_split_rows"}},
        {"h200",
         "f32*f32 64x64x64",
         "f16x2_f32_128x64x32",
         "",
         VKGEMM_ERROR_UNSUPPORTED,
         {"needs accuracy=f32_split_rows"}},
        {"h200",
         "f32*f32 2147483648x1x1",
         "",
         "",
         VKGEMM_ERROR_LIMIT,
         {"m is 2147483648", "2147483647", "split the product"}},
        {"h200", "f32*f32 1x1x2147483648", "", "", VKGEMM_ERROR_LIMIT, {"k is 2147483648", "2147483647"}},
        {"h200", "f32*f32 65536x65536x1", "", "", VKGEMM_ERROR_LIMIT, {"D", "4294967296", "2147483647"}},
        {"h200", "f32*f32 40000x40000x1", "", "", VKGEMM_ERROR_LIMIT, {"D", "6400000000", "4294967295"}},
        {"h200", "f32*f32 2x2x2 lda=4294967296", "", "", VKGEMM_ERROR_LIMIT, {"A", "2147483647", "split the product"}},
        {"h200",
         "f32*f32 1x1x1 batch=4294967296 stride_a=0 stride_b=0",
         "",
         "",
         VKGEMM_ERROR_LIMIT,
         {"batch", "4294967296", "split the batch"}},
    };
    for (const auto& row : rows) {
        INFO(row.device, " ", row.problem, " ", row.kernel, " ", row.tile);
        const Status said = refusal(row.device, row.problem, forced(row.kernel, row.tile));
        CHECK(said.code == row.kind);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(said.text.find(word) != std::string::npos, "'", word, "' is not in: ", said.text);
    }
}

TEST_CASE("an operand may span 2^31-1 elements, and not one more") {
    const struct {
        std::string operand, most, more, spans;
    } rows[] = {
        {"A", "2x1x1 lda=2147483646", "2x1x1 lda=2147483647", "2147483648"},
        {"A", "1x1x2 layout=tn lda=2147483646", "1x1x2 layout=tn lda=2147483647", "2147483648"},
        {"B", "1x1x2 ldb=2147483646", "1x1x2 ldb=2147483647", "2147483648"},
        {"B", "1x2x1 layout=nt ldb=2147483646", "1x2x1 layout=nt ldb=2147483647", "2147483648"},
        {"C", "2x1x1 c=separate ldc=2147483646", "2x1x1 c=separate ldc=2147483647", "2147483648"},
        {"D", "2x1x1 ldd=2147483646", "2x1x1 ldd=2147483647", "2147483648"},
        {"D", "1x2x1 layout_d=t ldd=2147483646", "1x2x1 layout_d=t ldd=2147483647", "2147483648"},
        {"A", "1x1x1 batch=2 stride_a=2147483646", "1x1x1 batch=2 stride_a=2147483647", "2147483648"},
        {"B", "1x1x1 batch=3 stride_b=1073741823", "1x1x1 batch=3 stride_b=1073741824", "2147483649"},
        {"D", "1x1x1 batch=2 stride_d=2147483646", "1x1x1 batch=2 stride_d=4294967297", "4294967298"},
        {"D", "32768x65535x1", "32768x65536x1", "2147483648"},
        {"A", "32768x1x65535", "32768x1x65536", "2147483648"},
        {"A", "1x1x1 batch=2147483647 stride_b=0", "1x1x1 batch=2147483648 stride_b=0", "2147483648"},
    };
    Request by_address;
    by_address.addresses = true;
    for (const auto& row : rows) {
        CAPTURE(row.more);
        const Result<Choice> most = choose("huge", row.most, by_address);
        const bool planned = bool(most);
        CHECK_MESSAGE(planned, row.most, ": ", most.status().text);
        const Status said = refusal("huge", row.more, by_address);
        CHECK(said.code == VKGEMM_ERROR_LIMIT);
        CHECK_MESSAGE(has_words(said.text, row.operand + " spans " + row.spans + " elements", "2147483647"), said.text);
    }
    const bool bytes_by_descriptor = bool(choose("h200", "i8*i8 2x1x1 lda=2147483646"));
    CHECK(bytes_by_descriptor);
    CHECK(has_words(refusal("h200", "i8*i8 2x1x1 lda=2147483647").text, "2147483648"));
}

TEST_CASE("a packed operand may span 2^31-1 elements too") {
    Request r = forced("tiled_i8_8x8", "PACK=2");
    r.workspace_limit = UINT64_MAX;
    const bool planned = bool(choose("huge", "i8*i8 33554431x1x1", r));  // a row of one is packed into one of 64
    CHECK(planned);
    const Status said = refusal("huge", "i8*i8 33554432x1x1", r);
    CHECK(said.code == VKGEMM_ERROR_LIMIT);
    CHECK_MESSAGE(has_words(said.text, "2147483647", "PACK"), said.text);
}

TEST_CASE("what one descriptor cannot span, an address can") {
    Request by_address;
    by_address.addresses = true;
    const bool served = bool(choose("h200", "f32*f32 40000x40000x1", by_address));
    CHECK(served);
}

TEST_CASE("too many work groups are refused with their number") {
    DeviceCaps d = device("bare");
    d.max_groups_x = 10;
    d.max_groups_y = 3;
    const Problem fits = normalised("8x240x1"), one_more = normalised("8x241x1");
    CHECK(bool(select(d, fits, forced("tiled_f32_8x8"))));
    const Result<Choice> refused = select(d, one_more, forced("tiled_f32_8x8"));
    REQUIRE(!refused);
    CHECK(refused.status().code == VKGEMM_ERROR_LIMIT);
    CHECK_MESSAGE(has_words(refused.status().text, "31", "30", "larger tile"), refused.status().text);
}

TEST_CASE("a tile is checked with the device's limits, not with the row's") {
    CHECK(bool(choose("bare", "9x9x9", forced("tiled_f32_16x16", "WG=64,BM=8,BN=8,BK=8"))));
    const Result<Choice> choice = choose("bare", "9x9x9", forced("tiled_f32_8x8", "BK=16"));
    REQUIRE(choice);
    CHECK(choice->tile.BK == 16);
    CHECK(choice->tile.BM == 8);
}

TEST_CASE("a subgroup size that a pipeline would not get is refused") {
    DeviceCaps d = device("h200");
    d.subgroup_min = 16;
    d.subgroup_max = 64;
    d.max_subgroups = 4;
    const auto why = [&](const std::string& kernel, const std::string& tile) {
        const Result<Choice> choice = select(d, normalised("64x64x64"), forced(kernel, tile));
        return choice ? "" : choice.status().text;
    };
    CHECK(why("tiled_f32_8x8", "SG=16") == "");
    CHECK(has_words(why("tiled_f32_8x8", "SG=3"), "SG is 3", "16 to 64"));
    CHECK(has_words(why("tiled_f32_8x8", "SG=8"), "SG is 8", "16 to 64"));
    CHECK(has_words(why("tiled_f32_16x16", "SG=32"), "SG is 32", "256", "8 subgroups", "limit is 4"));
    CHECK(has_words(why("block_f32_64x64", "SG=64,WG=32,BM=32"), "SG is 64"));
    d.subgroup_required = 0;
    CHECK(has_words(why("tiled_f32_8x8", "SG=32"), "16 to 64"));
    d.subgroup_min = d.subgroup_max = 32;
    CHECK(why("tiled_f32_8x8", "SG=32") == "");  // it gets that size anyway
    CHECK(has_words(why("tiled_f32_8x8", "SG=16"), "32 to 32"));
    d.features &= ~need::subgroup_size_control;
    CHECK(has_words(why("tiled_f32_8x8", "SG=32"), "subgroupSizeControl"));
}

TEST_CASE("a feature that is missing is named") {
    for (const Kernel& kernel : kernels()) {
        DeviceCaps d = device("huge");
        if (!kernel.needs || !kernel.module.built()) continue;
        d.features = 0;
        const auto why = unfit_device(kernel, kernel.tile, d);
        REQUIRE(why);
        CHECK(has_words(why->text, feature_names(kernel.needs)));
    }
    static const uint32_t words[] = {0};
    const vkgemm::spirv::PackedModule there = {words, 1, nullptr}, missing = {nullptr, 0, "unbuilt here"};
    const Kernel& tiled = *find_kernel("tiled_f32_8x8");
    const auto module_of = [&](std::string_view name, const vkgemm::spirv::PackedModule& code) {
        return Module{.name = name,
                      .family = tiled.module.family,
                      .role = Role::product,
                      .a = f32,
                      .b = f32,
                      .d = f32,
                      .accumulate = f32,
                      .embedded = code};
    };
    const Module injected = module_of("injected", there), unbuilt = module_of("unbuilt", missing);
    const Kernel wants{
        .name = "injected_8x8", .module = injected, .needs = need::coopmat | need::float16, .tile = tiled.tile};
    DeviceCaps d = device("huge");
    CHECK(!unfit_device(wants, wants.tile, d));
    d.max_push_constant_bytes = 128;
    CHECK(!unfit_device(wants, wants.tile, d));
    d.max_push_constant_bytes = 124;
    CHECK(has_words(unfit_device(wants, wants.tile, d)->text, "128 bytes of push constants", "124"));
    const Kernel& doubles = *find_kernel("simt_f64_64x64x8");
    d.max_push_constant_bytes = 136;
    CHECK(!unfit_device(doubles, doubles.tile, d));
    d.max_push_constant_bytes = 128;
    CHECK(has_words(unfit_device(doubles, doubles.tile, d)->text, "136 bytes of push constants", "128"));
    d.max_push_constant_bytes = 128;
    d.features &= ~need::coopmat;
    CHECK(has_words(unfit_device(wants, wants.tile, d)->text, "coopmat"));
    CHECK(!has_words(unfit_device(wants, wants.tile, d)->text, "float16"));

    CHECK(has_words(unfit_device({"unbuilt_8x8", unbuilt, 0, wants.tile}, wants.tile, d)->text, "unbuilt"));
}
