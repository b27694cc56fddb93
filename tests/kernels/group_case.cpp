// SPDX-License-Identifier: MIT
#include "kernels/group_case.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "kernels/compare.h"
#include "kernels/launch.h"
#include "kernels/phases.h"
#include "kernels/surface_tables.h"

namespace vkgemm::test {
namespace {

using plan::Matrix;
using plan::Problem;

/// The memory of one operand of all groups: poison, but for their elements.
class Area {
   public:
    Area(plan::Type type, uint64_t elements, uint64_t shift)
        : type_(type), elements_(roundUp(elements, info().block)), front_(front_bytes + shift * info().unit_bytes()) {
        bytes_.resize(front_ + info().bytes_of(elements_) + tail_bytes, std::byte{0xff});
        if (!info().is_plain()) return;
        poison(type, bytes_.data());
        for (size_t done = info().bytes; done < bytes_.size(); done *= 2)
            std::memcpy(&bytes_[done], bytes_.data(), std::min(done, bytes_.size() - done));
    }

    template <class Value>
    void fill(const GroupPlace& at, const Value& value) {
        std::array<double, mostBlockElements> block{};
        const std::span<double> values(block.data(), info().block);
        for (uint64_t line = 0; line < at.lines(); ++line)
            for (uint64_t i = 0; i < at.length(); i += values.size()) {
                for (double& v : values) v = value();
                encodeBlock(type_, values, &bytes_[front_ + info().bytes_of(at.offset + line * at.ld + i)]);
            }
    }

    std::vector<double> numbers(const std::vector<std::byte>& bytes) const {
        std::vector<double> out(elements_);
        for (uint64_t i = 0; i < elements_; i += info().block)
            decodeBlock(type_, &bytes[front_ + info().bytes_of(i)], std::span(out).subspan(i, info().block));
        return out;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }
    uint64_t front() const { return front_; }
    uint64_t byte_of(uint64_t element) const { return front_ + info().bytes_of(element); }
    uint64_t span_bytes() const { return info().bytes_of(elements_); }
    const plan::TypeInfo& info() const { return plan::info(type_); }

   private:
    static constexpr uint64_t front_bytes = 1024, tail_bytes = 16384;
    plan::Type type_;
    uint64_t elements_, front_;
    std::vector<std::byte> bytes_;
};

/// The operands of a table: by slot, A to D, and the residual.
struct Areas {
    Area a, b, c, d, residual;
    std::array<const Area*, 4> all() const { return {&a, &b, &c, &d}; }

    Areas(const Case& x, const Problem& p, const DrawnTable& t)
        : a(p.a.type, t.elements[0], x.shift_of(VKGEMM_SLOT_A)),
          b(p.b.type, t.elements[1], x.shift_of(VKGEMM_SLOT_B)),
          c(p.d.type, t.elements[2], x.shift_of(VKGEMM_SLOT_C)),
          d(p.d.type, t.elements[3], x.shift_of(VKGEMM_SLOT_D)),
          residual(p.d.type, has_residual(p) ? t.elements[3] : 0, x.shift_of(VKGEMM_SLOT_RESIDUAL)) {
        const Timed timed(Phase::fill);
        Random random(x.seed + 17);
        const ExactFill range = exact_fill_of(p, x);
        const std::array<double, 3> specials = {NAN, INFINITY, -INFINITY};
        const auto numbers = [&](plan::Type type, int64_t most) {
            return [&random, &specials, &x, &p, type, most]() -> double {
                const bool floats = plan::info(type).is_float;
                if (x.fill == Fill::special && floats && random.one_in(60)) return random.pick(specials);
                if (!is_inexact(x.fill, p.accuracy) || !floats)
                    return static_cast<double>(random.between(type == plan::u8 ? 0 : -most, most));
                return rounded(type, 2 * random.unit() - 1);
            };
        };
        const auto of_a = numbers(p.a.type, Data::most_of(p.a.type, range.ab)),
                   of_b = numbers(p.b.type, Data::most_of(p.b.type, range.ab)),
                   others = numbers(p.d.type, range.others);
        for (const DrawnGroup& g : t.groups) {
            if (x.alpha != 0) a.fill(g.at[0], of_a);
            if (x.alpha != 0) b.fill(g.at[1], of_b);
            if (x.beta != 0 && p.cSource == VKGEMM_C_SEPARATE) c.fill(g.at[2], others);
            if (x.beta != 0 && p.cSource == VKGEMM_C_IS_D) d.fill(g.at[3], others);
            if (has_residual(p)) residual.fill(g.at[3], others);
        }
    }
};

std::vector<double> part(const std::vector<double>& all, const GroupPlace& at) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(at.offset, all.size()));
    const uint64_t left = static_cast<uint64_t>(all.end() - begin);
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(at.span(), left))};
}

