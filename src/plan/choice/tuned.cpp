// SPDX-License-Identifier: MIT
#include "plan/choice/tuned.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "plan/base/concat.h"
#include "plan/choice/from_int8.h"
#include "plan/choice/unfit.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

Refusal wrong_row(size_t line, const string& why) {
    return {VKGEMM_ERROR_PARSE, concat({"tuned rows, line ", line, ": ", why})};
}

// The fields of a line; those beyond the fourth are counted, not kept.
struct Fields {
    std::array<string_view, 4> text;
    size_t count = 0;
};
Fields fields_of(string_view line) {
    Fields f;
    for (bool more = true; more; ++f.count) {
        const size_t bar = line.find('|');
        if (f.count < f.text.size()) f.text[f.count] = trimmed(line.substr(0, bar));
        more = bar != string_view::npos;
        if (more) line.remove_prefix(bar + 1);
    }
    return f;
}

constexpr double least_weight = 0.01, most_weight = 100;

// "steps=1.2,memory=0.9"
Result<CostParts> read_weights(string_view text) {
    struct Part {
        string_view name;
        double CostParts::*member;
        bool given = false;
    };
    Part known[] = {
#define X(name) {#name, &CostParts::name},
        VKGEMM_COST_PARTS(X)
#undef X
    };
    CostParts out = no_weights;
    while (!text.empty()) {
        const string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const size_t equals = item.find('=');
        auto* const part = std::ranges::find(known, trimmed(item.substr(0, equals)), &Part::name);
        const auto value =
            equals == string_view::npos ? std::nullopt : readNumber<double>(trimmed(item.substr(equals + 1)));
        if (part == std::end(known) || part->given || !value || !(*value >= least_weight && *value <= most_weight))
            return Refusal{VKGEMM_ERROR_PARSE,
                           concat({"'", item,
                                   "' is not the weight of a part of the cost (launch, steps, results, memory "
                                   "or passes, each once), from 0.01 to 100, as in steps=1.2"})};
        part->given = true;
        out.*part->member = *value;
    }
    return out;
}

constexpr string_view model_word = "model";

// A row of weights; KERNEL is a family.
Result<TunedRow> read_model(const Fields& f, string_view line, size_t number) {
    const auto& [device, problem, family, weights] = f.text;
    TunedRow row;
    row.device = device;
    row.kernel = family;
    row.tile = weights;
    row.text = line;
    const string_view model_version = trimmed(problem.substr(model_word.size()));
    const auto given = readNumber<int>(model_version);
    if (!given || *given < 1)
        return wrong_row(number,
                         concat({"'", problem, "' is not 'model' and a version, as in model ", cost_model_version}));
    row.model = *given;
    const Result<CostParts> read = read_weights(weights);
    if (!read && row.model == cost_model_version) return wrong_row(number, read.status().text);
    if (read) row.weights = *read;
    return row;
}

bool is_model(string_view problem) {
    return problem == model_word || (problem.starts_with(model_word) && problem[model_word.size()] == ' ');
}

// nullopt: the row is for another device than `of_device`.
Result<std::optional<TunedRow>> read_row(string_view line, size_t number, const string* of_device) {
    const Fields f = fields_of(line);
    if (of_device && of_device->find(f.text[0]) == string::npos) return std::optional<TunedRow>();
    if (f.count != f.text.size())
        return wrong_row(number, concat({"a row is DEVICE | PROBLEM | KERNEL | TILE, and '", line, "' has ", f.count,
                                         (f.count == 1 ? " field" : " fields")}));
    const auto& [device, problem, kernel, tile] = f.text;
    if (device.empty()) return wrong_row(number, "the device is missing: a part of its name, as in NVIDIA H200");
    if (kernel.empty()) return wrong_row(number, "the kernel is missing; 'vkgemm kernels' lists them");
    if (is_model(problem)) {
        Result<TunedRow> model = read_model(f, line, number);
        if (!model) return model.status();
        return std::optional(*std::move(model));
    }
    const Result<ProblemText> given = parse_problem(problem);
    if (!given) return wrong_row(number, concat({"in the problem, ", given.status().text}));
    const Result<Problem> completed = complete(given->problem);
    if (!completed) return wrong_row(number, concat({"in the problem, ", completed.status().text}));
    if (is_empty(*completed)) return wrong_row(number, "the problem is empty: m or n is 0");
    if (const Result<Tile> named = with_constants({}, tile); !named) return wrong_row(number, named.status().text);
    TunedRow row;
    row.device = device;
    row.kernel = kernel;
    row.tile = tile;
    row.text = line;
    row.problem = normalise(*completed).problem;
    return std::optional(std::move(row));
}

