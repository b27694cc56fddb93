// SPDX-License-Identifier: MIT
#include "plan/steps/buckets.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/reach.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {
namespace {

// One of the four sizes.
struct Dimension {
    std::string_view name;
    uint32_t bit;  // VkgemmUpToFlagBits
    uint64_t Sizes::*size;
};
constexpr Dimension dimensions[] = {
    {"m", VKGEMM_UP_TO_M, &Sizes::m},
    {"n", VKGEMM_UP_TO_N, &Sizes::n},
    {"k", VKGEMM_UP_TO_K, &Sizes::k},
    {"batch", VKGEMM_UP_TO_BATCH, &Sizes::batch},
};

// Each bucket takes a few microseconds of planning, and its pipelines are compiled if no other has the same.
constexpr size_t most_ranges = 40;

struct Interval {
    uint64_t least, most;
};

// The products of a batch that share a matrix of A or B. A batch that varies is a multiple of it.
uint64_t sharing(const Problem& completed) { return std::max(completed.ratioA, completed.ratioB); }

// Sizes of a kernel's dispatch. If the batch varies, its kernel takes one of those that share a matrix.
Sizes in_kernel(const Problem& completed, Sizes s) {
    if (completed.upTo & VKGEMM_UP_TO_BATCH) s.batch = div_up(s.batch, sharing(completed));
    return s;
}

// The intervals of one size: they end at powers of `ratio` and at the largest. A few rows and columns have kernels of
// their own. A short K has none, but a K of 0 is another problem.
std::vector<Interval> intervals(const Dimension& d, uint64_t most, uint64_t ratio) {
    std::vector<Interval> out;
    const bool is_k = d.bit == VKGEMM_UP_TO_K;
    if (is_k || most == 0) out.push_back({0, 0});
    uint64_t least = 1, end = is_k ? 64 : 1;
    while (least <= most) {
        end = std::min(end, most);
        out.push_back({least, end});
        least = end + 1;
        end = end > most / ratio ? most : end * ratio;
    }
    return out;
}

// The same of a size that is a multiple of `unit`.
std::vector<Interval> intervals_of(const Dimension& d, uint64_t most, uint64_t ratio, uint64_t unit) {
    std::vector<Interval> out = intervals(d, most / unit, ratio);
    for (Interval& x : out) x = {x.least ? (x.least - 1) * unit + 1 : 0, x.most * unit};
    return out;
}

// The intervals of all sizes, so few that their combinations are at most most_ranges, or one of each. Those of n and k
// do not depend on m and the batch of a batch-invariant problem, all of which have one kernel. Nor do any on a batch
// that is repetitions.
std::array<std::vector<Interval>, 4> all_intervals(const Problem& p) {
    constexpr uint32_t for_each_row = VKGEMM_UP_TO_M | VKGEMM_UP_TO_BATCH;
    std::array<std::vector<Interval>, 4> out;
    const Sizes most = sizes_of(p);
    for (uint64_t ratio = 2;; ratio *= 2) {
        size_t combinations = 1;
        for (size_t i = 0; i < out.size(); ++i) {
            const uint64_t size = most.*dimensions[i].size;
            const uint64_t unit = dimensions[i].bit == VKGEMM_UP_TO_BATCH ? sharing(p) : 1;
            const uint32_t of_one = p.batchInvariant  ? for_each_row
                                    : is_from_int8(p) ? uint32_t{VKGEMM_UP_TO_BATCH}
                                                      : 0;
            const bool is_one = (dimensions[i].bit & of_one) && size > 0;
            out[i] = !(p.upTo & dimensions[i].bit) ? std::vector<Interval>{{size, size}}
                     : is_one                      ? std::vector<Interval>{{1, size}}
                                                   : intervals_of(dimensions[i], size, ratio, unit);
            combinations *= out[i].size();
        }
        if (combinations <= most_ranges || ratio > (uint64_t{1} << 30)) return out;
    }
}

// The varying sizes whose multiples of a quantum allow some operand to be read 16 bytes at a time.
uint32_t worth_multiples(Problem p, uint32_t operand_alignment) {
    if (is_from_int8(p)) return 0;  // whose operands are read element by element
    p.upTo &= ~uint32_t{VKGEMM_UP_TO_STRIDES};
    constexpr uint32_t m = VKGEMM_UP_TO_M, n = VKGEMM_UP_TO_N, k = VKGEMM_UP_TO_K;
    constexpr uint32_t rows[] = {m, k, m, m}, cols[] = {k, n, n, n};
    const auto all = operands(p);
    uint32_t out = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        Operand x = all[i];
        x.padded = true;  // asks for its leading dimension, stride and offset alone
        if (x.ragged && is_wide(x, operand_alignment)) out |= x.matrix->layout == rowMajor ? cols[i] : rows[i];
    }
    return out;
}