/// Compares D and all that lies around it.
class GroupComparison {
   public:
    GroupComparison(const Case& x, const Problem& p, const Areas& areas, const Data& vectors,
                    const std::vector<std::byte>& after)
        : x_(x), p_(p), areas_(areas), after_(after), got_(areas.d.numbers(after)), expected_(areas.d.bytes()) {
        all_.bias = vectors.bias.numbers();
        all_.scale = vectors.scale.numbers();
        const auto numbers = [](const Area& area) { return area.numbers(area.bytes()); };
        a_ = numbers(areas.a);
        b_ = numbers(areas.b);
        c_ = numbers(areas.c);
        d_ = numbers(areas.d);
        residual_ = numbers(areas.residual);
    }

    std::string operator()(const DrawnTable& table) {
        const Timed timed(Phase::reference);
        const bool indexed = p_.grouping == VKGEMM_GROUPING_INDEXED;
        for (size_t i = 0; i < table.groups.size(); ++i) {
            const DrawnGroup& g = table.groups[i];
            if (!g.is_computed()) continue;
            take(g);
            References references(one_, x_.alpha, x_.beta, all_, 0, indexed);
            for (uint64_t r = 0; r < g.m; ++r) {
                const uint64_t row = indexed ? table.indices[g.given.firstIndex + r] : r;
                if (indexed && row >= p_.m) continue;
                for (uint64_t c = 0; c < g.n; ++c) element(i, g, row, c, references(row, c));
            }
        }
        if (wrong_) return first_ + " (" + std::to_string(wrong_) + " of " + std::to_string(seen_) + " are wrong)";
        for (size_t i = 0; i < after_.size(); ++i)
            if (after_[i] != expected_[i])
                return "byte " + std::to_string(i) + " of D's buffer was written, outside the groups that are computed";
        return "";
    }

   private:
    /// The problem and the operands of one group, as one product.
    void take(const DrawnGroup& g) {
        const bool indexed = p_.grouping == VKGEMM_GROUPING_INDEXED;
        one_ = p_;
        one_.grouping = VKGEMM_GROUPING_NONE;
        one_.batch = 1;
        one_.m = indexed ? p_.m : g.m;
        one_.n = g.n;
        one_.k = g.k;
        Matrix* const matrices[] = {&one_.a, &one_.b, &one_.c, &one_.d};
        for (size_t x = 0; x < 4; ++x) {
            matrices[x]->ld = g.at[x].ld;
            matrices[x]->batchStride = 0;
        }
        all_.a = indexed ? rows_of_indices(g) : part(a_, g.at[0]);
        if (indexed) one_.a.ld = g.k;
        round_like_kernel(x_, one_, all_.a);
        all_.b = part(b_, g.at[1]);
        all_.c = part(c_, g.at[2]);
        all_.d = part(d_, g.at[3]);
        all_.residual = part(residual_, g.at[3]);
    }

    std::vector<double> rows_of_indices(const DrawnGroup& g) const {
        std::vector<double> out(p_.m * g.k);
        for (uint64_t r = 0; r < p_.m; ++r)
            for (uint64_t i = 0; i < g.k; ++i)
                out[r * g.k + i] = a_[g.at[0].offset + r / p_.indicesPerRow * g.at[0].ld + i];
        return out;
    }