// Why a row of weights is not used; "": it is.
string why_not_fitted(const TunedRow& row) {
    if (row.model != cost_model_version)
        return concat({"it was fitted to version ", row.model, " of the cost model, and this is version ",
                       cost_model_version, "; fit again with 'vkgemm tune --random'"});
    const auto has_name = [&](const Kernel& k) { return is_called(k.module.family, row.kernel); };
    return std::ranges::any_of(kernels(), has_name) ? "" : concat({"there is no family '", row.kernel, "'"});
}

// Why the row's kernel cannot do the row's own problem on this device; "": it can.
string why_skipped(const TunedRow& row, const DeviceCaps& dev, const Result<Binding>& binding) {
    if (!row.found) return unknown_kernel(row.kernel);
    if (!binding) return binding.status().text;
    const auto why = unfit(*row.found, row.found_tile, dev, row.problem, *binding);
    return why ? why->text : "";
}

bool within_reach(uint64_t a, uint64_t b) {
    return 2 * double(std::max(a, b)) <= 3 * double(std::min(a, b));  // 1.5, without rounding
}

double log_ratio(uint64_t a, uint64_t b) { return a == b ? 0 : std::fabs(std::log(double(a) / double(b))); }

}  // namespace

Result<std::vector<TunedRow>> parse_tuned(string_view text, const DeviceCaps* for_device,
                                          std::vector<string>* skipped) {
    const string* const name = for_device ? &for_device->name : nullptr;
    std::vector<TunedRow> out;
    for (size_t number = 1; !text.empty(); ++number) {
        string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.find('\0') != string_view::npos) return wrong_row(number, zero_byte);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        Result<std::optional<TunedRow>> row = read_row(line, number, name);
        if (!row && !skipped) return row.status();
        if (!row)
            skipped->push_back(concat({row.status().text, "; the line '", line, "' is skipped"}));
        else if (*row)
            out.push_back(std::move(**row));
    }
    return out;
}

std::vector<TunedRow> tuned_for(const DeviceCaps& dev, std::vector<TunedRow> rows) {
    std::erase_if(rows, [&](const TunedRow& row) { return dev.name.find(row.device) == string::npos; });
    const Result<Binding> binding = choose_binding(dev, {});
    for (TunedRow& row : rows) {
        if (row.model) {
            row.skipped = why_not_fitted(row);
            continue;
        }
        row.problem = multiplied(row.problem, dev);
        row.found = find_kernel(row.kernel);
        if (row.found) row.found_tile = *with_constants(row.found->tile, row.tile);  // read_row() has parsed it
        row.skipped = why_skipped(row, dev, binding);
    }
    return rows;
}

std::vector<FamilyWeights> fitted_weights(std::span<const TunedRow> of_device) {
    std::vector<FamilyWeights> out;
    for (const TunedRow& row : of_device)
        if (row.model && row.skipped.empty() && std::ranges::find(out, row.kernel, &FamilyWeights::family) == out.end())
            out.push_back({row.kernel, row.weights});
    return out;
}

TunedRows::Class TunedRows::class_of(const Problem& p, uint32_t operand_alignment) {
    const auto all = operands(p);
    uint64_t flags = 0;
    for (const bool flag : {p.batch > 1, is_wide(all[0], operand_alignment), is_wide(all[1], operand_alignment),
                            p.packedA != VKGEMM_PACKED_NONE, p.packedB != VKGEMM_PACKED_NONE})
        flags = flags << 1 | uint64_t{flag};
    Class out = 0;
    for (const uint64_t part : {uint64_t(p.a.type), uint64_t(p.b.type), uint64_t(p.d.type), uint64_t(p.accumulate),
                                uint64_t(p.accuracy), uint64_t(p.a.layout), uint64_t(p.b.layout), flags})
        out = out << 6 | part;
    return out;
}

TunedRows::Sizes TunedRows::sizes_of(const Problem& p) { return {p.m, p.n, p.k, p.batch}; }

