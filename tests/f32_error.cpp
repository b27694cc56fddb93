// SPDX-License-Identifier: MIT
// How far f32 products are off, over K and over kinds of data: true f32, f32 from parts, and cuBLAS where it is there,
// on the same operands, against sums in f64. An error is counted in shares of the sum of |a·b| of its element, and
// in units of 2^-24, f32's own rounding. It prints a table, writes a picture of each kind of data, and judges nothing.
//
//     build/tests/f32_error [greatest K] [folder for pictures]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "support/random.h"
#include "tools/vkgemm/cases.h"
#include "tools/vkgemm/peer.h"
#include "tools/vkgemm/plot.h"
#include "vkgemm/host.hpp"

namespace {

using namespace vkgemm;
using vkgemm::test::Random;

constexpr uint64_t side = 64;  // of D: m and n

[[noreturn]] void give_up(const Status& why) {
    std::fprintf(stderr, "f32_error: %s\n", why.text.c_str());
    std::exit(1);
}
template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status());
    return *std::move(result);
}

/// Calls `each(i)` for 0 to `count` - 1, on all cores.
template <class Each>
void side_by_side(uint64_t count, const Each& each) {
    const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> all;
    for (uint64_t core = 0; core < cores; ++core)
        all.emplace_back([&, core] {
            for (uint64_t i = core; i < count; i += cores) each(i);
        });
}

struct Kind {
    const char *name, *what;
    float (*element)(Random&);
    int (*exponent)(uint64_t k) = nullptr;  // that A has more, and B less
    bool cancels = false;                   // the second half of a sum all but takes the first back
};

float unit(Random& r) { return static_cast<float>(r.unit()); }
float both_signs(Random& r) { return 2 * unit(r) - 1; }
float normal(Random& r) {
    const double u = 1 - r.unit(), v = 2 * std::numbers::pi * r.unit();
    return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(v));
}
float away_from_0(Random& r) { return (r.one_in(2) ? -1.0f : 1.0f) * (0.5f + unit(r) / 2); }
float many_sizes(Random& r) { return std::ldexp(away_from_0(r), static_cast<int>(r.between(-30, 30))); }

constexpr Kind kinds[] = {
    {"uniform", "uniform in (-1, 1)", both_signs},
    {"positive", "uniform in (0, 1)", unit},
    {"normal", "normal", normal},
    {"sizes", "exponents from -30 to 30", many_sizes},
    {"opposed", "exponents from -120 to 120 in each row of A, undone in B", away_from_0,
     [](uint64_t k) { return static_cast<int>(k * 97 % 241) - 120; }},
    {"cancelling", "uniform in (-1, 1); the second half of a sum all but takes the first back", both_signs, nullptr,
     true},
};

/// A as rows, B as columns, each along k.
struct Operands {
    std::vector<float> a, b;

    Operands(const Kind& kind, uint64_t k) : a(side * k), b(side * k) {
        side_by_side(2 * side, [&](uint64_t line) {
            const bool is_a = line < side;
            float* const x = (is_a ? a.data() + line * k : b.data() + (line - side) * k);
            Random random(line + 1);
            for (uint64_t i = 0; i < k; ++i) {
                x[i] = kind.element(random);
                if (kind.exponent) x[i] = std::ldexp(x[i], is_a ? kind.exponent(i) : -kind.exponent(i));
                if (kind.cancels && i >= k / 2) x[i] = is_a ? -x[i - k / 2] * (1 + 1e-5f * x[i]) : x[i - k / 2];
            }
        });
    }
};

/// What each element should be, and the sum of the sizes of its products.
struct Exact {
    std::vector<double> sum, sizes;

    Exact(const Operands& x, uint64_t k) : sum(side * side), sizes(side * side) {
        side_by_side(side * side, [&](uint64_t i) {
            const float *const a = &x.a[i / side * k], *const b = &x.b[i % side * k];
            std::array<double, 8> s{}, z{};  // eight chains: f64's own rounding stays far below f32's
            for (uint64_t q = 0; q < k; ++q) {
                const double product = static_cast<double>(a[q]) * static_cast<double>(b[q]);
                s[q % 8] += product, z[q % 8] += std::fabs(product);
            }
            for (size_t c = 0; c < 8; ++c) sum[i] += s[c], sizes[i] += z[c];
        });
    }
};

struct Error {
    double most = NAN, mean = NAN;

    Error() = default;
    Error(const std::vector<float>& d, const Exact& exact) : most(0), mean(0) {
        for (size_t i = 0; i < d.size(); ++i) {
            const double off = std::fabs(static_cast<double>(d[i]) - exact.sum[i]) / exact.sizes[i] * 0x1p24;
            most = off <= most ? most : off;  // a NaN stays
            mean += off / static_cast<double>(d.size());
        }
    }
};

struct Method {
    const char *name, *kernel, *accuracy;
};
constexpr Method methods[] = {
    {"true f32", "simt_f32_64x64x16", ""},
    {"thirds", "thirds_f32_64x64x128", " accuracy=f32_split"},
    {"halves", "halves_f32_64x64x32", " accuracy=f32_split_rows"},
};
constexpr size_t cublas_at = std::size(methods), series = cublas_at + 1;

