// SPDX-License-Identifier: MIT
// A small renderer that learns: a network is trained to know a texture while the same frames draw with it. See
// docs/renderer.md.
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
  --psnr-floor N       end with code 1 if the last PSNR is lower, or not 10 dB above that of untrained weights
  --check-gradients    compare gradients with finite differences, and end
  --bench              time training steps, inference and frames, pass by pass, and end
  --inject EVENT       resize, minimise or lose (the device), half-way
)";

[[noreturn]] void refuse(const std::string& text) { fail(text + "; --help lists the options", 2); }

uint32_t number(const std::string& option, const std::string& text, uint32_t least, uint32_t most) {
    uint32_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < least || value > most)
        refuse(option + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" +
               text + "'");
    return value;
}

uint32_t one_of(const std::string& option, const std::string& text, std::initializer_list<const char*> names) {
    std::string all;
    uint32_t at = 0;
    for (const char* name : names) {
        if (text == name) return at;
        all += (at++ ? ", " : "") + std::string(name);
    }
    refuse(option + " takes one of " + all + ", not '" + text + "'");
}

bool set_flag(Options& o, const std::string& name) {
    if (name == "--whole-screen") return o.whole_screen = true;
    if (name == "--f32") return o.settings.f32 = true;
    if (name == "--graph") return o.graph = true;
    if (name == "--window") return o.window = true;
    if (name == "--bench") return o.bench = true;
    if (name == "--check-gradients") return o.check_gradients = o.settings.f32 = true;
    return false;
}

void set_value(Options& o, const std::string& name, const std::string& value) {
    if (name == "--steps") {
        o.steps = number(name, value, 0, 10000000);
    } else if (name == "--steps-per-frame") {
        o.steps_per_frame = number(name, value, 1, 1000);
    } else if (name == "--batch") {
        o.settings.batch = number(name, value, 64, 1 << 20);
        if (o.settings.batch % 64) refuse("--batch takes a multiple of 64, not " + value);
    } else if (name == "--width") {
        o.settings.width = 64u << one_of(name, value, {"64", "128"});
    } else if (name == "--material") {
        o.settings.material = one_of(name, value, {"brick", "marble", "sdf"});
    } else if (name == "--size") {
        const size_t x = value.find('x');
        if (x == std::string::npos) refuse("--size takes WIDTHxHEIGHT, not '" + value + "'");
        o.size = {number(name, value.substr(0, x), 16, 8192), number(name, value.substr(x + 1), 16, 8192)};
    } else if (name == "--out") {
        o.out = value;
    } else if (name == "--psnr-floor") {
        o.psnr_floor = number(name, value, 0, 100);
    } else if (name == "--inject") {
        one_of(name, value, {"resize", "minimise", "lose"}), o.inject = value;
    } else {
        refuse("unknown option " + name);
    }
}

Options parse(int count, char** arguments) {
    Options o;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h") std::fputs(usage, stdout), std::exit(0);
        if (!set_flag(o, name)) set_value(o, name, i + 1 < count ? arguments[++i] : "");
    }
    return o;
}

}  // namespace

int main(int count, char** arguments) {
    const Options options = parse(count, arguments);
    int code = 1;
    unsigned messages = 0;
    {
        Gpu gpu;
        gpu.f32 = options.settings.f32;
        gpu.start(options.window ? window_extensions() : std::vector<const char*>{});
        std::vector<const char*> extensions;
        if (options.window) extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
        gpu.open(Network::problems(options.settings, options.size.width * options.size.height), extensions);
        std::printf("%s, %s, batches of %u points, layers of %u\n", gpu.properties.deviceName, gpu.f32 ? "f32" : "f16",
                    options.settings.batch, options.settings.width);
        Renderer r(gpu, options);
        code = options.check_gradients ? check_gradients(r) : options.bench ? bench(r) : run(r);
        check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
        messages = gpu.messages;
    }
    if (messages) std::printf("%u messages of the validation layer\n", messages);
    return messages ? 1 : code;
}