// The multiples of the quantum within a range; nullopt: there are none.
std::optional<SizeRange> multiples_of(SizeRange range, uint32_t multiples, uint64_t quantum) {
    range.multiples = multiples;
    range.quantum = quantum;
    for (const Dimension& d : dimensions) {
        if (!(multiples & d.bit)) continue;
        uint64_t& most = range.most.*d.size;
        most = most / quantum * quantum;
        if (most < range.least.*d.size) return std::nullopt;
        range.least.*d.size = round_up(range.least.*d.size, quantum);
    }
    return range;
}

Normalised at(const SizeRange& range, const Sizes& sizes, const Normalised& normalised) {
    Normalised out = with_sizes(normalised, sizes);
    uint32_t multiples = range.multiples;
    constexpr uint32_t row = VKGEMM_UP_TO_M, col = VKGEMM_UP_TO_N;
    if (normalised.swapped)
        multiples = (multiples & ~(row | col)) | (multiples & row ? col : 0) | (multiples & col ? row : 0);
    out.problem.upTo &= ~multiples;
    return out;
}

// The shortest operands that a run with strides of its own may have.
Problem with_least_strides(const Problem& p) {
    Problem out = p;
    const auto all = operands(p);
    size_t i = 0;
    for (Matrix* const m : {&out.a, &out.b, &out.c, &out.d}) {
        const Operand& x = all[i++];
        m->ld = std::max<uint64_t>(1, m->layout == rowMajor ? x.cols : x.rows);
        m->batchStride = 0;
    }
    return out;
}

}  // namespace

bool SizeRange::holds(const Sizes& s, bool wide) const {
    if ((multiples & VKGEMM_UP_TO_STRIDES) && !wide) return false;
    for (const Dimension& d : dimensions) {
        const uint64_t size = s.*d.size;
        if (size < least.*d.size || size > most.*d.size) return false;
        if ((multiples & d.bit) && size % quantum) return false;
    }
    return true;
}

std::vector<SizeRange> size_ranges(const Problem& p, uint32_t operand_alignment) {
    const auto [ms, ns, ks, batches] = all_intervals(p);
    const bool loose = (p.upTo & VKGEMM_UP_TO_STRIDES) && operand_alignment % 16 == 0 && !is_from_int8(p);
    const uint32_t multiples = worth_multiples(p, operand_alignment) | (loose ? uint32_t{VKGEMM_UP_TO_STRIDES} : 0);
    uint64_t quantum = 1;
    for (const Type t : {p.a.type, p.b.type, p.d.type})
        if (info(t).is_plain()) quantum = std::max<uint64_t>(quantum, wide_bytes(t) / info(t).bytes);
    std::vector<SizeRange> out;
    for (const Interval& batch : batches)
        for (const Interval& k : ks)
            for (const Interval& n : ns)
                for (const Interval& m : ms) {
                    const SizeRange range = {{m.least, n.least, k.least, batch.least},
                                             {m.most, n.most, k.most, batch.most}};
                    if (multiples)
                        if (const auto some = multiples_of(range, multiples, quantum)) out.push_back(*some);
                    out.push_back(range);
                }
    return out;
}

PreparedProblem in_range(const SizeRange& range, const PreparedProblem& p) {
    PreparedProblem out = {.given = p.given,
                           .completed = with_sizes(p.completed, range.most),
                           .normalised = at(range, in_kernel(p.completed, range.most), p.normalised),
                           .least = at(range, in_kernel(p.completed, range.least), p.normalised).problem};
    if (p.completed.upTo & VKGEMM_UP_TO_STRIDES) *out.least = with_least_strides(*out.least);
    return out;
}

