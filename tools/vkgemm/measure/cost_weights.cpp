// SPDX-License-Identifier: MIT
#include "measure/cost_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "measure/kernel_lookup.h"

namespace vkgemm::tool {
namespace {

constexpr const char* part_names[VKGEMM_COST_PART_COUNT] = {"launch", "steps", "results", "memory", "passes"};

// The objective takes one candidate for another that costs nearly the same with a probability, so that small changes
// of a weight show: exp(-|log of the ratio of their costs| / softness).
constexpr double softness = 0.05;
constexpr double holds[] = {0.3, 0.1, 0.03, 0.01};    // what the square of a weight's logarithm counts beside losses
constexpr double changes[] = {0.5, 0.2, 0.08, 0.03};  // of the logarithm of a weight, tried one after the other
constexpr double most_change = 2.3;                   // of it in all: a factor of 10
constexpr size_t sweeps = 4;                          // over all weights, with each of the changes

/// The problems with families as numbers, and what has been found so far.
class Fitter {
   public:
    Fitter(const std::vector<FitProblem>& problems, double hold) : hold_(hold) {
        for (const FitProblem& p : problems)
            for (const FitSample& s : p) families_.emplace(s.family, 0);
        size_t count = 0;
        for (auto& [name, index] : families_) index = count++;
        logs_.assign(count, {});
        for (const FitProblem& p : problems) {
            if (p.empty()) continue;
            const double best = std::ranges::min_element(p, {}, &FitSample::seconds)->seconds;
            auto& to = problems_.emplace_back();
            for (const FitSample& s : p) to.push_back({families_.at(s.family), s.parts, std::log(s.seconds / best)});
        }
    }

    FamilyWeights fit() {
        double now = objective();
        for (const double change : changes)
            for (size_t sweep = 0; sweep < sweeps; ++sweep)
                for (CostParts& logs : logs_)
                    for (double& log : logs) now = improved(log, change, now);
        FamilyWeights out;
        for (const auto& [name, index] : families_) {
            CostParts& weights = out[name];
            for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::exp(logs_[index][i]);
        }
        return out;
    }

   private:
    struct Sample {
        size_t family;
        CostParts parts;
        double lost;  // the logarithm of its time beside the best
    };

    double improved(double& log, double change, double now) const {
        const double before = log;
        for (const double other : {before + change, before - change}) {
            if (std::abs(other) > most_change) continue;
            log = other;
            if (const double then = objective(); then < now) return then;
        }
        log = before;
        return now;
    }

    double objective() const {
        std::vector<CostParts> weights = logs_;
        double held = 0;
        for (CostParts& of_family : weights)
            for (double& w : of_family) {
                held += w * w;
                w = std::exp(w);
            }
        double lost = 0;
        std::vector<double> costs;
        for (const auto& problem : problems_) {
            costs.clear();
            for (const Sample& s : problem) {
                double cost = 0;
                for (size_t i = 0; i < s.parts.size(); ++i) cost += weights[s.family][i] * s.parts[i];
                costs.push_back(cost);
            }
            const double least = *std::ranges::min_element(costs);
            double sum = 0, sum_lost = 0;
            for (size_t i = 0; i < costs.size(); ++i) {
                if (costs[i] > 1.5 * least) continue;  // a share below exp(-8)
                const double share = std::pow(costs[i] / least, -1 / softness);
                sum += share;
                sum_lost += share * problem[i].lost;
            }
            lost += sum_lost / sum;
        }
        const double parts = static_cast<double>(std::max<size_t>(logs_.size(), 1) * VKGEMM_COST_PART_COUNT);
        return lost / static_cast<double>(std::max<size_t>(problems_.size(), 1)) + hold_ * held / parts;
    }

    double hold_;
    std::map<std::string, size_t> families_;
    std::vector<std::vector<Sample>> problems_;
    std::vector<CostParts> logs_;  // of the weights, by family
};

std::vector<FitProblem> half_of(const std::vector<FitProblem>& problems, size_t which) {
    std::vector<FitProblem> out;
    for (size_t i = which; i < problems.size(); i += 2) out.push_back(problems[i]);
    return out;
}

std::vector<double> each_loss(const std::vector<FitProblem>& problems, const FamilyWeights& weights) {
    std::vector<double> losses;
    for (const FitProblem& p : problems) {
        if (p.empty()) continue;
        const auto cost = [&](const FitSample& s) {
            const auto of_family = weights.find(s.family);
            double sum = 0;
            for (size_t i = 0; i < s.parts.size(); ++i)
                sum += s.parts[i] * (of_family == weights.end() ? 1 : of_family->second[i]);
            return sum;
        };
        const FitSample& chosen = *std::ranges::min_element(p, {}, cost);
        losses.push_back(1 - std::ranges::min_element(p, {}, &FitSample::seconds)->seconds / chosen.seconds);
    }
    return losses;
}

/// What is lost on each half if the other half was fitted to.
Losses crossed_losses(const std::vector<FitProblem>& problems, double hold) {
    std::vector<double> losses;
    for (const size_t which : {size_t{0}, size_t{1}}) {
        const FamilyWeights weights = Fitter(half_of(problems, 1 - which), hold).fit();
        for (const double loss : each_loss(half_of(problems, which), weights)) losses.push_back(loss);
    }
    return summarise_losses(std::move(losses));
}

}  // namespace

FitProblem fit_problem(const Regret& regret) {
    FitProblem out;
    for (const TimedCandidate& t : regret.tried)
        if (const Kernel* const k = find_kernel(t.candidate.kernel); k && t.seconds > 0 && t.candidate.cost > 0)
            out.push_back({k->variant(), t.candidate.parts, t.seconds});
    return out;
}

Losses losses_with(const std::vector<FitProblem>& problems, const FamilyWeights& weights) {
    return summarise_losses(each_loss(problems, weights));
}

Fit fit_weights(const std::vector<FitProblem>& problems) {
    Fit out;
    out.before = out.after = out.crossed = losses_with(problems, {});
    double hold = 0;  // none
    for (const double tried : holds) {
        const Losses crossed = crossed_losses(problems, tried);
        if (crossed.mean < out.crossed.mean) {
            out.crossed = crossed;
            hold = tried;
        }
    }
    if (hold == 0) return out;
    out.weights = Fitter(problems, hold).fit();
    out.after = losses_with(problems, out.weights);
    return out;
}

std::string weights_text(const std::string& family, const CostParts& weights) {
    std::string out = family + " | ";
    for (size_t i = 0; i < weights.size(); ++i) {
        char text[64];
        std::snprintf(text, sizeof text, "%s%s=%.3g", i ? "," : "", part_names[i], weights[i]);
        out += text;
    }
    return out;
}

}  // namespace vkgemm::tool
