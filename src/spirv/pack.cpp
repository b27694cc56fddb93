// SPDX-License-Identifier: MIT
// A program of the build: packs the variants of a SPIR-V module into the file that is embedded in the library, and
// unpacks them again to be sure.
//     pack_spirv TO BASE.spv DESCRIPTORS.spv ADDRESSES.spv [GROUPED.spv]
//     pack_spirv TO BASE.spv                 packs the base itself
#include "spirv/pack.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace vkgemm::spirv;

std::vector<uint32_t> read(const char* name) {
    std::ifstream file(name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<uint32_t> out(bytes.size() / 4);
    for (size_t i = 0; i < out.size() * 4; ++i) out[i / 4] |= uint32_t{static_cast<uint8_t>(bytes[i])} << i % 4 * 8;
    drop_names(out);
    if (bytes.size() % 4 || out.size() > most_words || out.size() < 5 || out[0] != 0x07230203u) out.clear();
    if (out.empty()) std::fprintf(stderr, "pack_spirv: %s is not a SPIR-V module of at most 4 MiB\n", name);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc == 4 || argc > 6) {
        std::fprintf(stderr, "usage: pack_spirv TO BASE.spv [DESCRIPTORS.spv ADDRESSES.spv [GROUPED.spv]]\n");
        return 2;
    }
    std::vector<std::vector<uint32_t>> variants;
    for (int i = 2; i < argc; ++i) {
        variants.push_back(read(argv[i]));
        if (variants.back().empty()) return 1;
    }
    std::vector<uint32_t> base, packed_base;
    if (argc > 3) {
        base = std::move(variants.front());
        variants.erase(variants.begin());
        packed_base = pack(std::span(&base, 1), {});
    }
    const std::vector<uint32_t> packed = pack(variants, base);
    for (size_t i = 0; i < variants.size(); ++i)
        if (unpack(packed, Variant(i), packed_base) != variants[i]) {
            std::fprintf(stderr, "pack_spirv: %s unpacks to something else: a defect of pack_spirv\n", argv[1]);
            return 1;
        }
    std::ofstream file(argv[1], std::ios::binary);
    for (const uint32_t word : packed)
        for (int i = 0; i < 4; ++i) file.put(static_cast<char>(word >> i * 8 & 0xff));
    file.close();
    if (!file) std::fprintf(stderr, "pack_spirv: cannot write %s\n", argv[1]);
    return file ? 0 : 1;
}
