// SPDX-License-Identifier: MIT
// Fits the terms of tiles (src/plan/choice/tile_terms.h) to what `vkgemm bench --random --csv` measured, and writes
// their tables. CONTRIBUTING.md says when and how.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "tables.h"
#include "training.h"

using namespace vkgemm;
using namespace vkgemm::fit;

namespace {

constexpr char usage[] =
    "usage: fit_terms [OPTION ...] FILE.csv[:WEIGHT] ...\n"
    "\n"
    "Fits the terms of tiles to times that `vkgemm bench --random N --csv FILE.csv` wrote.\n"
    "Problems of a file with a WEIGHT count so many times.\n"
    "\n"
    "  --device FILE     the capabilities of the measured device (default: tests/devices/h200.txt)\n"
    "  --for NAME        a part of the names of devices on which the terms hold; several times (default: NVIDIA, NVK)\n"
    "  --out FOLDER      where fact_weights.def and tile_terms.def are written, src/plan/choice\n"
    "  --held-out PARTS  of the last file: fits without each of so many parts, and prints what is lost there\n"
    "  --generated N     further problems that nobody timed (default: 2400)\n"
    "  --teachers N, --epochs N,N  networks before the last one; epochs of those and of it (default: 5; 80,140)\n"
    "  --seed S          of everything that is random (default: 1)\n";

struct Arguments {
    std::string device = "tests/devices/h200.txt", out;
    std::vector<std::string> devices;
    std::vector<std::pair<std::string, float>> files;
    size_t held_out = 0, generated = 2400;
    Options options;
};

int refuse(const std::string& why) {
    std::fprintf(stderr, "fit_terms: %s\n", why.c_str());
    return 2;
}

std::optional<Arguments> read_arguments(int count, char** words) {
    Arguments a;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (!word.starts_with("--")) {
            const size_t colon = word.rfind(':');
            const bool weighs = colon != std::string::npos;
            a.files.emplace_back(word.substr(0, colon), weighs ? std::strtof(&word[colon + 1], nullptr) : 1.0F);
            continue;
        }
        if (i + 1 == count) return std::nullopt;
        const char* const value = words[++i];
        const auto number = static_cast<size_t>(std::strtoul(value, nullptr, 10));
        if (word == "--device")
            a.device = value;
        else if (word == "--for")
            a.devices.emplace_back(value);
        else if (word == "--out")
            a.out = value;
        else if (word == "--held-out")
            a.held_out = number;
        else if (word == "--generated")
            a.generated = number;
        else if (word == "--teachers")
            a.options.teachers = std::max<size_t>(number, 1);
        else if (word == "--seed")
            a.options.seed = static_cast<unsigned>(number);
        else if (word == "--epochs" && std::sscanf(value, "%zu,%zu", &a.options.teacher_epochs, &a.options.epochs) == 2)
            continue;
        else
            return std::nullopt;
    }
    if (a.files.empty() || a.out.empty() == (a.held_out == 0)) return std::nullopt;
    if (a.devices.empty()) a.devices = {"NVIDIA", "NVK"};
    return a;
}

// What is lost by problems, by type and by file.
class Report {
   public:
    void add(const TimedProblem& p, double loss, const std::string& file) {
        for (const std::string& name : {std::string("all"), p.kind, file}) losses_[name].push_back(loss);
    }
    void print() const {
        for (const auto& [name, losses] : losses_) {
            const Losses l = summary_of(losses);
            std::printf("%-40s %5zu problems lose %.2f %% (worst twentieth %.1f)\n", name.c_str(), l.problems,
                        100 * l.mean, 100 * l.worst_twentieth);
        }
    }

   private:
    std::map<std::string, std::vector<double>> losses_;
};

void hold_out(const Timings& all, const Arguments& a) {
    Report report;
    const size_t last = a.files.size() - 1;
    for (size_t part = 0; part < a.held_out; ++part) {
        std::vector<size_t> rest, held;
        for (size_t i = 0; i < all.problems.size(); ++i)
            (all.problems[i].file == last && i % a.held_out == part ? held : rest).push_back(i);
        const Network network = fit::fit(all, rest, a.options);
        for (const size_t i : held) report.add(all.problems[i], loss_of(all.problems[i], network), a.files[last].first);
    }
    report.print();
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream out(path);
    return static_cast<bool>(out << text << std::flush);
}

}  // namespace

int main(int count, char** words) {
    const auto a = read_arguments(count, words);
    if (!a) return std::fputs(usage, stderr), 2;
    std::stringstream text;
    text << std::ifstream(a->device).rdbuf();
    const auto caps = plan::parse_device_caps(text.str());
    if (!caps) return refuse(a->device + ": " + caps.status().text);
    Reader reader(*caps);
    for (size_t i = 0; i < a->files.size(); ++i) {
        const auto& [path, weight] = a->files[i];
        const auto found = reader.add(path, i, weight);
        if (!found) return refuse(found.status().text);
        std::printf("%s: %zu problems\n", path.c_str(), *found);
    }
    if (reader.left_out()) std::printf("%zu rows left out: kernels without terms, or unknown\n", reader.left_out());
    reader.generate(a->generated, a->options.seed);
    const Timings& all = reader.timings();
    if (a->held_out) return hold_out(all, *a), 0;
    std::vector<size_t> every(all.problems.size());
    for (size_t i = 0; i < every.size(); ++i) every[i] = i;
    const Network network = fit::fit(all, every, a->options);
    Report report;
    for (const TimedProblem& p : all.problems)
        if (p.file != generated_file) report.add(p, loss_of(p, network), a->files[p.file].first);
    report.print();
    if (!write(a->out + "/fact_weights.def", weights_text(network, a->devices)) ||
        !write(a->out + "/tile_terms.def", terms_text(network, all.tiles)))
        return refuse("cannot write to " + a->out);
}
