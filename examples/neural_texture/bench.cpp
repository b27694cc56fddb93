// SPDX-License-Identifier: MIT
// Times by timestamps on the GPU: the median of many runs of a training step, of inference, and of frames.
#include <algorithm>

#include "renderer.h"

namespace renderer {
namespace {

constexpr unsigned runs = 20;

template <class Add>
std::map<std::string, double> medians(Renderer& r, Add add) {
    std::map<std::string, std::vector<double>> all;
    for (unsigned i = 0; i < runs + 2; ++i) {
        add(i);
        for (const auto& [part, time] : r.frames.now(r.graph))
            if (i >= 2) all[part].push_back(time.milliseconds * 1000);
    }
    std::map<std::string, double> out;
    for (auto& [part, times] : all) {
        std::ranges::nth_element(times, times.begin() + runs / 2);
        out[part] = times[runs / 2];
    }
    return out;
}

void bench_network(Renderer& r) {
    const Settings& s = r.options.settings;
    Arena memory(r.gpu);
    const Inference inference(r.gpu, r.network, memory, s.batch);
    const Buffer counted = memory.buffer("counted", sizeof(Counted));
    const auto times = medians(r, [&](unsigned i) {
        r.network.train(r.graph, i);
        r.graph.part("");
        Counted all;
        all.group.m = s.batch, all.dispatch.x = (s.batch + 63) / 64;
        r.graph.pass("count", {copies(counted, VK_ACCESS_2_TRANSFER_WRITE_BIT)}, [=](VkCommandBuffer commands) {
            vkCmdUpdateBuffer(commands, counted.handle, 0, sizeof all, &all);
        });
        r.graph.part("infer");
        inference.run(r.graph, s.batch, nullptr);
        r.graph.part("infer counted");
        inference.run(r.graph, s.batch, &counted);
    });
    std::printf(
        "\n| points | width | training step | inference | its rows counted on the GPU |\n"
        "| ---: | ---: | ---: | ---: | ---: |\n| %u | %u | %.0f us | %.0f us | %.0f us |\n",
        s.batch, s.width, times.at("train"), times.at("infer"), times.at("infer counted"));
    r.graph.time_each(true);
    const auto each = medians(r, [&](unsigned i) { r.network.train(r.graph, i); });
    r.graph.time_each(false);
    std::printf("\n| pass of the training step | |\n| --- | ---: |\n");
    for (const auto& [name, time] : each) std::printf("| %s | %.1f us |\n", name.c_str(), time);
}

void bench_frames(Renderer& r) {
    Scene scene(r.gpu, r.network);
    scene.resize(r.options.size);
    Arena memory(r.gpu);
    const Buffer count = memory.buffer("count for the host", sizeof(Counted), true);
    std::printf(
        "\n| frame of %ux%u | pixels | train | raster | infer | shade | sum |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        r.options.size.width, r.options.size.height);
    for (const bool whole : {false, true}) {
        const auto times = medians(r, [&](unsigned i) {
            r.network.train(r.graph, i);
            scene.draw(r.graph, 1, 1, whole);
            r.graph.part("");
            r.graph.copy("count", scene.counted(), count);
        });
        const double sum = times.at("train") + times.at("raster") + times.at("infer") + times.at("shade");
        std::printf("| %s | %u | %.0f us | %.0f us | %.0f us | %.0f us | %.0f us |\n",
                    whole ? "every pixel" : "pixels with a surface",
                    whole ? r.options.size.width * r.options.size.height : count.read<Counted>()[0].group.m,
                    times.at("train"), times.at("raster"), times.at("infer"), times.at("shade"), sum);
    }
}

}  // namespace

int bench(Gpu& gpu, Options options) {
    Renderer r(gpu, options);
    bench_network(r);
    bench_frames(r);
    check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
    return 0;
}

}  // namespace renderer
