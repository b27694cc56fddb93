// SPDX-License-Identifier: MIT
// The settings and the decision, which need no device.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "blas/cache.h"
#include "blas/devices.h"
#include "blas/lu.h"
#include "blas/order.h"
#include "blas/packing.h"
#include "blas/tiles.h"
#include "blas/workers.h"

using namespace vkgemm::blas;

namespace {

Settings read(const std::map<std::string, std::string>& variables, std::vector<std::string>* complaints = nullptr) {
    std::vector<std::string> all;
    const Settings s = read_settings(
        [&](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        },
        all);
    if (complaints)
        *complaints = all;
    else
        CHECK(all.empty());
    return s;
}

}  // namespace

TEST_CASE("settings: what is not set has its default") {
    const Settings s = read({{"VKGEMM_BLAS", ""}, {"VKGEMM_BLAS_TILE", ""}});
    CHECK(s.mode == Mode::automatic);
    CHECK(!s.min);
    CHECK(s.next_library == "");
    CHECK(s.devices.empty());
    CHECK(s.local_rank == 0);
    CHECK(s.tile == 2048);
    CHECK(s.budget == UINT64_MAX);
    CHECK(s.accuracies == Accuracies{});
    CHECK(!s.reopens);
    CHECK(s.log == LogLevel::failures);
    CHECK(s.disabled == std::array<bool, 4>{});
}