    void element(size_t group, const DrawnGroup& g, uint64_t r, uint64_t c, const Bounded& want) {
        ++seen_;
        const GroupPlace& at = g.at[3];
        const uint64_t place = at.offset + (at.layout == plan::rowMajor ? r * at.ld + c : c * at.ld + r);
        const uint64_t byte = areas_.d.byte_of(place), bytes = areas_.d.info().bytes;
        std::copy_n(&after_[byte], bytes, &expected_[byte]);
        if (acceptable(x_, one_, got_[place], want) || wrong_++ != 0) return;
        first_ = "D[" + std::to_string(r) + "][" + std::to_string(c) + "] of group " + std::to_string(group) + " is " +
                 say(got_[place]) + ", not " + say(want.value);
    }

    const Case& x_;
    const Problem& p_;
    const Areas& areas_;
    const std::vector<std::byte>& after_;
    std::vector<double> got_, a_, b_, c_, d_, residual_;
    std::vector<std::byte> expected_;
    Problem one_;
    Operands all_;
    uint64_t wrong_ = 0, seen_ = 0;
    std::string first_;
};

std::string text_of(const VkgemmGroupReport& r) {
    std::string out = std::to_string(r.computed) + " computed, " + std::to_string(r.empty) + " empty, " +
                      std::to_string(r.clamped) + " clamped, " + std::to_string(r.skipped) + " skipped, first " +
                      std::to_string(r.firstSkipped) + " slot " + std::to_string(r.firstSlot) + " fault " +
                      std::to_string(r.firstFault) + ", faults";
    for (const uint32_t f : r.faults) out += " " + std::to_string(f);
    return out + ", indices " + std::to_string(r.skippedIndices);
}

/// The report by the run, by vkgemmCheckGroups or vkgemmCheckIndices, and by what was broken on purpose.
std::string check_report(const DrawnTable& t, const VkgemmGroupReport& written, const VkgemmGroupReport& checked,
                         bool counts, VkgemmResult code, const char* why) {
    VkgemmGroupReport seen = written;
    if (!counts) seen.skippedIndices = checked.skippedIndices;
    if (std::memcmp(&seen, &checked, sizeof seen) != 0 || (!counts && written.skippedIndices))
        return "the run reports " + text_of(written) + "; the check " + text_of(checked) + ": " + why;
    VkgemmGroupReport want{};
    for (const DrawnGroup& g : t.groups) {
        if (!t.indices.empty() && g.is_computed())
            want.skippedIndices += static_cast<uint32_t>(
                std::count_if(&t.indices[g.given.firstIndex], &t.indices[g.given.firstIndex] + g.m,
                              [&](uint32_t index) { return index >= t.indices.size(); }));
        if (g.m == 0 || g.n == 0)
            ++want.empty;
        else if (g.fault == VKGEMM_GROUP_FAULT_NONE)
            ++want.computed;
        else
            ++want.faults[g.fault];
    }
    const uint32_t skipped = static_cast<uint32_t>(t.groups.size()) - want.empty - want.computed;
    if (checked.skippedIndices != want.skippedIndices || written.computed != want.computed ||
        written.empty != want.empty || written.skipped != skipped ||
        std::memcmp(written.faults, want.faults, sizeof want.faults) != 0)
        return "the run reports " + text_of(written) + ", not " + text_of(want) + ": " + why;
    const VkgemmResult right = skipped || want.skippedIndices ? VKGEMM_ERROR_OPERAND
                               : written.clamped              ? VKGEMM_INCOMPLETE
                                                              : VKGEMM_SUCCESS;
    return code == right ? "" : "the check returns " + std::string(vkgemmResultName(code)) + ": " + why;
}

