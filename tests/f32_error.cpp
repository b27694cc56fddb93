// SPDX-License-Identifier: MIT
// Measures the error of f32 products over K and over kinds of data: true f32, f32 from parts, and cuBLAS if it is
// installed, on the same operands, against sums in f64. An error is relative to the sum of |a·b| of its element, in
// units of 2^-24, the rounding of f32. It prints tables and writes two plots: error over K, and speed over error. It is
// not a test.
//
//     build/tests/f32_error [LARGEST-K] [FOLDER-FOR-PLOTS]
#include <algorithm>
#include <array>
#include <chrono>
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
#include "tools/vkgemm/baselines/baseline.h"
#include "tools/vkgemm/measure/cases.h"
#include "tools/vkgemm/report/plot.h"
#include "vkgemm/host.hpp"

namespace {

using namespace vkgemm;
using vkgemm::test::Random;

constexpr uint64_t side = 64;          // m and n of D; of a larger D, the part that is compared
constexpr uint64_t timed_side = 4096;  // m, n and k of the product whose speed is measured

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
    int (*exponent)(uint64_t k) = nullptr;  // is added to A's exponents and subtracted from B's
    bool cancels = false;                   // the second half of a sum nearly cancels the first
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

    uint64_t lines, k;

    Operands(const Kind& kind, uint64_t lines_of_each, uint64_t depth)
        : a(lines_of_each * depth), b(lines_of_each * depth), lines(lines_of_each), k(depth) {
        side_by_side(2 * lines, [&](uint64_t line) {
            const bool is_a = line < lines;
            float* const x = (is_a ? a.data() + line * k : b.data() + (line - lines) * k);
            Random random(line + 1);
            for (uint64_t i = 0; i < k; ++i) {
                x[i] = kind.element(random);
                if (kind.exponent) x[i] = std::ldexp(x[i], is_a ? kind.exponent(i) : -kind.exponent(i));
                if (kind.cancels && i >= k / 2) x[i] = is_a ? -x[i - k / 2] * (1 + 1e-5f * x[i]) : x[i - k / 2];
            }
        });
    }
};

/// What each element of D's first rows and columns should be, and the sum of the sizes of its products.
struct Exact {
    std::vector<double> sum, sizes;

    explicit Exact(const Operands& x) : sum(side * side), sizes(side * side) {
        side_by_side(side * side, [&](uint64_t i) {
            const float *const a = &x.a[i / side * x.k], *const b = &x.b[i % side * x.k];
            std::array<double, 8> s{}, z{};  // eight chains: f64's own rounding stays far below f32's
            for (uint64_t q = 0; q < x.k; ++q) {
                const double product = static_cast<double>(a[q]) * static_cast<double>(b[q]);
                s[q % 8] += product;
                z[q % 8] += std::fabs(product);
            }
            for (size_t c = 0; c < 8; ++c) {
                sum[i] += s[c];
                sizes[i] += z[c];
            }
        });
    }
};

/// D, and how long it took.
struct Product {
    std::vector<float> d;
    double seconds = 0;
    std::string by{};  // the kernel
};

struct Error {
    double most = NAN, mean = NAN;

    Error() = default;
    Error(const Product& product, const Exact& exact, uint64_t lines) : most(0), mean(0) {
        for (size_t i = 0; i < exact.sum.size(); ++i) {
            const double d = static_cast<double>(product.d[i / side * lines + i % side]);
            const double off = std::fabs(d - exact.sum[i]) / exact.sizes[i] * 0x1p24;
            most = off <= most ? most : off;  // a NaN stays
            mean += off / static_cast<double>(exact.sum.size());
        }
    }
};

struct Method {
    const char *name, *kernel, *accuracy;
};
constexpr Method methods[] = {
    {"true f32", "simt_f32_64x64x16", ""},
    {"f32_split", "bf16x3_f32_64x64x32", " accuracy=f32_split"},
    {"f32_split_rows", "f16x2_f32_64x64x32", " accuracy=f32_split_rows"},
};
constexpr size_t cublas_at = std::size(methods), series = cublas_at + 1;

