// SPDX-License-Identifier: MIT
// The bounds of `vkgemm inspect --bound` beside measured rates, on NVIDIA's own driver, which provides no assembly: its
// machine code comes from a pipeline cache, and nvdisasm of CUDA's toolkit reads it. zstd unpacks the cache.
//
//     nvidia_bound code FOLDER PROBLEM KERNEL...            writes FOLDER/KERNEL.sass; needs the GPU
//     nvidia_bound compare ARCHITECTURE MULTIPROCESSORS MHZ FOLDER FILE.csv...
//                                                           the rows that `vkgemm bench --csv` measured without a
//                                                           workspace, and whose assembly FOLDER has; fails if one is
//                                                           faster than its bound
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>

#include "drivers/pipeline_code.h"
#include "tools/csv.h"
#include "tools/vkgemm/assembly/bound.h"
#include "vkgemm/host.hpp"
#include "vkgemm/text.hpp"

namespace {

using namespace vkgemm;
using namespace vkgemm::tool;

// ---------------------------------------------------------------- code

/// Why there is none; empty if the file was written.
std::string write_assembly(const std::string& folder, const Problem& problem, const std::string& kernel) {
    host::DeviceOptions options{.nativeKernels = VKGEMM_NATIVE_OFF};
    options.pipelineCache = [](const host::DeviceInfo&) { return std::vector<std::byte>{}; };
    const auto device = host::Device::open(options);
    if (!device) return device.status().text;
    const auto plan = device->context().createPlan(problem, {.kernel = kernel.c_str(), .workspaceLimit = 0});
    if (!plan) return plan.status().text;
    const auto cache = device->pipelineCacheData();
    if (!cache) return cache.status().text;
    const std::vector<std::byte> code = test::pipeline_code(*cache);
    if (code.empty()) return kernel + ": no machine code was found in the pipeline cache";
    const std::string binary = folder + "/" + kernel + ".bin", text = folder + "/" + kernel + ".sass";
    std::ofstream(binary, std::ios::binary)
        .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
    const std::string command = "nvdisasm --binary SM90 '" + binary + "' > '" + text + "'";
    return std::system(command.c_str()) == 0 ? "" : kernel + ": this failed: " + command;
}

int write_all(const std::string& folder, const char* line, std::span<char*> kernels) {
    const auto words = parseProblem(line);
    if (!words) {
        std::fprintf(stderr, "%s\n", words.status().text.c_str());
        return 2;
    }
    std::filesystem::create_directories(folder);
    int failed = 0;
    for (const char* kernel : kernels) {
        const std::string why = write_assembly(folder, words->problem, kernel);
        failed += !why.empty();
        std::printf("%s: %s\n", kernel, why.empty() ? "written" : why.c_str());
    }
    return failed ? 1 : 0;
}

// ---------------------------------------------------------------- compare

struct Row {
    std::string kernel, unit;
    double rate = 0, bound = 0;  // TFLOP/s
};

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Of what one quarter of a multiprocessor does in a cycle.
double operations_per_cycle(const std::vector<Instruction>& loop, double cycles) {
    double products = 0;
    for (const Instruction& x : loop) products += x.multiply_adds * x.repeats * (x.unit == Unit::matrix ? 1 : 32);
    return 2 * products / cycles;
}

std::vector<Row> rows_of(const char* file, const std::string& folder, const Architecture& a, double cycles_per_second) {
    std::vector<Row> out;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> titles = csv_fields(line);
    const auto column = [&](const char* title) {
        return static_cast<size_t>(std::ranges::find(titles, title) - titles.begin());
    };
    const size_t kernel = column("kernel"), rate = column("tflops"), checked = column("checked");
    while (std::getline(in, line)) {
        const std::vector<std::string> fields = csv_fields(line);
        if (std::max({kernel, rate, checked}) >= fields.size() || fields[rate].empty() || fields[checked] == "no")
            continue;
        const auto known = [&](const Row& row) { return row.kernel == fields[kernel]; };
        if (std::ranges::any_of(out, known)) continue;  // that was chosen, too
        const auto loop = inner_loop(read_sass(text_of(folder + "/" + fields[kernel] + ".sass")));
        const auto bound = bound_of(loop, a, 32);
        if (!bound) continue;
        out.push_back({.kernel = fields[kernel],
                       .unit = bound->unit,
                       .rate = std::stod(fields[rate]),
                       .bound = operations_per_cycle(loop, bound->cycles) * cycles_per_second / 1e12});
    }
    return out;
}

/// The place of each number among all; equal ones share theirs.
std::vector<double> ranks(const std::vector<double>& numbers) {
    std::vector<double> out;
    for (const double x : numbers) {
        const auto below = std::ranges::count_if(numbers, [&](double y) { return y < x; });
        const auto equal = std::ranges::count(numbers, x);
        out.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
    }
    return out;
}

/// Spearman's, from -1 to 1.
double rank_correlation(const std::vector<Row>& rows) {
    if (rows.size() < 2) return 0;
    std::vector<double> rates, bounds;
    for (const Row& row : rows) {
        rates.push_back(row.rate);
        bounds.push_back(row.bound);
    }
    const std::vector<double> x = ranks(rates), y = ranks(bounds);
    const double middle = static_cast<double>(rows.size() - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xy / std::sqrt(xx * yy);
}

int compare(const Architecture& a, double cycles_per_second, const std::string& folder, std::span<char*> files) {
    std::vector<Row> all;
    std::printf("| kernel | TFLOP/s | bound | part of it | by |\n| --- | --- | --- | --- | --- |\n");
    std::string correlations;
    int above = 0;
    for (const char* file : files) {
        const std::vector<Row> rows = rows_of(file, folder, a, cycles_per_second);
        for (const Row& row : rows) {
            std::printf("| `%s` | %.1f | %.1f | %.2f | %s |\n", row.kernel.c_str(), row.rate, row.bound,
                        row.rate / row.bound, row.unit.c_str());
            above += row.rate > row.bound;
        }
        char text[64];
        std::snprintf(text, sizeof text, "%zu rows, %.3f; ", rows.size(), rank_correlation(rows));
        correlations += std::string(file) + ": " + text;
        all.insert(all.end(), rows.begin(), rows.end());
    }
    std::printf("\nRank correlation: %sall: %zu rows, %.3f. Above their bound: %d.\n", correlations.c_str(), all.size(),
                rank_correlation(all), above);
    return above || all.empty();
}

}  // namespace

int main(int count, char** arguments) {
    const std::span<char*> words(arguments, static_cast<size_t>(count));
    const std::string_view word = count > 1 ? words[1] : "";
    if (word == "code" && count > 4) return write_all(words[2], words[3], words.subspan(4));
    const Architecture* const a = word == "compare" && count > 6 ? find_architecture(words[2]) : nullptr;
    if (a)
        return compare(*a, 4 * std::strtod(words[3], nullptr) * std::strtod(words[4], nullptr) * 1e6, words[5],
                       words.subspan(6));
    std::fprintf(stderr,
                 "usage: nvidia_bound code FOLDER PROBLEM KERNEL...\n"
                 "       nvidia_bound compare ARCHITECTURE MULTIPROCESSORS MHZ FOLDER FILE.csv...\n");
    return 2;
}
