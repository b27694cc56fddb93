// SPDX-License-Identifier: MIT
// What the machine still has, and what a case would take of it.
#include "tools/vkgemm/measure/machine.h"

#include <doctest/doctest.h>

#include "support/string_util.h"
#include "tools/vkgemm/measure/case_memory.h"
#include "tools/vkgemm/measure/slices.h"

using namespace vkgemm::tool;
using vkgemm::test::has_words;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;
const std::string eight_gib = "MemTotal:       16777216 kB\nMemFree:          100000 kB\nMemAvailable:    8388608 kB\n";

}  // namespace

TEST_CASE("memory: the least of what the machine, control groups and the address space leave") {
    CHECK(memory_left({}).bytes == UINT64_MAX);
    MemoryTexts texts{.meminfo = eight_gib};
    CHECK(memory_left(texts).bytes == 8 * gib);
    texts.groups = {{"max\n", "123\n", ""}, {"4294967296\n", "2147483648\n", "anon 1\ninactive_file 1073741824\n"}};
    CHECK(memory_left(texts).bytes == 3 * gib);
    CHECK(has_words(memory_left(texts).by, "control group"));
    texts.groups[1].stat = "inactive_file 0\ntotal_inactive_file 2147483648\n";  // of version 1
    CHECK(memory_left(texts).bytes == 4 * gib);
    texts.address_space = 5 * gib;
    texts.statm = "1048576 2000 300\n";  // 4 GiB
    CHECK(memory_left(texts).bytes == gib);
    CHECK(has_words(memory_left(texts).by, "ulimit"));
    texts.address_space = gib;  // less than it has
    CHECK(memory_left(texts).bytes == 0);
    CHECK(memory_left().bytes > 0);  // this machine's
}

TEST_CASE("memory: a case that does not fit is refused with both sizes") {
    const auto c = parse_case("20000x20000x100");
    REQUIRE(c);
    const Resolved r = resolve(c->problem);
    CHECK(operand_bytes(r) == 4 * (2 * 2'000'000 + 400'000'000ull));
    const MemoryUse gpu{}, cpu{.shared = true}, timed{.check = false, .shared = true};
    CHECK(host_bytes(r, gpu) < host_bytes(r, cpu));
    CHECK(host_bytes(r, timed) == 2 * operand_bytes(r));
    CHECK(refused_memory(*c, r, cpu, {}));
    CHECK(refused_memory(*c, r, cpu, {12 * gib, "is free"}));
    const vkgemm::Status no = refused_memory(*c, r, cpu, {4 * gib, "is left of its address space"});
    CHECK(no.code == VKGEMM_ERROR_LIMIT);
    CHECK(has_words(no.text, "20000x20000x100", "have 1.5 GiB", "4 GiB is left of its address space", "smaller sizes",
                    "do not check"));
    CHECK(!has_words(refused_memory(*c, r, timed, {gib, "is free"}).text, "do not check"));
}

TEST_CASE("memory: bytes that do not fit 64 bits are not few") {
    const auto c = parse_case("4611686018427387904x1x1");  // whose A and D have 2^64 bytes each
    REQUIRE(c);
    CHECK(refused_memory(*c, resolve(c->problem), {.check = false}, {gib, "is free"}).code == VKGEMM_ERROR_LIMIT);
}

TEST_CASE("processors: what /proc/stat counts") {
    const auto time = processor_time("cpu  100 20 30 400 50 1 2 3 7 8\ncpu0 1 2 3\n", 100);
    REQUIRE(time);
    CHECK(time->busy == doctest::Approx(1.56));
    CHECK(time->idle == doctest::Approx(4.5));
    CHECK(!processor_time("", 100));
    CHECK(!processor_time("cpu  0 0 0 0\n", 100));
    const OthersLoad load;
    CHECK(load.share() <= 1);
}

TEST_CASE("slices take about a quarter of a second, and grow by no more than four") {
    CHECK(next_slice(1, 0.25) == 1);
    CHECK(next_slice(1, 0.05) == 4);
    CHECK(next_slice(4, 0.001) == 16);
    CHECK(next_slice(40, 1) == 10);
    CHECK(next_slice(1, 30) == 1);
    CHECK(next_slice(4000, 0) == 4096);
}
