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

double psnr(const Picture& a, const Picture& b) {
    double squares = 0;
    for (size_t i = 0; i < a.rgba.size(); ++i)
        for (uint32_t shift = 0; shift < 24; shift += 8) {
            const double d = (a.rgba[i] >> shift & 255) - static_cast<double>(b.rgba[i] >> shift & 255);
            squares += d * d;
        }
    return 20 * std::log10(255.0) - 10 * std::log10(squares / 3 / static_cast<double>(a.rgba.size()) + 1e-12);
}

/// Whether the same picture comes out if the network runs on the pixels that were counted and if it runs on all, and
/// nearly the same from the reference.
bool agree(Renderer& r) {
    const auto draw = [&](float split, bool whole) {
        r.scene.draw(r.graph, 1, split, whole);
        return r.screenshot();
    };
    const Picture counted = draw(1, false);
    const double all = psnr(counted, draw(1, true)), reference = psnr(counted, draw(0, false));
    std::printf("counted pixels beside every pixel: %.1f dB; beside the reference: %.1f dB\n", all, reference);
    return all > 45 && reference > 25;
}

/// What a run has to show: a line each second, and in the end pictures and averages.
struct Record {
    std::vector<Snapshot> snapshots{};
    std::vector<CurvePoint> curve{};
    std::map<std::string, double> milliseconds{};  // of all frames, by part
    unsigned frames = 0, frames_said = 0;
    Clock::time_point said = Clock::now();

    void note(const Finished& f, VkExtent2D size, bool last) {
        ++frames;
        for (const Time& t : f.times) milliseconds[t.name] += t.milliseconds;
        if (f.trained) curve.push_back({f.steps, f.loss, f.psnr});
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
    /// Prints and writes the results, and returns the exit code.
    int judge(Renderer& r) const {
        const Options& o = r.options;
        if (!o.out.empty()) contact_sheet(snapshots).save(o.out + "/contact.png");
        if (!o.out.empty() && !curve.empty()) loss_curve(curve).save(o.out + "/loss.png");
        const double before = snapshots.front().psnr, after = snapshots.back().psnr;
        std::printf("PSNR of the texture: %.2f dB before, %.2f dB after %u steps; %u frames, on average:", before,
                    after, snapshots.back().step, frames);
        for (const auto& [part, sum] : milliseconds) std::printf(" %s %.3f ms", part.c_str(), sum / frames);
        std::printf("\n");
        if (o.psnr_floor == 0) return 0;
        if (!agree(r)) return 1;
        if (after >= o.psnr_floor && before <= o.psnr_floor - 10.0) return 0;
        std::printf("below the floor of %u dB, or untrained weights are not 10 dB below it\n", o.psnr_floor);
        return 1;
    }
};

void take_snapshot(Renderer& r, Record& record, uint32_t step) {
    record.snapshots.push_back(r.snapshot(step));
    if (!r.options.out.empty() && step != 0)
        r.screenshot().save(r.options.out + "/frame_" + std::to_string(step) + ".png");
}

/// One frame: some training steps, then a picture if there is a screen to draw on. Returns the steps until its end.
uint32_t record_frame(Renderer& r, uint32_t step, float time, bool minimised) {
    Frame& f = r.frames.current();
    uint32_t last = std::min(step + r.options.steps_per_frame, r.options.steps);
    for (const uint32_t shown : milestones)
        if (step < shown) last = std::min(last, shown);
    f.trained = step < last, f.drawn = !minimised, f.steps = last;
    while (step < last) r.network.train(r.graph, step++);
    if (f.trained) r.graph.read_back("losses", r.network.losses, f.losses);
    if (f.drawn) {
        r.scene.draw(r.graph, time, 0.5f, r.options.whole_screen);
        r.graph.read_back("count", r.scene.counted, f.counted);
    }
    return last;
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

Snapshot Renderer::snapshot(uint32_t step) {
    constexpr uint32_t points = side * side;
    graph.part("snapshot");
    texture.run_grid(graph, side);
    graph.compute("pictures", "picture", {reads(texture.output), writes(pictures)},
                  words(side, options.settings.material), points / 64);
    graph.read_back("pictures", pictures, pictures_read);
    frames.now();
    const auto all = pictures_read.read<uint32_t>();
    const auto picture = [&](size_t i) {
        Picture p(side, side);
        p.paste(0, 0, side, side, all.subspan(i * points, points));
        return p;
    };
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
    Picture picture(width, height);
    picture.paste(0, 0, width, height, pixels.read<uint32_t>());
    return picture;
}

int run(Renderer& r) {
    const Options& o = r.options;
    const std::unique_ptr<Window> window = o.window ? make_window(r.gpu, o.size) : nullptr;
    Record record;
    take_snapshot(r, record, 0);
    r.graph.print_next = o.graph;
    Finished finished;
    uint32_t step = 0;
    for (uint32_t frame = 0; window ? !window->closed() : step < o.steps; ++frame) {
        const bool middle = step >= o.steps / 2 && step < o.steps / 2 + o.steps_per_frame && step < o.steps;
        r.frames.lost = middle && o.inject == "lose";
        VkExtent2D size = r.scene.screen.size;
        if (middle && o.inject == "resize") size = {o.size.width / 2, o.size.height / 2};
        if (middle && o.inject == "minimise") size = {0, 0};
        if (window) size = window->size();
        const bool minimised = size.width == 0 || size.height == 0;
        if (!minimised && (size.width != r.scene.screen.size.width || size.height != r.scene.screen.size.height))
            r.resize(size);
        if (r.frames.wait(finished)) record.note(finished, r.scene.screen.size, false);
        const uint32_t before =
            std::exchange(step, record_frame(r, step, 0.9f + static_cast<float>(frame) / 60, minimised));
        if (window && !minimised)
            window->present(r.graph, r.frames, r.scene.screen);
        else
            r.frames.submit();
        if (step > before && (step == o.steps || std::ranges::count(milestones, step))) take_snapshot(r, record, step);
    }
    for (uint32_t i = 0; i < Frames::in_flight; ++i, r.frames.skip())
        if (r.frames.wait(finished)) record.note(finished, r.scene.screen.size, i + 1 == Frames::in_flight);
    return record.judge(r);
}

}  // namespace renderer
