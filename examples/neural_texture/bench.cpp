// SPDX-License-Identifier: MIT
// Times by timestamps on the GPU: the median of many runs of a training step, of inference and of frames, as a whole
// and pass by pass. A GPU lowers its clock while it waits, so each case first runs for a while.
#include <algorithm>
#include <chrono>
#include <utility>

#include "renderer.h"

namespace renderer {
namespace {

constexpr unsigned most_runs = 20, least_runs = 3;
constexpr double first_warm_up = 0.4, warm_up = 0.1, measured = 1;  // seconds

/// The medians of what `add` adds `repeats` times to each submission, of one time.
Times medians(Renderer& r, uint32_t repeats, bool each, const std::function<void(uint32_t)>& add) {
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
    static bool is_first = true;
    const double warm = std::exchange(is_first, false) ? first_warm_up : warm_up;
    uint32_t step = 0;
    const auto submit = [&] {
        r.graph.time_each(each);
        for (uint32_t i = 0; i < repeats; ++i) add(step++);
        return r.frames.now(r.graph);
    };
    for (const Clock::time_point start = Clock::now(); submit(), since(start) < warm;) continue;
    std::vector<Times> all;
    for (const Clock::time_point start = Clock::now();
         all.size() < least_runs || (all.size() < most_runs && since(start) < measured);)
        all.push_back(submit());
    r.graph.time_each(false);
    Times out = all[0];
    for (size_t i = 0; i < out.size(); ++i) {
        std::ranges::nth_element(all, all.begin() + static_cast<int>(all.size() / 2), {},
                                 [i](const Times& times) { return times[i].milliseconds; });
        out[i].milliseconds = all[all.size() / 2][i].milliseconds / repeats;
        out[i].bytes /= repeats;
    }
    return out;
}

void print_each(const char* what, const Times& times) {
    std::printf("\n| pass of %s | us | MB | GB/s | kernel of vkgemm |\n| --- | ---: | ---: | ---: | --- |\n", what);
    double sum = 0;
    for (const Time& t : times) {
        const double us = t.milliseconds * 1e3, mb = static_cast<double>(t.bytes) * 1e-6;
        std::printf("| %s | %.1f | %.2f | %.0f | %s |\n", t.name.c_str(), us, mb, us > 0 ? mb * 1e3 / us : 0,
                    t.kernel.c_str());
        sum += us;
    }
    std::printf("| sum | %.1f | | | |\n", sum);
    std::fflush(stdout);
}

void bench_network(Renderer& r) {
    const Settings& s = r.options.settings;
    Arena memory(r.gpu);
    const Inference inference(r.gpu, r.network, memory, s.batch);
    const Buffer counted = memory.buffer("counted", sizeof(Counted));
    r.graph.pass("count", {copies(counted, VK_ACCESS_2_TRANSFER_WRITE_BIT)}, [=](VkCommandBuffer commands) {
        const Counted all = Counted::rows(s.batch);
        vkCmdUpdateBuffer(commands, counted.handle, 0, sizeof all, &all);
    });
    r.frames.now(r.graph);
    const auto train = [&](uint32_t i) { r.network.train(r.graph, i); };
    const auto infer = [&](uint32_t) { r.graph.part("infer"), inference.run(r.graph, s.batch, nullptr); };
    const auto infer_counted = [&](uint32_t) { r.graph.part("infer"), inference.run(r.graph, s.batch, &counted); };
    const auto whole = [&](const char* part, const std::function<void(uint32_t)>& add) {
        return 1e3 * milliseconds_of(medians(r, 8, false, add), part);
    };
    const double step = whole("train", train), fixed = whole("infer", infer), varied = whole("infer", infer_counted);
    std::printf(
        "\n| points | width | training step | inference | its rows counted on the GPU |\n"
        "| ---: | ---: | ---: | ---: | ---: |\n| %u | %u | %.1f us | %.1f us | %.1f us |\n",
        s.batch, s.width, step, fixed, varied);
    print_each("the training step", medians(r, 8, true, train));
    print_each("inference", medians(r, 8, true, infer));
    print_each("inference with counted rows", medians(r, 8, true, infer_counted));
}

void bench_frames(Renderer& r) {
    const VkExtent2D size = r.options.size;
    Scene scene(r.gpu, r.network);
    scene.resize(size);
    Arena memory(r.gpu);
    const Buffer count = memory.buffer("count for the host", sizeof(Counted), true);
    for (const bool whole : {false, true}) {
        const char* const what = whole ? "every pixel" : "pixels with a surface";
        const auto draw = [&](uint32_t) { scene.draw(r.graph, 1, 1, whole); };
        const auto frame = [&](uint32_t i) { r.network.train(r.graph, i), draw(i); };
        const Times times = medians(r, 4, false, frame);
        r.graph.copy("count", scene.counted(), count);
        r.frames.now(r.graph);
        const uint32_t pixels = whole ? size.width * size.height : count.read<Counted>()[0].group.m;
        std::printf("\n| frame of %ux%u |", size.width, size.height);
        for (const Time& t : times) std::printf(" %s |", t.name.c_str());
        std::printf(" sum |\n| --- | ---: | ---: | ---: | ---: | ---: |\n| %u: %s |", pixels, what);
        double sum = 0;
        for (const Time& t : times) std::printf(" %.1f us |", t.milliseconds * 1e3), sum += t.milliseconds * 1e3;
        std::printf(" %.1f us |\n", sum);
        print_each(what, medians(r, 4, true, draw));
    }
}

}  // namespace

int bench(Gpu& gpu, Options options) {
    Renderer r(gpu, options);
    if (options.bench == "steps")
        bench_network(r);
    else
        bench_frames(r);
    check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
    return 0;
}

}  // namespace renderer
