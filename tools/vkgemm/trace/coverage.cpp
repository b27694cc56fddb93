// SPDX-License-Identifier: MIT
#include "trace/coverage.h"

#include <algorithm>
#include <set>

#include "trace/index_sets.h"

namespace vkgemm::tool {
namespace {

using std::to_string;

constexpr uint32_t factors[] = {bind_a, bind_b}, matrices[] = {bind_a, bind_b, bind_d};

std::string place(const TracedOperand& o, uint64_t batch, uint64_t row, uint64_t col, uint64_t batches) {
    std::string text = o.name + "[" + to_string(row) + "][" + to_string(col) + "]";
    return batches > 1 ? text + " of matrix " + to_string(batch) : text;
}

/// Counts one operand and notes what must not be.
class Counter {
   public:
    Counter(const Trace& t, uint32_t bind, Coverage& out) : t_(t), bind_(bind), o_(t.operands[bind]), out_(out) {}

    void count() {
        touched_.name = o_.name;
        touched_.written = bind_ == bind_d;
        touched_.outside = o_.outside;
        touched_.least = UINT64_MAX;
        const uint64_t batches = o_.matrix.batchStride ? t_.problem.batch : 1;
        std::vector<bool> owned(o_.counts.size());
        for (uint64_t batch = 0; batch < batches; ++batch)
            for (uint64_t row = 0; row < o_.rows; ++row)
                for (uint64_t col = 0; col < o_.cols; ++col) {
                    const uint64_t at = o_.position(batch, row, col);
                    owned[at] = true;
                    element(o_.counts[at], [&] { return place(o_, batch, row, col, batches); });
                }
        for (size_t i = 0; i < owned.size(); ++i) touched_.gap_elements += !owned[i] && o_.counts[i];
        if (touched_.elements == 0) touched_.least = 0;
        judge();
        out_.touched.push_back(touched_);
    }

   private:
    template <class Where>
    void element(uint64_t times, const Where& where) {
        ++touched_.elements;
        touched_.accesses += times;
        ++touched_.histogram[times];
        touched_.least = std::min(touched_.least, times);
        touched_.most = std::max(touched_.most, times);
        if (times == 0 && touched_.never++ == 0) first_never_ = where();
        if (times > 1 && touched_.written && repeated_++ == 0) first_repeated_ = where();
    }
    /// Each element is touched; else none is.
    bool needed() const {
        if (bind_ == bind_a || bind_ == bind_b) return t_.k != 0;
        return bind_ != bind_c || t_.adds_c;
    }
    void judge() {
        const auto fault = [&](const std::string& text) { out_.faults.push_back(text); };
        const auto others = [](uint64_t n) { return n > 1 ? ", and " + to_string(n - 1) + " more" : std::string(); };
        if (!needed() && (touched_.accesses || touched_.gap_elements))
            fault(o_.name + " is read, though " + (bind_ == bind_c ? "beta" : "alpha") + " is 0");
        if (needed() && touched_.never)
            fault(first_never_ + " is never " + (touched_.written ? "written" : "read") + others(touched_.never));
        if (repeated_) fault(first_repeated_ + " is written more than once" + others(repeated_));
        if (touched_.written && touched_.gap_elements)
            fault(to_string(touched_.gap_elements) + " elements between the rows of " + o_.name + " are written");
        if (o_.outside)
            fault(to_string(o_.outside) + (o_.outside == 1 ? " access reaches" : " accesses reach") + " outside " +
                  o_.name + ", which has " + to_string(o_.counts.size()) + " elements, up to element " +
                  to_string(o_.farthest));
    }

