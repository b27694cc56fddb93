// SPDX-License-Identifier: MIT
// Batch-invariant problems: a row of D has the same bits whatever m, the number of products and its place are.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/tally.h"
#include "plan/problem/problem_text.h"
#include "support/limited_device.h"
#include "support/owned.h"
#include "support/random.h"
#include "support/reference.h"
#include "vkgemm/elements.hpp"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::Matrix;
using vkgemm::plan::Problem;

namespace {

constexpr uint64_t most_rows = 256;

/// The i-th number of a stream: no sum of such numbers is exact.
double some_number(uint64_t stream, uint64_t i) {
    Random random(stream * 1000003 + i);
    random.bits();
    return 2 * random.unit() - 1;
}

/// `number(row, col)` for every matrix of a dense or shared batch.
template <class Number>
std::vector<std::byte> bytes_of(const Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch, const Number& number) {
    const uint64_t bytes = vkgemm::bytesOf(x.type), matrices = x.batchStride ? batch : 1;
    std::vector<std::byte> out((matrices * x.ld * (x.layout == columnMajor ? cols : rows) + x.batchStride) * bytes);
    for (uint64_t z = 0; z < matrices; ++z)
        for (uint64_t r = 0; r < rows; ++r)
            for (uint64_t c = 0; c < cols; ++c)
                vkgemm::encode(x.type, number(r, c), &out[position(x, z, r, c) * bytes]);
    return out;
}

vkgemm::host::Buffer buffer_of(const std::vector<std::byte>& bytes) {
    auto made = device().createBuffer(bytes.size() + 256, vkgemm::host::Memory::host);
    REQUIRE_MESSAGE(bool(made), made.status().text);
    std::ranges::copy(bytes, made->mapped().begin());
    return *made;
}

/// The bytes of each row of D, product after product.
using Rows = std::vector<std::string>;

/// What a row of A is: the same in every product, whatever m is. Or all are the same, and so are the columns of B.
enum class Numbers { of_the_row, of_k };

Rows rows_of(const std::string& line, uint64_t m, uint64_t batch, VkgemmContext context, const char* kernel = nullptr,
             Numbers numbers = Numbers::of_the_row) {
    const bool same = numbers == Numbers::of_k;
    Problem p = vkgemm::plan::parse_problem(line)->problem;
    p.m = m;
    p.batch = batch;
    const auto completed = vkgemm::plan::complete(p);
    REQUIRE_MESSAGE(bool(completed), completed.status().text);
    const Problem& q = *completed;
    const auto a = buffer_of(bytes_of(q.a, m, q.k, batch, [&](uint64_t r, uint64_t c) {
        return some_number(1, (same ? 0 : r * q.k) + c);  // row r, whatever m is
    }));
    const auto b = buffer_of(
        same ? std::vector(8 * q.k * q.n, std::byte{0x2c})  // a number that is normal, of any type
             : bytes_of(q.b, q.k, q.n, batch, [&](uint64_t r, uint64_t c) { return some_number(2, r * q.n + c); }));
    const auto d = buffer_of(bytes_of(q.d, m, q.n, batch, [](uint64_t, uint64_t) { return 0.0; }));
    const VkgemmProblem given = vkgemm::convert::toC(p);
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.workspaceLimit = 64 << 20;
    options.kernel = kernel;
    OwnedPlan plan;
    VkgemmError error{};
    REQUIRE_MESSAGE(vkgemmCreatePlan(context, &given, &options, &plan.handle, &error) == VKGEMM_SUCCESS,
                    std::string(error.text));
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetPlanInfo(plan.handle, &info) == VKGEMM_SUCCESS);
    const auto workspace = buffer_of(std::vector<std::byte>(info.requiredBytes[VKGEMM_SLOT_WORKSPACE]));
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.alpha = 0.7;
    run.a.buffer = a.handle();
    run.b.buffer = b.handle();
    run.d.buffer = d.handle();
    run.workspace.buffer = workspace.handle();
    const auto done = device().submit([&](VkCommandBuffer commands) {
        const VkgemmResult code = vkgemmRecord(plan.handle, commands, &run, &error);
        return vkgemm::Status{code, error.vkResult, error.text};
    });
    REQUIRE_MESSAGE(done.code == VKGEMM_SUCCESS, done.text);
    Rows out;
    const uint64_t bytes = vkgemm::bytesOf(q.d.type);
    for (uint64_t z = 0; z < batch; ++z)
        for (uint64_t r = 0; r < m; ++r) {
            std::string row;
            for (uint64_t c = 0; c < q.n; ++c)
                row.append(reinterpret_cast<const char*>(d.mapped().data()) + position(q.d, z, r, c) * bytes, bytes);
            out.push_back(row);
        }
    return out;
}

