// SPDX-License-Identifier: MIT
// Fits the terms of tiles (src/plan/choice/tile_terms.h) to what `vkgemm bench --random --csv` measured, and writes
// their tables. CONTRIBUTING.md says when and how.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "tables.h"
#include "training.h"

using namespace vkgemm;
using namespace vkgemm::fit;

namespace {

struct Arguments {
    std::string device = "tests/devices/h200.txt", out;
    std::vector<std::string> devices = {"NVIDIA", "NVK"};
    std::vector<std::pair<std::string, float>> files;  // paths and weights
    size_t held_out = 0, generated = 2400;
    bool native = false;
    Options options;
};

int refuse(const std::string& why) {
    std::fprintf(stderr, "fit_terms: %s\n", why.c_str());
    return 2;
}

// FILE.csv[:WEIGHT]
std::pair<std::string, float> file_of(const std::string& word) {
    const size_t colon = word.rfind(':');
    if (colon == std::string::npos) return {word, 1.0F};
    float weight = 0;
    if (!CLI::detail::lexical_cast(word.substr(colon + 1), weight) || !(weight > 0))
        throw CLI::ValidationError(word, "the weight is a number above 0, not '" + word.substr(colon + 1) + "'");
    return {word.substr(0, colon), weight};
}

void add_options(CLI::App& app, Arguments& a) {
    app.add_option_function<std::vector<std::string>>(
           "files",
           [&a](const std::vector<std::string>& words) {
               for (const std::string& word : words) a.files.push_back(file_of(word));
           },
           "times by `vkgemm bench --random N --csv FILE.csv`; its problems count WEIGHT times")
        ->required()
        ->type_name("FILE.csv[:WEIGHT]");
    app.add_option("--device", a.device, "the capabilities of the measured device")->capture_default_str();
    app.add_option("--for", a.devices, "parts of the names of devices on which the terms hold")
        ->capture_default_str()
        ->allow_extra_args(false);
    CLI::Option* out =
        app.add_option("--out", a.out, "the source tree, whose fact_weights.def and terms.def are written")
            ->check(CLI::ExistingDirectory);
    CLI::Option* held_out =
        app.add_option("--held-out", a.held_out,
                       "of the last file: fits without each of so many parts, and prints what is lost there")
            ->check(CLI::Range(2, 1000));
    held_out->excludes(out);
    CLI::Option* generated =
        app.add_option("--generated", a.generated, "further problems that nobody timed")->capture_default_str();
    app.add_flag("--native", a.native,
                 "fits native kernels alone, beside shaders as they are, in a build that has them")
        ->excludes(generated);
    app.add_option("--teachers", a.options.teachers, "networks before the last one")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_option("--teacher-epochs", a.options.teacher_epochs, "epochs of each of these")->capture_default_str();
    app.add_option("--epochs", a.options.epochs, "epochs of the last one")->capture_default_str();
    app.add_option("--seed", a.options.seed, "of everything that is random")->capture_default_str();
    app.callback([out, held_out] {
        if (!*out && !*held_out) throw CLI::RequiredError("one of --out and --held-out");
    });
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

int main(int count, char** words) try {
    CLI::App app("Fits the terms of tiles to times. CONTRIBUTING.md says when and how.", "fit_terms");
    Arguments a;
    add_options(app, a);
    try {
        app.parse(count, words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;  // 0: --help
    }
    std::stringstream text;
    text << std::ifstream(a.device).rdbuf();
    const auto caps = plan::parse_device_caps(text.str());
    if (!caps) return refuse(a.device + ": " + caps.status().text);
    Reader reader(*caps, a.native ? Fitted::native : Fitted::shaders);
    a.options.known = a.native;
    for (size_t i = 0; i < a.files.size(); ++i) {
        const auto& [path, weight] = a.files[i];
        const auto found = reader.add(path, i, weight);
        if (!found) return refuse(found.status().text);
        std::printf("%s: %zu problems\n", path.c_str(), *found);
    }
    if (reader.left_out()) std::printf("%zu rows left out: kernels without terms, or unknown\n", reader.left_out());
    if (!a.native) reader.generate(a.generated, a.options.seed);
    const Timings& all = reader.timings();
    if (a.held_out) {
        hold_out(all, a);
        return 0;
    }
    std::vector<size_t> every(all.problems.size());
    for (size_t i = 0; i < every.size(); ++i) every[i] = i;
    const Network network = fit::fit(all, every, a.options);
    Report report;
    for (const TimedProblem& p : all.problems)
        if (p.file != generated_file) report.add(p, loss_of(p, network), a.files[p.file].first);
    report.print();
    auto files = terms_texts(network, all.tiles);
    for (auto& [folder, terms] : files)
        if (!write(a.out + "/" + folder + "/terms.def", terms))
            return refuse("cannot write to " + a.out + "/" + folder);
    if (!a.native && !write(a.out + "/src/plan/choice/fact_weights.def", weights_text(network, a.devices)))
        return refuse("cannot write to " + a.out + "/src/plan/choice");
} catch (const std::exception& e) {
    return refuse(e.what());
}
