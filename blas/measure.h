// SPDX-License-Identifier: MIT
// Measures the device on calls like those of programs, some 0.1 s in all, when it is opened for VKGEMM_BLAS=auto.
#pragma once
#include <cmath>

#include "blas/tiles.h"

namespace vkgemm::blas {

/// Seconds of the best of two calls, after one that makes plans and memory. The result must be right, too.
template <class R>
Result<double> seconds_of_call(Engine& engine, int64_t m, int64_t n, int64_t k, int64_t tile) {
    std::vector<R> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n));
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<R>(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<R>(i % 5) - 2;
    const Gemm<R> g{Op::none, Op::none, m, n, k, 1, a.data(), m, b.data(), k, 0, c.data(), m};
    double best = HUGE_VAL;
    for (int run = 0; run < 3; ++run) {
        const auto start = Clock::now();
        if (Status s = Tiles<R>(engine, g, tile).run(); !s) return s;
        if (run > 0) best = std::min(best, seconds_since(start));
    }
    R wanted = 0;
    for (int64_t l = 0; l < k; ++l)
        wanted += a[static_cast<size_t>(m - 1 + l * m)] * b[static_cast<size_t>((n - 1) * k + l)];
    if (c.back() != wanted) return Status{VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device computes wrong results"};
    return best;
}

template <class R>
Result<Rates> measure(Engine& engine, int64_t tile) {
    Rates rates;
    for (uint64_t size = 512; size <= 2048; size *= 2) {  // a slow device ends early
        const auto seconds = engine.time({.type = type_of<R>, .m = size, .n = size, .k = size});
        if (!seconds) return seconds.status();
        rates.operations = 2.0 * static_cast<double>(size * size * size) / std::max(*seconds, 1e-7);
        if (*seconds > 2e-3) break;
    }
    const auto small = seconds_of_call<R>(engine, 64, 64, 64, tile);
    if (!small) return small.status();
    const auto tall = seconds_of_call<R>(engine, 2048, 64, 2048, tile);  // A is most of what moves
    if (!tall) return tall.status();
    const auto flat = seconds_of_call<R>(engine, 2048, 2048, 64, tile);  // C is
    if (!flat) return flat.status();
    constexpr double moved = 2048.0 * 2048;
    const auto rate = [&](double seconds) {
        const double beside = *small + 2 * 64 * moved / rates.operations;
        return moved * sizeof(R) / std::max(seconds - beside, 0.1 * seconds);
    };
    rates.latency = *small, rates.up = rate(*tall), rates.down = rate(*flat);
    return rates;
}

}  // namespace vkgemm::blas
