// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstring>

#include "renderer.h"

namespace renderer {
namespace {

[[noreturn]] void refuse(const std::string& text) { fail(text + "; --help lists the options", 2); }

template <class T>
T number(const std::string& option, const std::string& text, T least, T most) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < least || value > most)
        refuse(option + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" +
               text + "'");
    return value;
}

VkExtent2D size(const std::string& option, const std::string& text) {
    const size_t x = text.find('x');
    if (x == std::string::npos) refuse(option + " takes WIDTHxHEIGHT, not '" + text + "'");
    return {number<uint32_t>(option, text.substr(0, x), 16, 8192),
            number<uint32_t>(option, text.substr(x + 1), 16, 8192)};
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

using Name = const std::string&;
struct Row {
    const char *name, *value, *help;  // value: what follows the name; "": nothing
    void (*set)(Options& o, Name name, Name value);
};
constexpr Row rows[] = {
    {"--steps", "N", "training steps (2000)",
     [](Options& o, Name n, Name v) { o.steps = number<uint32_t>(n, v, 0, 10000000); }},
    {"--steps-per-frame", "N", "of them in one frame (1)",
     [](Options& o, Name n, Name v) { o.steps_per_frame = number<uint32_t>(n, v, 1, 1000); }},
    {"--batch", "N", "points of a training step, a multiple of 64 (65536)",
     [](Options& o, Name n, Name v) {
         o.settings.batch = number<uint32_t>(n, v, 64, 1 << 20);
         if (o.settings.batch % 64) refuse("--batch takes a multiple of 64, not " + v);
     }},
    {"--width", "N", "of the hidden layers: 64 or 128 (64)",
     [](Options& o, Name n, Name v) {
         o.settings.width = 64u << one_of(n, v, {"64", "128"});
     }},
    {"--table", "N", "features of a level of the encoding: 2^N (15)",
     [](Options& o, Name n, Name v) { o.settings.table_log2 = number<uint32_t>(n, v, 8, 20); }},
    {"--rate", "X", "of Adam (0.01)",
     [](Options& o, Name n, Name v) { o.settings.rate = number<float>(n, v, 1e-6f, 1); }},
    {"--material", "NAME", "brick, marble or sdf (brick)",
     [](Options& o, Name n, Name v) {
         o.settings.material = one_of(n, v, {"brick", "marble", "sdf"});
     }},
    {"--seed", "N", "(1)", [](Options& o, Name n, Name v) { o.settings.seed = number<uint32_t>(n, v, 0, UINT32_MAX); }},
    {"--size", "WxH", "of the screen (1280x720)", [](Options& o, Name n, Name v) { o.size = size(n, v); }},
    {"--split", "X", "how much of the screen the network colours (0.5)",
     [](Options& o, Name n, Name v) { o.split = number<float>(n, v, 0, 1); }},
    {"--whole-screen", "", "run the network on every pixel, not only on those that see a surface",
     [](Options& o, Name, Name) { o.whole_screen = true; }},
    {"--f32", "", "weights and activations in f32 also where f16 is possible",
     [](Options& o, Name, Name) { o.settings.f32 = true; }},
    {"--out", "FOLDER", "write frames, the contact sheet and the curve of the loss there",
     [](Options& o, Name, Name v) { o.out = v; }},
    {"--graph", "", "print the passes of the first frame", [](Options& o, Name, Name) { o.graph = true; }},
    {"--window", "", "show the frames in a window", [](Options& o, Name, Name) { o.window = true; }},
    {"--psnr-floor", "X", "end with code 1 if the last PSNR is lower, or not 10 dB above that of untrained weights",
     [](Options& o, Name n, Name v) { o.floor = number<float>(n, v, 0, 100); }},
    {"--check-gradients", "", "compare gradients with finite differences, and end",
     [](Options& o, Name, Name) { o.check_gradients = o.settings.f32 = true; }},
    {"--bench", "WHAT", "time steps (training steps and inference) or frames, pass by pass, and end",
     [](Options& o, Name n, Name v) {
         one_of(n, v, {"steps", "frames"}), o.bench = v;
     }},
    {"--inject", "EVENT", "resize, minimise or lose (the device), half-way",
     [](Options& o, Name n, Name v) {
         one_of(n, v, {"resize", "minimise", "lose"}), o.inject = v;
     }},
};

[[noreturn]] void help() {
    std::printf("usage: neural_texture [OPTION...]\nTrains a network to know a texture while it draws with it.\n\n");
    for (const Row& r : rows) std::printf("  %-20s %s\n", (std::string(r.name) + " " + r.value).c_str(), r.help);
    std::exit(0);
}

}  // namespace

Options parse(int count, char** arguments) {
    Options o;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h") help();
        const Row* row = std::begin(rows);
        while (row != std::end(rows) && name != row->name) ++row;
        if (row == std::end(rows)) refuse("unknown option " + name);
        const bool has_value = row->value[0] != 0;
        if (has_value && i + 1 == count) refuse("the value of " + name + " is missing");
        row->set(o, name, has_value ? arguments[++i] : "");
    }
    return o;
}

}  // namespace renderer
