// SPDX-License-Identifier: MIT
// bench's pictures: rate over size where the problems are a few kinds of problem in many sizes, else bars for each.
#include <algorithm>
#include <cmath>

#include "measure/kernel_lookup.h"
#include "report/bench_report.h"

namespace vkgemm::tool {
namespace {

/// The problem without its sizes, as text; "" where it does not stand without them.
std::string sizeless(const Case& c) {
    Problem p = c.problem;
    p.m = p.n = p.k = 1;
    const auto text = formatProblem(p, c.alpha, c.beta);
    if (!text) return "";
    const std::string sizes = " 1x1x1";
    return std::string(*text).replace(text->find(sizes), sizes.size(), "");
}

/// "4096" of a cube, else "1600x1600x1007"; "4096 layout=nt".
std::string sizes_of(const Case& c) {
    const Problem& p = c.problem;
    Problem plain = p;
    plain.accuracy = VKGEMM_ACCURACY_DEFAULT;
    const auto text = formatProblem(plain, c.alpha, c.beta);
    std::string words = text ? std::string(*text) : c.text;
    const std::string m = std::to_string(p.m);
    const std::string sizes = m + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
    const size_t at = words.find(sizes);
    if (at == std::string::npos) return words;
    return (p.m == p.n && p.n == p.k ? m : sizes) + words.substr(at + sizes.size());
}

/// "f32_split"; "" for the default.
std::string accuracy_of(const Case& c) {
    const std::string head = " accuracy=";
    const size_t at = c.text.find(head);
    if (at == std::string::npos) return "";
    const std::string word = c.text.substr(at + head.size());
    return word.substr(0, word.find(' '));
}

/// The rates of the slowest and the fastest twentieth of the runs, in this unit.
Spread spread_of(const Measurement& m, double unit) {
    if (m.times.runs < 3 || m.times.p5 <= 0) return {};
    return {.low = m.flops / m.times.p95 / unit, .high = m.flops / m.times.p5 / unit};
}

/// The one number in which the sizes of the cases differ, and its name.
struct Sweep {
    const char* name = nullptr;
    std::vector<double> sizes;  // by case
};
Sweep sweep_of(const std::vector<const Case*>& cases) {
    const auto same = [&](uint64_t Problem::*size) {
        return std::ranges::all_of(cases, [&](const Case* c) { return c->problem.*size == cases[0]->problem.*size; });
    };
    const bool m = same(&Problem::m), n = same(&Problem::n), k = same(&Problem::k);
    const bool cube = std::ranges::all_of(
        cases, [](const Case* c) { return c->problem.m == c->problem.n && c->problem.n == c->problem.k; });
    uint64_t Problem::*size = nullptr;
    Sweep sweep;
    if (cube && !m) {
        size = &Problem::m;
        sweep.name = "M = N = K";
    }
    if (!m && n && k) {
        size = &Problem::m;
        sweep.name = "M";
    }
    if (m && !n && k) {
        size = &Problem::n;
        sweep.name = "N";
    }
    if (m && n && !k) {
        size = &Problem::k;
        sweep.name = "K";
    }
    if (!size) return {};
    for (const Case* c : cases) sweep.sizes.push_back(static_cast<double>(c->problem.*size));
    return sweep;
}

}  // namespace

std::optional<LinePlot> BenchReport::sweep(const std::vector<Group>& all) const {
    std::vector<const Case*> cases;
    std::vector<std::string> kinds;  // of problem: a panel each
    std::vector<size_t> kind;        // by case
    for (const Group& g : all) {
        cases.push_back(g.given);
        const std::string words = sizeless(*g.given);
        if (words.empty()) return std::nullopt;
        const auto at = std::ranges::find(kinds, words);
        kind.push_back(static_cast<size_t>(at - kinds.begin()));
        if (at == kinds.end()) kinds.push_back(words);
    }
    if (kinds.empty() || cases.size() < 4 * kinds.size()) return std::nullopt;
    const Sweep sizes = sweep_of(cases);
    if (!sizes.name) return std::nullopt;

    LinePlot plot{.x_axis = std::string(sizes.name) + " (elements)", .panels = {}};
    for (size_t panel = 0; panel < kinds.size(); ++panel) {
        std::vector<size_t> its;
        for (size_t i = 0; i < all.size(); ++i)
            if (kind[i] == panel) its.push_back(i);
        plot.panels.push_back(lines_of(all, its, sizes.sizes));
        plot.panels.back().title = kinds[panel];
    }
    return plot;
}

LinePanel BenchReport::lines_of(const std::vector<Group>& all, const std::vector<size_t>& its,
                                const std::vector<double>& sizes) const {
    const auto results = [&](size_t i) {
        std::vector<const BenchResult*> both = all[i].ours;
        both.insert(both.end(), all[i].baselines.begin(), all[i].baselines.end());
        return both;
    };
    // Lines of the library where every problem has one kernel, or a native one and then one in GLSL: what it chooses,
    // and what it chooses in GLSL. Otherwise a line for each kernel.
    double most = 0;
    bool by_choice = true, natives = false;
    for (const size_t i : its) {
        const auto& ours = all[i].ours;
        by_choice &=
            ours.size() <= 1 || (ours.size() == 2 && is_native(ours[0]->m.kernel) && !is_native(ours[1]->m.kernel));
        for (const BenchResult* r : ours) natives |= is_native(r->m.kernel);
        for (const BenchResult* r : results(i)) most = std::max(most, r->m.flops_per_second());
    }
    const auto names = [&](size_t i, const BenchResult* r) -> std::vector<std::string> {
        if (r->is_baseline || !by_choice) return {r->m.kernel};
        if (r != all[i].ours[0]) return {"vkgemm, GLSL alone"};
        if (natives && !is_native(r->m.kernel)) return {"vkgemm", "vkgemm, GLSL alone"};
        return {"vkgemm"};
    };
    const bool floats = resolve(all[its[0]].given->problem).is_float();
    const RateUnit unit = rate_unit(most, floats, !floats);
    LinePanel panel{.title = {}, .y_axis = unit.name, .series = {}};
    for (const size_t i : its)
        for (const BenchResult* r : results(i)) {
            if (!r->m.timed()) continue;
            for (const std::string& name : names(i, r)) {
                auto at = std::ranges::find(panel.series, name, &LineSeries::name);
                if (at == panel.series.end()) at = panel.series.insert(at, {name, {}});
                at->points.push_back({sizes[i], r->m.flops_per_second() / unit.size, spread_of(r->m, unit.size)});
            }
        }
    for (LineSeries& s : panel.series) std::ranges::stable_sort(s.points, {}, &LinePoint::x);
    return panel;
}

std::optional<PointPlot> BenchReport::points(const std::vector<Group>& all) const {
    double most = 0;
    std::vector<std::string> sizes;  // that there are
    for (const Group& g : all)
        if (const std::string s = sizes_of(*g.given); std::ranges::find(sizes, s) == sizes.end()) sizes.push_back(s);
    bool several = false;
    for (const BenchResult& r : results_) {
        several |= r.given->problem.accuracy != results_[0].given->problem.accuracy;
        most = std::max(most, r.m.flops_per_second());
        if (r.m.timed() && !(r.m.deviation > 0 && std::isfinite(r.m.deviation))) return std::nullopt;
    }
    if (!several || most <= 0) return std::nullopt;
    const RateUnit unit = rate_unit(most, true, false);
    PointPlot plot{.x_axis = "largest error, by the sum of the products' magnitudes", .y_axis = unit.name};
    std::vector<std::pair<std::string, std::string>>
        seen;  // a baseline does the same for every accuracy: it counts once
    for (const BenchResult& r : results_) {
        if (!r.m.timed()) continue;
        const std::string accuracy = accuracy_of(*r.given), label = sizes.size() > 1 ? sizes_of(*r.given) : "";
        const std::string name = r.is_baseline ? r.m.kernel : "vkgemm" + (accuracy.empty() ? "" : ", " + accuracy);
        if (r.is_baseline && std::ranges::find(seen, std::pair(name, label)) != seen.end()) continue;
        seen.emplace_back(name, label);
        auto at = std::ranges::find(plot.series, name, &PointSeries::name);
        if (at == plot.series.end()) at = plot.series.insert(at, {name, {}});
        at->points.push_back({r.m.deviation, r.m.flops_per_second() / unit.size, label});
    }
    return plot;
}

BarPlot BenchReport::bars(const std::vector<Group>& all) const {
    BarPlot plot;
    plot.series = {"vkgemm"};
    for (const BenchBaseline& p : baselines_)
        if (p.missing.empty()) plot.series.push_back(p.name);
    double most = 0;
    bool floats = false, integers = false;
    for (const Group& g : all) {
        most = std::max(most, g.given->target);
        (resolve(g.given->problem).is_float() ? floats : integers) = true;
        if (g.given->target > 0) plot.mark = "target";
    }
    for (const BenchResult& r : results_) most = std::max(most, r.m.flops_per_second());
    const RateUnit unit = rate_unit(most, floats, integers);
    plot.axis = unit.name;
    const auto bar = [&](const BenchResult& result, bool named) {
        const auto at = std::ranges::find(plot.series, result.is_baseline ? result.m.kernel : "vkgemm");
        std::string text = result.m.timed()         ? rate_of(*result.given, result.m)
                           : result.m.wrong.empty() ? "not run"
                                                    : "wrong";
        if (named) text += ", " + result.m.kernel;
        return Bar{.series = static_cast<size_t>(at - plot.series.begin()),
                   .value = result.m.flops_per_second() / unit.size,
                   .text = text,
                   .spread = result.m.timed() ? spread_of(result.m, unit.size) : Spread{}};
    };
    for (const Group& g : all) {
        BarGroup group{.label = g.given->text, .bars = {}, .mark = g.given->target / unit.size};
        for (const BenchResult* r : g.ours) group.bars.push_back(bar(*r, g.ours.size() > 1));
        for (const BenchResult* r : g.baselines) group.bars.push_back(bar(*r, false));
        plot.groups.push_back(std::move(group));
    }
    return plot;
}

std::string BenchReport::svg(const std::string& subtitle) const {
    const std::vector<Group> all = groups();
    if (std::optional<LinePlot> lines = sweep(all)) {
        lines->title = "vkgemm bench: rate over size";
        lines->subtitle = subtitle;
        return tool::svg(*lines);
    }
    if (std::optional<PointPlot> dots = points(all)) {
        dots->title = "vkgemm bench: rate over error";
        dots->subtitle = subtitle;
        return tool::svg(*dots);
    }
    BarPlot plot = bars(all);
    plot.title = "vkgemm bench";
    plot.subtitle = subtitle;
    return tool::svg(plot);
}

}  // namespace vkgemm::tool
