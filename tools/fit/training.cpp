// SPDX-License-Identifier: MIT
#include "training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "vkgemm/rounding.hpp"

namespace vkgemm::fit {
namespace {

constexpr size_t batch = 16;                 // problems of a step
constexpr float rate = 3e-3F;                // of learning, after the first steps
constexpr double rising = 0.05;              // the part of the steps in which it rises; then it falls to 0
constexpr double unrounded = 0.6;            // the part of the steps before weights are rounded
constexpr float nearness = 3;                // a candidate counts (its time / the best)^-nearness
constexpr float far = 1.1F, of_far = 0.02F;  // but so little beyond e^far times the best
constexpr float most_error = 0.5F;           // of a logarithm, beyond which it counts no more
constexpr float hold = 0.1F;                 // how much the mean factor of a problem is held at 1
constexpr float few = 10;                    // candidates by which those of a problem count as if there were more
constexpr float of_loss = 0.3F;              // the expected loss beside the errors
constexpr float softness = 0.05F;            // of the choice whose loss is expected
constexpr float most_loss = 0.7F;            // of a logarithm
constexpr float most_taught = 0.9F;          // factors of teachers, as logarithms
constexpr float measured_part = 0.3F;        // of what the last network learns

using Times = std::vector<std::vector<float>>;  // of each problem's samples, as logarithms

/// One problem in a step of training.
class Lesson {
   public:
    Lesson(const TimedProblem& p, const std::vector<float>& times) : p_(p), times_(times) {}
    void add_gradient(const Network& network, std::vector<float>& gradient) {
        const size_t n = p_.samples.size();
        units_.resize(n);
        costs_.resize(n);
        of_cost_.assign(n, 0);
        for (size_t i = 0; i < n; ++i) costs_[i] = p_.samples[i].log_cost + network.value(p_.samples[i], units_[i]);
        best_ = *std::ranges::min_element(times_);
        add_errors();
        add_expected_loss();
        for (size_t i = 0; i < n; ++i)
            if (of_cost_[i] != 0) network.add_gradient(p_.samples[i], units_[i], p_.weight * of_cost_[i], gradient);
    }

   private:
    // The errors of the logarithms, less their mean: only costs within one problem are compared.
    void add_errors() {
        const size_t n = costs_.size();
        std::vector<float> weights(n);
        float all = 0, error = 0, factor = 0;
        for (size_t i = 0; i < n; ++i) {
            const float behind = times_[i] - best_;
            weights[i] = behind < far ? std::exp(-nearness * behind) : of_far;
            all += weights[i];
            error += weights[i] * (times_[i] - costs_[i]);
            factor += weights[i] * (costs_[i] - p_.samples[i].log_cost);
        }
        for (size_t i = 0; i < n; ++i) {
            const float own = std::clamp(costs_[i] + error / all - times_[i], -most_error, most_error);
            of_cost_[i] += weights[i] * (own + hold * factor / all) / (few + all);
        }
    }
    // What a choice loses that takes each candidate the more probably the less it costs.
    void add_expected_loss() {
        const size_t n = costs_.size();
        const float least = *std::ranges::min_element(costs_);
        std::vector<float> chance(n), lost(n);
        float all = 0, expected = 0;
        for (size_t i = 0; i < n; ++i) {
            chance[i] = std::exp((least - costs_[i]) / softness);
            lost[i] = std::min(times_[i] - best_, most_loss);
            all += chance[i];
            expected += chance[i] * lost[i];
        }
        expected /= all;
        for (size_t i = 0; i < n; ++i) of_cost_[i] -= of_loss * chance[i] / all * (lost[i] - expected);
    }

