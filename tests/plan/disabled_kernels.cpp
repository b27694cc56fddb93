// SPDX-License-Identifier: MIT
// Disabled kernels: rows are read or refused by line; a disabled kernel is neither chosen nor served.
#include "plan/device/disabled_kernels.h"

#include <doctest/doctest.h>

#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using vkgemm::test::has_words;

namespace {

DeviceCaps device() {
    DeviceCaps f;
    f.name = "NVIDIA Toy 3";
    f.features = need::push_descriptor;
    f.max_storage_buffers = 8;
    f.max_invocations = 1024;
    f.shared_bytes = 49152;
    f.subgroup_size = 32;
    return f;
}

Problem problem() { return normalise(*complete(parse_problem("256x256x256")->problem)).problem; }

}  // namespace

TEST_CASE("disabled kernels: rows with comments, blanks and bars in the reason") {
    const auto rows = parse_disabled_kernels(
        "# of today\n\n Toy | naive_f32_8x8 | 8x8x8: D[0][0] | is wrong # seen twice\r\nX | y |\n");
    REQUIRE(rows);
    REQUIRE(rows->size() == 2);
    CHECK(rows->at(0).device == "Toy");
    CHECK(rows->at(0).kernel == "naive_f32_8x8");
    CHECK(rows->at(0).why == "8x8x8: D[0][0] | is wrong");
    CHECK(rows->at(1).why.empty());
    CHECK(parse_disabled_kernels("")->empty());
}

TEST_CASE("disabled kernels: what cannot be read is refused by its line") {
    const auto why = [](const char* text) { return parse_disabled_kernels(text).status(); };
    CHECK(why("\nToy | naive_f32_8x8\n").code == VKGEMM_ERROR_PARSE);
    CHECK(
        has_words(why("\nToy | naive_f32_8x8\n").text, "line 2", "DEVICE | KERNEL | REASON", "'Toy | naive_f32_8x8'"));
    CHECK(has_words(why(" | k | r").text, "line 1"));
    CHECK(has_words(why("d | | r").text, "line 1"));
    const std::string_view cut("d | k | r\n# a\0comment\nd | l | r\n", 32);  // a C string would end there
    CHECK(has_words(parse_disabled_kernels(cut).status().text, "line 2"));
}

TEST_CASE("disabled kernels: a line that cannot be read costs no other line") {
    std::vector<std::string> skipped;
    const auto rows = parse_disabled_kernels("d | k | r\nd | k\n | k | r\nd | l | r\n", &skipped);
    REQUIRE(rows);
    REQUIRE(rows->size() == 2);
    CHECK(rows->at(1).kernel == "l");
    REQUIRE(skipped.size() == 2);
    CHECK(has_words(skipped[0], "line 2", "DEVICE | KERNEL | REASON", "'d | k' is skipped"));
    CHECK(has_words(skipped[1], "line 3", "device is missing", "'| k | r' is skipped"));
}

TEST_CASE("disabled kernels: the chosen kernel, left out, gives way to the next, and says why") {
    DeviceCaps dev = device();
    const auto first = select(dev, problem(), {});
    REQUIRE(first);
    const std::string name(first->kernel->name);
    mark_disabled(*parse_disabled_kernels("Other | " + name + " | no\n"), dev);
    CHECK(dev.disabled.empty());
    mark_disabled(*parse_disabled_kernels("Toy | " + name + " | D[0][0] is wrong\n"), dev);
    const auto second = select(dev, problem(), {});
    REQUIRE(second);
    CHECK(second->kernel->name != name);
    bool told = false;
    for (const Candidate& p : list_candidates(dev, problem(), {}))
        if (p.kernel->name == name) told = p.why && has_words(p.why->text, "D[0][0] is wrong");
    CHECK(told);
    Request request;
    request.kernel = name;
    const auto named = select(dev, problem(), request);
    REQUIRE(!named);
    CHECK(has_words(named.status().text, name, "D[0][0] is wrong"));
}

TEST_CASE("disabled kernels: the caps of a device carry them as text") {
    DeviceCaps dev = device();
    mark_disabled(*parse_disabled_kernels("Toy | naive_f32_8x8 | D[0][0] | is wrong"), dev);
    const auto again = parse_device_caps(to_text(dev));
    REQUIRE(again);
    CHECK(again->disabled == dev.disabled);
    CHECK(to_text(device()).find("disabled") == std::string::npos);
    CHECK(!parse_device_caps("disabled = naive_f32_8x8"));
}
