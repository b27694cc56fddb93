// SPDX-License-Identifier: MIT
// Feeds the corpus to the parsers, then random changes of it, which are the same in every run:
//
//     test_fuzz [ROUNDS [SEED]]        default: 30000 texts for each parser, seed 1
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/parsers.h"

namespace {

namespace fs = std::filesystem;
using namespace vkgemm::test;

std::vector<std::string> texts_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> texts;
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return texts;
}

/// Makes new texts from the corpus.
class Mutator {
   public:
    Mutator(const std::vector<std::string>& seeds, unsigned seed) : seeds_(seeds), random_(seed) {}

    std::string next() {
        std::string text = seeds_[below(seeds_.size())];
        for (size_t n = 1 + below(4); n; --n) change(text);
        return text;
    }

   private:
    size_t below(size_t n) { return n ? random_() % n : 0; }

    void change(std::string& text) {
        static constexpr std::string_view words[] = {"0",          "1",  "4294967296", "18446744073709551615",
                                                     "2147483648", "-1", "1e308",      "nan",
                                                     "inf",        "=",  "*",          "x",
                                                     "|",          "\n", " ",          "\t",
                                                     ",",          ":",  "#",          "->",
                                                     {"\0", 1},    "+",  "ld",         "4096"};
        const size_t at = below(text.size() + 1), length = std::min(text.size() - at, 1 + below(8));
        switch (below(8)) {
            case 6:
            case 7: {  // a word of another text, in place of a word or beside it
                const auto [to, to_length] = word(text);
                const std::string& other = seeds_[below(seeds_.size())];
                const auto [from, from_length] = word(other);
                text.replace(to, below(2) ? to_length : 0, other.substr(from, from_length) + " ");
                break;
            }
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(below(text.size()), 1 + below(16)));
                break;
            case 2:
                text.insert(at, words[below(std::size(words))]);
                break;
            case 3:
                text.replace(at, length, words[below(std::size(words))]);
                break;
            case 4:
                if (at < text.size()) text[at] = static_cast<char>(random_());
                break;
            default: {
                const std::string& other = seeds_[below(seeds_.size())];
                text = text.substr(0, at) + other.substr(below(other.size()));
            }
        }
    }

    // A random word: its begin, and its length with the space behind it.
    std::pair<size_t, size_t> word(const std::string& text) {
        const size_t space = text.rfind(' ', below(text.size()));
        const size_t begin = space == std::string::npos ? 0 : space + 1;
        const size_t end = std::min(text.find(' ', begin), text.size());
        return {begin, std::min(end + 1, text.size()) - begin};
    }

    const std::vector<std::string>& seeds_;
    std::mt19937 random_;
};

}  // namespace

int main(int count, char** words) {
    const unsigned long rounds = count > 1 ? std::strtoul(words[1], nullptr, 10) : 30000;
    const unsigned long seed = count > 2 ? std::strtoul(words[2], nullptr, 10) : 1;
    for (const fuzz::Target& target : fuzz::targets) {
        const auto seeds = texts_in(fs::path(VKGEMM_TESTS_DIR) / "fuzz/corpus" / target.name);
        if (seeds.empty()) {
            std::fprintf(stderr, "%s has no corpus\n", target.name.data());
            return 1;
        }
        for (const std::string& text : seeds) target.take(text);
        Mutator mutator(seeds, static_cast<unsigned>(seed));
        for (unsigned long i = 0; i < rounds; ++i) target.take(mutator.next());
        std::printf("%s: %zu of the corpus, %lu by chance\n", target.name.data(), seeds.size(), rounds);
    }
}
