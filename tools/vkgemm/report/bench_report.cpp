// SPDX-License-Identifier: MIT
#include "report/bench_report.h"

#include <algorithm>
#include <cmath>

#include "measure/kernel_lookup.h"

namespace vkgemm::tool {
namespace {

constexpr size_t rate_width = 13, bare_rate_width = 8, spread_width = 7, ratio_width = 7, share_width = 8;
constexpr double many_others = 0.1;  // of the processors: then a CPU device is noticeably slower

/// "-4 +19%": how far below and above the median 5 and 95 % of the runs are. Beyond tenfold, only that.
std::string spread_text(const Summary& times) {
    if (times.runs < 3 || times.median <= 0) return "-";
    const double below = 1 - times.p5 / times.median, above = times.p95 / times.median - 1;
    char text[48];
    std::snprintf(text, sizeof text, above < 9.995 ? "-%.0f +%.0f%%" : "-%.0f >10x", 100 * below, 100 * above);
    return text;
}

std::string scatter_text(const Measurement& m) {
    char text[160];
    std::snprintf(text, sizeof text, "noisy: the middle half of its runs is %.0f %% of the median apart",
                  100 * m.scatter);
    return text + std::string("; close other programs, or take longer: --min-time 5");
}

std::string others_text(double others) {
    char text[160];
    std::snprintf(text, sizeof text, "other programs used %.0f %% of the processors meanwhile; it is faster alone",
                  100 * others);
    return text;
}

std::string ratio_text(double ratio) {
    char text[32];
    std::snprintf(text, sizeof text, ratio < 0.0995 ? "%.3fx" : "%.2fx", ratio);
    return text;
}

std::string error_text(double deviation) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", deviation);
    return text;
}

std::string drift_text(double drift) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "drifts: its last runs took %.0f %% %s than its first; clocks %s, or others work here",
                  100 * std::abs(drift), drift > 0 ? "longer" : "less time", drift > 0 ? "fell" : "rose");
    return text;
}

/// "49.41": a rate in the unit of the other one, such as "48.20 TFLOP/s".
std::string in_unit_of(double rate, const std::string& other) {
    const char prefix = other[other.find(' ') + 1];
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", rate / (prefix == 'T' ? 1e12 : prefix == 'G' ? 1e9 : 1e6));
    return text;
}

/// The reason for a missing time, in two words.
Cell unmeasured(const BenchResult& r) {
    if (!r.m.wrong.empty()) return {"WRONG", Style::bad};
    return {"not run", r.expected ? Style::dim : Style::bad};
}

}  // namespace

std::string rate_of(const Case& c, const Measurement& m) {
    return m.flops > 0 ? rate_text(m.flops_per_second(), !resolve(c.problem).is_float()) : "-";
}

std::string heat_of(const Measurement& m) {
    if (!m.cold) return ", hot";
    return ", cold (" + std::to_string(m.sets) + (m.sets == 1 ? " set" : " sets") + " of operands in turn)";
}

BenchReport::BenchReport(std::vector<BenchBaseline> baselines, bool unchecked, bool errors, bool in_a_row)
    : baselines_(std::move(baselines)), unchecked_(unchecked) {
    columns_.in_a_row = in_a_row;
    columns_.ratio = !baselines_.empty();
    columns_.error = errors;
    for (const VkgemmKernelInfo& k : kernels()) widest_ = std::max(widest_, label_of(k.name).size() + 2);
    // Those of least worth go first, as long as a row does not fit.
    for (bool* least : {&columns_.in_a_row, &columns_.spread})
        if (columns(table().header(false)) - 1 > page_width) *least = false;
}

Table BenchReport::table() const {
    std::vector<Table::Column> all = {{.title = "  kernel", .width = widest_},
                                      {.title = "runs", .right = true, .width = 4},
                                      {.title = "median", .right = true, .width = 8}};
    if (columns_.spread) all.push_back({.title = "spread", .right = true, .width = spread_width});
    all.push_back({.title = "rate", .right = true, .width = rate_width});
    if (columns_.in_a_row) all.push_back({.title = "in a row", .right = true, .width = bare_rate_width});
    if (columns_.error) all.push_back({.title = "error", .right = true, .width = 7});
    all.push_back({.title = "checked", .width = 9});
    if (columns_.ratio) all.push_back({.title = "ours/it", .right = true, .width = ratio_width});
    return Table(std::move(all));
}

std::string BenchReport::header(bool colored) const { return table().header(colored); }

