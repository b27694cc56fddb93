// SPDX-License-Identifier: MIT
// Kernels in machine code, as choices see them: which devices get them, what is asked of the caller, how operands reach
// them.
#include <doctest/doctest.h>

#include "plan/choice/select.h"
#include "plan/device/verified_drivers.h"
#include "plan/needs.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/pipeline_key.h"
#include "plan/steps/steps.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem completed(const std::string& line) { return *complete(parse_problem(line)->problem); }
bool built() { return find_kernel("wgmma_f16_128x256x64")->module.built(); }

bool is_native(const DeviceCaps& caps, const Request& request = {}, const char* line = "f16*f16 4096x4096x4096") {
    const Result<Choice> choice = select(caps, normalise(completed(line)).problem, request);
    REQUIRE_MESSAGE(bool(choice), choice.status().text);
    if (choice->kernel->module.is_native()) CHECK(choice->binding == Binding::addresses);
    return choice->kernel->module.is_native();
}

/// The kernels of a plan with a workspace, in order.
std::string kernels_of(const DeviceCaps& caps, const std::string& line, Request request) {
    request.workspace_limit = uint64_t{4} << 30;
    const Problem p = completed(line);
    const Normalised n = normalise(p);
    const auto choice = select(caps, n.problem, request);
    REQUIRE_MESSAGE(bool(choice), line, ": ", choice.status().text);
    std::string out;
    for (const Step& s : make_steps(*choice, p, n, caps, request).steps)
        out += (out.empty() ? "" : " ") + std::string(s.kernel->name);
    return out;
}

}  // namespace

TEST_CASE("each thing that a native kernel wants of a device is enough to be refused") {
    if (!built()) return;
    CHECK(is_native(device("h200_native")));
    CHECK_FALSE(is_native(device("h200")));
    const auto without = [](auto change) {
        DeviceCaps caps = device("h200_native");
        change(caps);
        return is_native(caps);
    };
    CHECK_FALSE(without([](DeviceCaps& c) { c.queue_flags = 0; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.queue_flags |= queue_graphics; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.native_code = 0; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.native_code = 80; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.native_use = uint32_t(NativeUse::off); }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.native_use = uint32_t(NativeUse::unverified); }));
    CHECK(without([](DeviceCaps& c) { c.native_use = uint32_t(NativeUse::any_driver); }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.features &= ~need::binary_import; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.features &= ~need::buffer_address; }));
    CHECK_FALSE(without([](DeviceCaps& c) { c.compute_units = 0; }));
}

TEST_CASE("a problem of the wrong kind, and a request that forbids it, leave native kernels out") {
    if (!built()) return;
    Request none, cut, unaligned;
    none.native = Request::Native::excluded;
    cut.dispatch_seconds = 1;
    unaligned.operand_alignment = 8;
    for (const Request& r : {none, cut, unaligned}) CHECK_FALSE(is_native(device("h200_native"), r));
    for (const char* line : {"4096x4096x4096", "f16*f16+f16->f16 4096x4096x4096", "f16*f32 4096x4096x4096",
                             "f16*f16 4096x4096x4096 batch=8 ldb=4100", "f16*f16 4096x4096x4096 act=drelu"})
        CHECK_FALSE(is_native(device("h200_native"), {}, line));
}

