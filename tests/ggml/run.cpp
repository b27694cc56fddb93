// SPDX-License-Identifier: MIT
#include "ggml/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "support/numbers.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {

const Buffers& buffers() {
    static std::unique_ptr<Buffers> made;
    if (!made) {
        made = std::make_unique<Buffers>();
        before_closing([] { made.reset(); });
    }
    return *made;
}

void put(const Arena& arena, const Filled& x) {
    REQUIRE(x.bytes.size() <= Arena::most_bytes);
    std::ranges::copy(x.bytes, arena.bytes().begin());
}

VkgemmOperand all_of(const Arena& memory) {
    return {.buffer = memory.handle(), .offset = 0, .size = Arena::most_bytes, .address = 0};
}
VkgemmOperand scratch_memory() { return all_of(buffers().scratch); }
VkgemmOperand rounded_memory() { return all_of(buffers().rounded); }

std::string run(const ggml::MulMat& product, const std::vector<std::byte>& want, ggml::Reason& reason) {
    ggml::Work work;
    reason = adapter().prepare(product, work);
    adapter().note(product, work, reason);
    if (reason != ggml::Reason::SERVED) return "";
    const Buffers& b = buffers();
    std::ranges::fill(b.scratch.bytes().first(work.scratch_bytes), std::byte{0x5a});
    std::ranges::fill(b.rounded.bytes().first(work.rounded_bytes), std::byte{0x5a});
    const size_t messages = device().messageCount();
    const Status done = device().submit([&](VkCommandBuffer commands) {
        reason = adapter().record(commands, work, scratch_memory(), rounded_memory());
        return Status{};
    });
    if (done.code != VKGEMM_SUCCESS) return "not run: " + done.text;
    if (device().messageCount() > messages) return "validation: " + device().messages()[messages].text;
    const auto got = b.d.bytes().first(want.size());
    if (reason != ggml::Reason::SERVED) return "";
    for (size_t i = 0; i < want.size(); i += 4) {
        if (std::memcmp(&got[i], &want[i], 4) == 0) continue;
        const double a = decode(f32, &got[i]), e = decode(f32, &want[i]);
        if (a == e) continue;  // 0 and -0
        return "byte " + std::to_string(i) + " of dst is " + std::to_string(a) + " and should be " + std::to_string(e);
    }
    return "";
}

std::string text_of(const ggml::MulMat& x) {
    std::string out;
    for (const ggml::Tensor* t : {&x.src0, &x.src1, &x.dst, x.ids}) {
        if (!t) continue;
        out += " " + std::string(typeName(t->type)) + " ne";
        for (const uint64_t n : t->ne) out += " " + std::to_string(n);
        out += " nb";
        for (const uint64_t n : t->nb) out += " " + std::to_string(n);
        out += " offset " + std::to_string(t->offset) + ";";
    }
    if (x.fused_count) out += " " + std::to_string(x.fused_count) + " added;";
    return out;
}

}  // namespace vkgemm::test
