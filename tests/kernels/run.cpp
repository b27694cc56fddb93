// SPDX-License-Identifier: MIT
#include "kernels/run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <optional>

#include "kernels/data.h"
#include "plan/problem/problem_text.h"
#include "support/limited_device.h"
#include "support/mxint8.h"
#include "support/owned.h"
#include "support/random.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

std::string command = "test_kernels";

constexpr size_t d_slot = VKGEMM_SLOT_D;
constexpr std::array<const char*, 7> slot_names = {"A", "B", "C", "D", "bias", "scale", "residual"};

/// One host-visible buffer for each slot, as large as any case has needed.
struct Pool {
    std::array<host::Buffer, 8> buffers;  // the last one for VkgemmScalars, behind a few bytes
    static constexpr size_t scalars = 7, scalars_offset = 12;

    std::string hold_scalars(const VkgemmScalars& s) {
        std::vector<std::byte> bytes(2 * scalars_offset + sizeof s, std::byte{0xff});
        std::memcpy(&bytes[scalars_offset], &s, sizeof s);
        return hold(scalars, bytes);
    }
    VkgemmScalars read_scalars() const {
        VkgemmScalars s;
        std::memcpy(&s, buffers[scalars].mapped().data() + scalars_offset, sizeof s);
        return s;
    }

    std::string hold(size_t slot, const std::vector<std::byte>& bytes) {
        if (buffers[slot].size() < bytes.size()) {
            buffers[slot] = {};
            auto made = device().createBuffer(std::max<VkDeviceSize>(bytes.size() * 2, 1 << 20), host::Memory::host);
            if (!made) return "no buffer: " + made.status().text;
            buffers[slot] = *made;
        }
        std::memcpy(buffers[slot].mapped().data(), bytes.data(), bytes.size());
        return "";
    }
    std::vector<std::byte> read(size_t slot, size_t bytes) const {
        const std::byte* from = buffers[slot].mapped().data();
        return {from, from + bytes};
    }
};
Pool& pool() {
    static Pool p;
    static const bool cleaned = (before_closing([] { p.buffers = {}; }), true);
    static_cast<void>(cleaned);
    return p;
}

VkgemmProblem for_api(plan::Problem p) {
    if (p.cSource != VKGEMM_C_SEPARATE) {
        p.c = {.type = p.c.type};
        p.outerStrideC = 0;
    }
    return convert::toC(p);
}

std::string say(double x) {
    char s[40];
    std::snprintf(s, sizeof s, "%.17g", x);
    return s;
}

double without_sign_of_zero(double x) { return x == 0 ? 0 : x; }  // 0 and -0 depend on where a sum starts

bool acceptable(const Case& x, const plan::Problem& p, double got, Bounded want) {
    const plan::Type type = p.d.type;
    const double rounded_want = rounded(type, want.value);
    if (std::isnan(rounded_want)) return std::isnan(got);
    if (std::isinf(rounded_want)) return got == rounded_want;
    if (!is_inexact(x.fill, p.accuracy)) {
        std::byte bits[2][8] = {};
        encode(type, without_sign_of_zero(got), bits[0]);
        encode(type, without_sign_of_zero(rounded_want), bits[1]);
        return std::memcmp(bits[0], bits[1], sizeof bits[0]) == 0;
    }
    const int times = p.accuracy == VKGEMM_ACCURACY_DEFAULT ? 1 : 4;
    return std::fabs(got - want.value) <= times * want.error;  // false for a NaN
}

double greatest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values) most = std::isnan(v) ? most : std::max(most, std::fabs(v));  // the padding is NaN
    return most;
}

/// The bound of |D - exact| that the plan promises; infinite if it promises none.
double promised(const Case& x, const plan::Problem& p, const Operands& in, double error_bound) {
    const bool bare = x.beta == 0 && p.epilogue.count == 0;
    if (!is_inexact(x.fill, p.accuracy) || !bare || x.alpha == 0 || p.k == 0) return INFINITY;
    return error_bound * greatest(in.a) * greatest(in.b) * std::fabs(x.alpha);
}

/// Is the kernel known to round A to MXINT8? With A rounded so, D is as exact as by default.
bool rounds_to_mxint8(const Case& x) {
    const plan::Kernel* const kernel = plan::find_kernel(x.kernel);
    return kernel && kernel->module.family.accuracy == VKGEMM_ACCURACY_MXINT8;
}
plan::Problem after_rounding(const Case& x, plan::Problem p) {
    if (rounds_to_mxint8(x)) p.accuracy = VKGEMM_ACCURACY_DEFAULT;
    return p;
}

