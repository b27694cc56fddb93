// SPDX-License-Identifier: MIT
#include "renderer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "window.h"

namespace renderer {
namespace {

constexpr uint32_t milestones[] = {100, 1000, 5000};  // steps after which the texture is shown
using Clock = std::chrono::steady_clock;

/// The screen as a picture on the host. Waits for the device.
Picture screenshot(Renderer& r, const Scene& scene) {
    const VkExtent2D size = scene.size();
    Arena memory(r.gpu);
    const Buffer pixels = memory.buffer("screenshot", VkDeviceSize{size.width} * size.height * 4, true);
    r.graph.part("screenshot");
    r.graph.pass(
        "screenshot",
        {copies(scene.screen(), VK_ACCESS_2_TRANSFER_READ_BIT), copies(pixels, VK_ACCESS_2_TRANSFER_WRITE_BIT)},
        [&](VkCommandBuffer commands) {
            const VkBufferImageCopy all{.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                        .imageExtent = {size.width, size.height, 1}};
            vkCmdCopyImageToBuffer(commands, scene.screen().handle, VK_IMAGE_LAYOUT_GENERAL, pixels.handle, 1, &all);
        });
    r.graph.pass(
        "to the host",
        {{.buffer = pixels.handle, .stage = VK_PIPELINE_STAGE_2_HOST_BIT, .access = VK_ACCESS_2_HOST_READ_BIT}},
        [](VkCommandBuffer) {});
    r.frames.now(r.graph);
    Picture picture(size.width, size.height);
    picture.paste(0, 0, size.width, size.height, pixels.read<uint32_t>());
    return picture;
}

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
bool agree(Renderer& r, Scene& scene) {
    const auto draw = [&](float split, bool whole) {
        scene.draw(r.graph, 1, split, whole);
        return screenshot(r, scene);
    };
    const Picture counted = draw(1, false);
    const double all = psnr(counted, draw(1, true)), reference = psnr(counted, draw(0, false));
    std::printf("counted pixels beside every pixel: %.1f dB; beside the reference: %.1f dB\n", all, reference);
    return all > 45 && reference > 25;
}

/// What a run has to show in the end.
struct Record {
    std::vector<Snapshot> snapshots{};
    std::vector<CurvePoint> curve{};
    std::map<std::string, double> milliseconds{};
    unsigned frames = 0, frames_said = 0;
    Clock::time_point said = Clock::now();
};

void say(const Finished& f, const Record& record, const VkExtent2D& size, double frame_ms) {
    std::printf("frame %.2f ms, step %u", frame_ms, f.steps);
    if (!record.curve.empty()) std::printf(", PSNR %.2f dB", record.curve.back().psnr);
    std::printf(", %u of %u pixels;", f.rows, size.width * size.height);
    for (const Time& t : f.times) std::printf(" %s %.3f ms", t.name.c_str(), t.milliseconds);
    std::printf("\n");
    std::fflush(stdout);
}

void note(Record& record, const Finished& f, const VkExtent2D& size, bool last) {
    ++record.frames;
    for (const Time& t : f.times) record.milliseconds[t.name] += t.milliseconds;
    const uint32_t known = record.curve.empty() ? 0 : record.curve.back().step;
    if (f.trained && f.steps > known) record.curve.push_back({f.steps, f.loss, f.psnr});
    const Clock::time_point now = Clock::now();
    if (!last && now - record.said < std::chrono::seconds(1)) return;
    const double milliseconds = std::chrono::duration<double, std::milli>(now - record.said).count();
    say(f, record, size, milliseconds / (record.frames - record.frames_said));
    record.said = now, record.frames_said = record.frames;
}

void take_snapshot(Renderer& r, const Scene& scene, Record& record, uint32_t step) {
    record.snapshots.push_back(r.snapshot(step));
    const std::string& out = r.options.out;
    if (!out.empty() && scene.size().width != 0 && step != 0)
        screenshot(r, scene).save(out + "/frame_" + std::to_string(step) + ".png");
}

void write_results(const Record& record, const std::string& out) {
    contact_sheet(record.snapshots).save(out + "/contact.png");
    if (record.curve.empty()) return;
    curve(record.curve).save(out + "/loss.png");
    std::ofstream csv(out + "/loss.csv");
    csv << "step,loss,psnr_db\n";
    for (const CurvePoint& p : record.curve) csv << p.step << ',' << p.loss << ',' << p.psnr << '\n';
    if (!csv) fail("cannot write " + out + "/loss.csv");
}

int judge(Renderer& r, Scene& scene, const Record& record) {
    const double before = record.snapshots.front().psnr, after = record.snapshots.back().psnr;
    std::printf("PSNR of the texture: %.2f dB before, %.2f dB after %u steps; %u frames, on average:", before, after,
                record.snapshots.back().step, record.frames);
    for (const auto& [part, sum] : record.milliseconds) std::printf(" %s %.3f ms", part.c_str(), sum / record.frames);
    std::printf("\n");
    const double floor = static_cast<double>(r.options.floor);
    if (floor <= 0) return 0;
    if (!agree(r, scene)) return 1;
    if (after >= floor && before <= floor - 10) return 0;
    std::printf("below the floor of %.1f dB, or untrained weights are not 10 dB below it\n", floor);
    return 1;
}

/// One frame: some training steps, then a picture if there is a screen to draw on.
void record_frame(Renderer& r, Scene& scene, uint32_t& step, float time, bool minimised) {
    Frames::Frame& f = r.frames.current();
    uint32_t last = std::min(step + r.options.steps_per_frame, r.options.steps);
    for (const uint32_t shown : milestones)
        if (step < shown) last = std::min(last, shown);
    for (; step < last; f.trained = true) r.network.train(r.graph, step++);
    f.steps = step;
    if (f.trained) r.graph.copy("losses", r.network.losses(), f.losses);
    f.drawn = !minimised;
    if (minimised) return;
    scene.draw(r.graph, time, r.options.split, r.options.whole_screen);
    r.graph.copy("count", scene.counted(), f.counted);
}

}  // namespace

Renderer::Renderer(Gpu& g, const Options& o)
    : options(o),
      gpu(g),
      graph(g),
      network(g, o.settings),
      frames(g, network),
      memory(g),
      texture(g, network, memory, side * side) {
    pictures = memory.buffer("pictures", VkDeviceSize{side} * side * 4 * sizeof(uint32_t));
    pictures_read = memory.buffer("pictures for the host", pictures.bytes, true);
    sample = g.compute("sample");
    picture = g.compute("picture");
    graph.part("start");
    network.reset(graph);
    frames.now(graph);
}

Snapshot Renderer::snapshot(uint32_t step) {
    constexpr uint32_t points = side * side;
    graph.part("snapshot");
    graph.compute("grid", sample, {writes(texture.points())}, words(points, 0u, 0u, side), points / 64);
    texture.run(graph, points, nullptr);
    graph.compute("pictures", picture, {reads(texture.points()), reads(texture.output()), writes(pictures)},
                  words(points, options.settings.material), points / 64);
    graph.copy("pictures", pictures, pictures_read);
    frames.now(graph);
    const auto all = pictures_read.read<uint32_t>();
    const auto part = [&](size_t i) {
        const auto p = all.subspan(i * points, points);
        return std::vector<uint32_t>(p.begin(), p.end());
    };
    double squares = 0;
    for (const uint32_t word : part(3)) squares += static_cast<double>(std::bit_cast<float>(word));
    return {step, -10 * std::log10(squares / 3 / points), side, part(0), part(1), part(2)};
}

int run(Renderer& r) {
    const Options& o = r.options;
    const std::unique_ptr<Window> window = o.window ? make_window(r.gpu, o.size) : nullptr;
    Scene scene(r.gpu, r.network);
    scene.resize(o.size);
    Record record;
    take_snapshot(r, scene, record, 0);
    r.graph.print_next(o.graph);
    Finished finished;
    bool minimised = false;
    uint32_t step = 0;
    for (uint32_t frame = 0; (step < o.steps || window) && (!window || !window->closed()); ++frame) {
        const bool middle = step >= o.steps / 2 && step < o.steps / 2 + o.steps_per_frame && step < o.steps;
        if (middle && o.inject == "lose") r.frames.lose();
        if (o.inject == "minimise") minimised = middle;
        VkExtent2D size =
            middle && o.inject == "resize" ? VkExtent2D{o.size.width / 2, o.size.height / 2} : scene.size();
        if (window) size = window->size(), minimised = size.width == 0 || size.height == 0;
        if (!minimised && (size.width != scene.size().width || size.height != scene.size().height)) {
            check(vkDeviceWaitIdle(r.gpu.device), "vkDeviceWaitIdle");
            scene.resize(size);
            r.graph.forget();
        }
        if (r.frames.begin(r.graph, finished)) note(record, finished, scene.size(), false);
        const uint32_t before = step;
        record_frame(r, scene, step, 0.9f + static_cast<float>(frame) / 60, minimised);
        if (window && !minimised)
            window->present(r.graph, r.frames, scene.screen());
        else
            r.frames.submit(r.graph);
        if (step > before && (step == o.steps || std::ranges::count(milestones, step)))
            take_snapshot(r, scene, record, step);
    }
    for (uint32_t i = 0; i < Frames::in_flight; ++i)
        if (r.frames.finish(r.graph, finished)) note(record, finished, scene.size(), i + 1 == Frames::in_flight);
    if (!o.out.empty()) write_results(record, o.out);
    return judge(r, scene, record);
}

}  // namespace renderer
