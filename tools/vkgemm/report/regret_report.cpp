// SPDX-License-Identifier: MIT
#include "report/regret_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "measure/kernel_lookup.h"

namespace vkgemm::tool {
namespace {

constexpr size_t shown_worst = 10;
constexpr double worth_a_look = 0.10;  // a loss that is printed in red

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
}
Cell loss_cell(double loss) { return {percent(loss), loss > worth_a_look ? Style::bad : Style::plain}; }

Table rows() {
    return Table({{.title = "lost", .right = true, .width = 7},
                  {.title = "chosen", .right = true, .width = 8},
                  {.title = "best", .right = true, .width = 8},
                  {.title = "tried", .right = true, .width = 5},
                  {.title = "problem"}});
}

std::string name_of(const TimedCandidate& t) { return label_of(t.candidate.kernel) + " " + t.candidate.tile; }

}  // namespace

std::string RegretReport::header(bool colored) const { return rows().header(colored); }

std::string RegretReport::add(Regret seen, bool colored) {
    all_.push_back(std::move(seen));
    const Regret& regret = all_.back();
    Table table = rows();
    if (regret.failure.empty()) {
        table.add({loss_cell(regret.loss()), seconds_text(regret.chosen_seconds()), seconds_text(regret.best_seconds()),
                   std::to_string(regret.tried.size()), regret.given->c.text});
    } else {
        table.add({{"-", Style::dim}, "", "", "", regret.given->c.text});
        table.note(regret.failure);
    }
    return table.body(colored);
}

std::vector<std::pair<std::string, Losses>> RegretReport::by_kind() const {
    std::vector<std::pair<std::string, std::vector<double>>> kinds;
    std::vector<double> of_all;
    for (const Regret& r : all_) {
        if (!r.failure.empty()) continue;
        auto kind = std::ranges::find(kinds, r.given->kind, [](const auto& k) { return k.first; });
        if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {r.given->kind, {}});
        kind->second.push_back(r.loss());
        of_all.push_back(r.loss());
    }
    kinds.emplace_back("all", std::move(of_all));
    std::vector<std::pair<std::string, Losses>> out;
    for (auto& [kind, losses] : kinds) out.emplace_back(kind, summarise_losses(std::move(losses)));
    return out;
}

std::string RegretReport::summary(bool colored) const {
    const auto kinds = by_kind();
    if (kinds.back().second.problems == 0) return "";
    Table table({{.title = "lost by the choice", .width = 18},
                 {.title = "problems", .right = true, .width = 8},
                 {.title = "geometric mean", .right = true, .width = 14},
                 {.title = "worst twentieth", .right = true, .width = 15},
                 {.title = "worst", .right = true, .width = 7}});
    for (const auto& [kind, l] : kinds)
        table.add(
            {kind, std::to_string(l.problems), loss_cell(l.mean), loss_cell(l.worst_twentieth), loss_cell(l.worst)});
    std::string out = "\n" + table.header(colored) + table.body(colored) + "\nthe worst:\n";

    std::vector<const Regret*> worst;
    for (const Regret& r : all_)
        if (r.failure.empty() && r.best() != r.chosen) worst.push_back(&r);
    std::ranges::stable_sort(worst, std::ranges::greater(), [](const Regret* r) { return r->loss(); });
    if (worst.size() > shown_worst) worst.resize(shown_worst);
    for (const Regret* r : worst) {
        const TimedCandidate &chosen = r->tried[r->chosen], &best = r->tried[r->best()];
        out += wrapped(percent(r->loss()) + ": " + r->given->c.text, 0) +
               wrapped("chosen" + std::string(r->by_tuned_row ? " by a tuned row " : " ") + name_of(chosen) + ", " +
                           seconds_text(r->chosen_seconds()),
                       4) +
               wrapped("best " + name_of(best) + ", " + seconds_text(r->best_seconds()), 4);
    }
    return worst.empty() ? out + "    none lost anything\n" : out;
}

nlohmann::ordered_json RegretReport::losses() const {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [kind, l] : by_kind())
        out[kind] = {
            {"problems", l.problems}, {"mean", l.mean}, {"worst_twentieth", l.worst_twentieth}, {"worst", l.worst}};
    return out;
}

nlohmann::ordered_json RegretReport::problems() const {
    using nlohmann::ordered_json;
    ordered_json out = ordered_json::array();
    for (const Regret& r : all_) {
        ordered_json tried = ordered_json::array();
        for (const TimedCandidate& t : r.tried)
            tried.push_back({{"kernel", t.candidate.kernel},
                             {"tile", t.candidate.tile},
                             {"cost", t.candidate.cost},
                             {"seconds", t.seconds > 0 ? ordered_json(t.seconds) : ordered_json()},
                             {"final", t.is_final},
                             {"rounds", t.rounds}});
        const bool known = r.failure.empty();
        out.push_back({{"problem", r.given->c.text},
                       {"type", r.given->kind},
                       {"error", known ? ordered_json() : ordered_json(r.failure)},
                       {"loss", known ? ordered_json(r.loss()) : ordered_json()},
                       {"chosen", known ? ordered_json(r.chosen) : ordered_json()},
                       {"best", known ? ordered_json(r.best()) : ordered_json()},
                       {"again", {{"chosen", r.chosen_again}, {"best", r.best_again}}},
                       {"tuned", r.by_tuned_row},
                       {"left_out", r.left_out},
                       {"tried", std::move(tried)}});
    }
    return out;
}

std::string RegretReport::csv() const {
    std::string all = "problem,type,kernel,tile,cost,seconds,final,chosen\n";
    char numbers[80];
    for (const Regret& r : all_)
        for (size_t i = 0; r.failure.empty() && i < r.tried.size(); ++i) {
            const TimedCandidate& t = r.tried[i];
            if (!(t.seconds > 0)) continue;
            std::snprintf(numbers, sizeof numbers, ",%.6g,%.6g,%d,%d\n", t.candidate.cost, t.seconds, t.is_final,
                          i == r.chosen);
            all += csv_quoted(r.given->c.text) + "," + csv_word(r.given->kind) + "," + csv_word(t.candidate.kernel) +
                   "," + csv_quoted(t.candidate.tile) + numbers;
        }
    return all;
}

}  // namespace vkgemm::tool