class Comparison {
   public:
    Comparison(const Case& x, const plan::Problem& p, const Data& data, const std::vector<std::byte>& after,
               double error_bound)
        : x_(x),
          p_(after_rounding(x, p)),
          given_(data.numbers()),
          in_(given_),
          got_(data.d.numbers_of(after)),
          promised_(promised(x, p, in_, error_bound)) {
        if (rounds_to_mxint8(x)) in_.a = as_mxint8(p, given_.a);
    }

    /// Are the scalars in memory as they were, and is what was noted of D right?
    std::string scalars(const VkgemmScalars& before, const VkgemmScalars& after) const {
        if (std::memcmp(&before, &after, offsetof(VkgemmScalars, nonFinite)) != 0) return "a scalar was written";
        const bool monitors = p_.scalars & VKGEMM_SCALARS_MONITOR, measures = p_.scalars & VKGEMM_SCALARS_LARGEST;
        if (!measures && std::bit_cast<uint32_t>(before.largest) != std::bit_cast<uint32_t>(after.largest))
            return "the largest |D| was written";
        if ((monitors || measures) && (x_.samples != 0 || is_inexact(x_.fill, p_.accuracy))) return "";
        const bool same = std::isnan(largest_) ? std::isnan(after.largest) : double{after.largest} == largest_;
        if (measures && !same)
            return "the largest |D| is " + say(double{after.largest}) + " in memory, not " + say(largest_);
        const uint32_t want = monitors ? uint32_t{non_finite_} : before.nonFinite;
        return after.nonFinite == want ? "" : "nonFinite is " + std::to_string(after.nonFinite);
    }

    std::string operator()() {
        if (x_.samples == 0)
            for (uint64_t z = 0; z < p_.batch * p_.outerBatch; ++z)
                for (uint64_t r = 0; r < p_.m; ++r)
                    for (uint64_t c = 0; c < p_.n; ++c) element(z, r, c);
        Random random(x_.seed + 1);
        for (uint64_t i = 0; i < x_.samples; ++i)
            element(random.below(p_.batch * p_.outerBatch), random.below(p_.m), random.below(p_.n));
        return wrong_ ? first_ + " (" + std::to_string(wrong_) + " of " + std::to_string(seen_) + " are wrong)" : "";
    }

   private:
    void element(uint64_t z, uint64_t r, uint64_t c) {
        ++seen_;
        const Bounded want = reference(p_, x_.alpha, x_.beta, in_, z, r, c);
        const double is = got_[position(p_, VKGEMM_SLOT_D, z, r, c)],
                     size = std::fabs(want.before.value_or(want.value));
        if (!(size <= largest_) && !std::isnan(largest_)) largest_ = size;  // NaN stays
        non_finite_ |=
            !std::isfinite(want.before.value_or(want.value)) || !std::isfinite(rounded(p_.d.type, want.value));
        const bool right = acceptable(x_, p_, is, want), kept = std::isinf(promised_) || is_kept(z, r, c, is);
        if ((right && kept) || wrong_++ != 0) return;
        first_ = "D[" + std::to_string(z) + "][" + std::to_string(r) + "][" + std::to_string(c) + "] is " + say(is) +
                 ", not " + say(want.value);
        if (is_inexact(x_.fill, p_.accuracy)) first_ += " within " + say(std::min(want.error, promised_));
    }

    bool is_kept(uint64_t z, uint64_t r, uint64_t c, double is) const {
        return std::fabs(is - reference(p_, x_.alpha, x_.beta, given_, z, r, c).value) <= promised_;
    }

    const Case& x_;
    plan::Problem p_;
    Operands given_, in_;
    std::vector<double> got_;
    double promised_;
    uint64_t wrong_ = 0, seen_ = 0;
    bool non_finite_ = false;
    double largest_ = 0;
    std::string first_;
};