TEST_CASE("settings: every variable is read") {
    const Settings s = read({{"VKGEMM_BLAS", "always"},
                             {"VKGEMM_BLAS_MIN", "96.5"},
                             {"VKGEMM_BLAS_CPU", "/lib/x.so"},
                             {"VKGEMM_BLAS_DEVICE", "radv, 1,rank,"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                             {"SLURM_LOCALID", "0"},
                             {"VKGEMM_BLAS_BUDGET", "1.5G"},
                             {"VKGEMM_BLAS_ACCURACY", "f32_split, f64_split"},
                             {"VKGEMM_BLAS_FORK", "reopen"},
                             {"VKGEMM_BLAS_TILE", "77"},
                             {"VKGEMM_BLAS_MEMORY", "0.5"},
                             {"VKGEMM_BLAS_LOG", "calls"},
                             {"VKGEMM_BLAS_PANEL", "130"},
                             {"VKGEMM_BLAS_DISABLE", "dgemm,zgemm,ctrsm,dgetrf"}});
    CHECK(s.mode == Mode::always);
    CHECK(s.min == 96.5);
    CHECK(s.next_library == "/lib/x.so");
    CHECK(s.devices == std::vector<std::string>{"radv", "1", "rank"});
    CHECK(s.local_rank == 3);
    CHECK(s.budget == 3u << 29);
    CHECK(s.accuracies == Accuracies{VKGEMM_ACCURACY_F32_SPLIT, VKGEMM_ACCURACY_F64_SPLIT});
    CHECK(s.reopens);
    CHECK(s.tile == 77);
    CHECK(s.memory_share == 0.5);
    CHECK(s.log == LogLevel::calls);
    CHECK(s.panel == 128);
    CHECK(s.disabled == std::array<bool, 4>{false, true, false, true});
    CHECK(s.disabled_lu == std::array<bool, 4>{false, true, false, false});
    CHECK(s.disabled_level3[static_cast<size_t>(Routine::cgemm)][static_cast<size_t>(Kind::trsm)]);
    CHECK(!s.disabled_level3[static_cast<size_t>(Routine::cgemm)][static_cast<size_t>(Kind::trmm)]);
}

TEST_CASE("settings: every word for an accuracy") {
    const struct {
        const char* words;
        Accuracies wanted;
    } rows[] = {{"exact", {VKGEMM_ACCURACY_DEFAULT, VKGEMM_ACCURACY_DEFAULT}},
                {"f32_split", {VKGEMM_ACCURACY_F32_SPLIT, std::nullopt}},
                {"f32_split_rows", {VKGEMM_ACCURACY_F32_SPLIT_ROWS, std::nullopt}},
                {"f64_split", {VKGEMM_ACCURACY_DEFAULT, VKGEMM_ACCURACY_F64_SPLIT}},
                {"f64_split_wide", {VKGEMM_ACCURACY_DEFAULT, VKGEMM_ACCURACY_F64_SPLIT_WIDE}}};
    for (const auto& row : rows) {
        CAPTURE(row.words);
        CHECK(read({{"VKGEMM_BLAS_ACCURACY", row.words}}).accuracies == row.wanted);
    }
}

TEST_CASE("settings: what cannot be read is ignored, with a line that names what can") {
    const struct {
        const char *name, *value, *wanted;
    } rows[] = {{"VKGEMM_BLAS", "on", "auto, never, always"},
                {"VKGEMM_BLAS_LOG", "1", "failures, summary, calls"},
                {"VKGEMM_BLAS_MEMORY", "2", "from 0 to 1"},
                {"VKGEMM_BLAS_BUDGET", "-1", "512M or 4G"},
                {"VKGEMM_BLAS_BUDGET", "4GB", "512M or 4G"},
                {"VKGEMM_BLAS_ACCURACY", "half", "exact, f32_split, f32_split_rows, f64_split, f64_split_wide"},
                {"VKGEMM_BLAS_FORK", "yes", "cpu, reopen"},
                {"VKGEMM_BLAS_MIN", "-1", "a number from 0"},
                {"VKGEMM_BLAS_MIN", "5x", "a number from 0"},
                {"VKGEMM_BLAS_TILE", "0", "from 1 to 16384"},
                {"VKGEMM_BLAS_TILE", "16385", "from 1 to 16384"},
                {"VKGEMM_BLAS_TILE", "2.5", "from 1 to 16384"},
                {"VKGEMM_BLAS_PANEL", "3", "from 4 to 4096"},
                {"VKGEMM_BLAS_DISABLE", "cgetrf", "names like sgemm, dtrsm"},
                {"VKGEMM_BLAS_DISABLE", "hgemm", "names like sgemm, dtrsm"}};
    for (const auto& row : rows) {
        std::vector<std::string> complaints;
        const Settings s = read({{row.name, row.value}}, &complaints);
        REQUIRE(complaints.size() == 1);
        CHECK(complaints[0].find(std::string(row.name) + "=" + row.value) == 0);
        CHECK_MESSAGE(complaints[0].find(row.wanted) != std::string::npos, complaints[0]);
        CHECK(s.mode == Mode::automatic);
        CHECK(s.tile == 2048);
        CHECK(!s.min);
    }
}

TEST_CASE("settings: a file of them") {
    std::vector<std::string> complaints;
    const auto found =
        read_config("# all\n\nVKGEMM_BLAS_TILE = 77 # small\r\n VKGEMM_BLAS=always\nVKGEMM_BLAS_LOG=", complaints);
    CHECK(complaints.empty());
    CHECK(found == std::map<std::string, std::string>{
                       {"VKGEMM_BLAS", "always"}, {"VKGEMM_BLAS_LOG", ""}, {"VKGEMM_BLAS_TILE", "77"}});
    CHECK(read_config("VKGEMM_BLAS_TILES=1\nVKGEMM_BLAS\n=\n", complaints).empty());
    REQUIRE(complaints.size() == 3);
    CHECK(complaints[1].find("VKGEMM_BLAS_CONFIG, line 2: \"VKGEMM_BLAS\" is ignored") == 0);
}

TEST_CASE("devices: by name, number, rank, and all of the best kind") {
    const auto device = [](uint32_t index, const char* name, VkPhysicalDeviceType kind) {
        vkgemm::host::DeviceInfo d;
        d.index = index;
        d.name = name;
        d.kind = kind;
        return d;
    };
    const std::vector devices{device(0, "llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU),
                              device(1, "big", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
                              device(2, "small", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU),
                              device(3, "big", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU)};
    const auto chosen = [&](const std::string& words, const char* rank = "") {
        const auto found =
            choose_devices(devices, read({{"VKGEMM_BLAS_DEVICE", words}, {"OMPI_COMM_WORLD_LOCAL_RANK", rank}}));
        return found ? *found : std::vector<uint32_t>{};
    };
    using Indices = std::vector<uint32_t>;
    CHECK(chosen("") == Indices{1});
    CHECK(chosen("all") == Indices{1, 3});
    CHECK(chosen("rank") == Indices{1});
    CHECK(chosen("rank", "1") == Indices{3});
    CHECK(chosen("rank", "6") == Indices{1});
    CHECK(chosen("2, llvm,3,3") == Indices{2, 0, 3, 3});
    CHECK(chosen("none").empty());
    CHECK(!choose_devices({}, read({})));
}

TEST_CASE("tiles: large ones for f32 where there are many") {
    const auto side = [](const auto& g, const Settings& s) { return tile_size(s, g).side; };
    const Gemm<float> real{.m = 16384, .n = 16384, .k = 4096};
    CHECK(side(real, read({})) == 4096);
    CHECK(side(Gemm<float>{.m = 16384, .n = 16383, .k = 4096}, read({})) == 2048);
    CHECK(side(Gemm<float>{.m = 16384, .n = 16384, .k = 4095}, read({})) == 2048);
    CHECK(side(Gemm<double>{.m = 16384, .n = 16384, .k = 4096}, read({})) == 2048);
    CHECK(side(Gemm<double>{.m = 4096, .n = 2049, .k = 8}, read({})) == 1536);  // three of them, where two were
    CHECK(tile_size(read({}), Gemm<double>{.m = 4096, .n = 4096, .k = 8}).depth == 2048);
    CHECK(side(Gemm<double>{.m = 4096, .n = 2048, .k = 8}, read({})) == 2048);
    CHECK(side(Gemm<double>{.m = 4097, .n = 4096, .k = 8}, read({})) == 2048);
    CHECK(side(Gemm<double>{.m = 4096, .n = 4096, .k = 8}, read({{"VKGEMM_BLAS_TILE", "2048"}})) == 2048);
    CHECK(tile_size(read({}), Gemm<double>{.m = 4096, .n = 4096, .k = 8}, true).side == 2048);
    CHECK(side(Gemm<std::complex<float>>{.m = 8192, .n = 16384, .k = 2048}, read({})) == 4096);
    CHECK(side(real, read({{"VKGEMM_BLAS_TILE", "100"}})) == 100);
    CHECK(tile_size(read({{"VKGEMM_BLAS_DEPTH", "77"}}), real).depth == 77);
}

TEST_CASE("decision: the harmonic mean of the sizes") {
    CHECK(effective_size(512, 512, 512) == doctest::Approx(512));
    CHECK(effective_size(8192, 8192, 128) == doctest::Approx(372.4).epsilon(1e-3));
    CHECK(effective_size(1, 1000000, 1000000) < 3);
}

TEST_CASE("decision: which calls may go to the device") {
    const Settings automatic = read({}), always = read({{"VKGEMM_BLAS", "always"}}),
                   never = read({{"VKGEMM_BLAS", "never"}, {"VKGEMM_BLAS_MIN", "0"}});
    CHECK(predicts(automatic));
    CHECK(!predicts(always));
    CHECK(!predicts(read({{"VKGEMM_BLAS_MIN", "512"}})));
    CHECK(may_use_device(automatic, Routine::sgemm, 256, 256, 256));
    CHECK(!may_use_device(automatic, Routine::sgemm, 255, 256, 256));
    CHECK(!may_use_device(automatic, Routine::sgemm, 8192, 8192, 64));
    CHECK(may_use_device(always, Routine::sgemm, 1, 1, 1));
    CHECK(!may_use_device(never, Routine::sgemm, 4096, 4096, 4096));
    const Settings some =
        read({{"VKGEMM_BLAS", "always"}, {"VKGEMM_BLAS_MIN", "64"}, {"VKGEMM_BLAS_DISABLE", "cgemm"}});
    CHECK(may_use_device(some, Routine::sgemm, 64, 64, 64));
    CHECK(!may_use_device(some, Routine::sgemm, 63, 64, 64));
    CHECK(!may_use_device(some, Routine::cgemm, 64, 64, 64));
}

TEST_CASE("decision: what a call computes and moves") {
    const Gemm<float> real{.m = 100, .n = 200, .k = 300};
    CHECK(cost_of(real, 50).operations == 2.0 * 100 * 200 * 300);
    CHECK(cost_of(real, 50).up == 4.0 * (100 * 300 + 300 * 200));
    CHECK(cost_of(real, 50).down == 4.0 * 100 * 200);
    CHECK(cost_of(real, 50).first_up == 4.0 * 2 * 50 * 50);
    CHECK(cost_of(real, 50).last_down == 4.0 * 50 * 50);
    Gemm<std::complex<double>> complex{.m = 100, .n = 200, .k = 300};
    complex.beta = 1;
    CHECK(cost_of(complex, 50).operations == 8.0 * 100 * 200 * 300);
    CHECK(cost_of(complex, 50).up == 16.0 * (2 * 100 * 300 + 300 * 200 + 100 * 200));
    CHECK(cost_of(complex, 50).first_up == 16.0 * 25 * (2 * 25 + 50));
}

TEST_CASE("decision: the device's seconds") {
    const Rates rates{.latency = 1, .up = 10, .down = 5, .operations = 100};
    // Products hide what moves, but for the first and the last of it.
    CHECK(seconds_of(rates, {.operations = 1000, .up = 20, .down = 10, .first_up = 5, .last_down = 1}) ==
          doctest::Approx(1 + 10 + 0.5 + 0.2));
    // What moves hides products.
    CHECK(seconds_of(rates, {.operations = 100, .up = 200, .down = 10, .first_up = 5, .last_down = 1}) ==
          doctest::Approx(1 + 22));
}

TEST_CASE("decision: a further device is used where it gains") {
    // Of an NVIDIA H100, where a second one took sgemm 16384 from 37 to 61 TFLOP/s, and dgemm from 37 to 29.
    const Rates f32{.latency = 1e-4, .up = 39e9, .down = 55e9, .operations = 41e12};
    const Rates f64{.latency = 1e-4, .up = 38e9, .down = 55e9, .operations = 47e12};
    const Gemm<float> s{.m = 16384, .n = 16384, .k = 16384};
    const Gemm<double> d{.m = 16384, .n = 16384, .k = 16384};
    const double each = 16384.0 * 16384;
    CHECK(devices_worth(f32, cost_of(s, 2048), 4 * each, 2) == 2);
    CHECK(devices_worth(f64, cost_of(d, 2048), 8 * each, 2) == 1);
    CHECK(devices_worth(f64, cost_of(d, 2048), 8 * each, 1) == 1);
    CHECK(devices_worth(f32, {.operations = 1e15}, 0, 8) == 8);
}

TEST_CASE("decision: estimates follow what was seen") {
    Estimates e;
    CHECK(e.next_rate(Routine::dgemm) == 0);
    e.saw_next(Routine::dgemm, 1e9, 0.1);
    CHECK(e.next_rate(Routine::dgemm) == doctest::Approx(1e10));
    CHECK(e.next_rate(Routine::sgemm) == 0);
    e.saw_next(Routine::dgemm, 1e9, 0.2);  // disturbed
    CHECK(e.next_rate(Routine::dgemm) == doctest::Approx(0.99e10));
    CHECK(!e.is_time_to_open(0.1));
    CHECK(e.is_time_to_open(0.3));

    const Rates rates{.latency = 0, .up = 1, .down = 1, .operations = 1};
    const Cost cost{.operations = 1};
    CHECK(e.device_seconds(Routine::dgemm, rates, cost) == 1);
    for (int i = 0; i < 100; ++i) e.saw_device(Routine::dgemm, e.device_seconds(Routine::dgemm, rates, cost), 3);
    CHECK(e.device_seconds(Routine::dgemm, rates, cost) == doctest::Approx(3).epsilon(0.01));
    CHECK(e.device_seconds(Routine::sgemm, rates, cost) == 1);
    e.saw_device(Routine::zgemm, 1, 1000);  // an exception
    CHECK(e.device_seconds(Routine::zgemm, rates, cost) == 1.75);
    CHECK(working_seconds({.make = 100, .pack = 1, .submit = 2, .wait = 3, .unpack = 4, .computing = 50}) == 10);

    CHECK(e.prefers_device(Routine::sgemm, 0.4, 1));
    CHECK(!e.prefers_device(Routine::sgemm, 0.8, 1));
    int device = 0;
    for (int i = 0; i < 160; ++i) device += e.prefers_device(Routine::sgemm, 0.7, 1);
    CHECK(device == 150);
}

TEST_CASE("decision: a gain that is within the uncertainty is none") {
    Estimates e;
    for (int i = 0; i < 40; ++i) e.saw_device(Routine::dgemm, 1, i % 2 == 0 ? 0.5 : 1.5);  // predictions are poor
    for (int i = 0; i < 40; ++i) e.saw_device(Routine::sgemm, 1, 1);
    CHECK(!e.prefers_device(Routine::dgemm, 0.5, 1));
    CHECK(e.prefers_device(Routine::dgemm, 0.3, 1));
    CHECK(e.prefers_device(Routine::sgemm, 0.88, 1));
    CHECK(!e.prefers_device(Routine::sgemm, 0.92, 1));
    // What was seen goes before what is predicted, on either side.
    CHECK(e.prefers_device(Routine::dgemm, 5, 1, {.device = 0.9}));
    CHECK(!e.prefers_device(Routine::dgemm, 0.1, 1, {.device = 0.96}));
    CHECK(!e.prefers_device(Routine::sgemm, 0.6, 1, {.next = 0.6}));
    CHECK(e.prefers_device(Routine::sgemm, 0.6, 1, {.device = 1.1, .next = 1.2}));
    // By few calls the CPU BLAS takes 1, but it is predicted to take 0.4: they may have been disturbed.
    for (const unsigned calls : {3u, 4u}) {
        int device = 0;
        for (int i = 0; i < 160; ++i)
            device += e.prefers_device(Routine::sgemm, 0.2, 0.4, {.device = 0.3, .next = 1, .next_calls = calls});
        CHECK(device == (calls < 4 ? 150 : 160));
    }
}

TEST_CASE("decision: times of shapes") {
    const Gemm<float> g{.m = 300, .n = 400, .k = 500};
    const uint64_t key = shape_key(g, false);
    Gemm<float> other = g;
    other.op_b = Op::transpose;
    CHECK(shape_key(other, false) != key);
    CHECK(shape_key(g, true) != key);
    CHECK(shape_key(Gemm<double>{.m = 300, .n = 400, .k = 500}, false) != key);
    CHECK(shape_key(Gemm<float>{.m = 400, .n = 300, .k = 500}, false) != key);
    ShapeTimes times;
    CHECK(times.of(key).device == 0);
    times.saw_next(key, 3);
    times.saw_next(key, 2);
    times.saw_device(key, 5);
    CHECK(times.of(key).next == 2);
    CHECK(times.of(key).next_calls == 2);
    CHECK(times.of(key).device == 5);
    CHECK(times.of(shape_key(other, false)).next == 0);
    for (int i = 0; i < 100; ++i) times.saw_next(key, 4);  // the first two were exceptions
    CHECK(times.of(key).next == doctest::Approx(4));
    for (int m = 1; m < 5000; ++m) times.saw_next(shape_key(Gemm<float>{.m = m, .n = 1, .k = 1}, false), 1);
    CHECK(times.of(key).next == 0);  // its place was taken
}

TEST_CASE("settings: 64-bit integers") {
    CHECK(!read({}).ilp64);
    CHECK(read({{"VKGEMM_BLAS_ILP64", "1"}}).ilp64);
    CHECK(!read({{"VKGEMM_BLAS_ILP64", "0"}}).ilp64);
}

TEST_CASE("settings: the folder for what is kept") {
    CHECK(read({}).cache == "");
    CHECK(read({{"HOME", "/h"}}).cache == "/h/.cache/vkgemm");
    CHECK(read({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}).cache == "/x/vkgemm");
    CHECK(read({{"HOME", "/h"}, {"XDG_CACHE_HOME", "x"}}).cache == "/h/.cache/vkgemm");
    CHECK(read({{"HOME", "/h"}, {"VKGEMM_BLAS_CACHE", "/c"}}).cache == "/c");
    CHECK(read({{"HOME", "/h"}, {"VKGEMM_BLAS_CACHE", "off"}}).cache == "");
}

TEST_CASE("cache: what was written is read, and nothing else") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("vkgemm_test_cache." + std::to_string(getpid())) / "below";
    const Cache cache(folder);
    const auto bytes_of = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    const auto read_text = [&](const char* kind, const char* key) {
        const auto found = cache.read(kind, key);
        return std::string(reinterpret_cast<const char*>(found.data()), found.size());
    };
    CHECK(read_text("rates", "a") == "");
    const std::string text("1\n2\0003", 5);
    cache.write("rates", "a", bytes_of("old"));
    cache.write("rates", "a", bytes_of(text));
    CHECK(read_text("rates", "a") == text);
    CHECK(read_text("rates", "b") == "");
    CHECK(read_text("other", "a") == "");
    const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    CHECK(files == 1);  // no temporary one

    const fs::path file = fs::directory_iterator(folder)->path();
    std::ifstream in(file, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const auto put = [&](const std::string& content) { std::ofstream(file, std::ios::binary) << content; };
    for (size_t i = 0; i < whole.size(); ++i) {  // a bit, the end
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 1);
        put(damaged);
        CHECK(read_text("rates", "a") == "");
        put(whole.substr(0, i));
        CHECK(read_text("rates", "a") == "");
    }
    put(whole + "x");
    CHECK(read_text("rates", "a") == "");
    put(whole);
    CHECK(read_text("rates", "a") == text);
    fs::remove_all(folder.parent_path());

    Cache("").write("rates", "a", bytes_of(text));
    CHECK(Cache("").read("rates", "a").empty());
    Cache("/dev/null/x").write("rates", "a", bytes_of(text));
    CHECK(Cache("/dev/null/x").read("rates", "a").empty());
}

TEST_CASE("cache: rates") {
    const auto read_rates = [](const std::string& text) { return rates_in(std::as_bytes(std::span(text))); };
    const std::string text = text_of({.latency = 2e-5, .up = 3e10, .down = 4e10, .operations = 5e13});
    CHECK(text == "2.000000000e-05 3.000000000e+10 4.000000000e+10 5.000000000e+13");
    const auto found = read_rates(text);
    REQUIRE(found);
    CHECK(found->latency == doctest::Approx(2e-5));
    CHECK(found->up == doctest::Approx(3e10));
    CHECK(found->down == doctest::Approx(4e10));
    CHECK(found->operations == doctest::Approx(5e13));
    for (const char* bad :
         {"", "1 2 3", "1 2 3 0", "1 2 -3 4", "1 nan 3 4", "1 2 inf 4", "1 2 3 4 5", "1 2 3 4x", "1,5 2 3 4", "x"})
        CHECK(!read_rates(bad));
}

TEST_CASE("packing: C is copied, or multiplied by its factor, without the gaps") {
    const std::complex<float> gap(77, 77), factor(0, 2);
    const std::vector<std::complex<float>> c{{1, 2}, {3, 4}, gap, {5, 6}, {7, 8}, gap};
    for (const auto by : {std::complex<float>(1), factor}) {
        std::vector<float> to(16, -1);
        pack_c(c.data(), 3, 2, 2, by, to.data(), 8);
        const auto at = [&](size_t i) { return std::complex<float>(to[i], to[i + 1]); };
        CHECK(at(0) == by * c[0]);
        CHECK(at(2) == by * c[1]);
        CHECK(at(8) == by * c[3]);
        CHECK(at(10) == by * c[4]);
        for (const size_t i : {4u, 5u, 6u, 7u, 12u, 13u, 14u, 15u}) CHECK(to[i] == -1);
    }
}

TEST_CASE("workers: each part of the work is done once, awake or asleep") {
    auto& workers = *new Workers;  // its threads never end
    for (int round = 0; round < 300; ++round) {
        if (round % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const int64_t count = 1 + round * 7;
        std::vector<std::atomic<int>> done(static_cast<size_t>(count));
        workers.run(count, round % 3 == 0 ? 100 : 8u << 20, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) ++done[static_cast<size_t>(i)];
        });
        for (const auto& d : done) REQUIRE(d == 1);
    }
}

TEST_CASE("decision: drivers that compute on the CPU are used if they are asked for") {
    CHECK(!is_worth_opening(read({}), VK_PHYSICAL_DEVICE_TYPE_CPU));
    CHECK(is_worth_opening(read({{"VKGEMM_BLAS_DEVICE", "llvmpipe"}}), VK_PHYSICAL_DEVICE_TYPE_CPU));
    CHECK(is_worth_opening(read({}), VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU));
    CHECK(is_worth_opening(read({{"VKGEMM_BLAS", "always"}}), VK_PHYSICAL_DEVICE_TYPE_CPU));
}

TEST_CASE("LU: moves of rows come to the same as exchanges, and read no place that they write") {
    uint64_t state = 5;
    for (int run = 0; run < 200; ++run) {
        const int64_t rows = 6 + run % 20, top = 1 + run % 6;
        std::vector<int32_t> pivots;
        for (int64_t i = 0; i < top; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            pivots.push_back(static_cast<int32_t>(i + static_cast<int64_t>((state >> 33) % uint64_t(rows - i)) + 1));
        }
        std::vector<int64_t> column(static_cast<size_t>(rows)), moved;
        for (size_t i = 0; i < column.size(); ++i) column[i] = static_cast<int64_t>(i);
        moved = column;
        const std::span<const int32_t> all(pivots);
        const RowMoves moves(all);
        for (const auto& [from, to] : moves.down) {
            CHECK(from < top);
            CHECK(to >= top);
            moved[static_cast<size_t>(to)] = from;
        }
        for (size_t i = 0; i < moves.up.size(); ++i) moved[i] = moves.up[i];
        exchange_rows(column.data(), all);
        CHECK(moved == column);
    }
}

TEST_CASE("LU: what it computes and moves") {
    const LuCost square = cost_of_lu(1000, 1000, 100, 8), tall = cost_of_lu(1000, 10, 10, 4);
    CHECK(square.all == doctest::Approx(2e9 / 3));
    CHECK(square.panels == doctest::Approx(5e5 * 100));
    CHECK(square.up == doctest::Approx(12e6));
    CHECK(square.down == doctest::Approx(8e6));
    CHECK(tall.all == doctest::Approx(2.0 * 1000 * 10 * 10 - 1010 * 100 + 2000.0 / 3));
    CHECK(tall.down == doctest::Approx(4 * 10000));
    const Rates rates{.latency = 1e-5, .up = 1e10, .down = 1e10, .operations = 1e13};
    const double seconds = device_seconds_of_lu(square, rates, 1e12, 10);
    CHECK(seconds == doctest::Approx(5e7 / 5e10 + 12e-4 + 8e-4 + 2e9 / 3e13 + 2e-4));
    CHECK(next_seconds_of_lu(square, 1e12) == doctest::Approx(2e9 / 3 / 0.6e12));
}