tool::Case case_of(uint64_t k, const char* accuracy) {
    const std::string size = std::to_string(side) + "x" + std::to_string(side) + "x" + std::to_string(k);
    return value(tool::parse_case(size + " layout=nt" + accuracy));
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& x) {
    std::vector<std::byte> out(x.size() * sizeof(T));
    std::memcpy(out.data(), x.data(), out.size());
    return out;
}

/// K in one piece, whatever would be faster: so errors grow with K as they may.
std::vector<float> computed(const host::Device& device, const Method& method, const Operands& x, uint64_t k) {
    const auto plan =
        device.context().createPlan(case_of(k, method.accuracy).problem,
                                    {.kernel = method.kernel, .tile = "SPLIT=1", .workspaceLimit = uint64_t{2} << 30});
    if (!plan) return {};
    const auto a = value(device.createBuffer(x.a.size() * 4)), b = value(device.createBuffer(x.b.size() * 4)),
               d = value(device.createBuffer(side * side * 4));
    const uint64_t bytes = plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE];
    const auto space = value(device.createBuffer(std::max<uint64_t>(bytes, 4)));
    for (const Status& s : {device.upload(a, x.a), device.upload(b, x.b)})
        if (!s) give_up(s);
    Run run{.a = a.operand(), .b = b.operand(), .d = d.operand()};
    if (bytes) run.workspace = space.operand();
    const Status done = device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); });
    if (!done) give_up(done);
    std::vector<float> out(side * side);
    if (const Status s = device.download(d, out); !s) give_up(s);
    return out;
}

std::vector<float> computed(tool::Peer& peer, const Operands& x, uint64_t k) {
    tool::OperandBytes bytes;
    bytes[VKGEMM_SLOT_A] = bytes_of(x.a), bytes[VKGEMM_SLOT_B] = bytes_of(x.b);
    bytes[VKGEMM_SLOT_D].resize(side * side * 4);
    if (const Status s = peer.load(case_of(k, ""), bytes, 1); !s) give_up(s);
    value(peer.run(1, 0, 1, 0));
    const std::vector<std::byte> d = value(peer.result());
    peer.unload();
    std::vector<float> out(side * side);
    std::memcpy(out.data(), d.data(), out.size() * 4);
    return out;
}

tool::LinePanel panel_of(const Kind& kind, const std::vector<uint64_t>& depths,
                         const std::vector<std::array<Error, series>>& rows) {
    tool::LinePanel panel{.title = kind.what, .y_axis = "", .series = {}, .logarithmic = true};
    for (size_t i = 0; i < series; ++i) {
        tool::LineSeries line{.name = i == cublas_at ? "cuBLAS f32" : methods[i].name, .points = {}};
        for (size_t row = 0; row < rows.size(); ++row)
            if (rows[row][i].most > 0) line.points.push_back({static_cast<double>(depths[row]), rows[row][i].most});
        if (!line.points.empty()) panel.series.push_back(line);
    }
    return panel;
}

tool::LinePanel study(const Kind& kind, uint64_t most_k, const host::Device& device, tool::Peer* cublas) {
    std::vector<uint64_t> depths;
    std::vector<std::array<Error, series>> rows;
    std::printf("\n%s\n\n| K | true f32 | thirds | halves | cuBLAS f32 |\n| --- | --- | --- | --- | --- |\n",
                kind.what);
    for (uint64_t k = 16; k <= most_k; k *= 4) {
        const Operands x(kind, k);
        const Exact exact(x, k);
        auto& row = rows.emplace_back();
        depths.push_back(k);
        std::printf("| %llu |", static_cast<unsigned long long>(k));
        for (size_t i = 0; i < series; ++i) {
            const auto d = i < cublas_at ? computed(device, methods[i], x, k)
                           : cublas      ? computed(*cublas, x, k)
                                         : std::vector<float>{};
            if (!d.empty()) row[i] = Error(d, exact);
            d.empty() ? std::printf(" – |") : std::printf(" %.3g (%.3g) |", row[i].most, row[i].mean);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    return panel_of(kind, depths, rows);
}

}  // namespace

int main(int count, char** arguments) {
    const uint64_t most_k = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1 << 20;
    const host::Device device = value(host::Device::open());
    const auto peer = tool::open_peer("cublas", device);
    std::printf("%s, %s. Errors: largest (mean) |error| of an element of D, in units of 2^-24 of the sum of |a·b|.\n",
                device.info().name.c_str(), peer ? (*peer)->title().c_str() : peer.status().text.c_str());
    tool::LinePlot plot{.title = device.info().name + ": errors of f32 products, 64 x 64 x K in one piece",
                        .subtitle = "largest |error| of an element, in units of 2^-24 of the sum of |a·b|, logarithmic",
                        .x_axis = "K",
                        .panels = {}};
    for (const Kind& kind : kinds)
        plot.panels.push_back(study(kind, most_k, device, peer ? peer->get() : nullptr));
    if (count > 2) std::ofstream(arguments[2], std::ios::binary) << svg(plot);
}
