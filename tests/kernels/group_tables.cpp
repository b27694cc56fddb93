// SPDX-License-Identifier: MIT
// Groups whose matrices have leading dimensions and places of their own, as odd as VkgemmGroup allows: every kernel
// computes all of them, and the run's report counts none that is skipped.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <map>

#include "kernels/groups.h"
#include "support/random.h"
#include "vkgemm/formats.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

using plan::Kernel;
using plan::Matrix;

constexpr uint64_t front_bytes = 272;  // an odd multiple of 16 bytes, where every operand begins
constexpr uint64_t tail_bytes = 4096;

/// One operand of all groups. What is no element of a group is NaN.
struct Side {
    const Matrix* matrix;
    uint64_t ld_unit = 1, offset_unit = 1;  // elements that leading dimensions and offsets are multiples of
    std::vector<double> values{};

    /// `run`: bytes that a row has in every group; 0 if its length varies.
    Side(const Matrix& x, uint64_t run) : matrix(&x) {
        const plan::TypeInfo& type = plan::info(x.type);
        const uint64_t unit = x.type == plan::f64 ? 32 : 16;  // as VkgemmGroup states
        if (run == 0 || run % unit || type.bytes_of(x.ld) % unit || type.bytes_of(x.batchStride) % unit) return;
        ld_unit = unit / type.bytes;
        offset_unit = 16 / type.bytes;
    }

    /// Puts a matrix of rows x cols behind the others, and fills it.
    void add(Random& random, uint64_t rows, uint64_t cols, uint32_t& ld, uint64_t& offset) {
        const bool by_rows = matrix->layout == plan::rowMajor;
        const uint64_t inner = by_rows ? cols : rows, outer = by_rows ? rows : cols;
        ld = static_cast<uint32_t>(roundUp(std::max<uint64_t>(inner, 1), ld_unit) + ld_unit * random.below(3));
        offset = roundUp(values.size(), offset_unit) + offset_unit * random.below(3);
        values.resize(offset + (inner && outer ? (outer - 1) * ld + inner : 0),
                      std::numeric_limits<double>::quiet_NaN());
        const double lowest = matrix->type == plan::u8 ? 0 : 4;
        for (uint64_t i = 0; i < outer; ++i)
            for (uint64_t j = 0; j < inner; ++j) values[offset + i * ld + j] = double(random.below(9)) - lowest;
    }
    /// Makes room for the problem's matrix, which every run must bring.
    void reserve(uint64_t rows, uint64_t cols) {
        const bool by_rows = matrix->layout == plan::rowMajor;
        const uint64_t least = ((by_rows ? rows : cols) - 1) * matrix->ld + (by_rows ? cols : rows);
        values.resize(std::max<size_t>(values.size(), least), std::numeric_limits<double>::quiet_NaN());
    }
    double& at(uint64_t offset, uint64_t ld, uint64_t row, uint64_t col) {
        return values[offset + (matrix->layout == plan::rowMajor ? row * ld + col : col * ld + row)];
    }

    std::vector<std::byte> bytes() const {
        const plan::TypeInfo& type = plan::info(matrix->type);
        std::vector<std::byte> out(front_bytes + values.size() * type.bytes + tail_bytes, std::byte{0xff});
        for (size_t i = 0; i < values.size(); ++i)
            if (!std::isnan(values[i]))
                encodeBlock(matrix->type, std::span(&values[i], 1), &out[front_bytes + i * type.bytes]);
        return out;
    }
    VkgemmOperand operand(const host::Buffer& buffer, bool in_words) const {
        const uint64_t bytes = values.size() * plan::info(matrix->type).bytes;
        return {.buffer = buffer.handle(),
                .offset = front_bytes,
                .size = std::max<uint64_t>(in_words ? roundUp(bytes, 4) : bytes, 1),
                .address = 0};
    }
};

struct OddTable {
    Problem p;
    std::vector<VkgemmGroup> groups;
    Side a, b, c, d;

