// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("kernels");

TEST_CASE("kernels lists every kernel once, as a table or as JSON") {
    const Folder folder("kernels");
    const Run r = run(0, "kernels --json -");
    const Json json = r.json();
    CHECK(json["command"] == "kernels");
    std::set<std::string> names;
    for (const Json& k : json["kernels"]) names.insert(k["name"]);
    CHECK(names.size() == json["kernels"].size());
    CHECK(names.contains("naive_f32_8x8"));
    const std::string table = run(0, "kernels").out;
    for (const std::string& name : names) CHECK_MESSAGE(contains(table, name), name);
}

TEST_CASE("kernels of a problem: what each needs and why it cannot serve") {
    const Folder folder("kernels_problem");
    const std::string problem =
        "'f16*f16 64x128x256 batch=4 layout=nt lda=256 ldb=256 stride_a=0 alpha=0.5 beta=1 bias=col scale=row "
        "residual'";
    expect(run(0, "kernels " + problem).out, {"f16*f16+f32->f16"});
    expect(run(0, "kernels 'f16*f16 16x4096x4096'").out,
           {"coopmat_f16_128x256x32", "storage16 float16 memory_model", "bytes 43008, limit 32768"});
}

TEST_SUITE_END();
