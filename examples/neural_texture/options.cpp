// SPDX-License-Identifier: MIT
#include "options.h"

#include <charconv>
#include <cstring>

namespace renderer {
namespace {

constexpr const char* usage = R"(usage: neural_texture [OPTION...]
Trains a network to know a texture while it draws with it.

  --steps N            training steps (2000)
  --steps-per-frame N  of them in one frame (1)
  --batch N            points of a training step, a multiple of 64 (65536)
  --width N            of the hidden layers: 64 or 128 (64)
  --table N            features of a level of the encoding: 2^N (15)
  --rate X             of Adam (0.01)
  --material NAME      brick, marble or sdf (brick)
  --seed N             (1)
  --size WxH           of the screen (1280x720)
  --split X            how much of the screen the network colours (0.5)
  --whole-screen       run the network on every pixel, not only on those that see a surface
  --f32                weights and activations in f32 also where f16 is possible
  --out FOLDER         write frames, the contact sheet and the curve of the loss there
  --graph              print the passes of the first frame
  --window             show the frames in a window
  --psnr-floor X       end with code 1 if the last PSNR is lower, or not 10 dB above that of untrained weights
  --check-gradients    compare gradients with finite differences, and end
  --bench WHAT         time steps (training steps and inference) or frames, pass by pass, and end
  --inject EVENT       resize, minimise or lose (the device), half-way
)";

[[noreturn]] void refuse(const std::string& text) { fail(text + "; --help lists the options", 2); }

template <class T>
T number(const char* option, const char* text, T least, T most) {
    T value{};
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || stop != end || value < least || value > most)
        refuse(std::string(option) + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) +
               ", not '" + text + "'");
    return value;
}

VkExtent2D size(const char* text) {
    const std::string both = text;
    const size_t x = both.find('x');
    if (x == std::string::npos) refuse("--size takes WIDTHxHEIGHT, not '" + both + "'");
    return {number<uint32_t>("--size", both.substr(0, x).c_str(), 16, 8192),
            number<uint32_t>("--size", both.substr(x + 1).c_str(), 16, 8192)};
}

uint32_t one_of(const char* option, const char* text, std::initializer_list<const char*> names) {
    std::string all;
    uint32_t at = 0;
    for (const char* name : names) {
        if (std::strcmp(name, text) == 0) return at;
        all += (at++ ? ", " : "") + std::string(name);
    }
    refuse(std::string(option) + " takes one of " + all + ", not '" + text + "'");
}

bool flag(Options& o, const std::string& name) {
    if (name == "--whole-screen") return o.whole_screen = true;
    if (name == "--f32") return o.settings.f32 = true;
    if (name == "--graph") return o.graph = true;
    if (name == "--window") return o.window = true;
    if (name == "--check-gradients") return o.check_gradients = true;
    return false;
}

void value(Options& o, const std::string& name, const char* v) {
    Settings& s = o.settings;
    const char* const n = name.c_str();
    if (name == "--steps") return void(o.steps = number<uint32_t>(n, v, 0, 10000000));
    if (name == "--steps-per-frame") return void(o.steps_per_frame = number<uint32_t>(n, v, 1, 1000));
    if (name == "--batch") {
        s.batch = number<uint32_t>(n, v, 64, 1 << 20);
        if (s.batch % 64) refuse("--batch takes a multiple of 64, not " + std::string(v));
        return;
    }
    if (name == "--width") return void(s.width = 64u << one_of(n, v, {"64", "128"}));
    if (name == "--table") return void(s.table_log2 = number<uint32_t>(n, v, 8, 20));
    if (name == "--rate") return void(s.rate = number<float>(n, v, 1e-6f, 1));
    if (name == "--material") return void(s.material = one_of(n, v, {"brick", "marble", "sdf"}));
    if (name == "--seed") return void(s.seed = number<uint32_t>(n, v, 0, UINT32_MAX));
    if (name == "--size") return void(o.size = size(v));
    if (name == "--split") return void(o.split = number<float>(n, v, 0, 1));
    if (name == "--out") return void(o.out = v);
    if (name == "--psnr-floor") return void(o.floor = number<float>(n, v, 0, 100));
    if (name == "--bench") return void((one_of(n, v, {"steps", "frames"}), o.bench = v));
    if (name == "--inject") return void((one_of(n, v, {"resize", "minimise", "lose"}), o.inject = v));
    refuse("unknown option " + name);
}

}  // namespace

Options parse(int count, char** arguments) {
    Options o;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h") {
            std::fputs(usage, stdout);
            std::exit(0);
        }
        if (flag(o, name)) continue;
        if (i + 1 == count) refuse("unknown option " + name + ", or its value is missing");
        value(o, name, arguments[++i]);
    }
    if (o.check_gradients) o.settings.f32 = true;
    return o;
}

}  // namespace renderer
