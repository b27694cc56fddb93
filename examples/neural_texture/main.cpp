// SPDX-License-Identifier: MIT
// A small renderer that learns: a network is trained to know a texture while the same frames draw with it. See
// docs/renderer.md.
#include "renderer.h"
#include "window.h"

using namespace renderer;

int main(int count, char** arguments) {
    const Options options = parse(count, arguments);
    int code = 1;
    unsigned messages = 0;
    {
        Gpu gpu;
        gpu.start(options.window ? window_extensions() : std::vector<const char*>{});
        std::vector<const char*> extensions;
        if (options.window) extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
        auto problems = Network::problems(options.settings, options.size.width * options.size.height, true);
        gpu.open(problems, extensions, options.settings.f32);
        std::printf("%s, %s, batches of %u points, layers of %u\n", gpu.properties.deviceName, gpu.f16 ? "f16" : "f32",
                    options.settings.batch, options.settings.width);
        if (!options.bench.empty()) {
            code = bench(gpu, options);
        } else {
            Renderer all(gpu, options);
            code = options.check_gradients ? check_gradients(all) : run(all);
            check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
        }
        messages = gpu.messages;
    }
    if (messages) std::printf("%u messages of the validation layer\n", messages);
    return messages ? 1 : code;
}
