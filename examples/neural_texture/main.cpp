// SPDX-License-Identifier: MIT
// A small renderer that learns: a network is trained to know a texture while the same frames draw with it. See
// docs/renderer.md.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "renderer.h"
#include "window.h"

using namespace renderer;

namespace {

constexpr const char* usage = R"(usage: neural_texture [OPTION...]
Trains a network to know a texture while it draws with it.

  --steps N            training steps (2000)
  --steps-per-frame N  of them in one frame (1)
  --batch N            points of a training step, a multiple of 64 (65536)
  --width N            of the hidden layers: 64 or 128 (64)
  --material NAME      brick, marble or sdf (brick)
  --size WxH           of the screen (1280x720)
  --whole-screen       run the network on every pixel, not only on those that see a surface
  --f32                weights and activations in f32, for devices without 16-bit storage
  --out FOLDER         write frames, the contact sheet and the curve of the loss there
  --graph              print the passes of the first frame
  --window             show the frames in a window, until Escape
  --inject EVENT       resize, minimise or lose (the device), half-way
)";

/// The option that is read, and its value.
struct Argument {
    const std::string name, value;

    [[noreturn]] void refuse(const std::string& wanted) const {
        fail(name + " takes " + wanted + ", not '" + value + "'; --help lists the options", 2);
    }
    uint32_t number(std::string_view text, uint32_t least, uint32_t most, uint32_t unit = 1) const {
        uint32_t n = 0;
        const auto [stop, error] = std::from_chars(text.begin(), text.end(), n);
        if (error != std::errc{} || stop != text.end() || n < least || n > most || n % unit)
            refuse("a number from " + std::to_string(least) + " to " + std::to_string(most) +
                   (unit > 1 ? ", a multiple of " + std::to_string(unit) : ""));
        return n;
    }
    uint32_t one_of(std::initializer_list<const char*> names) const {
        const auto* const found = std::ranges::find(names, value);
        std::string all;
        for (const char* n : names) all += (all.empty() ? "" : ", ") + std::string(n);
        if (found == names.end()) refuse("one of " + all);
        return static_cast<uint32_t>(found - names.begin());
    }
    VkExtent2D extent() const {
        const size_t x = std::min(value.find('x'), value.size());
        return {number(value.substr(0, x), 16, 8192), number(value.substr(std::min(x + 1, value.size())), 16, 8192)};
    }
};

Options parse(int count, char** arguments) {
    Options o;
    const std::map<std::string, bool*> flags{{"--whole-screen", &o.whole_screen},
                                             {"--f32", &o.settings.f32},
                                             {"--graph", &o.graph},
                                             {"--window", &o.window}};
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h") std::fputs(usage, stdout), std::exit(0);
        const auto flag = flags.find(name);
        if (flag != flags.end()) {
            *flag->second = true;
            continue;
        }
        const Argument a{name, i + 1 < count ? arguments[++i] : ""};
        if (name == "--steps")
            o.steps = a.number(a.value, 0, 10'000'000);
        else if (name == "--steps-per-frame")
            o.steps_per_frame = a.number(a.value, 1, 1000);
        else if (name == "--batch")
            o.settings.batch = a.number(a.value, 64, 1 << 20, 64);
        else if (name == "--width")
            o.settings.width = 64u << a.one_of({"64", "128"});
        else if (name == "--material")
            o.settings.material = a.one_of({"brick", "marble", "sdf"});
        else if (name == "--size")
            o.size = a.extent();
        else if (name == "--out")
            o.out = a.value;
        else if (name == "--inject")
            o.inject = 1 + a.one_of({"resize", "minimise", "lose"});
        else
            fail("unknown option " + name + "; --help lists the options", 2);
    }
    return o;
}

}  // namespace

int main(int count, char** arguments) {
    const Options options = parse(count, arguments);
    unsigned messages = 0;
    {
        Purpose purpose{options.settings.f32,
                        Network::problems(options.settings, options.size.width * options.size.height)};
        if (options.window)
            purpose.instance_extensions = Window::extensions(),
            purpose.device_extensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
        Gpu gpu(purpose);
        std::printf("%s, %s, batches of %u points, layers of %u\n", gpu.properties.deviceName, gpu.f32 ? "f32" : "f16",
                    options.settings.batch, options.settings.width);
        Renderer r(gpu, options);
        run(r);
        check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
        messages = gpu.messages;
    }
    if (messages) std::printf("%u messages of the validation layer\n", messages);
    return messages ? 1 : 0;
}
