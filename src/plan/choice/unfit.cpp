// SPDX-License-Identifier: MIT
#include "plan/choice/unfit.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {

std::string types_of(const Module& m) {
    const std::string of_sums = typesText(m.a, m.b, m.accumulate, m.d);
    const std::string d = m.d != scaled ? "" : m.writes(i8) ? "f32|f16|bf16|i8" : "f32|f16|bf16";
    if (m.family.takes_fp8) return "fp8*fp8" + of_sums.substr(of_sums.find('+')) + d;
    return (m.is_mixed() ? "mixed*mixed" : "") + of_sums.substr(m.is_mixed()) + d;
}

namespace {

// What a family that is less exact does, and every accuracy of a problem that allows it.
std::string less_exact(VkgemmAccuracy least) {
    if (least == VKGEMM_ACCURACY_MXINT8) return concat({"rounds A to 8 bits; needs accuracy=", accuracy_name(least)});
    if (least == VKGEMM_ACCURACY_NARROW)
        return concat({"rounds A and B for the matrix units; needs accuracy=", accuracy_name(least), " or ",
                       accuracy_name(VKGEMM_ACCURACY_MXINT8)});
    std::string out;
    for (int a = least; a <= VKGEMM_ACCURACY_F32_SPLIT_ROWS; ++a)
        out += concat({(out.empty() ? "" : " or "), "accuracy=", accuracy_name(VkgemmAccuracy(a))});
    return concat({"splits f32 for the matrix units; needs ", out});
}

double groups_of(const Tile& t, const Problem& p) {
    return double(div_up(p.m, t.BM)) * double(div_up(p.n, t.BN)) * double(p.batch);
}
double most_groups(const DeviceCaps& dev) {
    return std::min(double(dev.max_groups_x) * double(dev.max_groups_y), 4294967294.0);
}

// Why a kernel in machine code does not serve this request.
const char* refused_native(const Module& m, const Request& request, Binding binding) {
    if (!VKGEMM_HAS_NATIVE || !m.is_native()) return nullptr;
    if (request.native == Request::Native::excluded)
        return "is machine code, which VKGEMM_PLAN_NO_NATIVE leaves out of the choice";
    if (binding != Binding::addresses)
        return "takes operands by address alone; make the plan for VKGEMM_OPERANDS_ADDRESSES";
    if (request.dispatch_seconds > 0)
        return "is one launch, which is not cut into shorter ones; make the plan without dispatchSeconds";
    return nullptr;
}

const char* refused_grouping(const Module& m, const Problem& p) {
    if (has_table(p)) return m.takes_groups() ? nullptr : "computes one product, not the groups of a table";
    if (p.grouping == VKGEMM_GROUPING_NONE || m.selects()) return nullptr;
    return "selects no matrices of B, as kernels of few rows do";
}

const char* refused_problem(const Module& m, const Tile& t, const DeviceCaps& dev, const Problem& p) {
    const Family& family = m.family;
    if (is_pair(p) && !family.takes_pairs) return "computes one product, not a pair";
    const bool straight = is_straight(family, t);
    if (straight && m.a != f16) return "is for f16 where it loads matrices straight from memory";
    if (straight && (p.a.layout != rowMajor || p.b.layout != columnMajor))
        return "is for row-major A and column-major B, whose matrices it loads straight from memory along k";
    if (p.batchInvariant && (family.wants_wide || straight || family.wants_pitches))
        return "reads A and B 16 bytes at a time, which the strides of some batches forbid; not for batchInvariant";
    if (family.in_one_step && p.k > t.BK) return "keeps the whole of B's columns in registers; for K of at most BK";
    if (const char* why = family.refuses(p)) return why;
    const auto bytes = family.shared_bytes_of_format;
    if (bytes && bytes(t, m.element_bytes(), p.b.type) > dev.shared_bytes)
        return "takes more shared memory for this format of B than the device has";
    return nullptr;
}

// The two wordings of the rule. Each is called with the code of a refusal and a function that makes its text.
struct InWords {
    using Result = std::optional<Status>;
    const DeviceCaps& dev;

    template <class Text>
    Result operator()(VkgemmResult code, const Text& text) const {
        return Refusal{code, std::string(text())};
    }
    Result of_device(const Kernel& k, const Tile& t) const { return unfit_device(k, t, dev); }
    Result known(const Status& why) const { return why; }
};
struct YesOrNo {
    using Result = bool;

    template <class Text>
    bool operator()(VkgemmResult, const Text&) const {
        return true;
    }
    bool of_device(const Kernel&, const Tile&) const { return false; }  // the kernel fits the device
    bool known(const Status&) const { return true; }
};

}  // namespace

KernelRule::KernelRule(const DeviceCaps& dev, const Problem& p, const Request& request, Binding binding)
    : dev_(dev), p_(p), request_(request), binding_(binding), too_large_(too_large(dev, p, binding)) {}

template <class Refuse>
typename Refuse::Result KernelRule::check_types(const Module& m, const Refuse& refuse) const {
    if (!m.has_types_of(p_))
        return refuse(VKGEMM_ERROR_UNSUPPORTED, [&] {
            return concat({"multiplies ", types_of(m), ", not ", types_text(p_)});
        });
    if (p_.accuracy < m.family.accuracy)
        return refuse(VKGEMM_ERROR_UNSUPPORTED, [&] { return less_exact(m.family.accuracy); });
    return {};
}

// The order is that of the reports: the first reason is the one that is given.
template <class Refuse>
typename Refuse::Result KernelRule::check(const Kernel& k, const Tile& t, const Refuse& refuse) const {
    const Module& m = k.module;
    const auto unsupported = [&](const char* why) { return refuse(VKGEMM_ERROR_UNSUPPORTED, [&] { return why; }); };
    if (auto why = check_types(m, refuse)) return why;
    if (auto why = refuse.of_device(k, t)) return why;
    if (const char* why = refused_grouping(m, p_)) return unsupported(why);
    if (too_large_) return refuse.known(*too_large_);
    if (groups_of(t, p_) > most_groups(dev_))
        return refuse(VKGEMM_ERROR_LIMIT, [&] {
            return concat({"it would take ", uint64_t(std::min(groups_of(t, p_), 1e18)), " work groups; the limit is ",
                           uint64_t(most_groups(dev_)), "; use a larger tile or split the batch"});
        });
    if (const char* why = refused_problem(m, t, dev_, p_)) return unsupported(why);
    if (const char* why = refused_native(m, request_, binding_)) return unsupported(why);
    if (const char* why = request_.least ? m.family.refuses(*request_.least) : nullptr)
        return refuse(VKGEMM_ERROR_UNSUPPORTED, [&] { return concat({why, ", as the smallest sizes are"}); });
    return {};
}

std::optional<Status> KernelRule::unfit(const Kernel& k, const Tile& t) const { return check(k, t, InWords{dev_}); }

bool KernelRule::serves(const Kernel& k, const Tile& t) const { return !check(k, t, YesOrNo{}); }

bool KernelRule::may_serve(const Module& m) const { return !check_types(m, YesOrNo{}); }

std::optional<Status> unfit(const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p, Binding binding) {
    const Request any;
    return KernelRule(dev, p, any, binding).unfit(k, t);
}

}  // namespace vkgemm::plan
