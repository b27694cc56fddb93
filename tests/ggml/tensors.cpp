// SPDX-License-Identifier: MIT
#include "ggml/tensors.h"

#include <doctest/doctest.h>

#include <memory>

#include "support/numbers.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::test {

Arena::Arena() {
    auto made = device().createBuffer(most_bytes, host::Memory::host);
    REQUIRE_MESSAGE(bool(made), made.status().text);
    buffer_ = *made;
}

Filled::Filled(VkgemmType type, const Sizes4& ne, const Lie& lie, VkBuffer buffer) {
    const uint64_t block = blockElements(type), unit = bytesOf(type);
    tensor.type = type;
    tensor.ne = ne;
    tensor.buffer = buffer;
    tensor.offset = lie.offset;
    uint64_t next = unit, end = lie.offset + unit;
    for (const size_t i : lie.order) {
        tensor.nb[i] = next + (i == lie.order[0] ? 0 : lie.gap[i] * unit);
        const uint64_t count = i == 0 ? divUp(ne[0], block) : ne[i];
        next = tensor.nb[i] * count;
        end += tensor.nb[i] * (count - 1);
    }
    bytes.assign(end + 4096, std::byte{0xff});  // NaN in every type
}

uint64_t Filled::at(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3) const {
    return tensor.offset + i0 / blockElements(tensor.type) * tensor.nb[0] + i1 * tensor.nb[1] + i2 * tensor.nb[2] +
           i3 * tensor.nb[3];
}

std::vector<double> Filled::numbers() const {
    std::vector<double> out;
    const uint64_t block = blockElements(tensor.type);
    const auto& ne = tensor.ne;
    for (uint64_t i3 = 0; i3 < ne[3]; ++i3)
        for (uint64_t i2 = 0; i2 < ne[2]; ++i2)
            for (uint64_t i1 = 0; i1 < ne[1]; ++i1)
                for (uint64_t i0 = 0; i0 < ne[0]; ++i0)
                    out.push_back(decodeElement(tensor.type, &bytes[at(i0, i1, i2, i3)], i0 % block));
    return out;
}

void Filled::fill(Random& random) {
    const uint64_t block = blockElements(tensor.type);
    std::array<double, mostBlockElements> values{};
    const auto& ne = tensor.ne;
    for (uint64_t i3 = 0; i3 < ne[3]; ++i3)
        for (uint64_t i2 = 0; i2 < ne[2]; ++i2)
            for (uint64_t i1 = 0; i1 < ne[1]; ++i1)
                for (uint64_t i0 = 0; i0 < ne[0]; i0 += block) {
                    for (uint64_t i = 0; i < block; ++i) values[i] = double(random.between(-4, 4));
                    encodeBlock(tensor.type, std::span(values).first(block), &bytes[at(i0, i1, i2, i3)]);
                }
}

std::unique_ptr<ggml::Adapter> new_adapter(const ggml::Options& options) {
    VkgemmError error{};
    auto made = ggml::Adapter::create(context_info(), options, &error);
    REQUIRE_MESSAGE(made, error.text);
    return made;
}

ggml::Adapter& adapter() {
    static std::unique_ptr<ggml::Adapter> made;
    if (made) return *made;
    made = new_adapter(
        {.workspace_limit = 1 << 20, .most_plans = 100000, .takes_all = true, .rounds = ggml::Rounds::ALWAYS});
    before_closing([] { made.reset(); });
    return *made;
}

}  // namespace vkgemm::test