TEST_CASE("f32 from parts is native where the accuracy and a workspace allow it, and packed by native code") {
    if (!find_kernel("wgmma_f16x2_128x128x64")->module.built()) return;
    const DeviceCaps native = device("h200_native"), spirv = device("h200");
    const std::string pack_2 = "pack_parts_f16x2_8x256 pack_parts_f16x2_8x256 ",
                      pack_3 = "pack_parts_bf16x3_16x128 pack_parts_bf16x3_16x128 ";
    for (const std::pair<std::string, std::string>& made :
         {std::pair<std::string, std::string>{"4096x4096x4096 accuracy=f32_split_rows",
                                              pack_2 + "wgmma_f16x2_128x128x64"},
          {"4096x4096x4096 accuracy=f32_split", pack_3 + "wgmma_bf16x3_128x128x64"},
          {"1024x1024x1024 accuracy=f32_split_rows", pack_2 + "wgmma_f16x2_128x64x64"},
          {"4097x4097x4097 accuracy=f32_split_rows batch=3", pack_2 + "wgmma_f16x2_128x128x64"},
          {"1600x1600x1007 accuracy=f32_split layout=tn act=gelu", pack_3 + "wgmma_bf16x3_128x64x64"},
          {"1x4096x4096 accuracy=f32_split", "gemv_f32_1x32"}}) {
        CAPTURE(made.first);
        CHECK(kernels_of(native, made.first, {}) == made.second);
    }
    CHECK(has_words(kernels_of(native, "4096x4096x4096", {}), "simt_f32"));
    CHECK_FALSE(has_words(kernels_of(native, "4096x4096x4096", {}), "parts"));
    Request none;
    none.native = Request::Native::excluded;
    for (const char* line : {"4096x4096x4096 accuracy=f32_split", "4096x4096x4096 accuracy=f32_split invariant"}) {
        CHECK(kernels_of(native, line, none).find("wgmma") == std::string::npos);
        CHECK(kernels_of(native, line, none) == kernels_of(spirv, line, {}));
    }
    CHECK(kernels_of(native, "4096x4096x4096 accuracy=f32_split invariant", {}).find("wgmma") == std::string::npos);
}

TEST_CASE("blocks and mixed types are converted first, then multiplied natively, where narrow allows it") {
    if (!built()) return;
    const DeviceCaps native = device("h200_native");
    const std::string f16 = "convert_f16_32x256 ", bf16 = "convert_bf16_32x256 ", many = " 512x4096x14336 layout=nt ";
    for (const std::pair<std::string, std::string>& made :
         {std::pair<std::string, std::string>{"f16*q8_0" + many, f16 + "wgmma_f16_128x256x64"},
          {"f16*q4_k->f32" + many, f16 + "wgmma_f16_f32_128x256x64"},
          {"f32*mxfp4" + many, f16 + f16 + "wgmma_f16_f32_128x256x64"},
          {"f32*bf16" + many, bf16 + "wgmma_bf16_f32_128x256x64"},
          {"bf16*q4_0" + many, bf16 + "wgmma_bf16_128x256x64"},
          {"i8*f16 512x4096x14335 layout=nt", f16 + "pack_16_64x64 wgmma_f16_128x256x64"},
          {"f16*q8_0" + many + "packed_b=any", "wgmma_f16_128x256x64"},
          {"f32*q8_0" + many + "packed_b=any layout_d=t", f16 + "wgmma_f16_f32_128x256x64"}}) {
        CAPTURE(made.first);
        std::string kernels = kernels_of(native, made.first + " accuracy=narrow", {});
        const size_t tile = kernels.rfind("_128x");  // whichever it is
        CHECK(kernels.substr(0, tile) == made.second.substr(0, made.second.rfind("_128x")));
    }
    for (const char* line : {"f16*q8_0 512x4096x14336 layout=nt", "f16*q8_0 1x4096x14336 layout=nt accuracy=narrow",
                             "f16*q8_0->bf16 512x4096x14336 layout=nt accuracy=narrow",
                             "f16*q8_0 512x4096x256 batch=4 groups=table layout=nt accuracy=narrow"})
        CHECK(kernels_of(native, line, {}).find("wgmma") == std::string::npos);
    Request forced, no_workspace;
    forced.kernel = "wgmma_f16_128x128x64";
    forced.workspace_limit = 1 << 30;
    const auto none =
        select(native, normalise(completed("f16*q8_0 64x64x0 layout=nt accuracy=narrow")).problem, forced);
    REQUIRE_FALSE(bool(none));
    CHECK(none.status().text.find("nothing converts B of an empty sum") != std::string::npos);
    CHECK_FALSE(is_native(native, no_workspace, "f16*q8_0 512x4096x14336 layout=nt accuracy=narrow"));
}

