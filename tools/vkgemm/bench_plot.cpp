// SPDX-License-Identifier: MIT
// bench's pictures: rate over size where the problems are one problem in many sizes, else bars for each problem.
#include <algorithm>

#include "tools/vkgemm/bench_report.h"

namespace vkgemm::tool {
namespace {

/// The problem without its sizes, as text; "" where it does not stand without them.
std::string sizeless(const Case& c) {
    Problem p = c.problem;
    p.m = p.n = p.k = 1;
    const auto text = formatProblem(p, c.alpha, c.beta);
    return text ? *text : "";
}

/// The one number that tells the sizes of all cases apart, and its name.
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
    if (cube && !m) size = &Problem::m, sweep.name = "M = N = K";
    if (!m && n && k) size = &Problem::m, sweep.name = "M";
    if (m && !n && k) size = &Problem::n, sweep.name = "N";
    if (m && n && !k) size = &Problem::k, sweep.name = "K";
    if (!size) return {};
    for (const Case* c : cases) sweep.sizes.push_back(static_cast<double>(c->problem.*size));
    return sweep;
}

}  // namespace

std::optional<LinePlot> BenchReport::sweep(const std::vector<Group>& all) const {
    std::vector<const Case*> cases;
    for (const Group& g : all) cases.push_back(g.given);
    if (cases.size() < 4) return std::nullopt;
    const std::string words = sizeless(*cases[0]);
    if (words.empty() || !std::ranges::all_of(cases, [&](const Case* c) { return sizeless(*c) == words; }))
        return std::nullopt;
    const Sweep sizes = sweep_of(cases);
    if (!sizes.name) return std::nullopt;

    double most = 0;
    for (const BenchResult& r : results_) most = std::max(most, r.m.flops_per_second());
    const bool floats = resolve(cases[0]->problem).is_float();
    const RateUnit unit = rate_unit(most, floats, !floats);
    LinePlot plot{.x_axis = std::string(sizes.name) + " (elements)", .y_axis = unit.name, .series = {}};
    const bool one_kernel = std::ranges::all_of(all, [](const Group& g) { return g.ours.size() <= 1; });
    const auto put = [&](const std::string& name, double x, const Measurement& m) {
        if (!m.timed()) return;
        auto at = std::ranges::find(plot.series, name, &LineSeries::name);
        if (at == plot.series.end()) at = plot.series.insert(at, {name, {}});
        at->points.emplace_back(x, m.flops_per_second() / unit.size);
    };
    for (size_t i = 0; i < all.size(); ++i) {
        for (const BenchResult* r : all[i].ours) put(one_kernel ? "vkgemm" : r->m.kernel, sizes.sizes[i], r->m);
        for (const BenchResult* r : all[i].peers) put(r->m.kernel, sizes.sizes[i], r->m);
    }
    for (LineSeries& s : plot.series) std::ranges::sort(s.points);
    return plot;
}

BarPlot BenchReport::bars(const std::vector<Group>& all) const {
    BarPlot plot;
    plot.series = {"vkgemm"};
    for (const BenchPeer& p : peers_)
        if (p.missing.empty()) plot.series.push_back(p.name);
    double most = 0;
    bool floats = false, integers = false;
    for (const Group& g : all) {
        most = std::max(most, g.given->reach);
        (resolve(g.given->problem).is_float() ? floats : integers) = true;
        if (g.given->reach > 0) plot.mark = "reach";
    }
    for (const BenchResult& r : results_) most = std::max(most, r.m.flops_per_second());
    const RateUnit unit = rate_unit(most, floats, integers);
    plot.axis = unit.name;
    const auto bar = [&](const BenchResult& r, bool named) {
        const auto at = std::ranges::find(plot.series, r.is_peer ? r.m.kernel : "vkgemm");
        std::string text = r.m.timed() ? rate_of(*r.given, r.m) : r.m.wrong.empty() ? "not run" : "wrong";
        if (named) text += ", " + r.m.kernel;
        return Bar{.series = static_cast<size_t>(at - plot.series.begin()),
                   .value = r.m.flops_per_second() / unit.size,
                   .text = text};
    };
    for (const Group& g : all) {
        BarGroup group{.label = g.given->text, .bars = {}, .mark = g.given->reach / unit.size};
        for (const BenchResult* r : g.ours) group.bars.push_back(bar(*r, g.ours.size() > 1));
        for (const BenchResult* r : g.peers) group.bars.push_back(bar(*r, false));
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
    BarPlot plot = bars(all);
    plot.title = "vkgemm bench";
    plot.subtitle = subtitle;
    return tool::svg(plot);
}

}  // namespace vkgemm::tool
