// SPDX-License-Identifier: MIT
// Measures the device on calls like those of programs, some 0.1 s in all, when it is opened for VKGEMM_BLAS=auto.
#pragma once
#include <cmath>

#include "blas/multiply.h"

namespace vkgemm::blas {

/// Two operands that stay on the device while this exists.
class Keep {
   public:
    Keep(Engine& engine, const void* a, const void* b, uint64_t bytes) : engine_(engine), operands_{a, b} {
        for (const void* x : operands_)
            if (x) engine.keep(x, bytes);
    }
    Keep(const Keep&) = delete;
    Keep& operator=(const Keep&) = delete;
    ~Keep() {
        for (const void* x : operands_)
            if (x) engine_.forget(x);
    }

   private:
    Engine& engine_;
    const void* operands_[2];
};

/// Seconds of the best of some calls for which nothing was made any more: neither plans nor memory, which each flight
/// has of its own. The result must be right, too.
template <class R>
Result<double> seconds_of_call(Engine& engine, int64_t size, int64_t tile, bool keeps) {
    constexpr int most_runs = 24, enough = 5;
    constexpr double patience = 0.03;  // seconds, from the first run that counts
    const auto n = static_cast<size_t>(size);
    std::vector<R> a(n * n), b(n * n), c(n * n);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<R>(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<R>(i % 5) - 2;
    const Gemm<R> g{Op::none, Op::none, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(), size};
    const Keep kept(engine, keeps ? a.data() : nullptr, keeps ? b.data() : nullptr, n * n * sizeof(R));
    double best = HUGE_VAL, last = HUGE_VAL, spent = 0;
    int counted = 0;
    for (int run = 0; run < most_runs && counted < enough && spent < patience; ++run) {
        const uint64_t created = engine.created();
        const auto start = Clock::now();
        if (Status s = Tiles<R>(g, {tile, tile}, 1).run(engine, 0); !s) return s;
        last = seconds_since(start);
        if (engine.created() != created) continue;
        best = std::min(best, last);
        spent += last;
        ++counted;
    }
    best = std::min(best, last);  // where something is made in every run, as without room on the device
    R wanted = 0;
    for (size_t l = 0; l < n; ++l) wanted += a[n - 1 + l * n] * b[(n - 1) * n + l];
    if (c.back() != wanted) return Status{VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device computes wrong results"};
    return best;
}

/// Three plans in all, because to compile one may take the driver half a second.
template <class R>
Result<Rates> measure(Engine& engine, int64_t tile) {
    if (Status s = engine.finish(); !s) return s;  // of what stays, it may still compute
    Rates rates;
    int64_t size = 0;
    double product = 0;
    for (const int64_t next : {int64_t{512}, int64_t{2048}}) {  // a slow device ends early
        size = std::min(next, tile);
        const auto side = static_cast<uint64_t>(size);
        const auto seconds = engine.time({.type = type_of<R>, .m = side, .n = side, .k = side});
        if (!seconds) return seconds.status();
        product = std::max(*seconds, 1e-7);
        if (product > 1e-3 || size < next) break;
    }
    const double n = static_cast<double>(size), moved = n * n * sizeof(R);
    rates.operations = 2 * n * n * n / product;
    const auto small = seconds_of_call<R>(engine, std::min<int64_t>(64, tile), tile, false);
    if (!small) return small.status();
    const auto whole = seconds_of_call<R>(engine, size, tile, false);
    if (!whole) return whole.status();
    const auto kept = seconds_of_call<R>(engine, size, tile, true);
    if (!kept) return kept.status();
    rates.latency = *small;
    rates.up = 2 * moved / std::max(*whole - *kept, 0.1 * *whole);
    rates.down = moved / std::max(*kept - *small - product, 0.1 * *kept);
    return rates;
}

}  // namespace vkgemm::blas