std::string compare(const Case& x, const plan::Problem& p, const Data& data, double error_bound) {
    const auto all = data.all();
    for (size_t slot = 0; slot < all.size(); ++slot) {
        const std::vector<std::byte> after = pool().read(slot, all[slot]->bytes().size());
        if (slot == d_slot) {
            Comparison comparison(x, p, data, after, error_bound);
            if (std::string why = comparison(); !why.empty()) return why;
            if (p.scalars && !plan::is_empty(p))
                if (std::string why = comparison.scalars(data.scalars, pool().read_scalars()); !why.empty()) return why;
            if (const auto at = all[slot]->trespass(after))
                return "byte " + std::to_string(*at) +
                       " of D's buffer was written, outside D's elements (D begins at " +
                       std::to_string(all[slot]->offset()) + " and spans " + std::to_string(all[slot]->span_bytes()) +
                       ")";
        } else if (const auto at = all[slot]->written(after)) {
            return "byte " + std::to_string(*at) + " of " + slot_names[slot] + " was written";
        }
    }
    return "";
}

/// The largest power of two up to 16 that all offsets are multiples of.
uint32_t alignment_of(const Case& x, const plan::Problem& p) {
    uint64_t alignment = 16;
    for (const plan::Type type : {p.a.type, p.b.type, p.c.type, p.d.type, p.residualType})
        alignment = std::gcd(alignment, x.shift * uint64_t{plan::info(type).unit_bytes()});
    return static_cast<uint32_t>(x.shift ? alignment : 16);
}

/// A and B of mixed types, and some operands of the epilogue, are read in words of 4 bytes.
uint64_t bytes_needed(const plan::Problem& p, const Guarded& g, size_t slot, uint32_t alignment) {
    const uint64_t bytes = g.span_bytes();
    const bool in_words = plan::is_mixed(p) && slot < 2;
    if (!in_words && !plan::is_read_in_words(p, VkgemmSlot(slot))) return bytes;
    const uint32_t begins = std::max(alignment, plan::info(g.type()).unit_bytes());  // A and B may, within a word
    return (bytes + 3) / 4 * 4 + (in_words && bytes && begins < 4 ? 4 - begins : 0);
}

/// Do the plan's sizes and counts agree with the problem?
std::string check_info(const Case& x, const plan::Problem& p, const Data& data, const VkgemmPlanInfo& info) {
    if (!x.kernel.empty() && !plan::is_empty(p) && x.kernel != info.kernel)
        return "the plan took " + std::string(info.kernel) + ", not " + x.kernel;
    const auto all = data.all();
    for (size_t slot = 0; slot < all.size(); ++slot) {
        const bool packed = (slot == VKGEMM_SLOT_A && info.packedA) || (slot == VKGEMM_SLOT_B && info.packedB);
        const uint64_t want = plan::is_empty(p) ? 0 : bytes_needed(p, *all[slot], slot, alignment_of(x, p));
        if (!packed && info.requiredBytes[slot] != want)
            return std::string("requiredBytes of ") + slot_names[slot] + " is " +
                   std::to_string(info.requiredBytes[slot]) + ", not " + std::to_string(want);
    }
    if ((info.dispatchCount == 0) != plan::is_empty(p)) return "dispatchCount is " + std::to_string(info.dispatchCount);
    if (x.addresses && !info.usesAddresses && !plan::is_empty(p))
        return "addresses were asked for, descriptors are used";
    if (info.workspaceAlignment == 0) return "workspaceAlignment is 0";
    return "";
}

VkgemmOperand operand_of(const host::Buffer& buffer, uint64_t offset, uint64_t size, bool by_address) {
    return {.buffer = by_address ? VK_NULL_HANDLE : buffer.handle(),
            .offset = offset,
            .size = size,
            .address = by_address ? buffer.address() : 0};
}

VkgemmOperand operand(const Case& x, const plan::Problem& p, const Guarded& g, size_t slot) {
    const uint64_t bytes = bytes_needed(p, g, slot, alignment_of(x, p));
    if (bytes == 0) return {};
    const bool on_d = x.alias != Alias::none && slot == (x.alias == Alias::c ? VKGEMM_SLOT_C : VKGEMM_SLOT_RESIDUAL);
    const host::Buffer& buffer = pool().buffers[on_d ? d_slot : slot];
    return operand_of(buffer, g.offset(), bytes, x.addresses);
}

/// The workspace of a plan, or a packed operand: poisoned, with a zone behind it that nobody may touch.
struct Workspace {
    static constexpr VkDeviceSize zone = 256;
    host::Buffer buffer;
    VkDeviceSize size = 0;

