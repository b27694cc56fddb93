// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <string>

#include "tests/renderer/renderer_test.h"

namespace renderer_test {
namespace {

double psnr(const Picture& a, const Picture& b) {
    double squares = 0;
    for (size_t i = 0; i < a.rgba.size(); ++i)
        for (uint32_t shift = 0; shift < 24; shift += 8) {
            const double d = (a.rgba[i] >> shift & 255) - static_cast<double>(b.rgba[i] >> shift & 255);
            squares += d * d;
        }
    return 20 * std::log10(255.0) - 10 * std::log10(squares / 3 / static_cast<double>(a.rgba.size()) + 1e-12);
}

int usage() {
    std::fputs(
        "usage: renderer_test gradients [BATCH] | learns [STEPS BATCH] | "
        "bench [BATCH WIDTH SCREEN_WIDTH SCREEN_HEIGHT] | sums [the same] | bench_compute [BATCH WIDTH]\n",
        stderr);
    return 2;
}

}  // namespace

bool check_learning(Renderer& r, double floor) {
    const double before = r.snapshot(0).psnr;
    for (uint32_t step = 0; step < r.options.steps; ++step) {
        r.network.train(r.graph, step);
        if (step % 10 == 9) r.now();
    }
    const double after = r.snapshot(r.options.steps).psnr;
    const auto draw = [&](float split, bool whole) {
        r.draw(1, split, whole);
        return r.screenshot();
    };
    const Resource read = r.gpu.buffer("count for the host", sizeof(Counted), true);
    const Picture counted = draw(1, false);
    r.graph.read_back("count", r.counted, read);
    r.now();
    const double seen = static_cast<double>(read.read<Counted>()[0].m) / static_cast<double>(counted.rgba.size());
    const double all = psnr(counted, draw(1, true)), reference = psnr(counted, draw(0, false));
    std::printf(
        "texture: %.1f dB, and %.1f dB before; counted pixels beside every pixel: %.1f dB; beside the "
        "reference: %.1f dB; %.2f %% of the pixels see a surface\n",
        after, before, all, reference, 100 * seen);
    return after >= floor && before <= floor - 10 && all > 45 && reference > 25 && std::abs(seen - 0.6596) < 0.002;
}

}  // namespace renderer_test

int main(int count, char** arguments) {
    using namespace renderer_test;
    const std::string what = count > 1 ? arguments[1] : "";
    const auto number = [&](int i, int otherwise) {
        return static_cast<uint32_t>(count > i ? std::stoi(arguments[i]) : otherwise);
    };
    Options o;
    if (what == "gradients") {
        o.settings = {.batch = number(2, 1024), .f32 = true};
        o.size = vk::Extent2D(64, 64);
    } else if (what == "learns") {
        o.steps = number(2, 100);
        o.settings.batch = number(3, 4096);
        o.size = vk::Extent2D(320, 180);
    } else if (what == "bench" || what == "sums" || what == "bench_compute") {
        o.settings.batch = number(2, 65536);
        o.settings.width = number(3, 64);
        o.size = vk::Extent2D(number(4, 1920), number(5, 1080));
    } else
        return usage();
    Purpose purpose{o.settings.f32, Network::problems(o.settings, o.size.width * o.size.height)};
    if (what == "bench_compute")  // a queue family without graphics, for which vkgemm has native kernels on Hopper
    {
        purpose.queue = vk::QueueFlagBits::eCompute;
        purpose.device_extensions = {VK_NVX_BINARY_IMPORT_EXTENSION_NAME};
    }
    Gpu gpu(purpose);
    std::printf("%s, %s, batches of %u points, layers of %u\n", gpu.properties.deviceName.data(),
                gpu.f32 ? "f32" : "f16", o.settings.batch, o.settings.width);
    Renderer r(gpu, o);
    const bool good = what == "gradients" ? check_gradients(r)
                      : what == "learns"  ? check_learning(r, 30)
                                          : (bench(r, what != "bench_compute", what != "sums"), true);
    return good ? 0 : 1;
}