void BenchReport::add_row(Table& rows, const BenchResult& result) const {
    const Measurement& measured = result.m;
    std::vector<Cell> cells = {"  " + (measured.kernel.empty() ? std::string("-") : label_of(measured.kernel))};
    const bool timed = measured.timed();
    const auto add = [&](bool wanted, Cell cell) {
        if (wanted) cells.push_back(timed ? std::move(cell) : Cell());
    };
    add(true, std::to_string(measured.times.runs));
    add(true, seconds_text(measured.times.median));
    add(columns_.spread, spread_text(measured.times));
    add(true, {rate_of(*result.given, measured), Style::head});
    add(columns_.in_a_row, measured.in_a_row > 0
                               ? in_unit_of(measured.flops_per_second_in_a_row(), rate_of(*result.given, measured))
                               : "-");
    add(columns_.error, measured.deviation >= 0 ? error_text(measured.deviation) : "-");
    cells.push_back(!timed       ? unmeasured(result)
                    : unchecked_ ? Cell("unchecked", Style::bad)
                                 : Cell(measured.checked, Style::good));
    if (result.ratio > 0) cells.emplace_back(ratio_text(result.ratio), result.ratio >= 1 ? Style::good : Style::plain);
    rows.add(std::move(cells));
    if (!measured.wrong.empty()) rows.note(measured.wrong);
    if (!measured.failure) rows.note(measured.failure.text);
    if (!measured.note.empty()) rows.note(measured.note);
    if (timed && !result.is_baseline && measured.clock == host::Clock::host)
        rows.note("timed by the host's clock: the device has no timestamps");
    if (measured.drift != 0) rows.note(drift_text(measured.drift));
    if (measured.scatter > 0 && measured.drift == 0) rows.note(scatter_text(measured));
    if (timed && measured.others >= many_others) rows.note(others_text(measured.others));
}

std::string BenchReport::add(BenchResult added, bool colored) {
    results_.push_back(std::move(added));
    BenchResult& result = results_.back();
    if (result.is_baseline && result.m.timed()) {
        double ours = 0;
        for (const BenchResult& other : results_)
            if (other.given == result.given && !other.is_baseline) ours = std::max(ours, other.m.flops_per_second());
        if (const double its = result.m.flops_per_second(); its > 0) result.ratio = ours / its;
    }
    Table rows = table();
    add_row(rows, result);
    return rows.body(colored);
}

std::string BenchReport::footer(bool colored) const {
    if (results_.empty()) return "";
    const BenchResult& last = results_.back();
    double reached = 0;
    bool native = false;
    for (const BenchResult& r : results_) {
        if (r.given != last.given || r.is_baseline || r.m.flops_per_second() <= reached) continue;
        reached = r.m.flops_per_second();
        native = is_native(r.m.kernel);
    }
    if (reached == 0) return "";  // nothing ran, so nothing is bounded
    const std::string text = roof_text(last.roof, reached, !resolve(last.given->problem).is_float(), native);
    return text.empty() ? "" : "  " + styled(text, Style::dim, colored) + "\n";
}

const BenchResult* BenchReport::Group::fastest(bool with_native) const {
    const BenchResult* best = nullptr;
    for (const BenchResult* r : ours)
        if (r->m.timed() && (with_native || !is_native(r->m.kernel)) &&
            (!best || r->m.times.median < best->m.times.median))
            best = r;
    return best;
}

std::vector<BenchReport::Group> BenchReport::groups() const {
    std::vector<Group> all;
    for (const BenchResult& r : results_) {
        if (all.empty() || all.back().given != r.given) all.push_back({.given = r.given, .ours = {}, .baselines = {}});
        (r.is_baseline ? all.back().baselines : all.back().ours).push_back(&r);
    }
    return all;
}