/// The table as the device reads it.
std::vector<VkgemmGroup> table_of(const Problem& p, const DrawnTable& t, const Areas& areas) {
    std::vector<VkgemmGroup> out;
    for (const DrawnGroup& g : t.groups) {
        VkgemmGroup& x = out.emplace_back(g.given);
        if (p.grouping != VKGEMM_GROUPING_ADDRESSES) continue;
        uint64_t* const offsets[] = {&x.offsetA, &x.offsetB, &x.offsetC, &x.offsetD};
        for (size_t slot = 0; slot < 4; ++slot) {
            const bool astray = g.broken == slot && g.fault == VKGEMM_GROUP_FAULT_MISALIGNED_OFFSET;
            *offsets[slot] = pool()[slot].address() + areas.all()[slot]->byte_of(g.at[slot].offset) + (astray ? 1 : 0);
        }
    }
    return out;
}

VkgemmRun group_run(const Case& x, const Problem& p, const Areas& areas, const Data& vectors, const DrawnTable& t) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    VkgemmOperand* const slots[] = {&r.a, &r.b, &r.c, &r.d};
    const uint32_t alignment = alignment_of(x, p);
    for (size_t slot = 0; slot < 4 && p.grouping != VKGEMM_GROUPING_ADDRESSES; ++slot) {
        if (slot == VKGEMM_SLOT_C && p.cSource != VKGEMM_C_SEPARATE) continue;
        const Area& area = *areas.all()[slot];
        uint64_t size = area.span_bytes();
        if (plan::is_mixed(p) && slot < 2) {  // read in words
            const uint32_t begins = std::max(alignment, area.info().unit_bytes());
            size = (size + 3) / 4 * 4 + (begins < 4 ? 4 - begins : 0);
        }
        *slots[slot] = operand_of(pool()[slot], area.front(), std::max<uint64_t>(size, 4), x.addresses);
    }
    const auto vector = [&](const Guarded& g, size_t slot) {
        const uint64_t words = plan::is_read_in_words(p, VkgemmSlot(slot)) ? 4 : 1;
        return g.span_bytes()
                   ? operand_of(pool()[slot], g.offset(), (g.span_bytes() + words - 1) / words * words, x.addresses)
                   : VkgemmOperand{};
    };
    r.bias = vector(vectors.bias, VKGEMM_SLOT_BIAS);
    r.scale = vector(vectors.scale, VKGEMM_SLOT_SCALE);
    if (has_residual(p))
        r.residual = operand_of(pool()[VKGEMM_SLOT_RESIDUAL], areas.residual.front(),
                                std::max<uint64_t>(areas.residual.span_bytes(), 4), x.addresses);
    r.groups = operand_of(pool()[VKGEMM_SLOT_GROUPS], 0, t.groups.size() * sizeof(VkgemmGroup), x.addresses);
    if (p.grouping == VKGEMM_GROUPING_INDEXED)
        r.indices = operand_of(pool()[VKGEMM_SLOT_INDICES], 0, t.indices.size() * sizeof t.indices[0], x.addresses);
    r.alpha = x.alpha;
    if (x.alpha == 0) r.flags |= VKGEMM_RECORD_ZERO_ALPHA;
    r.beta = x.beta;
    return r;
}

std::string upload_groups(const Areas& areas, const Data& vectors, const DrawnTable& t, const Problem& p) {
    const Timed timed(Phase::upload);
    std::string why;
    const auto hold = [&](size_t slot, std::span<const std::byte> bytes) {
        if (why.empty()) why = pool().hold(slot, bytes);
    };
    for (size_t slot = 0; slot < 4; ++slot) hold(slot, areas.all()[slot]->bytes());
    hold(VKGEMM_SLOT_RESIDUAL, areas.residual.bytes());
    hold(VKGEMM_SLOT_BIAS, vectors.bias.bytes());
    hold(VKGEMM_SLOT_SCALE, vectors.scale.bytes());
    hold(VKGEMM_SLOT_INDICES, std::as_bytes(std::span(t.indices)));
    const std::vector<VkgemmGroup> table = table_of(p, t, areas);  // once the operands have their addresses
    hold(VKGEMM_SLOT_GROUPS, std::as_bytes(std::span(table)));
    if (why.empty()) why = pool().reserve(VKGEMM_SLOT_INDICES, 4);
    return why;
}

