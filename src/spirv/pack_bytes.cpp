// SPDX-License-Identifier: MIT
// A program of the build: packs a file of machine code, and unpacks it again to be sure.
//     pack_bytes TO FROM
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "spirv/bytes.h"
#include "spirv/pack.h"

using namespace vkgemm::spirv;

namespace {

int failed(const char* file, const std::string& why) {
    std::fprintf(stderr, "pack_bytes: %s %s\n", file, why.c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: pack_bytes TO FROM\n");
        return 2;
    }
    std::ifstream file(argv[2], std::ios::binary);
    const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.empty() || bytes.size() > most_bytes)
        return failed(argv[2], "has no bytes, or more than " + std::to_string(most_bytes));
    const std::vector<uint32_t> packed = pack_bytes(bytes);
    if (unpack_bytes(packed) != bytes) return failed(argv[2], "unpacks to something else: a defect of pack_bytes");
    std::ofstream out(argv[1], std::ios::binary);
    for (const uint32_t word : packed)
        for (int i = 0; i < 4; ++i) out.put(static_cast<char>(word >> i * 8 & 0xff));
    out.close();
    std::printf("%s: %zu bytes, packed %zu\n", argv[2], bytes.size(), packed.size() * 4);
    return out ? 0 : 1;
}