TEST_CASE("e4m3 and e5m2 are multiplied natively in every pair and into every D, where narrow allows it") {
    if (!built()) return;
    const DeviceCaps native = device("h200_native");
    const std::string many = " 4096x4096x4096 layout=nt accuracy=narrow";
    for (const char* pair : {"e4m3*e4m3", "e4m3*e5m2", "e5m2*e4m3", "e5m2*e5m2"})
        for (const char* d : {"->f32", "->f16", "->bf16"})
            CHECK(kernels_of(native, std::string(pair) + d + many, {}) == "wgmma_fp8_128x256x128");
    CHECK(kernels_of(native, "e4m3*e5m2->f16 4096x4096x4096 accuracy=narrow", {}) ==
          "pack_8_64x64 wgmma_fp8_128x256x128");
    CHECK(kernels_of(native, "e4m3*e4m3 128x128x65536 layout=nt accuracy=narrow", {}).find("reduce_f32") !=
          std::string::npos);
    CHECK(kernels_of(native, "e4m3*f16" + many, {}).find("convert_f16") == 0);
    CHECK(kernels_of(native, "e4m3*e4m3 4096x4096x4096 layout=nt", {}).find("wgmma") == std::string::npos);
    Request none;
    none.native = Request::Native::excluded;
    CHECK(kernels_of(native, "e4m3*e4m3" + many, none) == kernels_of(device("h200"), "e4m3*e4m3" + many, {}));
}

TEST_CASE("up to 64 rows have narrow tiles, with 32 columns if there are few and B is column-major") {
    if (!built()) return;
    const DeviceCaps native = device("h200_native");
    for (const auto& expected :
         {std::pair<std::string, std::string>{"f16*f16 64x4096x4096 layout=nt", "wgmma_f16_64x32x64"},
          {"bf16*bf16->f32 64x4096x4096 layout=tt bias=col act=gelu", "wgmma_bf16_f32_64x32x64"},
          {"bf16*bf16 64x4096x14336 layout=nt", "wgmma_bf16_64x128x64 reduce_bf16_1024"},
          {"f16*f16 64x14336x4096 layout=nt", "wgmma_f16_64x128x64"},
          {"f16*f16 4x4096x4096 layout=nt", "coopmat_f16_16x32x256_straight"},
          {"bf16*bf16 63x5120x3072", "wgmma_bf16_64x64x64"},
          {"f16*f16 64x4096x4096", "wgmma_f16_64x64x64 reduce_f16_1024"}}) {
        const std::string& line = expected.first;
        CAPTURE(line);
        CHECK(kernels_of(native, line, {}) == expected.second);
    }
    Request forced;
    forced.kernel = "wgmma_f16_64x32x64";
    forced.workspace_limit = 1 << 30;
    for (const char* layout : {"nn", "tn"}) {
        const Problem p = completed(std::string("f16*f16 64x4096x4096 layout=") + layout);
        const auto none = select(native, normalise(p).problem, forced);
        REQUIRE_FALSE(bool(none));
        CHECK(none.status().text ==
              "wgmma_f16_64x32x64: loads a row-major B in boxes of 64 columns, and the tile has 32; B must be "
              "column-major");
    }
}

TEST_CASE("problems whose kernels were measured on an H200 have the one that was fastest, or nearly so") {
    if (!built()) return;
    const DeviceCaps native = device("h200_native");
    // 17.7 us; coopmat_f16_128x128x64 takes 23.
    CHECK(kernels_of(native, "f16*f16 128x128x65536 layout=nt", {}) == "wgmma_f16_64x128x64 reduce_f16_64");
    // 132 us; 64x128x64 takes 131, and packed fragments 233.
    CHECK(kernels_of(native, "bf16*bf16 1086x1086x64 batch=64", {}) == "pack_16_64x64 wgmma_bf16_128x128x64");
    // 143 us; the tile 128x192x64 takes 152.
    CHECK(kernels_of(native, "f16*f16 1110x1110x64 batch=64", {}) == "pack_16_64x64 wgmma_f16_128x128x64");
    // 57.7 us; wgmma_f16_64x128x64 takes 73.4.
    CHECK(kernels_of(native, "f16*f16 1x28672x4096 layout=nt", {}).starts_with("gemv_f16_1x"));
    // 506 us; one slice takes 631 by 128x128x64.
    CHECK(kernels_of(native, "f16*f16 1162x8192x16384 layout=nt", {}) == "wgmma_f16_128x256x64 reduce_f16_1024");
    // 4.4 us; native 5.3.
    CHECK(kernels_of(native, "f16*f16 64x64x64", {}) == "coopmat_f16_16x16x256");
}