    std::string hold(VkDeviceSize bytes) {
        size = bytes;
        if (bytes == 0) return "";
        auto made = device().createBuffer(bytes + zone, host::Memory::host);
        if (!made) return "no buffer: " + made.status().text;
        buffer = *made;
        std::ranges::fill(buffer.mapped(), std::byte{0xff});
        return "";
    }
    std::string look() const {
        if (size == 0) return "";
        const auto after = buffer.mapped().subspan(size);
        return std::ranges::all_of(after, [](std::byte b) { return b == std::byte{0xff}; })
                   ? ""
                   : "bytes behind the workspace were written";
    }
    VkgemmOperand operand(bool addresses) const {
        if (size == 0) return {};
        return operand_of(buffer, 0, size, addresses);
    }
};

// No case takes a GPU a second, so that one which hangs is a failed test soon.
std::chrono::seconds longest() {
    return std::chrono::seconds(device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU ? 3600 : 20);
}

Status submit(VkgemmPlan plan, const VkgemmRun& r) {
    return device().submit(
        [&](VkCommandBuffer commands) {
            VkgemmError error{};
            const VkgemmResult code = vkgemmRecord(plan, commands, &r, &error);
            return Status{code, error.vkResult, error.text};
        },
        longest());
}

/// Packs the operand of `slot` (A or B) ahead of the product.
std::string pack(const Case& x, const plan::Problem& p, VkgemmPlan product, const Guarded& from, VkgemmSlot slot,
                 Workspace& to) {
    OwnedPlan plan;
    VkgemmError error{};
    if (vkgemmCreatePack(product, slot, &plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no pack: ") + error.text;
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    if (vkgemmGetPlanInfo(plan.handle, &info) != VKGEMM_SUCCESS) return "no plan info";
    if (info.requiredBytes[slot] != from.span_bytes())
        return "a pack reads " + std::to_string(info.requiredBytes[slot]) + " bytes, not " +
               std::to_string(from.span_bytes());
    if (std::string why = to.hold(info.requiredBytes[VKGEMM_SLOT_D]); !why.empty()) return why;
    VkgemmRun r{};
    r.structSize = sizeof r;
    (slot == VKGEMM_SLOT_A ? r.a : r.b) = operand(x, p, from, slot);
    r.d = to.operand(x.addresses);
    const Status done = submit(plan.handle, r);
    return done.code == VKGEMM_SUCCESS ? to.look() : "not packed: " + done.text;
}

Status execute(const Case& x, const plan::Problem& p, VkgemmPlan plan, const Data& data,
               const std::array<Workspace, 2>& packed, const Workspace& workspace) {
    const auto all = data.all();
    VkgemmRun r{};
    r.structSize = sizeof r;
    VkgemmOperand* const slots[] = {&r.a, &r.b, &r.c, &r.d, &r.bias, &r.scale, &r.residual};
    for (size_t slot = 0; slot < all.size(); ++slot)
        *slots[slot] = slot < packed.size() && packed[slot].size ? packed[slot].operand(x.addresses)
                                                                 : operand(x, p, *all[slot], slot);
    r.alpha = p.scalars & VKGEMM_SCALARS_ALPHA ? NAN : x.alpha;
    r.beta = p.scalars & VKGEMM_SCALARS_BETA ? NAN : x.beta;
    if (p.scalars) {
        const host::Buffer& buffer = pool().buffers[Pool::scalars];
        r.scalars = operand_of(buffer, Pool::scalars_offset, sizeof(VkgemmScalars), x.addresses);
    }
    if (r.alpha == 0) r.flags |= VKGEMM_RECORD_ZERO_ALPHA;
    if (x.sizes) {
        r.flags |= VKGEMM_RECORD_SIZES;
        r.m = x.sizes->m;
        r.n = x.sizes->n;
        r.k = x.sizes->k;
        r.batch = x.sizes->batch;
    }
    if (x.strides) {
        r.flags |= VKGEMM_RECORD_STRIDES;
        r.strides = *x.strides;
    }
    r.workspace = workspace.operand(x.addresses);
    return submit(plan, r);
}

VkgemmPlanOptions options_of(const Case& x, const plan::Problem& p) {
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = x.kernel.empty() ? nullptr : x.kernel.c_str();
    options.tile = x.tile.empty() ? nullptr : x.tile.c_str();
    options.operands = x.addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
    options.operandAlignment = alignment_of(x, p);
    options.workspaceLimit = 64 << 20;
    return options;
}

VkgemmContext context_of(const Case& x) {
    return x.invocations || x.reach ? limited_context(x.invocations, x.reach) : device().context().handle();
}

/// A case that has been run, before D is checked.
struct Ran {
    plan::Problem problem;
    std::optional<Data> data;
    double error_bound = 0;
};

std::string execute_case(const Case& x, Ran& out) {
    const auto completed = plan::complete(x.problem);
    if (!completed) return "the case itself is broken: " + completed.status().text;
    out.problem = x.sizes ? plan::with_sizes(*completed, *x.sizes) : *completed;
    if (x.strides) {
        const auto strided = plan::of_run(x.problem, x.sizes.value_or(plan::sizes_of(*completed)), *x.strides);
        if (!strided) return "the case itself is broken: " + strided.status().text;
        out.problem = *strided;
    }
    const plan::Problem& p = out.problem;
    if (!is_inexact(x.fill, p.accuracy) && exact_fill(p, x.alpha, x.beta).ab == 0)
        return "the case itself is broken: no range is exact";
    const Data& data = out.data.emplace(x, p);
    const auto all = data.all();
    for (size_t slot = 0; slot < all.size(); ++slot)
        if (std::string why = pool().hold(slot, all[slot]->bytes()); !why.empty()) return why;

    if (std::string why = pool().hold_scalars(data.scalars); !why.empty()) return why;

    const VkgemmProblem problem = for_api(x.problem);
    const VkgemmPlanOptions options = options_of(x, p);
    OwnedPlan plan;
    VkgemmError error{};
    if (vkgemmCreatePlan(context_of(x), &problem, &options, &plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no plan: ") + error.text;
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    if (vkgemmGetPlanInfo(plan.handle, &info) != VKGEMM_SUCCESS) return "no plan info";
    out.error_bound = info.errorBound;
    if (!x.sizes && !x.strides)
        if (std::string why = check_info(x, p, data, info); !why.empty()) return why;
    Workspace workspace;
    if (std::string why = workspace.hold(info.requiredBytes[VKGEMM_SLOT_WORKSPACE]); !why.empty()) return why;
    std::array<Workspace, 2> packed;
    for (const auto& [slot, key] : {std::pair{VKGEMM_SLOT_A, info.packedA}, {VKGEMM_SLOT_B, info.packedB}})
        if (key != VKGEMM_PACKED_NONE)
            if (std::string why = pack(x, p, plan.handle, *all[slot], slot, packed[slot]); !why.empty()) return why;
    const Status done = execute(x, p, plan.handle, data, packed, workspace);
    return done.code == VKGEMM_SUCCESS ? workspace.look() : "not run: " + done.text;
}

}  // namespace

void set_command(std::string name) { command = std::move(name); }

bool can_be_exact(const Case& x) {
    const auto completed = plan::complete(x.problem);
    return is_inexact(x.fill, x.problem.accuracy) || !completed || exact_fill(*completed, x.alpha, x.beta).ab != 0;
}

bool is_planned(const Case& x) {
    const auto completed = plan::complete(x.problem);
    if (!completed) return false;
    const VkgemmProblem problem = for_api(x.problem);
    VkgemmPlanOptions options = options_of(x, *completed);
    options.flags = VKGEMM_PLAN_DRY;
    OwnedPlan plan;
    return vkgemmCreatePlan(context_of(x), &problem, &options, &plan.handle, nullptr) == VKGEMM_SUCCESS;
}

bool fits(const plan::Kernel& kernel) {
    return device().context().checkKernel({.kernel = kernel.name.data()}).code == VKGEMM_SUCCESS;
}

std::string run(const Case& x) {
    const size_t messages = device().messageCount();
    Ran ran;
    std::string why = execute_case(x, ran);
    if (why.empty()) why = compare(x, ran.problem, *ran.data, ran.error_bound);
    if (device().messageCount() > messages)
        why += (why.empty() ? "" : "; ") + std::string("validation: ") + device().messages()[messages].text;
    return why.empty() ? ""
                       : why + "\n  repeat it with: " + command + (validating() ? "" : " --no-validation") +
                             " --one=\"" + to_text(x) + "\"";
}

plan::Result<std::vector<double>> result_of(const Case& x) {
    Ran ran;
    if (std::string why = execute_case(x, ran); !why.empty()) return plan::Refusal{VKGEMM_ERROR_VULKAN, why};
    return ran.data->d.numbers_of(pool().read(d_slot, ran.data->d.bytes().size()));
}

}  // namespace vkgemm::test
