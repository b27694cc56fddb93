// SPDX-License-Identifier: MIT
#include "kernels/compare.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "kernels/memory.h"
#include "kernels/phases.h"
#include "support/mxint8.h"

namespace vkgemm::test {
namespace {

constexpr size_t d_slot = VKGEMM_SLOT_D;

double without_sign_of_zero(double x) { return x == 0 ? 0 : x; }  // 0 and -0 depend on where a sum starts

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

/// Is the kernel known to round A to MXINT8?
bool rounds_to_mxint8(const Case& x) {
    const plan::Kernel* const kernel = plan::find_kernel(x.kernel);
    return kernel && kernel->module.family.accuracy == VKGEMM_ACCURACY_MXINT8;
}

class Comparison {
   public:
    Comparison(const Case& x, const plan::Problem& p, const Data& data, const std::vector<std::byte>& after,
               double error_bound)
        : x_(x),
          p_(p),
          given_(data.numbers()),
          in_(given_),
          got_(data.d.numbers_of(after)),
          promised_(promised(x, p, in_, error_bound)) {
        round_like_kernel(x, p_, in_.a);
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
        const Timed timed(Phase::reference);
        if (x_.samples == 0)
            for (uint64_t z = 0; z < p_.batch * p_.outerBatch; ++z) {
                References references(p_, x_.alpha, x_.beta, in_, z);
                for (uint64_t r = 0; r < p_.m; ++r)
                    for (uint64_t c = 0; c < p_.n; ++c) element(z, r, c, references(r, c));
            }
        Random random(x_.seed + 1);
        for (uint64_t i = 0; i < x_.samples; ++i) {
            const uint64_t z = random.below(p_.batch * p_.outerBatch), r = random.below(p_.m), c = random.below(p_.n);
            element(z, r, c, reference(p_, x_.alpha, x_.beta, in_, z, r, c));
        }
        return wrong_ ? first_ + " (" + std::to_string(wrong_) + " of " + std::to_string(seen_) + " are wrong)" : "";
    }

   private:
    void element(uint64_t z, uint64_t r, uint64_t c, const Bounded& want) {
        ++seen_;
        const double is = got_[position(p_, VKGEMM_SLOT_D, z, r, c)],
                     size = std::fabs(want.before.value_or(want.value));
        if (!(size <= largest_) && !std::isnan(largest_)) largest_ = size;  // NaN stays
        non_finite_ |=
            !std::isfinite(want.before.value_or(want.value)) || !std::isfinite(rounded(p_.d.type, want.value));
        const bool right = acceptable(x_, p_, is, want), kept = std::isinf(promised_) || is_kept(z, r, c, is, want);
        if ((right && kept) || wrong_++ != 0) return;
        first_ = "D[" + std::to_string(z) + "][" + std::to_string(r) + "][" + std::to_string(c) + "] is " + say(is) +
                 ", not " + say(want.value);
        if (is_inexact(x_.fill, p_.accuracy)) first_ += " within " + say(std::min(want.error, promised_));
    }

    bool is_kept(uint64_t z, uint64_t r, uint64_t c, double is, const Bounded& want) const {
        const double exact =
            rounds_to_mxint8(x_) ? reference(p_, x_.alpha, x_.beta, given_, z, r, c).value : want.value;
        return std::fabs(is - exact) <= promised_;
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

}  // namespace

void round_like_kernel(const Case& x, plan::Problem& p, std::vector<double>& a) {
    if (!rounds_to_mxint8(x)) return;
    auto rounded = as_mxint8(p, a);
    if (!rounded) return;  // the reference bounds what rounding loses
    a = std::move(*rounded);
    p.accuracy = VKGEMM_ACCURACY_DEFAULT;
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

std::string compare(const Case& x, const plan::Problem& p, const Data& data, double error_bound) {
    const Timed timed(Phase::compare);
    const auto all = data.all();
    for (size_t i = 0; i < all.size(); ++i) {
        const size_t slot = Data::slots[i], bytes = all[i]->bytes().size();
        if (slot == d_slot) {
            const std::vector<std::byte> after = pool().read(slot, bytes);
            Comparison comparison(x, p, data, after, error_bound);
            if (std::string why = comparison(); !why.empty()) return why;
            if (p.scalars && !plan::is_empty(p))
                if (std::string why = comparison.scalars(data.scalars, pool().read_scalars()); !why.empty()) return why;
            if (const auto at = all[i]->trespass(after))
                return "byte " + std::to_string(*at) +
                       " of D's buffer was written, outside D's elements (D begins at " +
                       std::to_string(all[i]->offset()) + " and spans " + std::to_string(all[i]->span_bytes()) + ")";
        } else if (const auto at = all[i]->written(pool().mapped(slot).first(bytes))) {
            return "byte " + std::to_string(*at) + " of " + slot_names[slot] + " was written";
        }
    }
    return "";
}

}  // namespace vkgemm::test