std::string BenchReport::summary(bool colored) const {
    const std::vector<Group> all = groups();
    const bool aims = std::ranges::any_of(all, [](const Group& g) { return g.given->target > 0; });
    const bool both = std::ranges::any_of(all, [](const Group& g) { return g.best() != g.best_shader(); });
    if (all.size() < 2 || (baselines_.empty() && !aims && !both)) return "";
    size_t available = page_width - 2 - rate_width - (both ? 2 + rate_width : 0) - (aims ? 2 + share_width : 0);
    size_t longest = 0;
    std::vector<Table::Column> titles = {{.title = "problem"}, {.title = "vkgemm", .right = true, .width = rate_width}};
    if (both) titles.push_back({.title = "shaders alone", .right = true, .width = rate_width});
    for (const BenchBaseline& p : baselines_) {
        if (!p.missing.empty()) continue;
        titles.push_back({.title = p.name, .right = true, .width = rate_width});
        titles.push_back({.title = "ours/it", .right = true, .width = ratio_width});
        available -= 2 + rate_width + 2 + ratio_width;
    }
    if (aims) titles.push_back({.title = "of target", .right = true, .width = share_width});
    for (const Group& g : all)
        if (const size_t n = columns(g.given->text); n <= available) longest = std::max(longest, n);
    titles.front().width = longest;
    Table table(titles);
    for (const Group& g : all) {
        const bool fits = columns(g.given->text) <= available;
        if (!fits) table.note(g.given->text);
        const BenchResult* best = g.best();
        std::vector<Cell> cells = {fits ? g.given->text : ""};
        cells.push_back(best             ? Cell(rate_of(*g.given, best->m), Style::head)
                        : g.ours.empty() ? Cell("-")
                                         : unmeasured(*g.ours.front()));
        const BenchResult* shader = g.best_shader();
        if (both) cells.push_back(shader ? Cell(rate_of(*g.given, shader->m)) : Cell("-"));
        for (const BenchBaseline& p : baselines_) {
            if (!p.missing.empty()) continue;
            const auto its = std::ranges::find_if(g.baselines, [&](const auto* r) { return r->m.kernel == p.name; });
            const bool timed = its != g.baselines.end() && (*its)->m.timed();
            cells.push_back(timed ? Cell(rate_of(*g.given, (*its)->m)) : Cell("-"));
            const double ratio = timed ? (*its)->ratio : 0;
            cells.push_back(ratio > 0 ? Cell(ratio_text(ratio), ratio >= 1 ? Style::good : Style::plain) : Cell());
        }
        if (g.given->target > 0 && best) {
            char share[32];
            std::snprintf(share, sizeof share, "%.0f %%", 100 * best->m.flops_per_second() / g.given->target);
            cells.emplace_back(share);
        }
        table.add(std::move(cells));
    }
    return "\n" + table.header(colored) + table.body(colored);
}

std::string BenchReport::csv() const {
    std::string all =
        "problem,library,kernel,tile,checked,error,clock,cold,runs,median_s,min_s,max_s,p95_s,tflops,gbytes_per_s,in_a_"
        "row_s,"
        "in_a_row_tflops,deviation,native,p5_s\n";
    for (const BenchResult& r : results_) {
        const Measurement& measured = r.m;
        const nlohmann::ordered_json j = json_case(*r.given, measured);
        const auto cell = [&j](const char* key) {
            return !j.contains(key) ? "" : j[key].is_string() ? j[key].get<std::string>() : j[key].dump();
        };
        all += csv_quoted(r.given->text) + "," + (r.is_baseline ? csv_word(measured.kernel) : "vkgemm") + "," +
               (r.is_baseline ? "" : csv_word(measured.kernel));
        all += "," + csv_quoted(measured.tile) + "," + csv_word(measured.checked) + "," +
               csv_quoted(!measured.failure ? measured.failure.text : measured.wrong);
        all += "," + std::string(measured.timed() ? (measured.clock == host::Clock::device ? "device" : "host") : "");
        all += "," + cell("cold") + "," + std::to_string(measured.times.runs);
        for (const char* key :
             {"median", "min", "max", "p95", "tflops", "gbytes_per_s", "in_a_row", "in_a_row_tflops", "deviation"})
            all += "," + cell(key);
        all += std::string(is_native(measured.kernel) ? ",1," : ",0,") + cell("p5") + "\n";
    }
    return all;
}

nlohmann::ordered_json BenchReport::cases() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Group& g : groups())
        for (const BenchResult* r : g.ours) {
            nlohmann::ordered_json j = json_case(*g.given, r->m);
            if (r->roof.limit > 0) {
                j["flop_per_byte"] = r->roof.intensity;
                j["roof_tflops"] = r->roof.limit * 1e-12;
                j["roof_by"] = r->roof.by_memory ? "memory" : "arithmetic";
                j["roof_of_shaders"] = r->roof.of_shaders;
            }
            if (g.given->target > 0) j["target_tflops"] = g.given->target * 1e-12;
            if (!baselines_.empty()) j["baselines"] = nlohmann::ordered_json::array();
            for (const BenchResult* p : g.baselines) {
                nlohmann::ordered_json one = {{"name", p->m.kernel}};
                one.update(json_measurement(p->m));
                const double its = p->m.flops_per_second(), ours = r->m.flops_per_second();
                if (its > 0 && ours > 0) one["ratio"] = ours / its;
                j["baselines"].push_back(std::move(one));
            }
            all.push_back(std::move(j));
        }
    return all;
}

nlohmann::ordered_json BenchReport::baselines() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const BenchBaseline& p : baselines_) {
        nlohmann::ordered_json one = {{"name", p.name}};
        if (p.missing.empty())
            one["title"] = p.title;
        else
            one["missing"] = p.missing;
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace vkgemm::tool
