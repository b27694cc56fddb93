// SPDX-License-Identifier: MIT
// Which shapes of matrix units serve a problem, and what explain notes of those that none does.
#include <doctest/doctest.h>

#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

DeviceCaps device(const std::string& name) { return *parse_device_caps(file_text("devices/" + name + ".txt")); }

Problem normalised(const std::string& line) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    return normalise(*complete(read->problem)).problem;
}

Result<Choice> choose(const std::string& caps, const std::string& line, const Request& request) {
    return select(device(caps), normalised(line), request);
}

std::string refusal(const std::string& caps, const std::string& line, const Request& request) {
    const Result<Choice> choice = choose(caps, line, request);
    REQUIRE_MESSAGE(!choice, line);
    return choice.status().text;
}

Request forced(const std::string& kernel, const std::string& tile = "") {
    Request r;
    r.kernel = kernel;
    r.tile = tile;
    return r;
}

}  // namespace

TEST_CASE("matrices of 8 rows or columns of i8 have no whole 16 bytes where A or B is not k-contiguous") {
    const char* const of_8x8 = "coopmat_i8_32x32x128_mma8x8x32";
    const char* const of_8x16 = "coopmat_i8_32x32x128_mma8x16x32";
    CHECK(choose("a770", "i8*i8 64x64x64 layout=nt", forced(of_8x8)));
    CHECK(has_words(refusal("a770", "i8*i8 64x64x64", forced(of_8x8)),
                    "8 columns are less than 16 elements; B must be column-major; a workspace allows a packed copy"));
    CHECK(has_words(refusal("b580", "i8*i8 64x64x64 layout=tt", forced(of_8x16)),
                    "8 rows are less than 16 elements; A must be row-major"));
    CHECK(choose("b580", "i8*i8 64x64x64", forced(of_8x16)));
    CHECK(choose("a770", "f16*f16 64x64x64 layout=tn", forced("coopmat_f16_32x32x64_mma8x8x16")));
    Request with_workspace = forced(of_8x8);
    with_workspace.workspace_limit = 1 << 20;
    const Result<Choice> packs = choose("a770", "i8*i8 64x64x64 layout=tn", with_workspace);
    REQUIRE(packs);
    CHECK(packs->schedule.a.in_workspace());
    CHECK(packs->schedule.b.in_workspace());
}

TEST_CASE("matrix units that no kernel uses are named") {
    const auto sentence = [](const DeviceCaps& caps, const char* line) {
        return unused_matrix_units(DeviceKernels(caps), normalised(line));
    };
    DeviceCaps caps = device("a770");
    CHECK(sentence(caps, "f16*f16 64x64x64") == "");  // kernels use them
    CHECK(sentence(caps, "f32*f32 64x64x64") == "");  // there are none
    caps.matrix_shapes = {
        {f16, f16, f32, f32, 64, 32, 16}, {f16, f16, f32, f32, 32, 32, 16}, {u8, u8, i32, i32, 8, 8, 32}};
    CHECK(has_words(sentence(caps, "f16*f16 64x64x64"), "they multiply f16*f16+f32 by 64x32x16, 32x32x16",
                    "no kernel has a tile", "MM, MN and MK"));
    CHECK(has_words(sentence(caps, "u8*u8 64x64x64"), "u8*u8+i32 by 8x8x32", "no kernel multiplies these types"));
    CHECK(sentence(caps, "bf16*bf16 64x64x64") == "");
    // What the sentence promises: the kernel takes the shape with a tile of its caller's.
    CHECK(select(caps, normalised("f16*f16+f32->f16 64x64x64"),
                 forced("coopmat_f16_64x64x32", "WG=64,BM=64,BN=64,WM=64,WN=32,MM=64,MN=32,BK=32,SG=32")));
}