Bucket make_bucket(const SizeRange& range, const Choice& choice, const PreparedProblem& whole, const PreparedProblem& p,
                   const DeviceCaps& dev, const Request& request) {
    Bucket out = {range, choice, {}};
    out.steps = make_steps(out.choice, p.completed, p.normalised, dev, request);
    if (out.steps.steps.empty()) return out;
    out.steps.steps[product_of(out)].constants.WHOLE = 0;
    const Tile& t = out.choice.tile;
    const Problem& most = out.choice.schedule.problem;
    const auto multiple = [&](uint32_t bit, uint64_t size, uint32_t of) {
        return of == 0 || (whole.normalised.problem.upTo & bit ? size >= of : size % of == 0);
    };
    out.may_be_whole = !most.batchInvariant && multiple(VKGEMM_UP_TO_M, most.m, t.BM) &&
                       multiple(VKGEMM_UP_TO_N, most.n, t.BN) && multiple(VKGEMM_UP_TO_K, most.k, t.BK);
    return out;
}

size_t product_of(const Bucket& b) {
    return size_t{b.choice.schedule.a.in_workspace()} + size_t{b.choice.schedule.b.in_workspace()};
}

Step whole_product(const Bucket& b) {
    Step out = b.steps.steps[product_of(b)];
    out.constants.WHOLE = 1;
    return out;
}

const Bucket* find_bucket(std::span<const Bucket> buckets, const Sizes& s, bool wide) {
    for (const Bucket& b : buckets)
        if (b.range.holds(s, wide)) return &b;
    return nullptr;
}

RunProblem with_sizes(const PreparedProblem& p, const Sizes& s) {
    return {with_sizes(p.completed, s), with_sizes(p.normalised, in_kernel(p.completed, s))};
}

std::optional<Status> unfit_strides(const RunProblem& run, const DeviceCaps& dev, Binding binding) {
    if (is_empty(run.completed)) return std::nullopt;
    if (auto why = unfit_levels(run.completed, run.normalised)) return why;
    return too_large(dev, run.normalised.problem, binding);
}

void set_run(SizedSteps& out, const Bucket* b, const RunProblem& run, const DeviceCaps& dev,
             uint32_t operand_alignment) {
    out.problem = run.completed;
    if (!b || b->steps.steps.empty()) return;
    const Problem& p = run.normalised.problem;
    const Schedule schedule = resized(b->choice.schedule, *b->choice.kernel, b->choice.tile, p);
    out.count = b->steps.steps.size();
    std::ranges::copy(b->steps.steps, out.steps.begin());
    const std::span<Step> steps = std::span(out.steps).first(out.count);
    if (is_from_int8(p)) {
        Choice of_run = b->choice;
        of_run.schedule = schedule;
        set_sizes_from_int8(steps, of_run, run.normalised, dev);
    } else {
        set_sizes(steps, b->choice.tile, schedule, p, dev);
    }
    out.slots = requirements_of(out.problem, operand_alignment);
    set_own_slots(out.slots, schedule, run.normalised.swapped, dev);
    out.part = repeats_of(run.normalised, schedule, steps, b->choice.binding, dev, operand_alignment);
    out.is_whole = b->may_be_whole && is_whole(b->choice.tile, schedule.problem);
}

std::optional<Status> unfit_sizes(const Problem& p, const Sizes& s) {
    const Sizes most = sizes_of(p);
    for (const Dimension& d : dimensions) {
        const uint64_t size = s.*d.size, limit = most.*d.size;
        if (p.upTo & d.bit ? size <= limit : size == limit) continue;
        if (p.upTo & d.bit)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({d.name, " is ", size, ", above the ", limit,
                                                       " that the plan was made for; make a plan for more"})};
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       concat({d.name, " is ", size, ", and the plan was made for ", limit, " alone; state ", limit,
                               ", or set its bit in VkgemmProblem::upTo to vary it"})};
    }
    if (s.batch % sharing(p))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       concat({"batch is ", s.batch, ", but ", sharing(p), " products share a matrix of ",
                               (p.ratioA > 1 ? "A (ratioA)" : "B (ratioB)"), "; it must be a multiple of that"})};
    return std::nullopt;
}

std::string to_text(const SizeRange& r) {
    std::string out = concat({"up to ", r.most.m, "x", r.most.n, "x", r.most.k});
    if (r.most.batch != 1) out += concat({" batch=", r.most.batch});
    for (const Dimension& d : dimensions)
        if (r.multiples & d.bit) out += concat({", ", d.name, " a multiple of ", r.quantum});
    if (r.multiples & VKGEMM_UP_TO_STRIDES) out += ", strides of 16 bytes";
    return out;
}

}  // namespace vkgemm::plan