    const TimedProblem& p_;
    const std::vector<float>& times_;
    float best_ = 0;
    std::vector<HiddenUnits> units_;
    std::vector<float> costs_, of_cost_;  // as logarithms; what a change of each costs
};

Network train(const Timings& all, std::vector<size_t> problems, const Times& times, size_t epochs, unsigned seed,
              bool known, bool rounded) {
    Network network(all.tiles, seed, known);
    std::mt19937 random(seed + 1);
    const size_t steps_of_epoch = divUp(problems.size(), batch), steps = epochs * steps_of_epoch;
    std::vector<float> gradient;
    for (size_t step = 0; step < steps;) {
        std::ranges::shuffle(problems, random);
        for (size_t begin = 0; begin < problems.size(); begin += batch) {
            const size_t end = std::min(problems.size(), begin + batch);
            gradient.assign(network.size(), 0);
            network.round(rounded && double(step) > unrounded * double(steps));
            for (size_t i = begin; i < end; ++i)
                Lesson(all.problems[problems[i]], times[problems[i]]).add_gradient(network, gradient);
            for (float& x : gradient) x /= float(end - begin);
            const double done = double(++step) / double(steps);
            const double part =
                done < rising ? done / rising : 0.5 + 0.5 * std::cos(std::acos(-1.0) * (done - rising) / (1 - rising));
            network.step(gradient, rate * float(part));
        }
    }
    network.round(rounded);
    return network;
}

Times measured(const Timings& all) {
    Times out;
    for (const TimedProblem& p : all.problems) {
        out.emplace_back();
        for (const Sample& s : p.samples) out.back().push_back(s.log_seconds);
    }
    return out;
}

// What the teachers predict, and with it a part of what was measured, less the mean difference of the problem.
Times taught(const Timings& all, const std::vector<Network>& teachers) {
    Times out;
    HiddenUnits units;
    for (const TimedProblem& p : all.problems) {
        std::vector<float>& times = out.emplace_back();
        float difference = 0;
        for (const Sample& s : p.samples) {
            float value = 0;
            for (const Network& t : teachers) value += t.value(s, units);
            times.push_back(s.log_cost + std::clamp(value / float(teachers.size()), -most_taught, most_taught));
            difference += (s.log_seconds - times.back()) / float(p.samples.size());
        }
        if (p.file == generated_file) continue;
        for (size_t i = 0; i < times.size(); ++i)
            times[i] += measured_part * (p.samples[i].log_seconds - difference - times[i]);
    }
    return out;
}

}  // namespace

Network fit(const Timings& all, const std::vector<size_t>& problems, const Options& o) {
    std::vector<size_t> timed;
    for (const size_t i : problems)
        if (all.problems[i].file != generated_file) timed.push_back(i);
    const Times times = measured(all);
    std::vector<Network> teachers(o.teachers, Network({}, 0));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < o.teachers; ++i)
        threads.emplace_back([&, i] {
            const auto seed = static_cast<unsigned>(1000 * o.seed + 10 * i);
            teachers[i] = train(all, timed, times, o.teacher_epochs, seed, o.known, false);
        });
    for (std::thread& t : threads) t.join();
    return train(all, problems, taught(all, teachers), o.epochs, 1000 * o.seed + 500, o.known, true);
}

double loss_of(const TimedProblem& p, const Network& network) {
    const bool any_final = std::ranges::any_of(p.samples, &Sample::is_final);
    const auto cost = [&](const Sample& s) {
        HiddenUnits units;
        return s.log_cost +
               std::clamp(network.value(s, units), -float(plan::most_correction), float(plan::most_correction));
    };
    float best = INFINITY, least = INFINITY, chosen = 0;
    for (const Sample& s : p.samples) {
        if (s.is_final || !any_final) best = std::min(best, s.log_seconds);
        if (const float c = cost(s); c < least) {
            least = c;
            chosen = s.log_seconds;
        }
    }
    return std::max(0.0, 1 - std::exp(double(best) - double(chosen)));
}

Losses summary_of(std::vector<double> losses) {
    if (losses.empty()) return {};
    std::ranges::sort(losses);
    const double logs =
        std::accumulate(losses.begin(), losses.end(), 0.0, [](double sum, double x) { return sum + std::log1p(-x); });
    return {losses.size(), 0 - std::expm1(logs / double(losses.size())), losses[(losses.size() * 95 + 99) / 100 - 1]};
}

}  // namespace vkgemm::fit