/// Were operands that are only read left alone?
std::string changed_inputs(const Areas& areas) {
    const Timed timed(Phase::compare);
    for (size_t slot = 0; slot < 3; ++slot)
        if (std::memcmp(pool().mapped(slot).data(), areas.all()[slot]->bytes().data(),
                        areas.all()[slot]->bytes().size()))
            return std::string(slot_names[slot]) + " was written";
    return "";
}

std::string run_table(const Case& x, const Problem& p, Launch& with) {
    Random random(x.seed);
    const DrawnTable t = draw_table(random, x, p, with.info);
    Problem plain = p;
    plain.grouping = VKGEMM_GROUPING_NONE;
    const Data vectors(x, plain);
    const Areas areas(x, p, t);
    if (std::string why = upload_groups(areas, vectors, t, p); !why.empty()) return why;
    if (std::string why = with.workspace.hold(with.info.requiredBytes[VKGEMM_SLOT_WORKSPACE],
                                              with.info.workspaceAlignment * (x.seed % 3));
        !why.empty())
        return why;
    VkgemmRun r = group_run(x, p, areas, vectors, t);
    r.workspace = with.workspace.operand(false);
    const std::vector<VkgemmGroup> table = table_of(p, t, areas);
    VkgemmGroupReport checked{}, written{};
    VkgemmError error{};
    const auto count = static_cast<uint32_t>(table.size()), indices = static_cast<uint32_t>(t.indices.size());
    const VkgemmResult code =
        p.grouping == VKGEMM_GROUPING_INDEXED
            ? vkgemmCheckIndices(with.plan.handle, &r, table.data(), count, t.indices.data(), indices, &checked, &error)
            : vkgemmCheckGroups(with.plan.handle, &r, table.data(), count, &checked, &error);
    if (code < 0 && code != VKGEMM_ERROR_OPERAND) return std::string("not checked: ") + error.text;
    if (std::string why = submit(with.plan.handle, r); !why.empty()) return why;
    if (std::string why = with.workspace.look(); !why.empty()) return why;
    if (!plan::is_empty(p)) {
        std::memcpy(&written, with.workspace.bytes().data(), sizeof written);
        const bool counts = x.broken && p.grouping == VKGEMM_GROUPING_INDEXED;
        if (std::string why = check_report(t, written, checked, counts, code, error.text); !why.empty()) return why;
    }
    const std::vector<std::byte> after = pool().read(VKGEMM_SLOT_D, areas.d.bytes().size());
    if (std::string why = GroupComparison(x, p, areas, vectors, after)(t); !why.empty()) return why;
    return changed_inputs(areas);
}

/// The report of such a batch, if its plan counts the indices.
std::string check_count(const Launch& with, const std::vector<uint32_t>& indices) {
    VkgemmGroupReport written{};
    if (with.workspace.size() < sizeof written) return "no workspace for the report";
    std::memcpy(&written, with.workspace.bytes().data(), sizeof written);
    const auto is_beyond = [&](uint32_t index) { return index >= indices.size(); };
    const auto beyond = static_cast<uint32_t>(std::count_if(indices.begin(), indices.end(), is_beyond));
    const auto first = std::find_if(indices.begin(), indices.end(), is_beyond);
    const auto first_skipped = beyond ? static_cast<uint32_t>(first - indices.begin()) : UINT32_MAX;
    const bool right = written.computed == indices.size() - beyond && written.skipped == beyond &&
                       written.faults[VKGEMM_GROUP_FAULT_INDICES] == beyond && written.firstSkipped == first_skipped;
    return right ? ""
                 : "the run reports " + text_of(written) + ", and " + std::to_string(beyond) + " indices are beyond";
}

