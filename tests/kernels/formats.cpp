// SPDX-License-Identifier: MIT
// Mixed types and block formats: every format as A and as B in the rows that decode it, and pairs of plain types.
#include <doctest/doctest.h>

#include <set>

#include "kernels/tally.h"
#include "support/golden_blocks.h"
#include "vkgemm/elements.hpp"

using namespace vkgemm::test;
using vkgemm::plan::columnMajor;
using vkgemm::plan::info;
using vkgemm::plan::Kernel;
using vkgemm::plan::Problem;
using vkgemm::plan::rowMajor;
using vkgemm::plan::Type;

namespace {

/// Calls `each` for rows of mixed types that fit: the first of each family, and of the others every second one, which
/// `turn` (0 or 1) selects; --quick leaves out three quarters of these, and --all nothing. A driver on the CPU takes a
/// second to compile each case, so a row runs a twelfth of them or fewer, others than its neighbours; --all runs every
/// case. The golden blocks have every format.
template <class Each>
void for_each_mixed(size_t turn, const Each& each) {
    std::set<std::string> families;
    size_t rows = 0;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        if (!kernel.module.is_mixed() || !is_chosen(kernel) || !fits(kernel)) continue;
        const bool first = families.insert(variant_of(kernel.module)).second;
        if (++rows % (is_quick() ? 8 : 2) != turn && !first && !everything()) continue;
        Tally tally(std::string(kernel.name), (first ? 12 : 96) * (is_quick() ? 8 : 1), rows,
                    Twist{small_tile(kernel), 0, true});  // by addresses and by descriptors in turn
        each(kernel, tally);
    }
}

bool is_gemv(const Kernel& kernel) { return kernel.module.family.name.starts_with("gemv"); }  // of mixed types

/// Sizes that cross the edges of the tile, with K of whole blocks, and A and B k-contiguous.
Case case_of_types(const Kernel& kernel, Type a, Type b, uint64_t blocks = 3) {
    Case x = case_for(kernel, std::min(kernel.tile.BM, 32u) + 3, std::min(kernel.tile.BN, 32u) + 5, 0);
    if (is_gemv(kernel))
        (kernel.tile.BM < kernel.tile.BN ? x.problem.m : x.problem.n) = std::min(kernel.tile.BM, kernel.tile.BN);
    x.problem.a.type = a;
    x.problem.b.type = b;
    x.problem.b.layout = columnMajor;
    const uint32_t least = kernel.module.family.reads_chunk64 ? 64 : 32;
    x.problem.k = blocks * std::max({info(a).block, info(b).block, least});
    return x;
}

/// The elements of a column of blocks, each of which a row of an identity matrix picks.
std::vector<double> picked(const char* kernel, const std::string& line, std::span<const std::byte> column, size_t k) {
    const vkgemm::host::Device& d = device();
    const auto parsed = vkgemm::parseProblem(line.c_str());
    REQUIRE_MESSAGE(bool(parsed), line);
    const auto plan = d.context().createPlan(parsed->problem, {.kernel = kernel});
    REQUIRE_MESSAGE(bool(plan), line, ": ", plan.status().text);
    std::vector<float> identity(k * k), result(k);
    for (size_t i = 0; i < k; ++i) identity[i * k + i] = 1;
    const auto made = [&](std::span<const std::byte> data) {
        auto buffer = d.createBuffer((data.size() + 15) / 16 * 16);
        REQUIRE(bool(buffer));
        REQUIRE(bool(d.upload(*buffer, 0, data)));
        return *std::move(buffer);
    };
    const auto a = made(std::as_bytes(std::span(identity))), b = made(column),
               sums = made(std::as_bytes(std::span(result)));
    const auto submitted = d.submit([&](VkCommandBuffer commands) {
        return plan->record(commands, {.a = a.operand(), .b = b.operand(), .d = sums.operand()});
    });
    REQUIRE_MESSAGE(bool(submitted), submitted.text);
    REQUIRE(bool(d.download(sums, result)));
    return {result.begin(), result.end()};
}

}  // namespace

TEST_SUITE_BEGIN("formats");

TEST_CASE("a block of every format is decoded to the numbers that are written beside it") {
    // Elements are decoded by eights, by 64, or to whole numbers. A quick run takes a third of the formats for each.
    size_t tried = 0;
    for (const char* name : {"tiled_mixed_f32_8x8", "gemv_blocks_f32_1x8", "gemv_mxint8_f32_1x8"}) {
        const Kernel& kernel = *vkgemm::plan::find_kernel(name);
        size_t format = tried++;
        if (!is_chosen(kernel) || !fits(kernel)) continue;
        for (const GoldenBlock& block : golden_blocks()) {
            if (format++ % 3 && is_quick()) continue;
            const size_t blocks = std::max<size_t>(1, 64 / block.numbers.size()), k = blocks * block.numbers.size();
            const std::string size = std::to_string(k);
            const std::string line = "f32*" + block.format + " 1x1x" + size + " batch=" + size +
                                     " layout=nt stride_b=0" +
                                     (kernel.module.family.uses_packed_dots ? " accuracy=mxint8" : "");
            const vkgemm::Problem problem = vkgemm::parseProblem(line.c_str())->problem;
            if (!device().context().checkKernel({.kernel = name}, &problem)) continue;  // groups, or tables of codes
            std::vector<std::byte> column;
            std::vector<double> numbers;
            for (size_t i = 0; i < blocks; ++i) {
                column.insert(column.end(), block.bytes.begin(), block.bytes.end());
                numbers.insert(numbers.end(), block.numbers.begin(), block.numbers.end());
            }
            CAPTURE(name);
            CAPTURE(block.format);
            CHECK(picked(name, line, column, k) == numbers);
        }
    }
}

