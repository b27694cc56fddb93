// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/registry.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

namespace vkgemm::ggml {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<VkDevice, std::unique_ptr<Adapter>> adapters;
    bool prints = false;  // when the process ends
};
// Never destroyed, because ggml destroys its devices when the process ends, in an order that is not ours.
Registry& registry() {
    static Registry& all = *new Registry;
    return all;
}

void print(const Adapter& adapter) { std::fprintf(stderr, "vkgemm: %s", adapter.report().c_str()); }

// ggml keeps its devices until the process ends.
void printAll() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (const auto& [device, adapter] : all.adapters) print(*adapter);
}

const Wish& wish() {
    static const Wish parsed = parseWish(std::getenv("GGML_VKGEMM"));
    return parsed;
}

}  // namespace

Wish parseWish(const char* text) {
    Wish out;
    std::string_view rest = text ? text : "";
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        if (word == "0")
            out.isOff = true;
        else if (word == "log")
            out.log = true;
        else if (word == "force")
            out.force = true;
        else if (!word.empty() && word != "1" && out.unknown.empty())
            out.unknown = word;
    }
    return out;
}

void addAdapter(const VkgemmContextInfo& info) {
    if (!wish().unknown.empty())
        std::fprintf(stderr, "vkgemm: GGML_VKGEMM: '%s' is ignored; it takes: 0, 1, log, force\n",
                     wish().unknown.c_str());
    if (wish().isOff) return;
    Options options;
    options.keepsNotes = wish().log, options.takesAll = wish().force;
    VkgemmError error{};
    auto adapter = Adapter::create(info, options, &error);
    if (!adapter) {
        std::fprintf(stderr, "vkgemm: ggml multiplies everything itself: %s\n", error.text);
        return;
    }
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (wish().log && !all.prints) all.prints = std::atexit(printAll) == 0;
    all.adapters[info.device] = std::move(adapter);
}

Adapter* adapterOf(VkDevice device) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto at = all.adapters.find(device);
    return at == all.adapters.end() ? nullptr : at->second.get();
}

void removeAdapter(VkDevice device) {
    Registry& all = registry();
    std::unique_ptr<Adapter> last;
    {
        const std::lock_guard lock(all.mutex);
        const auto at = all.adapters.find(device);
        if (at == all.adapters.end()) return;
        last = std::move(at->second);
        all.adapters.erase(at);
    }
    if (wish().log) print(*last);
}

}  // namespace vkgemm::ggml
