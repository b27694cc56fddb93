// SPDX-License-Identifier: MIT
// Measures the error of f64 products over K and over kinds of data: accuracy=f64_split, f64 arithmetic of the device if
// it has f64, and sums of the host in f64 and long double, on the same operands, against exact sums. An error is
// relative to the sum of |a·b| of its element, in units of 2^-53, the rounding of f64. It prints tables and writes a
// plot. What f64_split and f64_split_wide give is the same on every device. It is not a test.
//
//     build/tests/f64_error [LARGEST-K] [FOLDER-FOR-THE-PLOT]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "support/exact_sum.h"
#include "support/random.h"
#include "tools/vkgemm/report/plot.h"
#include "vkgemm/host.hpp"

namespace {

using namespace vkgemm;
using vkgemm::test::ExactSum;
using vkgemm::test::Random;

constexpr uint64_t side = 16;  // m and n of D

[[noreturn]] void give_up(const Status& why) {
    std::fprintf(stderr, "f64_error: %s\n", why.text.c_str());
    std::exit(1);
}
template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status());
    return *std::move(result);
}

struct Kind {
    const char* what;
    double phi;       // elements are (u - 1/2) exp(phi x), u uniform in (0, 1) and x normal
    double huge = 1;  // one element of each row of A, and of each column of B, is multiplied by this
};
constexpr Kind kinds[] = {
    {"phi 0.5", 0.5},
    {"phi 1", 1},
    {"phi 2", 2},
    {"phi 4", 4},
    {"phi 0.5, one element of each row of A and column of B 2^20 times larger", 0.5, 0x1p20},
};

double element(const Kind& kind, Random& r) {
    const double x = std::sqrt(-2 * std::log(1 - r.unit())) * std::cos(2 * std::numbers::pi * r.unit());
    return (r.unit() - 0.5) * std::exp(kind.phi * x);
}

/// A as rows, B as columns, each along k.
struct Operands {
    std::vector<double> a, b;
    uint64_t k;

    Operands(const Kind& kind, uint64_t depth) : a(side * depth), b(side * depth), k(depth) {
        Random random(1);
        for (std::vector<double>* x : {&a, &b}) {
            for (double& v : *x) v = element(kind, random);
            for (uint64_t line = 0; line < side; ++line) (*x)[line * k + random.below(k)] *= kind.huge;
        }
    }
};

/// The largest error of D, and the mean, in units of 2^-53 of the sum of |a·b|.
struct Error {
    double most = 0, mean = 0;

    Error(const Operands& x, const std::vector<double>& d) {
        for (size_t i = 0; i < side * side; ++i) {
            const double *const a = &x.a[i / side * x.k], *const b = &x.b[i % side * x.k];
            ExactSum sum;
            double sizes = 0;
            for (uint64_t k = 0; k < x.k; ++k) {
                sum.add(a[k], b[k]);
                sizes += std::fabs(a[k] * b[k]);
            }
            sum.add(d[i], 1, true);
            const int order = std::ilogb(sizes);
            const double off = std::fabs(sum.over(order)) / std::ldexp(sizes, -order) * 0x1p53;
            most = std::max(most, off);
            mean += off / (side * side);
        }
    }
};

template <class Sum>
std::vector<double> on_host(const Operands& x) {
    std::vector<double> d(side * side);
    for (size_t i = 0; i < d.size(); ++i) {
        Sum sum = 0;
        for (uint64_t k = 0; k < x.k; ++k)
            sum += static_cast<Sum>(x.a[i / side * x.k + k]) * static_cast<Sum>(x.b[i % side * x.k + k]);
        d[i] = static_cast<double>(sum);
    }
    return d;
}

/// Empty if the device cannot compute it.
std::vector<double> on_device(const host::Device& device, VkgemmAccuracy accuracy, const Operands& x) {
    const auto plan = device.context().createPlan({.m = side,
                                                   .n = side,
                                                   .k = x.k,
                                                   .a = {.type = f64},
                                                   .b = {.type = f64, .layout = columnMajor},
                                                   .accuracy = accuracy},
                                                  {.workspaceLimit = uint64_t{1} << 30});
    if (!plan) return {};
    const auto a = value(device.createBuffer(x.a.size() * 8)), b = value(device.createBuffer(x.b.size() * 8)),
               d = value(device.createBuffer(side * side * 8));
    const uint64_t bytes = plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE];
    const auto space = value(device.createBuffer(std::max<uint64_t>(bytes, 4)));
    for (const Status& s : {device.upload(a, x.a), device.upload(b, x.b)})
        if (!s) give_up(s);
    Run run{.a = a.operand(), .b = b.operand(), .d = d.operand()};
    if (bytes) run.workspace = space.operand();
    std::vector<double> out(side * side);
    for (const Status& s : {device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); }),
                            device.download(d, out)})
        if (!s) give_up(s);
    return out;
}

constexpr const char* names[] = {"f64_split", "f64_split_wide", "f64 of the device", "f64, one sum",
                                 "long double, one sum"};

tool::LinePanel study(const Kind& kind, uint64_t most_k, const host::Device& device) {
    tool::LinePanel panel{.title = kind.what, .y_axis = "", .series = {}, .logarithmic = true};
    for (const char* const name : names) panel.series.push_back({.name = name, .points = {}});
    std::printf("\n%s\n\n| K |", kind.what);
    for (const char* const name : names) std::printf(" %s |", name);
    std::printf("\n| --- | --- | --- | --- | --- | --- |\n");
    for (uint64_t k = 16; k <= most_k; k *= 4) {
        const Operands x(kind, k);
        const std::array<std::vector<double>, 5> all = {
            on_device(device, VKGEMM_ACCURACY_F64_SPLIT, x), on_device(device, VKGEMM_ACCURACY_F64_SPLIT_WIDE, x),
            on_device(device, VKGEMM_ACCURACY_DEFAULT, x), on_host<double>(x), on_host<long double>(x)};
        std::printf("| %llu |", static_cast<unsigned long long>(k));
        for (size_t i = 0; i < all.size(); ++i) {
            if (all[i].empty()) {
                std::printf(" – |");
                continue;
            }
            const Error error(x, all[i]);
            std::printf(" %.3g (%.3g) |", error.most, error.mean);
            panel.series[i].points.push_back({static_cast<double>(k), error.most});
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    std::erase_if(panel.series, [](const tool::LineSeries& s) { return s.points.empty(); });
    return panel;
}

}  // namespace

int main(int count, char** arguments) {
    const uint64_t most_k = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 65536;
    const std::string folder = count > 2 ? arguments[2] : "";
    const host::Device device = value(host::Device::open());
    std::printf("%s. Errors: largest (mean) |error| of an element of D, in units of 2^-53 of the sum of |a·b|.\n",
                device.info().name.c_str());
    tool::LinePlot plot{.title = "Errors of f64 products, 16 x 16 x K",
                        .subtitle = "largest |error| of an element in units of 2^-53 of the sum of |a·b|, logarithmic",
                        .x_axis = "K",
                        .panels = {}};
    for (const Kind& kind : kinds) plot.panels.push_back(study(kind, most_k, device));
    if (!folder.empty()) std::ofstream(folder + "/f64_error.svg", std::ios::binary) << svg(plot);
}