    OddTable(const std::string& line, uint64_t seed)
        : p(Groups::completed(line)),
          a(p.a, run(p.a, p.m, p.k, VKGEMM_UP_TO_M, VKGEMM_UP_TO_K)),
          b(p.b, run(p.b, p.k, p.n, VKGEMM_UP_TO_K, VKGEMM_UP_TO_N)),
          c(like_d(p.c)),
          d(like_d(p.d)) {
        Random random(seed);
        for (uint64_t i = 0; i < p.batch; ++i) {
            VkgemmGroup g{};
            const auto own = [&](uint32_t bit, uint64_t most) {
                return static_cast<uint32_t>(p.upTo & bit && i ? random.below(most + 1) : most);
            };
            g.m = own(VKGEMM_UP_TO_M, p.m);
            g.n = own(VKGEMM_UP_TO_N, p.n);
            g.k = own(VKGEMM_UP_TO_K, p.k);
            a.add(random, g.m, g.k, g.lda, g.offsetA);
            b.add(random, g.k, g.n, g.ldb, g.offsetB);
            if (p.cSource == VKGEMM_C_SEPARATE) c.add(random, g.m, g.n, g.ldc, g.offsetC);
            d.add(random, g.m, g.n, g.ldd, g.offsetD);
            groups.push_back(g);
        }
        a.reserve(p.m, p.k);
        b.reserve(p.k, p.n);
        c.reserve(p.m, p.n);
        d.reserve(p.m, p.n);
    }

    /// D after the run.
    std::vector<double> expected(double alpha, double beta) {
        Side out = d;
        for (const VkgemmGroup& g : groups)
            for (uint64_t i = 0; i < g.m; ++i)
                for (uint64_t j = 0; j < g.n; ++j) {
                    double sum = 0;
                    for (uint64_t q = 0; q < g.k; ++q)
                        sum += a.at(g.offsetA, g.lda, i, q) * b.at(g.offsetB, g.ldb, q, j);
                    double& value = out.at(g.offsetD, g.ldd, i, j);
                    const double before = p.cSource == VKGEMM_C_SEPARATE ? c.at(g.offsetC, g.ldc, i, j)
                                          : p.cSource == VKGEMM_C_IS_D   ? value
                                                                         : 0;
                    value = rounded(p.d.type, alpha * sum + beta * before);
                }
        return out.values;
    }

   private:
    uint64_t run(const Matrix& x, uint64_t rows, uint64_t cols, uint32_t of_rows, uint32_t of_cols) const {
        const bool by_rows = x.layout == plan::rowMajor;
        return p.upTo & (by_rows ? of_cols : of_rows) ? 0 : plan::info(x.type).bytes_of(by_rows ? cols : rows);
    }
    Side like_d(const Matrix& x) const { return {x, run(x, p.m, p.n, VKGEMM_UP_TO_M, VKGEMM_UP_TO_N)}; }
};

/// The table with addresses in place of offsets.
std::vector<VkgemmGroup> addressed(std::vector<VkgemmGroup> table, const std::array<const Side*, 4>& sides,
                                   const std::array<host::Buffer, 4>& buffers) {
    for (VkgemmGroup& g : table) {
        uint64_t* const offsets[] = {&g.offsetA, &g.offsetB, &g.offsetC, &g.offsetD};
        for (size_t i = 0; i < 4; ++i)
            *offsets[i] = buffers[i].address() + front_bytes + plan::info(sides[i]->matrix->type).bytes_of(*offsets[i]);
    }
    return table;
}

/// "" or the first byte of the buffer of D that is not as these values make it.
std::string first_wrong(Side d, std::vector<double> values, const std::vector<std::byte>& after) {
    d.values = std::move(values);
    const std::vector<std::byte> right = d.bytes();
    for (size_t i = 0; i < right.size(); ++i)
        if (after[i] != right[i])
            return plan::concat(
                {"byte ", i, " of D is wrong, of element ", (i - front_bytes) / plan::info(d.matrix->type).bytes});
    return "";
}

