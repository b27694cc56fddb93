// SPDX-License-Identifier: MIT
// A program of the build: makes bfloat16 pass for f16, and back. spirv-opt leaves most of a module as it is where the
// module has an extension that its passes do not know, and SPV_KHR_bfloat16 is one.
//     bfloat16 hide FILE.spv       before spirv-opt; a module without bfloat16 stays as it is
//     bfloat16 restore FILE.spv    after it; only a module that was hidden
// A module that has both types, or computes in bfloat16 itself, is refused: a constant could be folded to f16.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Words = std::vector<uint32_t>;

enum : uint32_t { op_extension = 10, op_capability = 17, op_type_float = 22, op_type_vector = 23, op_constant = 43 };
enum : uint32_t { op_f_convert = 115, op_f_negate = 127, op_f_add = 129, op_dot = 148 };
enum : uint32_t { float16 = 9, bfloat16_type = 5116, bfloat16_matrix = 5118 };
constexpr char extension[20] = "SPV_KHR_bfloat16";

Words instruction(uint32_t op, Words operands) {
    operands.insert(operands.begin(), uint32_t(operands.size() + 1) << 16 | op);
    return operands;
}
Words bfloat16_extension() {
    Words name(5);
    for (size_t i = 0; i < sizeof extension; ++i) name[i / 4] |= uint32_t{uint8_t(extension[i])} << i % 4 * 8;
    return instruction(op_extension, name);
}

// What takes the place of one instruction; `why` is set if the module must not be changed.
Words hidden(const Words& x, const char*& why) {
    const uint32_t op = x[0] & 0xffff;
    if (op == op_capability && x[1] == bfloat16_type) return instruction(op_capability, {float16});
    if (op == op_capability && (x[1] == bfloat16_matrix || x[1] == float16)) return {};
    if (op == op_type_float && x[2] == 16) {
        if (x.size() == 3) why = "it has f16 too";
        return instruction(op_type_float, {x[1], x[2]});
    }
    return x == bfloat16_extension() ? Words{} : x;
}
Words restored(const Words& x) {
    const uint32_t op = x[0] & 0xffff;
    if (op == op_capability && x[1] == float16) {
        Words out = instruction(op_capability, {bfloat16_type});
        const Words more = instruction(op_capability, {bfloat16_matrix});
        out.insert(out.end(), more.begin(), more.end());
        return out;
    }
    return op == op_type_float && x[2] == 16 ? instruction(op_type_float, {x[1], x[2], 0}) : x;
}

// Does the module compute in the type that is hidden?
bool computes(const Words& x, const std::vector<bool>& is_narrow) {
    const uint32_t op = x[0] & 0xffff;
    const bool is_arithmetic = op == op_f_convert || op == op_f_negate || (op >= op_f_add && op <= op_dot);
    return op == op_f_convert || ((is_arithmetic || op == op_constant) && is_narrow[x[1]]);
}

int failed(const char* file, const std::string& why) {
    std::fprintf(stderr, "bfloat16: %s %s\n", file, why.c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    const bool hides = argc == 3 && std::string_view(argv[1]) == "hide";
    if (argc != 3 || (!hides && std::string_view(argv[1]) != "restore")) {
        std::fprintf(stderr, "usage: bfloat16 hide|restore FILE.spv\n");
        return 2;
    }
    std::ifstream file(argv[2], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    Words in(bytes.size() / 4), out;
    for (size_t i = 0; i < in.size() * 4; ++i) in[i / 4] |= uint32_t{uint8_t(bytes[i])} << i % 4 * 8;
    if (in.size() < 5 || in[0] != 0x07230203u || in[3] > in.size()) return failed(argv[2], "is not a SPIR-V module");
    out.assign(in.begin(), in.begin() + 5);
    std::vector<bool> is_narrow(in[3]);
    const char* why = nullptr;
    bool found = false, extended = false;
    for (size_t at = 5, next; at < in.size() && !why; at = next) {
        next = at + std::max(in[at] >> 16, 1u);
        if (next > in.size()) return failed(argv[2], "ends in an instruction");
        const Words x(in.begin() + ptrdiff_t(at), in.begin() + ptrdiff_t(next));
        const uint32_t op = x[0] & 0xffff;
        if (op == op_type_float && x[2] == 16) {
            is_narrow[x[1]] = true;
            found |= !hides || x.size() == 4;
        }
        if (op == op_type_vector) is_narrow[x[1]] = is_narrow[x[2]];
        if (computes(x, is_narrow)) why = "it computes in it";
        if (!hides && !extended && op != op_capability) {
            const Words name = bfloat16_extension();
            out.insert(out.end(), name.begin(), name.end());
            extended = true;
        }
        const Words y = hides ? hidden(x, why) : restored(x);
        out.insert(out.end(), y.begin(), y.end());
    }
    if (!found) return 0;
    if (why) return failed(argv[2], std::string("stays as it is: ") + why);
    std::ofstream to(argv[2], std::ios::binary);
    for (const uint32_t word : out)
        for (int i = 0; i < 4; ++i) to.put(static_cast<char>(word >> i * 8 & 0xff));
    to.close();
    return to ? 0 : 1;
}
