// SPDX-License-Identifier: MIT
#include "report/device_standing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "cli/text.h"
#include "report/svg.h"

namespace vkgemm::tool {
namespace {

/// 0 if a rate is missing that `wanted` has.
double mean_top_rate(const DeviceReport& report, const DeviceReport& wanted) {
    double sum = 0;
    size_t count = 0;
    for (const TopRate& of : top_rates) {
        if (top_rate(wanted, of) == 0) continue;
        const double rate = top_rate(report, of);
        if (rate == 0) return 0;
        sum += std::log(rate);
        ++count;
    }
    return count ? std::exp(sum / static_cast<double>(count)) : 0;
}

/// In a cell of a table in Markdown.
std::string markdown_cell(const std::string& text) {
    std::string out;
    for (const char c : draw::escaped(text)) {
        if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '[') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::vector<std::pair<std::string, DeviceReport>> read_known_devices(const CheckFact& check_fact) {
    std::vector<std::pair<std::string, DeviceReport>> all;
    for (const KnownDevice& known : known_devices())
        all.emplace_back(known.name, read_report(known.text, check_fact).report);
    return all;
}

double top_rate(const DeviceReport& report, const TopRate& of) {
    double most = 0;
    for (const ReportedProduct& p : report.products)
        if (typeName(p.c.problem.a.type) == of.type && typeName(p.c.problem.b.type) == of.type)
            most = std::max(most, p.rate());
    return most;
}

std::vector<Standing> standings(const DeviceReport& report, std::vector<DeviceReport> known) {
    std::vector<Standing> all;
    all.push_back({report, true});
    for (DeviceReport& r : known) all.push_back({std::move(r), false});
    std::ranges::stable_sort(all, std::greater(), [&](const Standing& s) { return mean_top_rate(s.report, report); });
    return all;
}

double share_of_best(const DeviceReport& report) {
    double sum = 0;
    size_t count = 0;
    for (const ReportedProduct& p : report.products) {
        if (p.best_seconds == 0) continue;
        sum += std::log(1 - p.loss());
        ++count;
    }
    return count ? std::exp(sum / static_cast<double>(count)) : 0;
}

std::string devices_table(const std::vector<std::pair<std::string, DeviceReport>>& by_file) {
    std::string out =
        "| device | driver | measured | f32 | f16 | i8 | the choice reaches, of the best | vkgemm |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n";
    for (const auto& [file, report] : by_file) {
        out += "| [" + markdown_cell(report.fact("name")) + "](" + file + ".txt) | " +
               markdown_cell(report.fact("driver")) + " | " + report.origin + ", " + report.date + " |";
        for (const TopRate& of : top_rates) {
            const double rate = top_rate(report, of);
            out += " " + (rate > 0 ? rate_text(rate, of.integer) : "-") + " |";
        }
        char share[32] = "-";
        if (const double s = share_of_best(report); s > 0) std::snprintf(share, sizeof share, "%.1f %%", 100 * s);
        out += std::string(" ") + share + " | " + markdown_cell(report.version) + " |\n";
    }
    return out;
}

}  // namespace vkgemm::tool