tool::Case case_of(const Operands& x, const char* accuracy) {
    const std::string lines = std::to_string(x.lines);
    return value(tool::parse_case(lines + "x" + lines + "x" + std::to_string(x.k) + " layout=nt" + accuracy));
}

double median(std::vector<double> seconds) {
    std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2));
    return seconds[seconds.size() / 2];
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& x) {
    std::vector<std::byte> out(x.size() * sizeof(T));
    std::memcpy(out.data(), x.data(), out.size());
    return out;
}

/// `kernel` null: what the library chooses. Else K is in one piece, whatever would be faster: errors grow with K as
/// they may.
Product computed(const host::Device& device, const char* kernel, const char* accuracy, const Operands& x,
                 uint32_t runs) {
    const auto plan = device.context().createPlan(
        case_of(x, accuracy).problem,
        {.kernel = kernel, .tile = kernel ? "SPLIT=1" : nullptr, .workspaceLimit = uint64_t{2} << 30});
    if (!plan) return {};
    const auto a = value(device.createBuffer(x.a.size() * 4)), b = value(device.createBuffer(x.b.size() * 4)),
               d = value(device.createBuffer(x.lines * x.lines * 4));
    const uint64_t bytes = plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE];
    const auto space = value(device.createBuffer(std::max<uint64_t>(bytes, 4)));
    for (const Status& s : {device.upload(a, x.a), device.upload(b, x.b)})
        if (!s) give_up(s);
    Run run{.a = a.operand(), .b = b.operand(), .d = d.operand()};
    if (bytes) run.workspace = space.operand();
    const auto timed = [&] {
        return value(device.time(
            runs, [&](VkCommandBuffer commands, uint32_t) { return plan->record(commands, run); },
            std::chrono::minutes(1)));
    };
    if (runs > 1) timed();  // brings the clock up
    const auto times = timed();
    Product out{
        .d = std::vector<float>(x.lines * x.lines), .seconds = median(times.seconds), .by = plan->info().kernel};
    if (const Status s = device.download(d, out.d); !s) give_up(s);
    return out;
}

Product computed(tool::Baseline& baseline, const Operands& x, uint32_t runs) {
    tool::OperandBytes bytes;
    bytes[VKGEMM_SLOT_A] = bytes_of(x.a);
    bytes[VKGEMM_SLOT_B] = bytes_of(x.b);
    bytes[VKGEMM_SLOT_D].resize(x.lines * x.lines * 4);
    if (const Status s = baseline.load(case_of(x, ""), bytes, 1); !s) give_up(s);
    if (runs > 1) value(baseline.run(runs, 0, 1, 0));
    Product out{.d = std::vector<float>(x.lines * x.lines),
                .seconds = median(value(baseline.run(runs, 0, 1, 0))),
                .by = baseline.name()};
    const std::vector<std::byte> d = value(baseline.result());
    baseline.unload();
    std::memcpy(out.d.data(), d.data(), d.size());
    return out;
}

const char* name_of(size_t method) { return method == cublas_at ? "cuBLAS f32" : methods[method].name; }

tool::LinePanel panel_of(const Kind& kind, const std::vector<uint64_t>& depths,
                         const std::vector<std::array<Error, series>>& rows) {
    tool::LinePanel panel{.title = kind.what, .y_axis = "", .series = {}, .logarithmic = true};
    for (size_t i = 0; i < series; ++i) {
        tool::LineSeries line{.name = name_of(i), .points = {}};
        for (size_t row = 0; row < rows.size(); ++row)
            if (rows[row][i].most > 0) line.points.push_back({static_cast<double>(depths[row]), rows[row][i].most});
        if (!line.points.empty()) panel.series.push_back(line);
    }
    return panel;
}

