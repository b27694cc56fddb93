// SPDX-License-Identifier: MIT
// The renderer of examples/neural_texture, timed by timestamps on the GPU: the median of many runs of a training step,
// of inference and of frames, as a whole and pass by pass. A GPU lowers its clock while it waits, so each case first
// runs for a while.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/renderer/renderer_test.h"

namespace renderer_test {
namespace {

/// The medians of what `add` adds, which each submission has several times.
Times medians(Renderer& r, bool each, const std::function<void(uint32_t)>& add) {
    using Clock = std::chrono::steady_clock;
    constexpr uint32_t repeats = 4, runs = 20, least_runs = 3;
    constexpr double measured = 1;        // seconds, at most
    static double warm_up_of_next = 0.8;  // 0.2 left the first case at the clock of an idle GPU
    const double warm_up = std::exchange(warm_up_of_next, 0.4);
    const Clock::time_point start = Clock::now();
    const auto since = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<Times> all;
    r.graph.time_each = each;
    for (uint32_t step = 0; all.size() < least_runs || (all.size() < runs && since() < warm_up + measured);) {
        const bool warm = since() > warm_up;
        for (uint32_t i = 0; i < repeats; ++i) add(step++);
        Times times = r.now();
        if (warm) all.push_back(std::move(times));
    }
    r.graph.time_each = false;
    Times out = all[0];
    for (size_t i = 0; i < out.size(); ++i) {
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::ranges::nth_element(all, middle, {}, [i](const Times& times) { return times[i].milliseconds; });
        out[i].milliseconds = (*middle)[i].milliseconds / repeats;
        out[i].bytes /= repeats;
    }
    return out;
}

/// Prints the parts of what `add` adds, and then its passes if `each`.
void time(Renderer& r, const std::string& what, bool each, const std::function<void(uint32_t)>& add) {
    double sum = 0;
    std::printf("\n%s:", what.c_str());
    for (const Time& t : medians(r, false, add)) {
        std::printf(" %s %.1f us,", t.name.c_str(), t.milliseconds * 1e3);
        sum += t.milliseconds * 1e3;
    }
    std::printf(" together %.1f us\n", sum);
    std::fflush(stdout);
    if (!each) return;
    std::printf("\n| pass | us | MB | GB/s | kernel of vkgemm |\n| --- | ---: | ---: | ---: | --- |\n");
    for (const Time& t : medians(r, true, add)) {
        const double us = t.milliseconds * 1e3, mb = static_cast<double>(t.bytes) * 1e-6;
        std::printf("| %s | %.1f | %.2f | %.0f | %s |\n", t.name.c_str(), us, mb, us > 0 ? mb * 1e3 / us : 0,
                    t.kernel.c_str());
    }
}

}  // namespace

void bench(Renderer& r, bool frames, bool each) {
    const uint32_t batch = r.options.settings.batch;
    const Inference inference(r.gpu, r.network, batch);
    const Resource counted = r.gpu.buffer("counted", sizeof(Counted));
    const Resource read = r.gpu.buffer("count for the host", sizeof(Counted), true);
    r.graph.write("count", counted, counted_rows(batch));
    const auto frame = [&](uint32_t i, bool whole) {
        r.network.train(r.graph, i);
        r.draw(1, 1, whole);
    };
    time(r, "training step", each, [&](uint32_t i) { r.network.train(r.graph, i); });
    time(r, "inference", each, [&](uint32_t) {
        r.graph.part("infer");
        inference.run(r.graph, counted);
    });
    if (!frames) return;
    time(r, "frame with a training step, every pixel", each, [&](uint32_t i) { frame(i, true); });
    time(r, "frame with a training step, pixels with a surface", each, [&](uint32_t i) { frame(i, false); });
    r.graph.read_back("count", r.counted, read);
    r.now();
    std::printf("%u pixels with a surface\n", read.read<Counted>()[0].m);
}

}  // namespace renderer_test