TEST_CASE("every format, as A and as B: exact, and within the bound") {
    for_each_mixed(0, [](const Kernel& kernel, Tally& tally) {
        for (const auto& format : vkgemm::plan::type_info) {
            if (format.is_plain() && !vkgemm::plan::is_fp8(format.type)) continue;
            const Type plain[] = {vkgemm::plan::f32, vkgemm::plan::f16, vkgemm::plan::i8, vkgemm::plan::bf16};
            const size_t usable = kernel.module.family.uses_matrix_units ? 3 : 4;
            const Type other = plain[static_cast<size_t>(format.type) % usable];
            for (const bool is_a : {false, true}) {
                Case x = is_a ? case_of_types(kernel, format.type, other) : case_of_types(kernel, other, format.type);
                tally(x);
                x.fill = Fill::random;
                x.shift = 4;
                x.problem.batch = 2;
                x.problem.k *= 2;
                (is_a ? x.problem.a : x.problem.b).ld = x.problem.k + 2 * format.block;
                tally(x);
            }
        }
    });
}

TEST_CASE("plain types that differ, in every layout") {
    for_each_mixed(1, [](const Kernel& kernel, Tally& tally) {
        std::vector<Type> types;
        for (const auto& type : vkgemm::plan::type_info)
            if (type.is_plain() && vkgemm::plan::is_decoded(type.type)) types.push_back(type.type);
        uint64_t seed = 0;
        for (const Type a : types)
            for (const Type b : types) {
                if (a == b && !vkgemm::plan::is_fp8(a)) continue;
                Case x = case_of_types(kernel, a, b);
                x.seed = ++seed;
                if (!is_gemv(kernel)) {
                    x.problem.k = 2 * std::max(kernel.tile.BK, 4u) + seed % 4;
                    if (kernel.module.family.uses_matrix_units) {  // eight at a time
                        x.problem.m = x.problem.n = 24;
                        x.problem.k = (x.problem.k + 7) / 8 * 8;
                        if (a == vkgemm::plan::bf16 || b == vkgemm::plan::bf16) continue;
                    }
                    x.problem.a.layout = seed & 1 ? columnMajor : rowMajor;
                    x.problem.b.layout = seed & 2 ? columnMajor : rowMajor;
                }
                x.shift = static_cast<uint32_t>(seed % 3);
                x.fill = seed % 5 == 0 ? Fill::special : Fill::exact;
                tally(x);
            }
    });
}

TEST_CASE("a format with NaN in one block; with a column-major D, which swaps A and B; with slices of K") {
    for_each_mixed(1, [](const Kernel& kernel, Tally& tally) {
        for (const auto& format : vkgemm::plan::type_info) {
            if (format.is_plain() || format.type == VKGEMM_TYPE_NVFP4 || format.type == VKGEMM_TYPE_I4)
                continue;  // the latter two have no NaN
            Case x = case_of_types(kernel, vkgemm::plan::f16, format.type);
            x.fill = Fill::placed;
            x.seed = placed_seed(x.problem.k - 1, true, 0);
            tally(x);
            x = case_of_types(kernel, vkgemm::plan::f32, format.type, 16);
            x.problem.k = 4096;
            x.problem.d.layout = columnMajor;
            x.tile = "SPLIT=3";
            if (!is_gemv(kernel)) x.problem.n = 9;
            x.problem.cSource = VKGEMM_C_IS_D;
            x.beta = 1;
            x.alpha = -1;
            if (kernel.module.d == vkgemm::plan::f32) tally(x);
        }
    });
}

TEST_CASE("B by 64 elements: slices of K, fewer rows than the tile has, columns that are far apart or on 16 bytes") {
    for_each_mixed(0, [](const Kernel& kernel, Tally& tally) {
        if (!kernel.module.family.reads_chunk64) return tally.none();
        for (const auto& format : vkgemm::plan::type_info) {
            if (format.is_plain()) continue;
            Case x = case_of_types(kernel, vkgemm::plan::f16, format.type);
            x.problem.k = 4096;
            x.tile = "SPLIT=3";
            x.problem.b.ld = 4096 + 2 * format.block;
            tally(x);
            x.tile = "";
            x.problem.k = 512;
            x.problem.m = kernel.tile.BM > 1 ? kernel.tile.BM - 1 : 2;
            tally(x);
            x = case_of_types(kernel, vkgemm::plan::f16, format.type);
            x.problem.k = 2560;  // columns of multiples of 16 bytes, which no tile takes in whole steps
            tally(x);
            x.tile = "SPLIT=2";
            x.fill = Fill::random;
            x.problem.batch = 2;
            tally(x);
            x = case_of_types(kernel, vkgemm::plan::f16, format.type);
            x.problem.k = 2560 + 64;
            x.problem.b.ld = 3072;  // the last invocation has elements that do not exist
            if (info(format.type).block < 256) tally(x);
            x.fill = Fill::placed;
            x.problem.k = 2560;
            x.seed = placed_seed(x.problem.k - 1, true, 0);
            if (format.type != VKGEMM_TYPE_NVFP4) tally(x);  // which has no NaN
        }
    });
}

TEST_SUITE_END();