std::optional<double> tuned_distance(const TunedRow& row, const Problem& p, uint32_t operand_alignment) {
    if (row.model) return std::nullopt;
    if (TunedRows::class_of(row.problem, Request{}.operand_alignment) != TunedRows::class_of(p, operand_alignment))
        return std::nullopt;
    const TunedRows::Sizes of_row = TunedRows::sizes_of(row.problem), of_problem = TunedRows::sizes_of(p);
    double sum = 0;
    for (size_t i = 0; i < of_row.size(); ++i) {
        if (!within_reach(of_row[i], of_problem[i])) return std::nullopt;
        sum += log_ratio(of_row[i], of_problem[i]);
    }
    return sum;
}

TunedRows::TunedRows(std::vector<TunedRow> of_device) : rows_(std::move(of_device)) {
    for (uint32_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].model) continue;  // no problem's
        const Problem& p = rows_[i].problem;
        auto& index = rows_[i].skipped.empty() ? followed_ : skipped_;
        index[class_of(p, Request{}.operand_alignment)].push_back({sizes_of(p), i});
    }
    for (auto* index : {&followed_, &skipped_})
        for (auto& [key, entries] : *index) std::sort(entries.begin(), entries.end());
}

struct TunedRows::Search {
    Sizes sizes;
    bool all;                     // every row within reach, not the nearest alone
    double least;                 // the distance of `found`, if only the nearest is wanted
    std::vector<uint32_t> found;  // rows
};

// `sorted` have the same sizes in all dimensions before `dimension`, which are `distance` away.
void TunedRows::search(Search& s, std::span<const Entry> sorted, size_t dimension, double distance) {
    if (!s.all && distance > s.least) return;
    if (dimension == s.sizes.size()) {
        if (s.all) {
            for (const Entry& e : sorted) s.found.push_back(e.row);
        } else if (distance < s.least || sorted.front().row < s.found.front()) {
            s.found = {sorted.front().row};
            s.least = distance;
        }
        return;
    }
    const uint64_t size = s.sizes[dimension];
    const auto too_small = [&](const Entry& e) {
        return e.sizes[dimension] < size && !within_reach(e.sizes[dimension], size);
    };
    auto at = std::partition_point(sorted.begin(), sorted.end(), too_small);
    while (at != sorted.end() && within_reach(at->sizes[dimension], size)) {
        const uint64_t here = at->sizes[dimension];
        const auto next =
            std::partition_point(at, sorted.end(), [&](const Entry& e) { return e.sizes[dimension] <= here; });
        search(s, {at, next}, dimension + 1, distance + log_ratio(here, size));
        at = next;
    }
}

std::vector<uint32_t> TunedRows::near(const std::map<Class, std::vector<Entry>>& index, const Problem& p,
                                      uint32_t operand_alignment, bool all) {
    const auto found = index.find(class_of(p, operand_alignment));
    if (found == index.end()) return {};
    Search s{.sizes = sizes_of(p), .all = all, .least = HUGE_VAL, .found = {}};
    search(s, found->second, 0, 0);
    return std::move(s.found);
}

const TunedRow* TunedRows::nearest(const Problem& p, uint32_t operand_alignment) const {
    const auto found = near(followed_, p, operand_alignment, false);
    return found.empty() ? nullptr : &rows_[found.front()];
}

std::vector<string> TunedRows::skipped_near(const Problem& p, uint32_t operand_alignment) const {
    auto found = near(skipped_, p, operand_alignment, true);
    std::sort(found.begin(), found.end());
    std::vector<string> out;
    for (const uint32_t i : found)
        out.push_back(concat({"a tuned row is skipped, ", rows_[i].text, ": ", rows_[i].skipped}));
    return out;
}

// "a tuned row is skipped, LINE: REASON", or "3 tuned rows are ..." for all that have the same reason.
std::vector<string> skipped_in_short(std::span<const TunedRow> rows) {
    std::unordered_map<string_view, size_t> counts;
    for (const TunedRow& row : rows)
        if (!row.skipped.empty()) ++counts[row.skipped];
    std::vector<string> out;
    for (const TunedRow& row : rows) {
        const auto found = counts.find(row.skipped);
        if (found == counts.end() || found->second == 0) continue;
        const string several = concat({found->second, " tuned rows are skipped, the first of them "});
        const string_view begin = found->second == 1 ? string_view("a tuned row is skipped, ") : several;
        out.push_back(concat({begin, row.text, ": ", row.skipped}));
        found->second = 0;
    }
    return out;
}

}  // namespace vkgemm::plan
