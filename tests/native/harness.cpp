// SPDX-License-Identifier: MIT
#include "harness.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "native/parts.h"
#include "vkgemm/rounding.hpp"

using namespace vkgemm;
using plan::Tile;

namespace harness {

constexpr uint32_t multiprocessors = 132, poison = 0xabab;

uint32_t bytes_of(uint32_t type) { return plan::info(static_cast<Type>(type)).bytes; }
abi::uvec2 words(uint64_t address) { return {uint32_t(address), uint32_t(address >> 32)}; }

bool is_whole(const Setup& s) { return s.module.accumulate == plan::i32 && (!s.is_scaled() || s.slices); }
/// Whether the module has the tile and the layout: lines of 128 bytes, which run along k unless elements have two.
bool exists(const Setup& s) {
    if (s.parts() > 1) return s.row.tile.BK == 64 && s.row.tile.BM == 128 && s.row.tile.BN <= 128;
    const uint32_t bytes = bytes_of(uint32_t(s.module.a));
    if (s.is_scaled() && (s.row.tile.BN == 192 || s.row.tile.BM == 64)) return false;
    if (s.row.tile.BN == 32 && s.layout[1] == 'n') return false;
    return s.row.tile.BK * bytes == native::box_bytes && (bytes == 2 || s.layout == "nt");
}
plan::Kernel kernel_of(const Setup& s) {
    return {.name = s.row.name, .module = s.module, .needs = {}, .tile = s.row.tile};
}

uint64_t ld_of_parts(const Setup& s) { return (uint64_t{s.k} + 63) / 64 * 64; }
uint32_t packer_of(const Setup& s) { return s.parts() - 2; }

/// What is no operand: how K is split, factors, bounds and steps.
void set_numbers(const Setup& s, Case& c) {
    const uint32_t BK = s.row.tile.BK;
    c.is_partial = s.slices != 0;
    c.k_chunk = s.slices ? divUp(s.k, s.slices * BK) * BK : s.k;
    c.slices = s.slices ? divUp(s.k, c.k_chunk) : 1;
    c.error = s.error;
    c.alpha = s.alpha;
    c.beta = s.beta;
    c.low = -3;
    c.high = 5;
    c.slope = 0.25f;
    c.tolerance = s.tolerance;
    std::copy(s.steps.begin(), s.steps.end(), c.steps);
}

Arrangement Harness::arranged(const Setup& s, uint64_t begin) {
    Arrangement l;
    Case& c = l.c;
    uint64_t at = begin;
    const auto take = [&](uint64_t bytes) {
        const uint64_t address = at;
        at += (bytes + 255) / 256 * 256 + 256;
        return address;
    };
    const auto place = [&](uint64_t& address, uint64_t& ld, uint64_t& stride, uint32_t lines, uint32_t length,
                           uint32_t bytes, uint32_t unit, uint32_t gap, uint32_t count) {
        ld = roundUp(length, unit) + gap;
        stride = ld * lines + gap;
        address = take(stride * count * bytes);
    };
    c.m = s.m;
    c.n = s.n;
    c.k = s.k;
    c.batch = s.batch;
    c.a_turned = s.layout[0] == 't';
    c.b_turned = s.layout[1] == 't';
    c.c_turned = s.c_turned;
    c.use_c = s.use_c && s.beta != 0;
    c.type_a = uint32_t(s.type_a());
    c.type_b = uint32_t(s.type_b());
    c.type_d = uint32_t(s.type_d());
    c.type_c = c.type_bias = c.type_scale = c.type_residual = s.other ? s.other : c.type_d;
    const uint32_t e = bytes_of(c.type_a), d = bytes_of(c.type_d), o = bytes_of(c.type_c);
    place(c.a, c.lda, c.stride_a, c.a_turned ? s.k : s.m, c.a_turned ? s.m : s.k, e, 16 / e, s.gap, s.batch);
    place(c.b, c.ldb, c.stride_b, c.b_turned ? s.n : s.k, c.b_turned ? s.k : s.n, e, 16 / e, s.gap, s.batch);
    if (s.one_b) c.stride_b = 0;
    place(c.c, c.ldc, c.stride_c, s.c_turned ? s.n : s.m, s.c_turned ? s.m : s.n, o, 1, s.d_gap, s.batch);
    c.bias = take(uint64_t{std::max(s.m, s.n)} * o);
    c.scale = take(uint64_t{std::max(s.m, s.n)} * o);
    l.scalars = take(32);
    l.d_begin = at;
    at += 4096;  // a zone before D
    const uint32_t unit = s.d_gap % 2 ? 1 : 16 / d;
    c.ldd = roundUp(s.n, unit) + s.d_gap;
    c.stride_d = c.ldd * s.m + s.d_gap;
    c.d = at;
    at += (s.slices ? uint64_t{s.m} * s.n * s.batch * s.slices : c.stride_d * s.batch) * d + 4096;
    at = (at + 255) / 256 * 256;
    l.d_bytes = at - l.d_begin;
    c.residual = take(c.stride_d * s.batch * o);
    if (s.parts() > 1)
        for (size_t i = 0; i < 2; ++i) {
            const uint64_t lines = native::rows_of_parts(i ? s.n : s.m) * s.batch;
            l.parts[i] = take(lines * ld_of_parts(s) * 2 * s.parts() + lines * 4);
        }
    l.bytes = at - begin;
    if (l.bytes > memory_.bytes) stop("too large: " + s.text());

    set_numbers(s, c);
    return l;
}

void set_constants(const Setup& s, const Case& c, plan::ProblemConstants& p) {
    p.TRANS_A = c.a_turned;
    p.TRANS_B = c.b_turned;
    p.TRANS_C = c.c_turned;
    p.USE_C = s.use_c;
    p.STEP_0 = c.steps[0];
    p.STEP_1 = c.steps[1];
    p.STEP_2 = c.steps[2];
    p.STEP_3 = c.steps[3];
    p.PARTIAL = c.is_partial;
    p.SLOPE = std::bit_cast<uint32_t>(c.slope);
    p.FORMAT_C = p.FORMAT_BIAS = p.FORMAT_SCALE = p.FORMAT_RESIDUAL = s.is_scaled() ? c.type_c : s.other;
    if (s.is_scaled() && !s.slices) p.FORMAT_D = c.type_d;
    if (s.is_fp8()) {
        p.FORMAT_A = c.type_a;
        p.FORMAT_B = c.type_b;
    }
    if (s.scalars) p.SCALARS = SCALARS_ALPHA | SCALARS_BETA | SCALARS_CLAMP | SCALARS_MONITOR;
    if (s.parts() > 1) {
        p.TRANS_A = 0;
        p.TRANS_B = 1;
    }
}

native::NativeArgs arguments_of(const Setup& s, const Arrangement& l) {
    const Case& c = l.c;
    const plan::Kernel kernel = kernel_of(s);
    plan::Step step{};
    step.kernel = &kernel;
    step.tile = s.row.tile;
    set_constants(s, c, step.constants);
    abi::GemmArgs g{};
    g.m = c.m;
    g.n = c.n;
    g.k = c.k;
    g.batch = c.batch;
    g.lda = uint32_t(c.lda);
    g.ldb = uint32_t(c.ldb);
    g.ldc = uint32_t(c.ldc);
    g.ldd = uint32_t(c.ldd);
    g.batch_a = uint32_t(c.stride_a);
    g.batch_b = uint32_t(c.stride_b);
    g.batch_c = uint32_t(c.stride_c);
    g.batch_d = uint32_t(c.stride_d);
    const auto factor = [&](float f) { return is_whole(s) ? uint32_t(int(f)) : std::bit_cast<uint32_t>(f); };
    g.alpha = factor(c.alpha);
    g.beta = factor(c.beta);
    g.k_chunk = c.k_chunk;
    g.raster = s.row.tile.RASTER;
    g.a = words(c.a);
    g.b = words(c.b);
    g.c = words(c.c);
    g.d = words(c.d);
    g.bias = words(c.bias);
    g.scale = words(c.scale);
    g.residual = words(c.residual);
    g.clamp_or_scalars.clamp.low = std::bit_cast<uint32_t>(c.low);
    g.clamp_or_scalars.clamp.high = std::bit_cast<uint32_t>(c.high);
    if (s.module.accumulate == plan::f64) {
        const auto alpha = std::bit_cast<uint64_t>(double(c.alpha)), beta = std::bit_cast<uint64_t>(double(c.beta));
        g.alpha = uint32_t(alpha);
        g.alpha_high = uint32_t(alpha >> 32);
        g.beta = uint32_t(beta);
        g.beta_high = uint32_t(beta >> 32);
    }
    if (s.scalars) {  // in memory; the arguments hold nothing of use
        g.alpha = g.beta = 0x7fc00000;
        g.clamp_or_scalars.scalars = {words(l.scalars).x, words(l.scalars).y};
    }
    if (s.parts() > 1) {
        g.lda = g.ldb = uint32_t(ld_of_parts(s));
        g.batch_a = uint32_t(native::part_stride(c.m, g.lda));
        g.batch_b = c.stride_b ? uint32_t(native::part_stride(c.n, g.ldb)) : 0;
        g.a = words(l.parts[0]);
        g.b = words(l.parts[1]);
    }
    return plan::native_arguments(step, g);
}

/// Of the pass that splits A, or B, into parts.
native::NativeArgs packing_of(const Setup& s, const Arrangement& l, bool is_b) {
    const Case& c = l.c;
    const uint32_t number = packer_of(s);
    const plan::Kernel kernel = {
        .name = packer_names[number], .module = packers[number], .needs = {}, .tile = packer_tiles[number]};
    plan::Step step{};
    step.kernel = &kernel;
    step.tile = kernel.tile;
    step.constants.TRANS_A = is_b ? !c.b_turned : c.a_turned;
    abi::GemmArgs g{};
    g.m = is_b ? c.n : c.m;
    g.k = g.k_chunk = c.k;
    g.ldd = uint32_t(ld_of_parts(s));
    g.n = number ? g.ldd : kernel.tile.BN;
    g.batch = is_b && !c.stride_b ? 1 : c.batch;
    g.lda = uint32_t(is_b ? c.ldb : c.lda);
    g.batch_a = uint32_t(is_b ? c.stride_b : c.stride_a);
    g.batch_d = uint32_t(native::part_stride(g.m, g.ldd));
    g.a = words(is_b ? c.b : c.a);
    g.d = words(l.parts[is_b]);
    const uint32_t length = step.constants.TRANS_A ? g.m : g.k;
    step.constants.ALIGNED = (g.lda | g.batch_a | length) % 4 ? 0 : WIDE_A;
    return plan::native_arguments(step, g);
}

void prepare(const Setup& s, Arrangement& l) {
    l.args = arguments_of(s, l);
    if (s.parts() > 1) l.packing = {packing_of(s, l, false), packing_of(s, l, true)};
}

void Harness::fill_matrix(uint64_t to, uint32_t type, uint32_t lines, uint32_t length, uint64_t pitch, uint64_t stride,
                          uint32_t count, uint32_t kind) {
    const uint32_t seed = seed_++;
    gpu_.launch(fill_, 1056, 256, 0, {&to, &type, &lines, &length, &pitch, &stride, &count, &kind, &seed});
}

void Harness::fill_operands(const Setup& s, const Arrangement& l, uint32_t kind) {
    const Case& c = l.c;
    const uint32_t of_b = s.one_b ? 1 : s.batch;
    fill_matrix(c.a, c.type_a, c.a_turned ? c.k : c.m, c.a_turned ? c.m : c.k, c.lda, c.stride_a, s.batch, kind);
    fill_matrix(c.b, c.type_b, c.b_turned ? c.n : c.k, c.b_turned ? c.k : c.n, c.ldb, c.stride_b, of_b, kind);
    if (c.use_c)
        fill_matrix(c.c, c.type_c, c.c_turned ? c.n : c.m, c.c_turned ? c.m : c.n, c.ldc, c.stride_c, s.batch, kind);
    if (s.steps.empty()) return;
    fill_matrix(c.bias, c.type_bias, 1, std::max(c.m, c.n), 0, 0, 1, kind);
    fill_matrix(c.scale, c.type_scale, 1, std::max(c.m, c.n), 0, 0, 1, native::powers_of_two);
    fill_matrix(c.residual, c.type_residual, c.m, c.n, c.ldd, c.stride_d, s.batch, kind);
}

VkCuFunctionNVX Harness::kernel(const Setup& s) {
    const std::string module(s.module.name);
    return found(s.folder + module, module + "_" + s.row.name + "_" + (s.parts() > 1 ? "nt" : s.layout));
}

VkCuFunctionNVX Harness::found(const std::string& module, const std::string& name) {
    for (const auto& [known, function] : kernels_)
        if (known == module + name) return function;
    return kernels_.emplace_back(module + name, gpu_.function(folder_ + "/" + module + ".cubin", name)).second;
}

void Harness::launch(const Setup& s, const Arrangement& l, VkCuFunctionNVX function) {
    const Tile& t = s.row.tile;
    if (s.parts() > 1 && !s.alone) {
        const std::string name = packer_names[packer_of(s)];
        for (size_t i = 0; i < 2; ++i) {
            const native::NativeArgs& x = l.packing[i];
            const std::string turned = name + (x.constants[native::TRANS_A] ? "_t" : "_n");
            const Tile& of = packer_tiles[packer_of(s)];
            gpu_.launch(found(std::string(packers[packer_of(s)].name), turned), x.tiles_m * x.tiles_n * x.args.batch,
                        of.WG, native::pack_parts_shared_bytes(of.BM, of.BN), {&x});
        }
        gpu_.barrier(true);
    }
    const uint32_t e = s.parts() > 1 ? 2 : bytes_of(l.c.type_a),
                   shared = native::wgmma_shared_bytes(t.BM, t.BN, t.BK, t.STAGES, e, 0);
    const auto groups = uint32_t(std::min<uint64_t>(plan::work_of(l.args), multiprocessors));
    gpu_.launch(function, groups, t.WG, shared, {&l.args});
}

bool Harness::check(const Setup& given) {
    Setup s = given;
    if (!exists(s)) return true;
    if (s.module.a == plan::f64) {
        s.scalars = false;
        s.other = 0;
    }
    if (is_whole(s)) {
        s.alpha = s.alpha == 1 ? 1.f : 3.f;
        s.scalars = false;
        s.other = 0;
    }
    Arrangement l = arranged(s, memory_.address);
    prepare(s, l);
    const VkCuFunctionNVX function = kernel(s);
    auto* finding = static_cast<Finding*>(host_.mapped);
    *finding = {};
    gpu_.begin();
    gpu_.fill(memory_, 0, l.bytes, 0xffffffff);  // NaN of every type
    gpu_.barrier();
    gpu_.fill(memory_, l.d_begin - memory_.address, l.d_bytes, poison << 16 | poison);
    const uint64_t scalars = l.scalars - memory_.address;
    const float in_memory[] = {s.alpha, s.beta, l.c.low, l.c.high};
    for (uint64_t i = 0; i < 4; ++i) gpu_.fill(memory_, scalars + 4 * i, 4, std::bit_cast<uint32_t>(in_memory[i]));
    gpu_.barrier();
    fill_operands(s, l, s.filling);
    gpu_.barrier();
    launch(s, l, function);
    gpu_.barrier();
    const uint64_t halves = l.d_bytes / 2;
    gpu_.launch(compare_, (s.n + 15) / 16, 256, 0, {&l.c, &host_.address}, (s.m + 15) / 16, s.batch * l.c.slices);
    const uint32_t expected = poison;
    gpu_.launch(guard_, 264, 256, 0, {&l.c, &l.d_begin, &halves, &expected, &host_.address});
    gpu_.barrier();
    gpu_.run();
    const bool is_right = finding->elements == s.m * s.n * s.batch * l.c.slices && !finding->wrong && !finding->touched;
    ++(is_right ? passed : failed);
    if (s.error > 0)
        std::printf("%-12s %-10s %s %5ux%ux%u filling %u slices %u: error %.2f of 2^-24 of the sizes\n",
                    std::string(s.module.name).c_str(), s.row.name, s.layout.c_str(), s.m, s.n, s.k, s.filling,
                    s.slices, double(std::bit_cast<float>(finding->error)));
    if (!is_right && failed <= 40)
        std::printf("WRONG %s: %u of %u wrong, first at (%u, %u, %u): %g, expected %g; %u touched round D\n",
                    s.text().c_str(), finding->wrong, finding->elements, finding->row, finding->col, finding->z,
                    double(finding->got), double(finding->expected), finding->touched);
    return is_right;
}

/// Microseconds of each of seven runs, sorted, after `warm` milliseconds of the same.
std::vector<double> Harness::timed(const Setup& s, int warm) {
    using clock = std::chrono::steady_clock;
    std::vector<Arrangement> sets;  // in turn, so that together they exceed the L2 cache
    uint64_t begin = memory_.address;
    do {
        Arrangement l = arranged(s, begin);
        prepare(s, l);
        begin += (l.bytes + 4095) / 4096 * 4096;
        sets.push_back(l);
    } while (begin - memory_.address < 150'000'000 && begin + sets[0].bytes < memory_.address + memory_.bytes);
    gpu_.begin();
    for (const Arrangement& l : sets) fill_operands(s, l, native::fractions);
    gpu_.barrier();
    gpu_.run();

    const VkCuFunctionNVX function = kernel(s);
    if (s.alone) {
        Setup whole = s;
        whole.alone = false;
        gpu_.begin();
        for (const Arrangement& l : sets) launch(whole, l, function);
        gpu_.run();
    }
    const int repetitions = int(std::clamp(0.01 / (s.work() / 5e14 + 8e-6), 8.0, 400.0));
    gpu_.begin();
    gpu_.stamp(0);
    for (int i = 0; i < repetitions; ++i) {
        launch(s, sets[size_t(i) % sets.size()], function);
        gpu_.barrier(true);
    }
    gpu_.stamp(1);
    gpu_.end();
    for (const auto start = clock::now(); clock::now() - start < std::chrono::milliseconds(warm);) gpu_.submit();
    std::vector<double> us;
    for (int i = 0; i < 7; ++i) {
        gpu_.submit();
        us.push_back(gpu_.microseconds() / repetitions);
    }
    std::sort(us.begin(), us.end());
    return us;
}

void Harness::time(const std::vector<Setup>& cases, int rounds) {
    std::vector<std::vector<double>> us(cases.size());
    for (int round = 0; round < rounds; ++round)
        for (size_t i = 0; i < cases.size(); ++i) {
            const size_t which = round % 2 ? cases.size() - 1 - i : i;  // each is as often the first
            us[which].push_back(timed(cases[which], rounds == 1 ? 400 : 200)[3]);
        }
    for (size_t i = 0; i < cases.size(); ++i) {
        const Setup& s = cases[i];
        std::sort(us[i].begin(), us[i].end());
        const double median = us[i][us[i].size() / 2], rate = s.work() * 1e-6;
        std::printf("%-20s %-11s %s %5u %5u %5u x%-3u %-8s r%-2u s%-2u %9.2f us %6.1f TFLOP/s (%.1f to %.1f)\n",
                    (s.folder + std::string(s.module.name)).c_str(), s.row.name, s.layout.c_str(), s.m, s.n, s.k,
                    s.batch, s.finish.c_str(), s.row.tile.RASTER, s.slices, median, rate / median, rate / us[i].back(),
                    rate / us[i][0]);
    }
    std::fflush(stdout);
}

}  // namespace harness
