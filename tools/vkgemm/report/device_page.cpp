// SPDX-License-Identifier: MIT
#include "report/device_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/text.h"
#include "measure/kernel_lookup.h"
#include "report/svg.h"

namespace vkgemm::tool {
namespace {

using draw::escaped;

// Nothing is loaded from elsewhere, whatever a driver's strings hold.
constexpr const char* page_head = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
:root { --text: #1d2129; --dim: #5c6470; --page: #fff; --soft: #f3f5f8; --line: #d9dee6; --bar: #2a6fdb;
 --bad: #b3261e }
@media (prefers-color-scheme: dark) {
:root { --text: #e4e7ec; --dim: #9aa3b0; --page: #14171c; --soft: #1d2229; --line: #343b46; --bar: #6aa5ff;
 --bad: #ff8a80 }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 74rem; padding: 1.5rem; font: 15px/1.5 system-ui, sans-serif; color: var(--text);
 background: var(--page) }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
p { margin: .3rem 0 } .dim { color: var(--dim) } .bad { color: var(--bad); font-weight: 600 }
a { color: var(--bar) }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { background: var(--soft); white-space: nowrap; font-weight: 600 }
.sorted th { cursor: pointer } .sorted th:focus-visible { outline: 2px solid var(--bar); outline-offset: -2px }
th[aria-sort=ascending]::after { content: " \25b2" } th[aria-sort=descending]::after { content: " \25bc" }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
td.k { white-space: nowrap } .k small { color: var(--dim); display: block; font-size: 12px }
tr.this td { background: var(--soft); font-weight: 600 }
.share { display: inline-block; width: 4.5rem; height: .55rem; margin-right: .5rem; background: var(--line);
 border-radius: .2rem; overflow: hidden }
.share i { display: block; height: 100%; background: var(--bar) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 0 }
dt { color: var(--dim) } dd { margin: 0; overflow-wrap: anywhere }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: 12.5px; line-height: 1.45 }
</style>
)html";

// A click, or Enter, on a title sorts by that column, and again in the other direction.
constexpr const char* page_script = R"html(<script>
for (const table of document.querySelectorAll("table.sorted")) {
  const titles = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = (title, column) => {
    const down = title.getAttribute("aria-sort") === "ascending";
    const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const compare = (a, b) => isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", {numeric: true}) : a - b;
    const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
    for (const other of titles) other.removeAttribute("aria-sort");
    title.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  titles.forEach((title, column) => {
    title.tabIndex = 0;
    title.onclick = () => sort(title, column);
    title.onkeydown = event => { if (event.key === "Enter") sort(title, column); };
  });
}
</script>
)html";

struct HtmlColumn {
    const char* title;
    bool number = false;
};

std::string table_head(std::initializer_list<HtmlColumn> columns) {
    std::string out = R"(<div class="wide"><table class="sorted"><thead><tr>)";
    for (const HtmlColumn& c : columns)
        out += std::string("<th") + (c.number ? " class=\"n\"" : "") + ">" + c.title + "</th>";
    return out + "</tr></thead><tbody>\n";
}
constexpr const char* table_end = "</tbody></table></div>\n";

/// A number with the value that it is sorted by; what is not known is sorted as -1.
std::string number_cell(double value, const std::string& html) {
    return R"(<td class="n" data-v=")" + (value > 0 ? draw::number(value) : "-1") + "\">" + html + "</td>";
}

std::string percent_of(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
    return text;
}

/// A share with its bar; one that is above 1 fills it.
std::string share_cell(double share) {
    if (!(share > 0)) return number_cell(-1, "-");
    const std::string width = draw::number(std::round(1000 * std::min(share, 1.0)) / 10);
    return number_cell(1000 * share,
                       R"(<span class="share"><i style="width:)" + width + "%\"></i></span>" + percent_of(share));
}

/// Two lines, of which the second is small.
std::string two_lines(const std::string& first, const std::string& second) {
    return "<td class=\"k\">" + escaped(first) + (second.empty() ? "" : "<small>" + escaped(second) + "</small>") +
           "</td>";
}