TEST_CASE("a tile that two warp groups share by k has an even number of stages") {
    const Kernel& k = *find_kernel("wgmma_f16_64x32x64");
    const auto broken = [&](uint32_t BM, uint32_t BN, uint32_t STAGES) {
        Tile t = k.tile;
        t.BM = BM;
        t.BN = BN;
        t.STAGES = STAGES;
        return to_text(broken_rules(k.module.family, t, k.module.element_bytes()));
    };
    CHECK(broken(64, 32, 16) == "");
    CHECK(broken(64, 32, 15).find("every other stage") != std::string::npos);
    CHECK(broken(128, 32, 16).find("boxes of 64 columns") != std::string::npos);
    CHECK(broken(64, 64, 12) == "");
    CHECK(broken(64, 64, 11).find("every other stage") != std::string::npos);
    CHECK(broken(64, 96, 8).find("boxes of 64 columns") != std::string::npos);
}

TEST_CASE("the kernel of fp8 is told its types, the second pass of its split K is not, and its bound is its own") {
    if (!built()) return;
    const DeviceCaps native = device("h200_native");
    const auto steps = [&](const char* tile) {
        Request request;
        request.kernel = "wgmma_fp8_128x128x128";
        request.tile = tile;
        request.workspace_limit = 1 << 30;
        const Problem p = completed("e5m2*e4m3->f16 256x256x4096 layout=nt accuracy=narrow bias=col act=relu");
        const Normalised n = normalise(p);
        return make_steps(*select(native, n.problem, request), p, n, native, request);
    };
    const Steps whole = steps("SPLIT=1"), split = steps("SPLIT=4");
    const auto type = [](Type t) { return static_cast<uint32_t>(t); };
    const ProblemConstants& one = whole.steps.at(0).constants;
    CHECK((one.FORMAT_A == type(e5m2) && one.FORMAT_B == type(e4m3) && one.FORMAT_D == type(f16)));
    CHECK(one.FORMAT_BIAS == type(f16));
    const ProblemConstants &product = split.steps.at(0).constants, &second = split.steps.at(1).constants;
    CHECK((product.FORMAT_A == type(e5m2) && product.FORMAT_B == type(e4m3) && product.FORMAT_D == 0));
    CHECK((second.FORMAT_A | second.FORMAT_B | second.FORMAT_D | second.FORMAT_BIAS) == 0);
    CHECK(second.STEP_0 == uint32_t(VKGEMM_STEP_BIAS_COL));
    CHECK(whole.error_bound > 0x1p-8 * 4096);
    CHECK(whole.error_bound < 0x1p-7 * 4096);
}

TEST_CASE("a kernel of one type says what it cannot convert, and a tile's PACK must let it") {
    const DeviceCaps h200 = device("h200");
    const auto why = [&](const std::string& line, const char* tile = "") {
        Request request;
        request.kernel = "coopmat_f16_128x128x32";
        request.tile = tile;
        request.workspace_limit = 1 << 30;
        const auto choice = select(h200, normalise(completed(line + " layout=nt accuracy=narrow")).problem, request);
        return choice ? "" : choice.status().text;
    };
    CHECK(why("f16*q8_0 64x64x64") == "");
    CHECK(why("f16*q8_0 64x64x64", "PACK=3") == "");
    CHECK(why("i8*q8_0->f16 64x64x64", "PACK=4") == "");
    CHECK(why("f16*q8_0 64x64x64", "PACK=2").find("must convert B to f16; PACK must be 0, 3 or 4") !=
          std::string::npos);
    CHECK(why("i8*q8_0->f16 64x64x64", "PACK=3").find("convert A and B to f16; PACK must be 0 or 4") !=
          std::string::npos);
    CHECK(why("f16*q8_0 64x64x64 batch=2 groups=table").find("groups of a table") != std::string::npos);
    CHECK(why("f16*bf16->f16 64x64x64").find("not f16*bf16") != std::string::npos);
}

