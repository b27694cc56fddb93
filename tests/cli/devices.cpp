// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("devices");

TEST_CASE("devices lists what there is, as a table or as JSON") {
    const Folder folder("devices");
    expect(run(0, "devices").out, {"llvmpipe", "lavapipe", "CPU", "32 KiB", "1024", "cooperativeMatrix"});
    const Run r = run(0, "devices --json -");
    CHECK_MESSAGE(r.err.empty(), r.err);
    const Json json = r.json();
    CHECK(json["schema"] == 1);
    CHECK(json["command"] == "devices");
    REQUIRE(json["devices"].size() == 1);
    CHECK(json["devices"][0]["index"] == 0);
    CHECK(json["devices"][0]["kind"] == "CPU");
    run(0, "devices --json there.json");
    CHECK(Json::parse(read("there.json")) == json);
}

TEST_CASE("code 3: no such device, and those that there are") {
    const Folder folder("devices_none");
    refused(3, "kernels --device nobody", {"'nobody'", "llvmpipe"});
    refused(3, "kernels --device 1", {"llvmpipe"});
    run(0, "kernels --device 0");
    run(0, "kernels --device llvm");
}

TEST_CASE("VKGEMM_KERNEL that cannot serve is reported once and does not change the exit code") {
    const Folder folder("devices_kernel");
    const Variable kernel("VKGEMM_KERNEL", "tiled_i32_8x8");
    const Run r = run(0, "bench 8x8x8 8x8x9 --repeats 1");
    const std::string warning = "vkgemm: VKGEMM_KERNEL";
    expect(r.err, {warning, "tiled_i32_8x8"});
    CHECK(r.err.find(warning) == r.err.rfind(warning));
}

TEST_SUITE_END();