    const Trace& t_;
    uint32_t bind_;
    const TracedOperand& o_;
    Coverage& out_;
    Touched touched_;
    uint64_t repeated_ = 0;
    std::string first_never_, first_repeated_;
};

void compare(const Trace& traced, Coverage& out) {
    const size_t bytes = type_info(traced.problem.d.type).bytes;
    uint64_t different = 0, first = 0;
    for (size_t i = 0; i + bytes <= traced.traced.size(); i += bytes)
        if (!std::equal(&traced.traced[i], &traced.traced[i] + bytes, &traced.untraced[i]) && different++ == 0)
            first = i / bytes;
    if (!traced.outcome.wrong.empty()) out.faults.push_back("traced D is wrong: " + traced.outcome.wrong);
    if (different)
        out.faults.push_back("traced and untraced D differ in " + to_string(different) + " elements, the first is " +
                             to_string(first));
}

using Indices = std::vector<uint64_t>;

void add(Indices& to, const Access& a) {
    for (uint32_t e = 0; e < a.elements; ++e) to.push_back(uint64_t{a.first} + e);
}
/// Sorted, each once; the most times that one was there.
uint64_t sorted_once(Indices& all) {
    std::ranges::sort(all);
    uint64_t most = 0, now = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        now = i && all[i] == all[i - 1] ? now + 1 : 1;
        most = std::max(most, now);
    }
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return most;
}
Indices moved(const Indices& all, uint64_t by) {
    Indices out;
    for (const uint64_t i : all) out.push_back(i - by);
    return out;
}

/// The distance from each step's set to the next, if all are the same set at regular distances; else 0.
uint64_t stride_of(const std::map<uint32_t, Indices>& steps) {
    uint64_t stride = 0;
    const Indices* before = nullptr;
    for (const auto& [step, now] : steps) {
        if (before) {
            const uint64_t by = now.front() - before->front();
            if ((stride && by != stride) || moved(now, by) != *before) return 0;
            stride = by;
        }
        before = &now;
    }
    return stride;
}

/// Where the invocations' sets begin, if they are one set moved about; else "".
std::string begins_text(const std::map<uint32_t, Indices>& invocations) {
    const Indices& first = invocations.begin()->second;
    Indices begins;
    for (const auto& [invocation, set] : invocations) {
        if (moved(set, set.front() - first.front()) != first) return "";
        begins.push_back(set.front());
    }
    const size_t count = begins.size();
    sorted_once(begins);
    return begins.size() == count ? index_set_text(begins) : "";
}

IndexSets sets_of(const Trace& traced, uint32_t bind) {
    IndexSets out{.name = traced.operands[bind].name, .written = bind == bind_d};
    std::map<uint32_t, Indices> steps, invocations;  // the invocations in the first step
    Indices all;
    for (const Access& a : traced.watched)
        if (a.operand == bind) {
            add(steps[a.step], a);
            add(all, a);
        }
    if (steps.empty()) return out;
    for (const Access& a : traced.watched)
        if (a.operand == bind && (out.written || a.step == steps.begin()->first)) add(invocations[a.invocation], a);
    for (auto& [step, set] : steps) out.repeats = std::max(out.repeats, sorted_once(set));
    for (auto& [invocation, set] : invocations) sorted_once(set);
    sorted_once(all);
    out.steps = steps.size();
    out.stride = stride_of(steps);
    out.one_invocation = index_set_text(invocations.begin()->second);
    out.invocations_begin = begins_text(invocations);
    out.one_step = index_set_text(steps.begin()->second);
    out.all = index_set_text(all);
    return out;
}

}  // namespace

Coverage coverage_of(const Trace& traced) {
    Coverage out;
    for (uint32_t bind = 0; bind < bind_count; ++bind)
        if (!traced.operands[bind].name.empty()) Counter(traced, bind, out).count();
    for (const uint32_t bind : factors)
        for (const uint32_t times : traced.operands[bind].counts) out.read += times;
    const Problem& p = traced.problem;
    out.formula =
        double(p.m) * double(p.n) * double(traced.k) * double(p.batch) * (1.0 / traced.tile.BM + 1.0 / traced.tile.BN);
    compare(traced, out);
    for (const uint32_t bind : matrices) out.sets.push_back(sets_of(traced, bind));
    out.cut = traced.unlisted != 0;
    return out;
}

}  // namespace vkgemm::tool