tool::LinePanel study(const Kind& kind, uint64_t most_k, const host::Device& device, tool::Baseline* cublas) {
    std::vector<uint64_t> depths;
    std::vector<std::array<Error, series>> rows;
    std::printf("\n%s\n\n| K | true f32 | f32_split | f32_split_rows | cuBLAS f32 |\n| --- | --- | --- | --- | --- |\n",
                kind.what);
    for (uint64_t k = 16; k <= most_k; k *= 4) {
        const Operands x(kind, side, k);
        const Exact exact(x);
        auto& row = rows.emplace_back();
        depths.push_back(k);
        std::printf("| %llu |", static_cast<unsigned long long>(k));
        for (size_t i = 0; i < series; ++i) {
            const Product made = i < cublas_at ? computed(device, methods[i].kernel, methods[i].accuracy, x, 1)
                                 : cublas      ? computed(*cublas, x, 1)
                                               : Product{};
            if (!made.d.empty()) row[i] = Error(made, exact, side);
            if (made.d.empty())
                std::printf(" – |");
            else
                std::printf(" %.3g (%.3g) |", row[i].most, row[i].mean);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    return panel_of(kind, depths, rows);
}

void draw(const std::string& folder, const char* name, const std::string& picture) {
    if (!folder.empty()) std::ofstream(folder + "/" + name, std::ios::binary) << picture;
}

/// What the library chooses for a large product: its speed beside its error, one point each.
void compare(const host::Device& device, tool::Baseline* cublas, const std::string& folder) {
    constexpr uint32_t runs = 401;
    const Kind& kind = kinds[2];
    const Operands x(kind, timed_side, timed_side);
    const Exact exact(x);
    const std::string size = std::to_string(timed_side) + "^3, operands " + kind.what;
    tool::PointPlot plot{.title = device.info().name + ": speed over error of f32 products",
                         .subtitle = size,
                         .x_axis = "largest |error|, units of 2^-24 of the sum of |a·b|",
                         .y_axis = "TFLOP/s",
                         .series = {}};
    std::printf("\n%s\n\n| | kernel | TFLOP/s | largest (mean) error |\n| --- | --- | --- | --- |\n", size.c_str());
    for (size_t i = 0; i < series; ++i) {
        if (i == cublas_at && !cublas) continue;
        const Product made =
            i < cublas_at ? computed(device, nullptr, methods[i].accuracy, x, runs) : computed(*cublas, x, runs);
        if (made.d.empty()) continue;
        const Error error(made, exact, x.lines);
        const double rate = 2e-12 * static_cast<double>(x.lines * x.lines * x.k) / made.seconds;
        std::printf("| %s | %s | %.1f | %.3g (%.3g) |\n", name_of(i), made.by.c_str(), rate, error.most, error.mean);
        plot.series.push_back({.name = name_of(i), .points = {{error.most, rate, ""}}});
    }
    draw(folder, "f32_error_speed.svg", svg(plot));
}

}  // namespace

int main(int count, char** arguments) {
    const uint64_t most_k = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1 << 20;
    const std::string folder = count > 2 ? arguments[2] : "";
    const host::Device device = value(host::Device::open());
    const auto baseline = tool::open_baseline("cublas", device);
    std::printf("%s, %s. Errors: largest (mean) |error| of an element of D, in units of 2^-24 of the sum of |a·b|.\n",
                device.info().name.c_str(), baseline ? (*baseline)->title().c_str() : baseline.status().text.c_str());
    tool::LinePlot plot{.title = device.info().name + ": errors of f32 products, 64 x 64 x K in one piece",
                        .subtitle = "largest |error| of an element, in units of 2^-24 of the sum of |a·b|, logarithmic",
                        .x_axis = "K",
                        .panels = {}};
    for (const Kind& kind : kinds)
        plot.panels.push_back(study(kind, most_k, device, baseline ? baseline->get() : nullptr));
    draw(folder, "f32_error.svg", svg(plot));
    if (most_k >= timed_side) compare(device, baseline ? baseline->get() : nullptr, folder);
}
