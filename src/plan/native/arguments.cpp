// SPDX-License-Identifier: MIT
#include "plan/native/arguments.h"

#include <algorithm>

#include "native/parts.h"
#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/native/tensor_map.h"

namespace vkgemm::plan {

namespace {

uint32_t parts(uint32_t whole, uint32_t part) { return static_cast<uint32_t>(div_up(whole, part)); }
uint64_t address_of(abi::uvec2 words) { return uint64_t{words.y} << 32 | words.x; }

// Matrices in memory: `length` neighbours, `lines` of them `pitch` elements apart, `count` matrices `stride` apart.
struct Lines {
    abi::uvec2 begin;
    uint32_t bytes, length, lines;
    uint64_t pitch, stride;
    uint32_t count;

    bool can_be_mapped() const {
        const bool is_one = count == 1;
        return (address_of(begin) | pitch * bytes | (is_one ? 0 : stride * bytes)) % 16 == 0;
    }
    // The engine writes whole units of 16 bytes, so the end of a line must be the end of one.
    bool can_be_written() const { return can_be_mapped() && uint64_t{length} * bytes % 16 == 0; }
    // A stride of 0 is the same matrix again: the kernel asks for the first one then.
    native::TensorMap map(uint32_t box_lines) const {
        const uint32_t matrices = stride ? count : 1, one = 1;
        return tensor_map({.address = address_of(begin),
                           .element_bytes = bytes,
                           .sizes = {std::max(length, one), std::max(lines, one), matrices},
                           .strides = {pitch * bytes, matrices > 1 ? stride * bytes : 16},
                           .box = {native::box_bytes / bytes, box_lines}});
    }
};

// What is loaded of an operand for a step of a tile. Where k runs along the lines, one box holds the tile's side, or
// `lines`, in units of the swizzle, if they are fewer: shared memory behind it keeps what it had, which makes rows or
// columns outside D. Otherwise boxes of BK lines stand next to each other.
struct Input {
    native::TensorMap map;
    uint32_t bytes;  // of all boxes

    Input(const Lines& x, bool along_k, uint32_t side_of_tile, uint32_t BK, uint32_t lines) {
        constexpr uint32_t unit = native::swizzle_bytes / native::box_bytes;
        const uint32_t of_box = along_k ? std::min(side_of_tile, std::max(parts(lines, unit), 1U) * unit) : BK;
        map = x.map(of_box);
        bytes = (along_k ? of_box : side_of_tile) * native::box_bytes;
    }
};

// Each part of each matrix is one more, behind the one before it.
Lines parts_of(const Lines& x, const OperandSplit& split) {
    Lines out = x;
    out.bytes = info(split.unit).bytes;
    out.stride = native::part_stride(x.lines, x.pitch);
    out.count = split.count * (x.stride ? x.count : 1);
    return out;
}

}  // namespace

std::string entry_point(const Step& s) {
    if (s.kernel->module.role == Role::packer) return concat({s.kernel->name, s.constants.TRANS_A ? "_t" : "_n"});
    // An empty sum reads neither A nor B, and neither is packed. Every module has a function for these layouts.
    if (s.args.k == 0) return concat({s.kernel->name, "_nt"});
    return concat({s.kernel->name, "_", s.constants.TRANS_A ? "t" : "n", s.constants.TRANS_B ? "t" : "n"});
}

native::NativeArgs native_arguments(const Step& step, const abi::GemmArgs& args) {
    const Tile& t = step.tile;
    const ProblemConstants& c = step.constants;
    ElementBytes bytes = step.kernel->module.element_bytes();
    if (c.FORMAT_D) bytes.d = info(static_cast<Type>(c.FORMAT_D)).bytes;
    const auto& [m, n, k] = std::tie(args.m, args.n, args.k);

    native::NativeArgs x{};
    x.args = args;
    uint32_t* constant = x.constants;
#define X(id, name, meaning) *constant++ = c.name;
    VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
    x.slices = c.PARTIAL && k ? parts(k, args.k_chunk) : 1;
    x.tiles_m = parts(m, t.BM);
    x.tiles_n = parts(n, t.BN);
    if (step.kernel->module.role == Role::packer) return x;

    const OperandSplit& split = step.kernel->module.family.operand_split;
    Lines a = {.begin = args.a,
               .bytes = bytes.a,
               .length = c.TRANS_A ? m : k,
               .lines = c.TRANS_A ? k : m,
               .pitch = args.lda,
               .stride = args.batch_a,
               .count = args.batch};
    Lines b = {.begin = args.b,
               .bytes = bytes.b,
               .length = c.TRANS_B ? k : n,
               .lines = c.TRANS_B ? n : k,
               .pitch = args.ldb,
               .stride = args.batch_b,
               .count = args.batch};
    if (split.count > 1) {
        a = parts_of(a, split);
        b = parts_of(b, split);
    }
    const bool whole = split.count > 1;  // wgmma_split looks at all sums, also at those outside D
    const Input from_a(a, !c.TRANS_A, t.BM, t.BK, whole ? t.BM : m);
    const Input from_b(b, c.TRANS_B != 0, t.BN, t.BK, whole ? t.BN : n);
    x.a = from_a.map;
    x.b = from_b.map;
    x.loaded_bytes = from_a.bytes + from_b.bytes;
    Lines d = {.begin = args.d,
               .bytes = bytes.d,
               .length = n,
               .lines = m,
               .pitch = args.ldd,
               .stride = args.batch_d,
               .count = args.batch};
    if (c.PARTIAL) {  // the sums of each slice, without gaps
        d.bytes = bytes.accumulator;
        d.pitch = n;
        d.stride = uint64_t{m} * n;
        d.count = args.batch * x.slices;
    }
    x.d_is_mapped = !(c.PARTIAL && c.FORMAT_D == VKGEMM_TYPE_U8) && d.can_be_written();  // remainders have a pitch
    if (x.d_is_mapped) x.d = d.map(native::store_rows);
    return x;
}

}  // namespace vkgemm::plan