std::string products_html(const DeviceReport& report) {
    if (report.products.empty()) return "<p>No product was timed.</p>\n";
    std::string out = table_head({{.title = "product"},
                                  {.title = "chosen kernel"},
                                  {.title = "time", .number = true},
                                  {.title = "rate", .number = true},
                                  {.title = "of the roof", .number = true},
                                  {.title = "best kernel"},
                                  {.title = "of the best", .number = true}});
    for (const ReportedProduct& p : report.products) {
        const bool integer = !resolve(p.c.problem).is_float(), compared = p.best_seconds > 0;
        const size_t blank = std::min(p.c.text.find(' '), p.c.text.size() - 1);  // between types and sizes
        out += "<tr>" + two_lines(p.c.text.substr(blank + 1), p.c.text.substr(0, blank)) +
               two_lines(label_of(p.kernel), p.tile) + number_cell(p.seconds * 1e9, seconds_text(p.seconds)) +
               number_cell(p.rate() * 1e-6, rate_text(p.rate(), integer)) +
               share_cell(p.roof > 0 ? p.rate() / p.roof : 0);
        const std::string of_best =
            seconds_text(p.best_seconds) + ", " + std::to_string(p.tried) + " of " + std::to_string(p.there) + " tried";
        out += two_lines(compared ? label_of(p.best) : "not searched", compared ? p.best_tile + " " + of_best : "") +
               share_cell(compared ? 1 - p.loss() : 0) + "</tr>\n";
    }
    return out + table_end;
}

std::string standings_html(const std::vector<Standing>& all) {
    std::string out = table_head({{.title = "#", .number = true},
                                  {.title = "device"},
                                  {.title = "driver"},
                                  {.title = "measured"},
                                  {.title = "f32", .number = true},
                                  {.title = "f16", .number = true},
                                  {.title = "i8", .number = true}});
    for (size_t i = 0; i < all.size(); ++i) {
        const DeviceReport& r = all[i].report;
        out += std::string("<tr") + (all[i].is_this ? " class=\"this\"" : "") + ">" +
               number_cell(static_cast<double>(i + 1), std::to_string(i + 1)) + "<td>" + escaped(r.fact("name")) +
               "</td><td>" + escaped(r.fact("driver")) + "</td><td>" + (all[i].is_this ? "now" : escaped(r.origin)) +
               "</td>";
        for (const TopRate& of : top_rates) {
            const double rate = top_rate(r, of);
            out += number_cell(rate * 1e-6, rate > 0 ? rate_text(rate, of.integer) : "-");
        }
        out += "</tr>\n";
    }
    return out + table_end;
}

std::string facts_html(const DeviceReport& report) {
    std::string out = "<dl>";
    const auto add = [&](const std::string& name, const std::string& value) {
        out += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value.empty() ? "none" : value) + "</dd>\n";
    };
    for (const auto& [name, value] : report.device) add(name, value);
    add("extensions used", joined(report.extensions));
    if (report.copied > 0) add("copies", bytes_text(static_cast<uint64_t>(report.copied)) + "/s, read and written");
    for (const auto& [units, rate] : report.peaks)
        add("arithmetic, " + units, rate_text(rate, units.find("i8") != std::string::npos ||
                                                        units.find("u8") != std::string::npos || units == "i32"));
    return out + "</dl>\n";
}

std::string check_html(const DeviceReport& report) {
    if (report.runs == 0) return "<p>No kernel was checked.</p>\n";
    std::string out = "<p>" + std::to_string(report.kernels) + " kernels, " + std::to_string(report.runs) + " runs: ";
    if (report.wrong.empty()) return out + "every result is exact.</p>\n";
    out += "<span class=\"bad\">" + std::to_string(report.wrong.size()) + " WRONG</span></p>\n<ul>";
    for (const auto& [kernel, why] : report.wrong) out += "<li>" + escaped(kernel + ": " + why) + "</li>\n";
    return out + "</ul>\n";
}

}  // namespace

std::string device_page(const DeviceReport& report, const std::vector<Standing>& standings, const std::string& link) {
    const std::string name = escaped(report.fact("name"));
    std::string out = page_head;
    out += "<title>vkgemm on " + name + "</title>\n</head>\n<body>\n<h1>" + name + "</h1>\n<p class=\"dim\">" +
           escaped(report.fact("driver")) + " &middot; vkgemm " + escaped(report.version) + " &middot; " +
           escaped(report.date) + "</p>\n";
    if (!link.empty())
        out += "<p><a href=\"" + escaped(link) +
               "\">Open a new issue with this report</a>; nothing is sent before you send it there.</p>\n";
    out += "<h2>Results</h2>\n" + check_html(report) + "<h2>Products</h2>\n" + products_html(report);
    if (!report.left_out.empty()) {
        out += "<p>Left out:</p>\n<ul>";
        for (const auto& [problem, why] : report.left_out)
            out += "<li>" + escaped(problem) + ": " + escaped(why) + "</li>\n";
        out += "</ul>\n";
    }
    out += "<h2>Among the known devices</h2>\n<p class=\"dim\">By the highest rates of the products above.</p>\n" +
           standings_html(standings) + "<h2>Device and driver</h2>\n" + facts_html(report) +
           "<h2>The report</h2>\n<pre>" + escaped(report_text(report)) + "</pre>\n" + page_script +
           "</body>\n</html>\n";
    return out;
}

}  // namespace vkgemm::tool
