// SPDX-License-Identifier: MIT
// Runs native kernels without the library: checks them against a naive kernel, exactly, and times them.
//   native_harness FOLDER check [MODULES]    every tile, layout, size and epilogue of the modules
//   native_harness FOLDER random COUNT [SEED] [MODULES]   so many problems that are drawn
//   native_harness FOLDER time [ROUNDS] < CASES
// CASES are lines of [FOLDER/]MODULE TILE LAYOUT M N K BATCH [FINISH] [RASTER] [SLICES]. With ROUNDS those up to an
// empty line are timed in turn, in so many rounds.
// MODULES is the name of one, or a part of the names of several. FINISH is plain, alone, c or one of `finishes`.
// FOLDER holds the cubins of the modules and check.cubin: build/native.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <iostream>
#include <random>

#include "harness.h"

namespace harness {
namespace {

/// Whether `which` is the module's name, or a part of it and no module's name.
bool is_chosen(const plan::Module& module, const std::string& which) {
    const bool is_name = std::any_of(std::begin(modules), std::end(modules), [&](auto& m) { return m.name == which; });
    return is_name ? module.name == which : module.name.find(which) != std::string_view::npos;
}

const char* const layouts[] = {"nn", "nt", "tn", "tt"};

// Infinities among whole numbers, and errors against sums of f64.
void check_parts(Harness& h, const std::string& which) {
    for (const plan::Module& module : modules) {
        if (module.family.operand_split.count < 2 || !is_chosen(module, which)) continue;
        for (const char* tile : {"128x128x64", "128x64x64"})
            for (const char* layout : layouts)
                for (uint32_t slices : {0u, 3u}) {
                    Setup odd = {.module = module,
                                 .row = named(rows, tile),
                                 .layout = layout,
                                 .m = 301,
                                 .n = 503,
                                 .k = 333,
                                 .batch = 2};  // not multiples of 16 bytes
                    odd.gap = 1;
                    odd.slices = slices;
                    h.check(odd);
                    Setup s = {.module = module,
                               .row = named(rows, tile),
                               .layout = layout,
                               .m = 300,
                               .n = 500,
                               .k = 330,
                               .batch = 2};
                    s.filling = native::with_infinities;
                    s.slices = slices;
                    h.check(s);
                }
        for (const uint32_t filling : {native::fractions, native::positive, native::of_many_sizes})
            for (const uint32_t k : {16u, 64u, 256u, 4096u, 16384u}) {
                if (filling == native::of_many_sizes && module.family.operand_split.count == 2 && k < 4096) continue;
                Setup s = {.module = module,
                           .row = named(rows, "128x128x64"),
                           .layout = k == 256 ? "nn" : "nt",
                           .m = 512,
                           .n = 512,
                           .k = k};
                s.filling = filling;
                s.error = filling == native::positive ? 60 : 14;
                h.check(s);
            }
    }
    std::printf("parts: %u right, %u wrong\n", h.passed, h.failed);
}

// Errors against sums of f64, in the measure of check_parts. The units keep 13 binary digits of 128 products, so less
// than 2^-13 of their sum is lost of each (docs/accuracy.md).
void check_fp8_errors(Harness& h, const std::string& which) {
    for (const plan::Module& module : modules) {
        if (!plan::is_fp8(module.a) || !is_chosen(module, which)) continue;
        for (const uint32_t filling : {native::fractions, native::positive})
            for (const uint32_t k : {32u, 128u, 4096u, 16384u}) {
                Setup s = {
                    .module = module, .row = named(rows, "128x256x128"), .layout = "nt", .m = 512, .n = 512, .k = k};
                s.filling = filling;
                s.error = (31 + 3 * 33) * 0x1p11f;
                h.check(s);
            }
    }
}

/// Of GELU and SiLU.
float tolerance_of(const Setup& s) { return s.type_d() == plan::bf16 ? 1e-2f : 2e-3f; }

/// Each pair of types and each D in turn, of a module that has several.
void vary_types(Setup& s, uint32_t turn) {
    constexpr Type results[] = {plan::f32, plan::f16, plan::bf16};
    if (!s.is_fp8()) return;
    s.fp8_a = turn & 1 ? plan::e5m2 : plan::e4m3;
    s.fp8_b = turn & 2 ? plan::e5m2 : plan::e4m3;
    s.scaled_d = results[turn % 3];
}

/// NaN and infinities among whole numbers, at both ends of k. GELU may not spread NaN to neighbours.
void check_ends(Harness& h, const std::string& which) {
    uint32_t turn = 0;
    for (const plan::Module& module : modules) {
        if (plan::info(module.a).bytes > 2 || module.a == plan::i8 || !is_chosen(module, which)) continue;
        for (const Row& row : rows)
            for (const uint32_t k : {1u, 16u, 64u, 127u, 128u, 129u, 300u, 1024u})
                for (uint32_t types = 0; types < (plan::is_fp8(module.a) ? 12u : 1u); ++types)
                    for (const uint32_t slices : {0u, 3u}) {
                        Setup s = {.module = module, .row = row, .layout = "nt", .m = 150, .n = 270, .k = k};
                        vary_types(s, types);
                        s.filling = native::ends_infinite;
                        if (slices && k <= 256) continue;
                        s.slices = slices;
                        s.d_gap = turn++ % 3 ? 0 : 3;
                        h.check(s);
                        if (slices || plan::info(module.a).bytes != 2) continue;
                        s.n = 272;
                        s.steps = {VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_GELU};
                        s.tolerance = tolerance_of(s);
                        h.check(s);
                    }
    }
    std::printf("ends: %u right, %u wrong\n", h.passed, h.failed);
}

/// Every list of steps, with C and the types of operands in turn.
void check_steps(Harness& h, const std::vector<plan::Module>& chosen) {
    uint32_t turn = 0;
    const std::vector<std::vector<uint32_t>> exact = {
        {},
        {VKGEMM_STEP_BIAS_ROW},
        {VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_RELU},
        {VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_BIAS_COL},
        {VKGEMM_STEP_SCALE_COL, VKGEMM_STEP_RESIDUAL},
        {VKGEMM_STEP_SCALE_ALL, VKGEMM_STEP_CLAMP},
        {VKGEMM_STEP_LEAKY_RELU},
        {VKGEMM_STEP_BIAS_ROW, VKGEMM_STEP_SCALE_COL, VKGEMM_STEP_RESIDUAL, VKGEMM_STEP_RELU}};
    const std::vector<std::vector<uint32_t>> rounded = {{VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_GELU}, {VKGEMM_STEP_SILU}};
    for (const uint32_t k : {100u, 0u})
        for (const plan::Module& module : chosen)
            for (const Row& row : rows)
                for (const uint32_t d_gap : {0u, 3u})
                    for (int kind = 0; kind < 4; ++kind)
                        for (const auto* lists : {&exact, &rounded})
                            for (const auto& steps : *lists) {
                                Setup s = {.module = module,
                                           .row = row,
                                           .layout = plan::info(module.a).bytes == 2 ? layouts[kind] : "nt",
                                           .m = 203,
                                           .n = 344,
                                           .k = k,
                                           .batch = 2};
                                s.d_gap = d_gap;
                                s.steps = steps;
                                s.use_c = kind != 0;
                                s.c_turned = kind == 2;
                                s.alpha = 0.5f;
                                s.beta = kind == 3 ? 0.f : 2.f;
                                s.scalars = kind == 1;
                                s.other = kind == 1 ? uint32_t(plan::f32) : kind == 2 ? uint32_t(plan::bf16) : 0;
                                s.one_b = kind == 3;
                                vary_types(s, turn++);
                                if (lists == &rounded) s.tolerance = tolerance_of(s);
                                const bool is_for_floats = lists == &rounded || steps == exact[5] || steps == exact[6];
                                if (module.a == plan::i8 ? !is_for_floats : module.a != plan::f64 || lists == &exact)
                                    h.check(s);
                            }
}

void check_all(Harness& h, const std::string& which) {
    uint32_t turn = 0;
    constexpr uint32_t sizes[][4] = {{128, 256, 64, 1}, {256, 512, 256, 1}, {1, 1, 1, 1},        {131, 261, 67, 1},
                                     {7, 1000, 640, 1}, {1000, 9, 130, 1},  {300, 500, 1000, 3}, {64, 64, 8, 70}};
    std::vector<plan::Module> chosen;
    for (const plan::Module& module : modules)
        if (is_chosen(module, which)) chosen.push_back(module);
    for (const plan::Module& module : chosen)
        for (const Row& row : rows)
            for (const char* layout : layouts)
                for (const auto& [m, n, k, batch] : sizes)
                    for (uint32_t d_gap : {0u, 8u, 3u}) {
                        Setup s = {
                            .module = module, .row = row, .layout = layout, .m = m, .n = n, .k = k, .batch = batch};
                        vary_types(s, turn++);
                        s.gap = d_gap == 8 ? 48 : 0;
                        s.d_gap = d_gap;
                        s.alpha = d_gap == 8 ? 0.5f : 1;
                        h.check(s);
                        s.slices = 3;
                        if (k > 64 && d_gap != 8) {
                            s.alpha = 7;
                            h.check(s);
                        }
                    }
    for (const plan::Module& module : chosen)
        for (const Row& row : rows)
            h.check({.module = module, .row = row, .layout = "nt", .m = 4096, .n = 4096, .k = 2048});
    std::printf("sizes: %u right, %u wrong\n", h.passed, h.failed);
    check_parts(h, which);
    check_fp8_errors(h, which);
    check_ends(h, which);
    check_steps(h, chosen);
    std::printf("all: %u right, %u wrong\n", h.passed, h.failed);
}

/// One of the problems that the rules allow: sizes from 0 on, mostly small, at times a whole number of tiles.
Setup drawn(std::mt19937& random, const std::vector<plan::Module>& chosen) {
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    const plan::Module& module = chosen[below(uint32_t(chosen.size()))];
    const Row* row = nullptr;
    const char* layout = nullptr;
    do {
        row = &rows[below(std::size(rows))];
        layout = layouts[below(4)];
    } while (!exists({.module = module, .row = *row, .layout = layout, .m = 0, .n = 0, .k = 0}));
    Setup s = {.module = module, .row = *row, .layout = layout, .m = 0, .n = 0, .k = 0};
    const Tile& t = s.row.tile;
    const auto size = [&](uint32_t tile) {
        return below(4) ? 1 + below(below(8) ? 3 * tile : 1500) : tile * (1 + below(4));
    };
    s.m = size(t.BM);
    s.n = size(t.BN);
    s.k = below(40) ? size(3 * t.BK) : 0;
    s.batch = below(3) ? 1 : 1 + below(5);
    s.one_b = s.batch > 1 && below(3) == 0;
    s.gap = below(2) ? 0 : 16 * below(4);
    s.d_gap = below(2) ? 0 : below(9);
    if (s.k > t.BK && below(4) == 0) s.slices = 2 + below(6);
    s.alpha = below(2) ? 1 : below(2) ? 0.5f : 3;
    if (s.is_fp8()) vary_types(s, below(12));
    if (s.slices || s.parts() > 1) {
        s.alpha = 1;
        return s;
    }
    s.use_c = below(2);
    s.c_turned = below(2);
    s.beta = below(3) ? 2.f : 0.f;
    s.scalars = below(3) == 0;
    s.other = below(2) ? 0 : uint32_t(below(2) ? plan::f32 : plan::bf16);
    const plan::Type results[] = {plan::f32, plan::f16, plan::bf16, plan::i8};
    if (!s.is_fp8()) s.scaled_d = results[below(4)];
    const uint32_t steps[] = {VKGEMM_STEP_BIAS_ROW,  VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL,
                              VKGEMM_STEP_SCALE_ALL, VKGEMM_STEP_RESIDUAL, VKGEMM_STEP_RELU};
    for (uint32_t i = below(4); i > 0; --i) {
        const uint32_t step = steps[below(std::size(steps))];
        if (std::find(s.steps.begin(), s.steps.end(), step) == s.steps.end()) s.steps.push_back(step);
    }
    if (plan::info(module.a).bytes == 2 && below(4) == 0) {
        s.steps = {VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_GELU};
        if (below(3) == 0) s.steps.erase(s.steps.begin());
        s.tolerance = tolerance_of(s);
    }
    return s;
}

void check_random(Harness& h, uint32_t count, uint32_t seed, const std::string& which) {
    std::vector<plan::Module> chosen;
    for (const plan::Module& module : modules)
        if (is_chosen(module, which)) chosen.push_back(module);
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < count; ++i) h.check(drawn(random, chosen));
    std::printf("random: %u right, %u wrong, seed %u\n", h.passed, h.failed, seed);
}

const std::pair<const char*, std::vector<uint32_t>> finishes[] = {
    {"relu", {VKGEMM_STEP_RELU}},         {"bias", {VKGEMM_STEP_BIAS_COL}},
    {"gelu", {VKGEMM_STEP_GELU}},         {"biasgelu", {VKGEMM_STEP_BIAS_COL, VKGEMM_STEP_GELU}},
    {"residual", {VKGEMM_STEP_RESIDUAL}}, {"scales", {VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL}}};

/// Appends the case of a line, if it has one. `rows_of_cases` keeps its tile.
void add_case(std::vector<Setup>& cases, std::deque<Row>& rows_of_cases, const std::string& line) {
    std::istringstream in(line.substr(0, line.find('#')));
    std::string module, tile, layout, finish = "plain";
    uint32_t m, n, k, batch, raster = 8, slices = 0;
    if (!(in >> module >> tile >> layout >> m >> n >> k >> batch)) return;
    in >> finish >> raster >> slices;
    const size_t slash = module.find('/') + 1;
    Row& row = rows_of_cases.emplace_back(named(rows, tile));
    row.tile.RASTER = raster;
    Setup s = {.module = named(modules, module.substr(slash)),
               .row = row,
               .layout = layout,
               .m = m,
               .n = n,
               .k = k,
               .batch = batch};
    s.folder = module.substr(0, slash);
    s.slices = slices;
    s.finish = finish;
    s.scaled_d = plan::bf16;
    s.alone = finish == "alone";
    s.use_c = finish == "c";
    s.beta = 1;
    for (const auto& [name, steps] : finishes)
        if (finish == name) s.steps = steps;
    cases.push_back(s);
}

void time_all(Harness& h, int rounds) {
    std::deque<Row> rows_of_cases;
    std::vector<Setup> cases;
    for (std::string line; std::getline(std::cin, line);) {
        add_case(cases, rows_of_cases, line);
        if (cases.empty() || (rounds > 1 && !line.empty())) continue;
        h.time(cases, rounds);
        cases.clear();
    }
    if (!cases.empty()) h.time(cases, rounds);
}

}  // namespace
}  // namespace harness

int main(int count, char** words) {
    if (count < 3) harness::stop("usage: native_harness FOLDER check|random|time");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    harness::Harness h(words[1]);
    const std::string what = words[2];
    const auto word = [&](int i) { return std::string(i < count ? words[i] : ""); };
    if (what == "check")
        harness::check_all(h, word(3));
    else if (what == "random")
        harness::check_random(h, uint32_t(std::atoi(word(3).c_str())), uint32_t(std::atoi(word(4).c_str())), word(5));
    else
        harness::time_all(h, std::max(1, std::atoi(word(3).c_str())));
    std::_Exit(h.failed != 0);
}