TEST_CASE("an f32 problem that wants true f32 keeps its buffers, one that allows parts has addresses") {
    if (!find_kernel("wgmma_f16x2_128x128x64")->module.built()) return;
    const auto binding = [](const char* line) {
        return *choose_binding(device("h200_native"), normalise(completed(line)).problem, Request{});
    };
    CHECK(binding("4096x4096x4096") == Binding::descriptors);
    CHECK(binding("4096x4096x4096 accuracy=f32_split") == Binding::addresses);
}

TEST_CASE("a built-in row for SPIR-V gives way to a native kernel that costs less, a user's row does not") {
    if (!built()) return;
    const char* line = "NVIDIA H200 | f16*f16 4096x4096x4096 | coopmat_f16_128x256x32 |";
    for (const bool is_built_in : {true, false}) {
        const DeviceCaps caps = device("h200_native");
        std::vector<TunedRow> rows = *parse_tuned(line);
        rows.at(0).is_built_in = is_built_in;
        const TunedRows tuned(tuned_for(caps, rows));
        Request request;
        request.tuned = &tuned;
        CHECK(is_native(caps, request) == is_built_in);
        CHECK_FALSE(is_native(device("h200"), request));
    }
}

TEST_CASE("the extension is optional on verified drivers, and never required") {
    if (!built()) return;
    const std::vector<Problem> problems = {parse_problem("f16*f16 4096x4096x4096")->problem,
                                           parse_problem("64x64x64")->problem};
    DeviceCaps caps = device("h200_native");
    caps.is_physical = true;
    caps.queue_flags = caps.native_code = 0;
    const Result<Needs> needs = needs_of(caps, problems);
    REQUIRE(needs);
    CHECK((needs->optional & need::binary_import) != 0);
    CHECK((needs->required & need::binary_import) == 0);
    caps.native_use = uint32_t(NativeUse::unverified);
    CHECK((needs_of(caps, problems)->optional & need::binary_import) == 0);
}

TEST_CASE("the table of verified drivers") {
    DeviceCaps caps = device("h200");
    CHECK(is_verified(caps));
    caps.name = "NVIDIA H100 80GB HBM3";
    CHECK(is_verified(caps));
    for (const char* other : {"NVIDIA A100", "NVIDIA GH200 480GB", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
                              "NVIDIA H200 NVL", "NVIDIA H200 MIG 1g.18gb", "H200", ""}) {
        caps.name = other;
        CHECK_FALSE_MESSAGE(is_verified(caps), other);
    }
    caps = device("h200");
    caps.driver_version += 1 << 6;
    CHECK_FALSE(is_verified(caps));
    caps = device("h200");
    caps.vendor = 0x1002;
    CHECK_FALSE(is_verified(caps));
}

TEST_CASE("a native step keeps of its constants what it was compiled for") {
    if (!built()) return;
    const DeviceCaps caps = device("h200_native");
    const Problem p = completed("f16*f16 4096x4096x4096 layout=tn bias=col act=relu");
    const Normalised n = normalise(p);
    const auto choice = select(caps, n.problem, {});
    REQUIRE(choice);
    const Steps steps = make_steps(*choice, p, n, caps, {});
    const PipelineKey key = key_of(as_compiled(steps.steps.back()), steps.binding);
    CHECK(key.constants.TRANS_A == 1);
    CHECK(key.constants.STEP_0 == 0);
    const auto again = parse_pipeline_key(to_text(key));
    REQUIRE(again);
    CHECK_FALSE(unfit(*again, caps));
    PipelineKey wrong = key;
    wrong.binding = Binding::descriptors;
    CHECK(unfit(wrong, caps));
}