/// A batch whose products take any matrix of B, or none if an index is beyond.
std::string run_selected(const Case& x, const Problem& p, Launch& with) {
    Random random(x.seed);
    std::vector<uint32_t> indices(p.batch);
    for (uint32_t& i : indices)
        i = x.broken && random.one_in(5) ? (random.one_in(2) ? UINT32_MAX : static_cast<uint32_t>(p.batch))
                                         : static_cast<uint32_t>(random.below(p.batch));
    Problem plain = p;
    plain.grouping = VKGEMM_GROUPING_NONE;
    const Data data(x, plain);
    if (std::string why = upload(data); !why.empty()) return why;
    if (std::string why = pool().hold(VKGEMM_SLOT_INDICES, std::as_bytes(std::span(indices))); !why.empty()) return why;
    if (std::string why = with.workspace.hold(with.info.requiredBytes[VKGEMM_SLOT_WORKSPACE],
                                              with.info.workspaceAlignment * (x.seed % 3));
        !why.empty())
        return why;
    VkgemmRun r = run_of(x, plain, data, with);
    r.indices = operand_of(pool()[VKGEMM_SLOT_INDICES], 0, indices.size() * sizeof indices[0], x.addresses);
    if (std::string why = submit(with.plan.handle, r); !why.empty()) return why;
    if (std::string why = with.workspace.look(); !why.empty()) return why;
    if (x.broken && !plan::is_empty(p))
        if (std::string why = check_count(with, indices); !why.empty()) return why;
    const Timed timed(Phase::reference);
    const std::vector<std::byte> after = pool().read(VKGEMM_SLOT_D, data.d.bytes().size());
    const std::vector<double> got = data.d.numbers_of(after), before = data.d.numbers();
    Operands in = data.numbers();
    const std::vector<double> b = in.b;
    round_like_kernel(x, plain, in.a);
    plain.b.batchStride = 0;
    for (uint64_t z = 0; z < p.batch; ++z) {
        const bool skipped = indices[z] >= p.batch;
        const uint64_t begin = skipped ? 0 : std::min<uint64_t>(indices[z] * p.b.batchStride, b.size());
        in.b.assign(b.begin() + static_cast<std::ptrdiff_t>(begin), b.end());
        References references(plain, x.alpha, x.beta, in, z);
        for (uint64_t row = 0; row < p.m; ++row)
            for (uint64_t col = 0; col < p.n; ++col) {
                const uint64_t at = position(plain, VKGEMM_SLOT_D, z, row, col);
                const bool kept = got[at] == before[at] || (std::isnan(got[at]) && std::isnan(before[at]));
                if (skipped ? kept : acceptable(x, plain, got[at], references(row, col))) continue;
                return "D[" + std::to_string(z) + "][" + std::to_string(row) + "][" + std::to_string(col) + "] is " +
                       say(got[at]);
            }
    }
    const auto byte = data.d.trespass(after);
    return byte ? "byte " + std::to_string(*byte) + " outside D was written" : "";
}

}  // namespace

std::string run_grouped(const Case& x) {
    const auto completed = plan::complete(x.problem);
    if (!completed) return "the case itself is broken: " + completed.status().text;
    if (!is_inexact(x.fill, completed->accuracy) && exact_fill_of(*completed, x).ab == 0)
        return "the case itself is broken: no range is exact";
    Ran ran;
    ran.problem = *completed;
    Launch& with = ran.with;
    if (std::string why = make_plan(x, x.problem, options_of(x, *completed), with); !why.empty()) return why;
    if (x.ways)
        if (std::string why = keys_of(with.plan.handle, ran.keys); !why.empty()) return why;
    const bool selects = completed->grouping == VKGEMM_GROUPING_SELECTED;
    std::string why = selects ? run_selected(x, *completed, with) : run_table(x, *completed, with);
    return why.empty() && x.ways ? run_other_ways(x, ran) : why;
}

}  // namespace vkgemm::test
