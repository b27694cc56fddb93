// SPDX-License-Identifier: MIT
#include "renderer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "window.h"

namespace renderer {
namespace {

constexpr uint32_t milestones[] = {100, 1000, 5000};  // steps after which the texture is shown
using Clock = std::chrono::steady_clock;

/// What a run has to show: a line each second, and in the end pictures and averages.
struct Record {
    std::vector<Snapshot> snapshots{};
    std::vector<Finished> curve{};
    std::map<std::string, double> milliseconds{};  // of all frames, by part
    unsigned frames = 0, frames_said = 0;
    Clock::time_point said = Clock::now();

    void note(const Finished& f, VkExtent2D size, bool last) {
        ++frames;
        for (const Time& t : f.times) milliseconds[t.name] += t.milliseconds;
        if (f.trained) curve.push_back(f);
        const Clock::time_point now = Clock::now();
        if (!last && now - said < std::chrono::seconds(1)) return;
        const double frame = std::chrono::duration<double, std::milli>(now - said).count() / (frames - frames_said);
        std::printf("frame %.2f ms, step %u", frame, f.steps);
        if (!curve.empty()) std::printf(", PSNR %.2f dB", curve.back().psnr);
        std::printf(", %u pixels of %ux%u;", f.rows, size.width, size.height);
        for (const Time& t : f.times) std::printf(" %s %.3f ms", t.name.c_str(), t.milliseconds);
        std::printf("\n");
        std::fflush(stdout);
        said = now, frames_said = frames;
    }
    void finish(const std::string& out) const {
        if (!out.empty()) contact_sheet(snapshots).save(out + "/contact.png");
        if (!out.empty() && !curve.empty()) loss_curve(curve).save(out + "/loss.png");
        const Snapshot &first = snapshots.front(), &last = snapshots.back();
        std::printf("PSNR of the texture: %.2f dB before, %.2f dB after %u steps; %u frames, on average:", first.psnr,
                    last.psnr, last.step, frames);
        for (const auto& [part, sum] : milliseconds) std::printf(" %s %.3f ms", part.c_str(), sum / frames);
        std::printf("\n");
    }
};

void take_snapshot(Renderer& r, Record& record, uint32_t step) {
    record.snapshots.push_back(r.snapshot(step));
    if (!r.options.out.empty() && step != 0)
        r.screenshot().save(r.options.out + "/frame_" + std::to_string(step) + ".png");
}

}  // namespace

Renderer::Renderer(Gpu& g, const Options& o)
    : options(o),
      gpu(g),
      graph(g),
      network(g, o.settings),
      frames(g, graph, network),
      scene(g, network),
      memory(g),
      texture(g, network, memory, side * side) {
    pictures = memory.buffer("pictures", VkDeviceSize{side} * side * 4 * sizeof(uint32_t));
    pictures_read = memory.buffer("pictures for the host", pictures.bytes, true);
    graph.part("start");
    network.reset(graph);
    resize(o.size);
    frames.now();
}

void Renderer::resize(VkExtent2D size) {
    check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
    scene.resize(graph, size);
}

uint32_t Renderer::record_frame(uint32_t step, float time, bool minimised) {
    Frame& f = frames.current();
    uint32_t last = std::min(step + options.steps_per_frame, options.steps);
    for (const uint32_t shown : milestones)
        if (step < shown) last = std::min(last, shown);
    f.trained = step < last, f.drawn = !minimised, f.steps = last;
    while (step < last) network.train(graph, step++);
    if (f.trained) graph.read_back("losses", network.losses, f.losses);
    if (f.drawn) {
        scene.draw(graph, time, 0.5f, options.whole_screen);
        graph.read_back("count", scene.counted, f.counted);
    }
    return last;
}

Snapshot Renderer::snapshot(uint32_t step) {
    constexpr uint32_t points = side * side;
    graph.part("snapshot");
    texture.run(graph, nullptr, side);
    graph.compute("pictures", "picture", {reads(texture.output), writes(pictures)},
                  words(side, options.settings.material), {points / 64});
    graph.read_back("pictures", pictures, pictures_read);
    frames.now();
    const auto all = pictures_read.read<uint32_t>();
    const auto picture = [&](size_t i) { return Picture(side, side, all.subspan(i * points, points)); };
    double squares = 0;
    for (const uint32_t word : all.last(points)) squares += static_cast<double>(std::bit_cast<float>(word));
    return {step, -10 * std::log10(squares / 3 / points), picture(0), picture(1), picture(2)};
}

Picture Renderer::screenshot() {
    const auto [width, height] = scene.screen.size;
    Arena own(gpu);
    const Buffer pixels = own.buffer("screenshot", VkDeviceSize{width} * height * 4, true);
    graph.part("screenshot");
    graph.read_back("screenshot", scene.screen, pixels);
    frames.now();
    return {width, height, pixels.read<uint32_t>()};
}

void run(Renderer& r) {
    const Options& o = r.options;
    const std::unique_ptr<Window> window = o.window ? std::make_unique<Window>(r.gpu, o.size) : nullptr;
    Record record;
    take_snapshot(r, record, 0);
    r.graph.print_next = o.graph;
    Finished finished;
    uint32_t step = 0;
    for (uint32_t frame = 0; window ? !window->closed() : step < o.steps; ++frame) {
        const bool middle = step >= o.steps / 2 && step < o.steps / 2 + o.steps_per_frame && step < o.steps;
        const uint32_t event = middle ? o.inject : nothing;
        VkExtent2D size = window ? window->size() : r.scene.screen.size;
        if (event == resize) size = {o.size.width / 2, o.size.height / 2};
        const bool minimised = event == minimise || size.width == 0 || size.height == 0;
        r.frames.lost = event == lose;
        if (!minimised && (size.width != r.scene.screen.size.width || size.height != r.scene.screen.size.height))
            r.resize(size);
        if (r.frames.wait(finished)) record.note(finished, r.scene.screen.size, false);
        const uint32_t before =
            std::exchange(step, r.record_frame(step, 0.9f + static_cast<float>(frame) / 60, minimised));
        if (window && !minimised)
            window->present(r.graph, r.frames, r.scene.screen);
        else
            r.frames.submit();
        if (step > before && (step == o.steps || std::ranges::count(milestones, step))) take_snapshot(r, record, step);
    }
    for (uint32_t i = 0; i < Frames::in_flight; ++i, r.frames.skip())
        if (r.frames.wait(finished)) record.note(finished, r.scene.screen.size, i + 1 == Frames::in_flight);
    record.finish(o.out);
}

}  // namespace renderer
