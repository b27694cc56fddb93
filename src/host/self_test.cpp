// SPDX-License-Identifier: MIT
// The self-test: small whole numbers in, every element compared.
#include "host/self_test.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include "vkgemm/explain.hpp"
#include "vkgemm/float_exceptions.hpp"
#include "vkgemm/formats.hpp"

namespace vkgemm::host {
namespace detail {
namespace {

struct Random {
    uint64_t state;
    uint64_t next() { return splitmix64(state); }
};

/// One product with its operands and the D that is right.
struct Product {
    Problem problem;
    std::string text;
    std::vector<std::byte> a, b, d;
};

/// Sparse whole numbers: with `terms` products of at most 1 in a sum all types add up exactly.
std::vector<int> numbers(size_t count, Random& random, bool is_signed, uint64_t one_in) {
    std::vector<int> all(count);
    for (int& x : all) {
        const uint64_t bits = random.next();
        x = (bits >> 8) % one_in != 0 ? 0 : is_signed && bits % 2 ? -1 : 1;
    }
    return all;
}

/// `values` are in the order of the memory; blocks are neighbours there.
std::vector<std::byte> encoded(Type type, const std::vector<int>& values) {
    const size_t block = blockElements(type), bytes = bytesOf(type);
    const std::vector<double> all(values.begin(), values.end());
    std::vector<std::byte> out(all.size() / block * bytes);
    for (size_t i = 0; i < all.size() / block; ++i)
        encodeBlock(type, std::span(all).subspan(i * block, block), &out[i * bytes]);
    return out;
}

/// kernelProblem(), but memory that runs out does not make another problem.
Problem problem_for(uint32_t kernel, const Problem& like) {
    const VkgemmProblem given = convert::toC(like);
    auto problem = convert::output<VkgemmProblem>();
    const VkgemmResult code = vkgemmGetKernelProblem(kernel, &given, &problem, nullptr);
    if (code == VKGEMM_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    return code < 0 ? like : convert::fromC(problem);
}

Product make_product(uint32_t kernel, const Problem& like, uint64_t seed) {
    Product p;
    p.problem = problem_for(kernel, like);
    const auto [m, n, depth] = std::array{p.problem.m, p.problem.n, p.problem.k};
    const Type type_a = p.problem.a.type, type_b = p.problem.b.type;
    const auto text = formatProblem(p.problem);
    if (!text) throw std::bad_alloc();  // the only reason
    p.text = *text;
    Random random{seed};
    const uint64_t sparse = std::max<uint64_t>(2, depth / 64);  // so that a sum stays far below 256, bf16's last
    const std::vector<int> a = numbers(m * depth, random, type_a != VKGEMM_TYPE_U8, sparse);
    const std::vector<int> b = numbers(depth * n, random, type_b != VKGEMM_TYPE_U8, 2);
    std::vector<int> d(m * n), a_there(a.size()), b_there(b.size());
    for (uint64_t row = 0; row < m; ++row)
        for (uint64_t q = 0; q < depth; ++q) {
            const int left = a[row * depth + q];
            a_there[p.problem.a.layout == columnMajor ? q * m + row : row * depth + q] = left;
            for (uint64_t col = 0; left && col < n; ++col) d[row * n + col] += left * b[q * n + col];
        }
    for (uint64_t q = 0; q < depth; ++q)
        for (uint64_t col = 0; col < n; ++col)
            b_there[p.problem.b.layout == columnMajor ? col * depth + q : q * n + col] = b[q * n + col];
    p.a = encoded(type_a, a_there);
    p.b = encoded(type_b, b_there);
    p.d = encoded(p.problem.d.type, d);
    return p;
}

/// A constant of a tile, "WG=64,BM=8": 0 where it has none.
uint64_t constant(const std::string& tile, const std::string& name) {
    const std::string text = "," + tile, key = "," + name + "=";
    const size_t at = text.find(key);
    return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

/// Whole tiles, less than one, and some more than one; if the kernel takes mixed types, block formats in turn, each
/// with bits in other places.
std::vector<Product> products(uint32_t kernel, const VkgemmKernelInfo& k, uint64_t seed) {
    const uint64_t bm = constant(k.tile, "BM"), bn = constant(k.tile, "BN"),
                   bk = std::max<uint64_t>(16, constant(k.tile, "BK"));
    const bool mixed = k.a == VKGEMM_TYPE_DEFAULT;
    std::vector<Product> all;
    const auto add = [&](uint64_t m, uint64_t n, uint64_t depth, bool transposed, Type format = VKGEMM_TYPE_DEFAULT) {
        Problem like{.m = m, .n = n, .k = depth};
        if (mixed) like.b.type = format;
        if (transposed) like.a.layout = like.b.layout = columnMajor;
        all.push_back(make_product(kernel, like, seed + all.size()));
    };
    add(2 * bm, 2 * bn, 2 * bk, false);
    add(bm + 3, bn + 5, 3 * bk + 1, false);
    add(bm + 8, 2 * bn, 2 * bk + 16, true, VKGEMM_TYPE_Q4_0);
    if (bm > 1 && bn > 1) add(bm - 1, bn - 1, bk - 1, true);
    if (mixed) add(bm + 3, bn + 5, 2 * bk, false, VKGEMM_TYPE_Q4_K);
    return all;
}

std::string first_difference(const Product& p, std::span<const std::byte> d) {
    const size_t bytes = bytesOf(p.problem.d.type);
    for (size_t i = 0; i < p.d.size(); i += bytes)
        if (!std::equal(&p.d[i], &p.d[i] + bytes, &d[i]))
            return "D[" + std::to_string(i / bytes / p.problem.n) + "][" + std::to_string(i / bytes % p.problem.n) +
                   "] is wrong";
    return "";
}

PlanOptions options_of(const VkgemmKernelInfo& k) {
    return {.kernel = k.name, .workspaceLimit = uint64_t{64} << 20};  // some bring operands into shape first
}

/// Runs one product; what is wrong with it, or "".
Result<std::string> run(const Device& device, const VkgemmKernelInfo& k, const Product& p, uint32_t runs,
                        const Spoil& spoil) {
    const auto plan = device.context().createPlan(p.problem, options_of(k));
    if (!plan) return plan.status();
    host::Buffer workspace;
    if (const uint64_t bytes = plan->info().requiredBytes[VKGEMM_SLOT_WORKSPACE]) {
        auto made = device.createBuffer(bytes);
        if (!made) return made.status();
        workspace = *std::move(made);
    }
    host::Buffer buffers[3];
    const std::vector<std::byte>* data[] = {&p.a, &p.b, &p.d};
    for (size_t i = 0; i < 3; ++i) {
        auto made = device.createBuffer((data[i]->size() + 15) / 16 * 16);
        if (!made) return made.status();
        buffers[i] = *std::move(made);
        if (i < 2)
            if (Status s = device.upload(buffers[i], *data[i]); !s) return s;
    }
    std::vector<std::byte> d(p.d.size());
    for (uint32_t i = 0; i < runs; ++i) {
        if (Status s = device.fill(buffers[2], 0, buffers[2].size(), 0xffffffff); !s) return s;  // not a number
        if (Status s = device.submit([&](VkCommandBuffer commands) {
                return plan->record(commands, {.a = buffers[0].operand(),
                                               .b = buffers[1].operand(),
                                               .d = buffers[2].operand(),
                                               .workspace = workspace.handle() ? workspace.operand() : Operand{}});
            });
            !s)
            return s;
        if (Status s = device.download(buffers[2], d); !s) return s;
        if (spoil)
            if (Status s = spoil(k.name, d); !s) return s;
        if (const std::string wrong = first_difference(p, d); !wrong.empty())
            return p.text + ": " + wrong + (i ? " in run " + std::to_string(i + 1) : "");
    }
    return std::string();
}

/// The fault of the kernel that ran when the device failed; "" unless the device was lost.
std::string against(const Product& p, const Status& failure) {
    return failure.code == VKGEMM_ERROR_DEVICE_LOST ? p.text + ": " + failure.text : "";
}

}  // namespace

Result<SelfTest> self_test(const Device& device, const SelfTestOptions& options, const Spoil& spoil) {
    SelfTest result;
    for (const std::string& name : options.kernels)
        if (const Status s = device.context().checkKernel({.kernel = name.c_str()}, nullptr); !s) return s;
    const std::vector<VkgemmKernelInfo> all = kernels();
    for (uint32_t kernel = 0; kernel < all.size(); ++kernel) {
        const VkgemmKernelInfo& k = all[kernel];
        const bool asked =
            options.kernels.empty() || std::ranges::find(options.kernels, k.name) != options.kernels.end();
        if (k.helper || !asked) continue;
        if (const Status fits = device.context().checkKernel({.kernel = k.name}, nullptr); !fits) {
            if (fits.code != VKGEMM_ERROR_OUT_OF_MEMORY) continue;
            result.failure = fits;
            return result;
        }
        size_t tried = 0;
        for (const Product& p : products(kernel, k, options.seed)) {
            if (const Status serves = device.context().checkKernel(options_of(k), &p.problem); !serves) {
                if (serves.code != VKGEMM_ERROR_OUT_OF_MEMORY) continue;  // a family may not serve it
                result.failure = serves;
                return result;
            }
            ++result.products;
            if (tried++ == 0) ++result.kernels;
            const auto wrong = run(device, k, p, options.runs, spoil);
            if (!wrong) result.failure = wrong.status();
            const std::string why = wrong ? *wrong : against(p, wrong.status());
            if (!why.empty())
                result.disabledKernels += rowDevice(device.info().name) + " | " + k.name + " | " + why + "\n";
            if (!wrong) return result;
            if (!why.empty()) break;
        }
    }
    return result;
}

}  // namespace detail

std::string rowDevice(const std::string& name) {
    std::string part = name.substr(0, name.find_first_of("|#"));
    part.erase(part.find_last_not_of(' ') + 1);
    return part;
}

Result<SelfTest> testNativeKernels(DeviceOptions options, const SelfTestOptions& test) {
    const HoldFloatExceptions held;
    options.nativeKernels = VKGEMM_NATIVE_ANY_DRIVER;
    const Result<Device> device = Device::open(options);
    if (!device) return device.status();
    SelfTestOptions of_native = test;
    SelfTest none;
    const auto all = kernels();
    for (uint32_t i = 0; i < all.size() && test.kernels.empty(); ++i) {
        const auto traits = kernelTraits(i);
        if (!traits || !traits->native || all[i].helper) continue;
        const Status fits = device->context().checkKernel({.kernel = all[i].name});
        if (fits) of_native.kernels.emplace_back(all[i].name);
        if (fits || !none.failure) continue;
        none.failure = fits;
        none.failure.text =
            device->info().name + " runs no native kernel; the first of them, " + all[i].name + ": " + fits.text;
    }
    if (of_native.kernels.empty()) return none;  // an empty list would mean all kernels
    return selfTest(*device, of_native);
}

Result<SelfTest> selfTest(const Device& device, const SelfTestOptions& options) {
    const HoldFloatExceptions held;
    return detail::self_test(device, options, {});
}

}  // namespace vkgemm::host
