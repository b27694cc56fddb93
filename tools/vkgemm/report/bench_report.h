// SPDX-License-Identifier: MIT
// The output of bench: table, summary, CSV, JSON, picture.
#pragma once
#include "commands/command.h"
#include "report/bench_result.h"
#include "report/plot.h"

namespace vkgemm::tool {

/// Which columns the table has: as many as fit.
struct BenchColumns {
    bool spread = true, in_a_row = true, error = false, ratio = false;
};

std::string rate_of(const Case& c, const Measurement& m);  // "49.41 TFLOP/s"
std::string heat_of(const Measurement& m);                 // ", cold (2 sets of operands in turn)"

/// Whether they differ in accuracy; then the error matters as much as the rate.
template <class Cases>
bool of_several_accuracies(const Cases& cases) {
    for (const Case& c : cases)
        if (c.problem.accuracy != cases.front().problem.accuracy) return true;
    return false;
}

class BenchReport {
   public:
    /// `errors`: show how far results are off. `in_a_row`: times of runs in a row are measured, as on GPUs.
    BenchReport(std::vector<BenchBaseline> baselines, bool unchecked, bool errors, bool in_a_row);

    /// Keeps a result; its lines for the table.
    std::string add(BenchResult result, bool colored);
    bool is_empty() const { return results_.empty(); }
    std::string header(bool colored) const;
    /// The line below the rows of the last case: its roofline, and how much of it was reached. "" if it is not known.
    std::string footer(bool colored) const;
    /// One line per problem: our best kernel, each baseline, their ratio, the share of the target. "" if there is
    /// nothing to compare.
    std::string summary(bool colored) const;
    std::string csv() const;
    nlohmann::ordered_json cases() const;
    nlohmann::ordered_json baselines() const;
    std::string svg(const std::string& title) const;

   private:
    /// The results of one problem.
    struct Group {
        const Case* given = nullptr;
        std::vector<const BenchResult*> ours, baselines;
        const BenchResult* fastest(bool with_native) const;  // of ours; null if none was timed
        const BenchResult* best() const { return fastest(true); }
        const BenchResult* best_shader() const { return fastest(false); }
    };
    std::vector<Group> groups() const;
    Table table() const;
    void add_row(Table& rows, const BenchResult& r) const;
    std::optional<LinePlot> sweep(const std::vector<Group>& all) const;
    /// Rates of some of the groups over `sizes`, by group.
    LinePanel lines_of(const std::vector<Group>& all, const std::vector<size_t>& its,
                       const std::vector<double>& sizes) const;
    std::optional<PointPlot> points(const std::vector<Group>& all) const;
    BarPlot bars(const std::vector<Group>& all) const;

    std::vector<BenchBaseline> baselines_;
    bool unchecked_;
    BenchColumns columns_;
    size_t widest_ = 0;  // column of names
    std::vector<BenchResult> results_;
};

}  // namespace vkgemm::tool
