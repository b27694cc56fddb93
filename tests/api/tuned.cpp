// SPDX-License-Identifier: MIT
// Tuned rows through the API: followed, ignored where asked, refused by line, skipped aloud.
#include <string>

#include "api/api.h"

using namespace vkgemm::test;

namespace {

Said make(const std::string& rows, OwnedContext& out, Log& log) {
    VkgemmContextInfo info = context_info();
    info.log = Log::add;
    info.logUser = &log;
    info.tunedRows = rows.c_str();
    return said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &out.handle, e); });
}

std::string explain(VkgemmContext c, const std::string& line, const VkgemmPlanOptions& o = options()) {
    const VkgemmProblem p = problem(line);
    size_t size = 0;
    REQUIRE(vkgemmExplain(c, &p, &o, nullptr, &size, nullptr) == VKGEMM_SUCCESS);
    std::string text(size, '\0');
    REQUIRE(vkgemmExplain(c, &p, &o, text.data(), &size, nullptr) == VKGEMM_SUCCESS);
    return text.c_str();
}

std::string kernel_of(VkgemmContext c, const std::string& line, const VkgemmPlanOptions& o = options()) {
    OwnedPlan plan;
    plan_for(plan, line, o, c);
    return info_of(plan.handle).kernel;
}

std::string device_name() { return device().info().name; }

}  // namespace

TEST_CASE("a context's tuned rows decide, and vkgemmExplain says so") {
    const std::string row = device_name() + " | f32*f32+f32->f32 64x64x64 | tiled_f32_16x16 | RASTER=2";
    OwnedContext c;
    Log log;
    REQUIRE(make("# of a test\n" + row + "  # fast\n", c, log).code == VKGEMM_SUCCESS);
    CHECK(log.lines.empty());
    CHECK(kernel_of(context(), "64x64x64") != "tiled_f32_16x16");
    CHECK(kernel_of(c.handle, "64x64x64") == "tiled_f32_16x16");
    CHECK(kernel_of(c.handle, "64x64x64 beta=1 act=relu") == "tiled_f32_16x16");
    const char* const nearby = "72x64x56 beta=1 act=relu";  // where SwiftShader's model prefers another
    CHECK((kernel_of(c.handle, nearby) == "tiled_f32_16x16" ||
           has_words(explain(c.handle, nearby), "the tuned row is not followed")));
    CHECK(kernel_of(c.handle, "64x64x128") == kernel_of(context(), "64x64x128"));
    CHECK(has_words(explain(c.handle, "64x64x64"), "tuned      " + row + "\n", "tiled_f32_16x16"));
    CHECK(!has_words(explain(c.handle, "64x64x128"), "tuned "));

    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_IGNORE_TUNED;
    CHECK(kernel_of(c.handle, "64x64x64", o) == kernel_of(context(), "64x64x64"));
    CHECK(!has_words(explain(c.handle, "64x64x64", o), "tuned "));
    o.flags = 0;
    o.kernel = "tiled_f32_8x8";
    CHECK(kernel_of(c.handle, "64x64x64", o) == "tiled_f32_8x8");
    CHECK(!has_words(explain(c.handle, "64x64x64", o), "tuned "));
}

TEST_CASE("rows of other devices do not matter; of equally near ones the first counts") {
    OwnedContext c;
    Log log;
    const std::string name = device_name();
    REQUIRE(make("No Such Device | 64x64x64 | gone_f32_8x8 |\n" + name + " | 64x64x64 | naive_f32_8x8 |\n" + name +
                     " | 64x64x64 | tiled_f32_16x16 |",
                 c, log)
                .code == VKGEMM_SUCCESS);
    CHECK(log.lines.empty());
    CHECK(kernel_of(c.handle, "64x64x64") == "naive_f32_8x8");
}

TEST_CASE("a tuned row that cannot be read is skipped, and costs no other row") {
    OwnedContext c;
    Log log;
    const std::string name = device_name(), bad = name + " | 64x64 | naive_f32_8x8 |";
    REQUIRE(make(bad + "\n" + name + " | 64x64x64 | naive_f32_8x8 |\n", c, log).code == VKGEMM_SUCCESS);
    REQUIRE(log.lines.size() == 1);
    CHECK(has_words(log.lines[0], "tuned rows, line 1:", "MxNxK", "'" + bad + "' is skipped"));
    CHECK(kernel_of(c.handle, "64x64x64") == "naive_f32_8x8");
    OwnedRows rows;
    expect(said([&](VkgemmError* e) { return vkgemmReadTunedRows(c.handle, bad.c_str(), &rows.handle, e); }),
           VKGEMM_ERROR_PARSE, {"tuned rows, line 1:"});
}

TEST_CASE("a tuned row whose kernel is gone or does not fit is skipped, once to the log and in the explanation") {
    OwnedContext c;
    Log log;
    const std::string name = device_name(), gone = name + " | 64x64x64 | naive_f32_8x9 |",
                      wants = name + " | 640x64x64 | naive_f32_8x8 | SPLIT=4";
    REQUIRE(make(gone + "\n" + name + " | 8x8x8 | tiled_f32_8x8 | WG=8192\n" + wants, c, log).code == VKGEMM_SUCCESS);
    REQUIRE(log.lines.size() == 2);
    CHECK(has_words(log.lines[0], gone, "'naive_f32_8x8'"));
    CHECK(has_words(log.lines[1], "WG", "8192"));
    const std::string usual = kernel_of(context(), "64x64x64");
    CHECK(kernel_of(c.handle, "64x64x64") == usual);
    CHECK(log.lines.size() == 2);
    CHECK(has_words(explain(c.handle, "64x64x64"), "note       a tuned row is skipped", gone));
    CHECK(!has_words(explain(c.handle, "512x512x512"), "skipped"));
    CHECK(has_words(explain(c.handle, "640x64x64"), "note       the tuned row is not followed, " + wants, "workspace"));
}

TEST_CASE("the C++ wrapper hands tuned rows on") {
    const std::string row = device_name() + " | 64x64x64 | naive_f32_8x8 |";
    const auto& d = device();
    const auto c = vkgemm::Context::create({.instance = d.instance(),
                                            .physicalDevice = d.physicalDevice(),
                                            .device = d.handle(),
                                            .apiVersion = d.apiVersion(),
                                            .getInstanceProcAddr = d.getInstanceProcAddr(),
                                            .enabledFeatures = &d.enabledFeatures(),
                                            .enabledExtensions = d.enabledExtensions(),
                                            .tunedRows = row.c_str()});
    REQUIRE(c);
    CHECK(kernel_of(c->handle(), "64x64x64") == "naive_f32_8x8");
}
