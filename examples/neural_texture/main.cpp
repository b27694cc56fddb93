// SPDX-License-Identifier: MIT
// A small renderer that learns: a network is trained to know a texture while the same frames draw with it. See
// docs/renderer.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "report.h"
#include "window.h"

using namespace renderer;

namespace {

/// Learns and draws until all steps are done or the window is closed.
void run(Renderer& r) {
    const Options& o = r.options;
    const std::unique_ptr<Window> window = o.window ? std::make_unique<Window>(r.gpu, o.size) : nullptr;
    Report report;
    report.take_snapshot(r, 0);
    r.graph.print_next = o.graph;
    uint32_t step = 0;
    for (uint32_t frame = 0; window ? !window->closed() : step < o.steps; ++frame) {
        const bool middle = step >= o.steps / 2 && step < o.steps / 2 + o.steps_per_frame && step < o.steps;
        const uint32_t event = middle ? o.inject : nothing;
        vk::Extent2D size = window ? window->size() : r.extent;
        if (event == resize) size = vk::Extent2D(o.size.width / 2, o.size.height / 2);
        const bool minimised = event == minimise || size.width == 0 || size.height == 0;
        r.lost = event;
        if (!minimised && size != r.extent) r.resize(size);
        if (const Finished* f = r.wait()) report.note(*f, r.extent, false);
        const uint32_t before =
            std::exchange(step, r.add_frame(step, 0.9f + static_cast<float>(frame) / 60, minimised));
        if (window && !minimised)
            window->present(r);
        else
            r.submit();
        if (step > before && (step == o.steps || std::ranges::count(milestones, step))) report.take_snapshot(r, step);
    }
    for (uint32_t i = 0; i < Renderer::in_flight; ++i, r.skip())
        if (const Finished* f = r.wait()) report.note(*f, r.extent, i + 1 == Renderer::in_flight);
    report.finish(o.out);
}

using Names = std::map<std::string, uint32_t>;

/// Fills `o`; returns an exit code if the program ends here.
std::optional<int> parse(Options& o, int count, char** arguments) {
    CLI::App app("Trains a network to know a texture while it draws with it.", "vkgemm_example_neural_texture");
    std::array<uint32_t, 2> size{o.size.width, o.size.height};
    app.option_defaults()->always_capture_default()->take_last();
    app.add_option("--steps", o.steps, "training steps")->check(CLI::Range(0u, 10'000'000u));
    app.add_option("--steps-per-frame", o.steps_per_frame, "of them in one frame")->check(CLI::Range(1u, 1000u));
    app.add_option("--batch", o.settings.batch, "points of a training step, a multiple of 64")
        ->check(CLI::Range(64u, 1u << 20))
        ->check([](const std::string& n) { return std::strtoul(n.c_str(), nullptr, 0) % 64 ? n + " is none" : ""; });
    app.add_option("--width", o.settings.width, "of the hidden layers")->check(CLI::IsMember({64, 128}));
    app.add_option("--material", o.settings.material, "what the network learns")
        ->option_text("brick, marble or sdf [brick]")
        ->transform(CLI::CheckedTransformer(Names{{"brick", 0}, {"marble", 1}, {"sdf", 2}}));
    app.add_option("--size", size, "of the screen")
        ->option_text("WIDTHxHEIGHT [1280x720]")
        ->delimiter('x')
        ->check(CLI::Range(16u, 8192u));
    app.add_flag("--whole-screen", o.whole_screen, "run the network on every pixel, not only where there is a surface");
    app.add_flag("--f32", o.settings.f32, "weights and activations in f32, for devices without 16-bit storage");
    app.add_option("--out", o.out,
                   "folder for frames, the contact sheet and the curve of the loss; made if it is not there");
    app.add_flag("--graph", o.graph, "print the passes of the first frame");
    app.add_flag("--window", o.window, "show the frames in a window, until Escape");
    app.add_option("--inject", o.inject, "what happens half-way, for tests; lose: the device")
        ->option_text("resize, minimise, lose or lose_in_wait")
        ->transform(CLI::CheckedTransformer(
            Names{{"resize", resize}, {"minimise", minimise}, {"lose", lose}, {"lose_in_wait", lose_in_wait}}));
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? 2 : 0;
    }
    o.size = vk::Extent2D(size[0], size[1]);
    if (!o.out.empty()) std::filesystem::create_directories(o.out);
    return {};
}

}  // namespace

int main(int count, char** arguments) try {
    Options o;
    if (const auto code = parse(o, count, arguments)) return *code;
    unsigned messages = 0;
    Purpose purpose{.f32 = o.settings.f32,
                    .problems = Network::problems(o.settings, o.size.width * o.size.height),
                    .messages = &messages};
    if (o.window) {
        purpose.instance_extensions = Window::extensions();
        purpose.device_extensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    }
    {
        Gpu gpu(purpose);
        std::printf("%s, %s, batches of %u points, layers of %u\n", gpu.properties.deviceName.data(),
                    gpu.f32 ? "f32" : "f16", o.settings.batch, o.settings.width);
        Renderer r(gpu, o);
        run(r);
    }
    if (messages) std::printf("%u messages of the validation layer\n", messages);
    return messages ? 1 : 0;
} catch (const vk::DeviceLostError& e) {
    std::fprintf(stderr, "neural_texture: the device is lost (%s); start the program again\n", e.what());
    return 3;
} catch (const std::exception& e) {
    std::fprintf(stderr, "neural_texture: %s\n", e.what());
    return 1;
}
