// SPDX-License-Identifier: MIT
// What `vkgemm check` writes down, and what of an older self-test result it keeps.
#include "tools/vkgemm/report/self_test_results.h"

#include <doctest/doctest.h>

using namespace vkgemm;
using tool::Checked;

namespace {

const tool::CheckEnd whole = {.head = "# a check\n", .device = "GPU 7 | rev 2", .early = ""};
const tool::CheckEnd early = {.head = "# a check\n", .device = "GPU 7 | rev 2", .early = "interrupted"};

Checked with(std::vector<std::string> wrong, std::vector<std::string> unable, bool finished) {
    return {.problems = 1, .runs = 2, .wrong = std::move(wrong), .unable = std::move(unable), .finished = finished};
}

/// The rows of a self-test result, as the library reads it.
std::vector<std::string> rows(const tool::CheckEnd& end, const tool::CheckedKernels& found,
                              const std::vector<tool::DisabledRow>& old) {
    const auto read = vkgemm::Rows::disabledKernels(self_test_rows(end, found, old).c_str());
    REQUIRE(read);
    std::vector<std::string> all;
    for (const VkgemmRow& r : read->all()) all.push_back(std::string(r.device) + "|" + r.kernel + "|" + r.reason);
    return all;
}
using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a self-test result names what was wrong, not what a kernel does not serve") {
    const tool::CheckedKernels found = {{"right", with({}, {}, true)},
                                        {"wrong", with({"8x8x8: D[0][0]", "9x9x9: D[1][1]"}, {}, true)},
                                        {"other_types", with({}, {"f16*f16 8x8x8 cannot run"}, true)}};
    CHECK(rows(whole, found, {}) == Lines{"GPU 7|wrong|8x8x8: D[0][0]"});
}

TEST_CASE("older rows stay where a check found nothing out: of other devices, of kernels not tried or not finished") {
    const std::vector<tool::DisabledRow> old = {{"GPU 7", "fixed", "old"}, {"GPU 7", "again", "old"},
                                                {"GPU", "begun", "old"},   {"GPU 7", "not_tried", "old"},
                                                {"GPU 8", "fixed", "old"}, {"GPU 7", "unfit", "old"}};
    tool::CheckedKernels found = {
        {"fixed", with({}, {}, true)}, {"again", with({"new"}, {}, false)}, {"begun", with({}, {}, false)}};
    found.push_back({"unfit", {.wrong = {}, .unable = {"8x8x8 cannot run"}}});
    const Lines kept = {"GPU|begun|old", "GPU 7|not_tried|old", "GPU 8|fixed|old", "GPU 7|unfit|old",
                        "GPU 7|again|new"};
    CHECK(rows(early, found, old) == kept);
    CHECK(rows(whole, found, old) == kept);  // of some kernels, perhaps
    CHECK(self_test_rows(early, found, old).find("# ended early: interrupted\n") != std::string::npos);
    CHECK(self_test_rows(whole, found, old).find("ended early") == std::string::npos);
}

TEST_CASE("of given problems a check settles the rows of those alone") {
    const std::vector<tool::DisabledRow> old = {{"GPU 7", "k", "8x8x8: D[0][0] is 1"},
                                                {"GPU 7", "k", "9x9x9: old"},
                                                {"GPU 7", "k", "8x8x80: old"},
                                                {"GPU 7", "k", "8x8x8 layout=nt: old"},
                                                {"GPU 7", "k", "8x8x8 SPLIT=3: old"}};
    Checked right = with({}, {}, true);
    right.with = {"8x8x8"};
    tool::CheckEnd given = whole;
    given.whole = false;
    CHECK(rows(given, {{"k", right}}, old) == Lines{"GPU 7|k|9x9x9: old", "GPU 7|k|8x8x80: old",
                                                    "GPU 7|k|8x8x8 layout=nt: old", "GPU 7|k|8x8x8 SPLIT=3: old"});
    CHECK(rows(whole, {{"k", right}}, old).empty());
    right.finished = false;
    CHECK(rows(given, {{"k", right}}, old).size() == 5);
}

TEST_CASE("a kernel that lost the device has a row, be it its first problem") {
    const tool::CheckedKernels found = {{"fatal", {.wrong = {"8x8x8: the device was lost"}, .unable = {}}}};
    CHECK(rows(early, found, {}) == Lines{"GPU 7|fatal|8x8x8: the device was lost"});
}