/// "" or what went wrong.
std::string run_table(OddTable& t, const char* kernel, const char* tile, double alpha, double beta) {
    const size_t messages = device().messageCount();
    const bool by_address = t.p.grouping == VKGEMM_GROUPING_ADDRESSES, separate = t.p.cSource == VKGEMM_C_SEPARATE;
    const VkgemmProblem problem = convert::toC(plan::restated(t.p));
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = kernel;
    options.tile = tile;
    OwnedPlan plan;
    VkgemmPlanInfo info;
    if (std::string why = make_plan(problem, options, plan, info); !why.empty()) return why;
    std::array<const Side*, 4> sides = {&t.a, &t.b, &t.c, &t.d};
    std::array<host::Buffer, 4> buffers;
    const auto upload = [](const auto& bytes) { return uploaded(bytes.data(), bytes.size() * sizeof bytes[0]); };
    for (size_t i = 0; i < 4; ++i) buffers[i] = upload(sides[i]->bytes());
    const std::vector<VkgemmGroup> table = by_address ? addressed(t.groups, sides, buffers) : t.groups;
    const host::Buffer groups = upload(table),
                       workspace =
                           upload(std::vector<std::byte>(info.requiredBytes[VKGEMM_SLOT_WORKSPACE], std::byte{0x5a}));
    VkgemmRun r{};
    r.structSize = sizeof r;
    if (!by_address) {
        r.a = t.a.operand(buffers[0], plan::is_mixed(t.p));
        r.b = t.b.operand(buffers[1], plan::is_mixed(t.p));
        if (separate) r.c = t.c.operand(buffers[2], false);
        r.d = t.d.operand(buffers[3], false);
    }
    r.groups.buffer = groups.handle();
    r.workspace.buffer = workspace.handle();
    r.alpha = alpha;
    r.beta = beta;
    VkgemmGroupReport checked{};
    VkgemmError error{};
    if (vkgemmCheckGroups(plan.handle, &r, table.data(), static_cast<uint32_t>(table.size()), &checked, &error))
        return std::string("vkgemmCheckGroups: ") + error.text;
    if (const std::string why = submitted(plan, r, messages); !why.empty()) return why;
    std::vector<VkgemmGroupReport> report(1);
    REQUIRE(device().download(workspace, report).code == VKGEMM_SUCCESS);
    if (std::memcmp(&report[0], &checked, sizeof checked) != 0)
        return plan::concat({"the run counts ", report[0].skipped, " skipped groups, the first ",
                             report[0].firstSkipped, " for operand ", report[0].firstSlot, " by rule ",
                             report[0].firstFault});
    std::vector<std::byte> after(t.d.bytes().size());
    REQUIRE(device().download(buffers[3], after).code == VKGEMM_SUCCESS);
    return first_wrong(t.d, t.expected(alpha, beta), after);
}

constexpr std::array<const char*, 9> lines = {
    "7x8x96 batch=5 upto=mk groups=table layout=tn layout_d=t layout_c=n lda=7 ldb=8 ldc=8 ldd=7 c=separate",
    "8x1x8 batch=3 upto=k groups=table layout=nt layout_c=t lda=9 ldb=9 ldc=8 ldd=1 c=separate",
    "9x8x1 batch=4 upto=k groups=table lda=1 ldb=8 ldd=8",
    "1x146x4 upto=mn groups=addresses lda=4 ldb=146 ldc=146 ldd=147 c=separate",
    "183x60x8 batch=2 upto=mn groups=table lda=8 ldb=61 ldd=61",
    "24x32x16 batch=6 upto=m groups=table layout=nt c=d",
    "32x24x16 batch=6 groups=addresses upto=n layout=tn c=separate",
    "16x32x64 batch=4 groups=table c=separate",
    "3x64x64 batch=4 groups=table layout=nt",
};

}  // namespace

TEST_SUITE_BEGIN("groups");

TEST_CASE("groups as odd as the rules allow: every kernel computes all of them") {
    std::map<std::string_view, size_t> right;
    size_t seed = 0;
    for_each_grouped([&](const Kernel& kernel, const std::string& types, const char* tile) {
        if (types.find("q8_0") != types.npos || types.find("q6_k") != types.npos) return;  // blocks have other rules
        for (size_t i = 0; i < lines.size(); ++i) {
            if (is_quick() && (seed + i) % 3) continue;
            const std::string line = line_of(types, lines[i]);
            REQUIRE_MESSAGE(bool(plan::parse_problem(line)), line);
            if (!plan::complete(plan::parse_problem(line)->problem)) continue;
            OddTable t(line, ++seed);
            const double beta = t.p.cSource == VKGEMM_C_NONE ? 0 : 2;
            const std::string why = run_table(t, kernel.name.data(), tile, 1, beta);
            if (why.starts_with("no plan: ")) continue;
            CHECK_MESSAGE(why.empty(), kernel.name, " ", line, ": ", why);
            ++right[kernel.name];
        }
    });
    if (!is_quick()) CHECK(right.size() > 4);
}

TEST_SUITE_END();

}  // namespace vkgemm::test
