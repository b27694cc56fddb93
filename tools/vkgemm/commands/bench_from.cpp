// SPDX-License-Identifier: MIT
#include "commands/bench_from.h"

#include <algorithm>

#include "cli/text.h"
#include "commands/plan_options.h"
#include "report/bench_report.h"
#include "report/bench_saved.h"

namespace vkgemm::tool {

int show_saved_bench(const Session& session, const BenchFiles& options) {
    if (!session.device.empty() || session.validate)
        return session.fail(
            {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "--from uses no device; leave out --device and --validate"});
    const auto text = read_file(options.from);
    if (!text) return session.fail(text.status());
    const auto saved = parse_bench(*text);
    if (!saved) return session.fail({saved.status().code, VK_SUCCESS, options.from + ": " + saved.status().text});
    auto csv = OutputFile::open(options.csv);
    if (!csv) return session.fail(csv.status());
    auto plot = OutputFile::open(options.plot);
    if (!plot) return session.fail(plot.status());
    const std::string place = saved->device + ", vkgemm " + saved->version;
    const bool in_a_row = std::ranges::any_of(saved->results, [](const auto& r) { return r.m.in_a_row > 0; });
    BenchReport report(saved->baselines, saved->unchecked, of_several_accuracies(saved->cases), in_a_row);
    std::string shown = wrapped(place, 0);
    for (const BenchBaseline& p : saved->baselines)
        shown += wrapped(
            p.missing.empty() ? "compared with " + p.title : "no comparison with " + p.name + ": " + p.missing, 0);
    shown += "\n" + report.header(session.colored());
    const Case* last = nullptr;
    for (const BenchResult& r : saved->results) {
        if (r.given != last)
            shown += (last ? report.footer(session.colored()) : "") + wrapped(r.given->text + heat_of(r.m), 0);
        last = r.given;
        shown += report.add(r, session.colored());
    }
    if (options.csv != "-" && options.plot != "-")
        print(shown + report.footer(session.colored()) + report.summary(session.colored()));
    if (saved->interrupted) warn("vkgemm: that run was interrupted; this is what it had measured");
    const bool wrong =
        std::ranges::any_of(saved->results, [](const BenchResult& r) { return !r.is_baseline && !r.m.wrong.empty(); });
    return session.commit({{&*csv, report.csv()}, {&*plot, report.svg(place)}}, wrong ? exit_wrong : exit_right);
}

}  // namespace vkgemm::tool