/// Whether row r is the same in every product of every plan. So that it cannot hold by chance, elements differ.
bool rows_are_the_same(const std::string& line, VkgemmContext context) {
    const Rows all = rows_of(line, most_rows, 1, context);
    CHECK(all[0] != all[1]);
    for (const uint64_t m : {1u, 2u, 7u, 33u, 256u})
        for (const uint64_t batch : {1u, 3u}) {
            const Rows rows = rows_of(line, m, batch, context);
            for (size_t i = 0; i < rows.size(); ++i)
                if (rows[i] != all[i % m]) return false;
        }
    return true;
}

}  // namespace

TEST_CASE("invariant: a row has the same bits in products of other heights and batches") {
    size_t offered = 0;
    for (const VkgemmContext context : {device().context().handle(), limited_context(as_on_a_gpu)})
        for (const char* line : {
                 "1x37x130 invariant",
                 "1x37x130 layout=nt invariant",
                 "1x37x130 layout=tn invariant",
                 "1x37x130 layout=tt layout_d=t invariant",
                 "1x37x130 stride_b=0 invariant",
                 "1x40x128 layout=nt stride_b=0 layout_d=t invariant",
                 "1x5x128 layout=nt invariant",
                 "1x16x4100 layout=nt invariant",  // K would be split
                 "f16*f16 1x64x1024 layout=nt invariant",
                 "f16*f16 1x40x130 layout=tn invariant",
             }) {
            VkgemmProblem p{};
            p.structSize = sizeof p;
            REQUIRE(vkgemmParseProblem(line, &p, nullptr, nullptr, nullptr) == VKGEMM_SUCCESS);
            OwnedPlan plan;
            if (++offered % 2 == (context == device().context().handle()) && is_quick()) continue;
            if (vkgemmCreatePlan(context, &p, nullptr, &plan.handle, nullptr) == VKGEMM_ERROR_UNSUPPORTED) continue;
            CHECK_MESSAGE(rows_are_the_same(line, context), line);
        }
}

// A batch whose products share B becomes rows of one product, where a row has another place in its tile. Families of
// few rows add parts of a sum up in shared memory, from a place on that depends on the element.
TEST_CASE(
    "invariant: sums of the same numbers have the same bits wherever in a tile they are, in families of few rows") {
    using vkgemm::plan::info;
    size_t number = 0, seen = 0;
    for (const vkgemm::plan::Kernel& k : vkgemm::plan::kernels()) {
        const vkgemm::plan::Module& module = k.module;
        const bool is_wide = module.d == vkgemm::plan::f32 || module.d == vkgemm::plan::f64;
        if (!module.family.name.starts_with("gemv") || !is_wide || !is_chosen(k) || !fits(k)) continue;
        if (number++ % (is_quick() ? 6 : 2)) continue;
        const bool blocks = module.family.reads_chunk64;
        const std::string a(module.is_mixed() ? "f32" : info(module.a).name),
            b = blocks              ? "q8_0"
                : module.is_mixed() ? "f16"
                                    : a,
            d(info(module.d).name);
        std::string line = a + "*" + b + "->" + d + " 16x16x2048 layout=nt";
        if (module.family.accuracy == VKGEMM_ACCURACY_MXINT8) line += " accuracy=mxint8";
        if (module.family.accuracy == VKGEMM_ACCURACY_NARROW) line += " accuracy=narrow";
        CAPTURE(line);
        CAPTURE(k.name);
        const std::string name(k.name);
        const vkgemm::Problem problem = vkgemm::parseProblem(line.c_str())->problem;
        if (!device().context().checkKernel({.kernel = name.c_str()}, &problem)) continue;  // shared memory
        const Rows rows = rows_of(line, 16, 1, device().context().handle(), name.c_str(), Numbers::of_k);
        const size_t bytes = vkgemm::bytesOf(module.d);
        for (const std::string& row : rows)
            for (size_t c = 0; c < 16; ++c) CHECK(row.compare(c * bytes, bytes, rows[0], 0, bytes) == 0);
        ++seen;
    }
    CHECK(seen > 0);
}
TEST_CASE("invariant: without it some rows depend on how many there are") {
    int differ = 0;
    for (const VkgemmContext context : {device().context().handle(), limited_context(as_on_a_gpu)})
        for (const char* line : {"1x16x4100 layout=nt", "1x37x130 layout=nt"})
            differ += !rows_are_the_same(line, context);
    CHECK(differ > 0);
}
