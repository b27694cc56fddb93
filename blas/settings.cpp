// SPDX-License-Identifier: MIT
#include "blas/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace vkgemm::blas {
namespace {

constexpr int64_t least_tile = 1, most_tile = 16384, most_panel = 4096;

template <class T>
struct Word {
    std::string_view text;
    T value;
};
constexpr Word<Mode> modes[] = {{"auto", Mode::automatic}, {"never", Mode::never}, {"always", Mode::always}};
constexpr Word<LogLevel> levels[] = {
    {"failures", LogLevel::failures}, {"summary", LogLevel::summary}, {"calls", LogLevel::calls}};

constexpr Word<bool> switches[] = {{"0", false}, {"1", true}};
constexpr Word<bool> broadcasts[] = {{"mpi", false}, {"direct", true}};
constexpr Word<bool> forks[] = {{"cpu", false}, {"reopen", true}};

/// What a file of settings may have.
constexpr std::string_view setting_names[] = {
    "VKGEMM_BLAS",         "VKGEMM_BLAS_MIN",      "VKGEMM_BLAS_DEVICE", "VKGEMM_BLAS_CPU",      "VKGEMM_BLAS_TILE",
    "VKGEMM_BLAS_DEPTH",   "VKGEMM_BLAS_MEMORY",   "VKGEMM_BLAS_BUDGET", "VKGEMM_BLAS_ACCURACY", "VKGEMM_BLAS_CACHE",
    "VKGEMM_BLAS_DISABLE", "VKGEMM_BLAS_FORK",     "VKGEMM_BLAS_LOG",    "VKGEMM_BLAS_PBLAS",    "VKGEMM_BLAS_PANEL",
    "VKGEMM_BLAS_ILP64",   "VKGEMM_BLAS_BROADCAST"};

/// OpenMPI, MVAPICH, Intel MPI and MPICH, Cray, Flux, Slurm.
constexpr const char* rank_variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "PALS_LOCAL_RANKID",          "FLUX_TASK_LOCAL_ID",        "SLURM_LOCALID"};

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view spaces = " \t\r";
    const size_t begin = text.find_first_not_of(spaces);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

class Reader {
   public:
    Reader(const GetVariable& get, std::vector<std::string>& complaints) : get_(get), complaints_(complaints) {}

    /// Null if the variable is not set, or empty.
    const char* text(const char* name) const {
        const char* value = get_(name);
        return value && *value ? value : nullptr;
    }

    template <class T, size_t n>
    void word(const char* name, const Word<T> (&words)[n], T& out) const {
        const char* value = text(name);
        if (!value) return;
        std::string known;
        for (const Word<T>& w : words) {
            if (w.text == value) return void(out = w.value);
            known += (known.empty() ? "" : ", ") + std::string(w.text);
        }
        complain(name, value, known);
    }

    template <class T>
    std::optional<T> number(const char* name, T least, T most, const char* wanted) const {
        const char* value = text(name);
        if (!value) return {};
        const std::string_view all = value;
        T n{};
        const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), n);
        if (error == std::errc{} && end == all.data() + all.size() && n >= least && n <= most) return n;
        complain(name, value, wanted);
        return {};
    }

    void complain(const char* name, std::string_view value, std::string_view wanted) const {
        complaints_.push_back(std::string(name) + "=" + std::string(value) +
                              " is ignored; it takes: " + std::string(wanted));
    }

   private:
    const GetVariable& get_;
    std::vector<std::string>& complaints_;
};

/// Words with commas between: `exact` is of all types, the others of one.
void read_accuracies(const Reader& reader, Settings& chosen) {
    const char* value = reader.text("VKGEMM_BLAS_ACCURACY");
    Accuracies read;
    for (std::string_view rest = value ? value : ""; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        const std::string_view word = without_spaces(part);
        if (word == "exact")
            read = {.of_f32 = VKGEMM_ACCURACY_DEFAULT, .of_f64 = VKGEMM_ACCURACY_DEFAULT};
        else if (word == "f32_split")
            read.of_f32 = VKGEMM_ACCURACY_F32_SPLIT;
        else if (word == "f32_split_rows")
            read.of_f32 = VKGEMM_ACCURACY_F32_SPLIT_ROWS;
        else if (word == "f64_split")
            read.of_f64 = VKGEMM_ACCURACY_F64_SPLIT;
        else if (word == "f64_split_wide")
            read.of_f64 = VKGEMM_ACCURACY_F64_SPLIT_WIDE;
        else
            return reader.complain("VKGEMM_BLAS_ACCURACY", value,
                                   "exact, f32_split, f32_split_rows, f64_split, f64_split_wide, with commas between");
    }
    chosen.accuracies = read;
}

/// Bytes, or with K, M, G or T so many times 1024.
void read_budget(const Reader& reader, Settings& chosen) {
    const char* value = reader.text("VKGEMM_BLAS_BUDGET");
    if (!value) return;
    const std::string_view all = value, units = "KMGT";
    double n = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), n);
    std::string_view rest = all.substr(static_cast<size_t>(end - all.data()));
    if (const size_t unit = rest.empty() ? std::string_view::npos : units.find(rest[0]);
        unit != std::string_view::npos) {
        n *= std::exp2(10.0 * static_cast<double>(unit + 1));
        rest.remove_prefix(1);
    }
    if (error == std::errc{} && rest.empty() && n >= 0 && n < 0x1p63)
        chosen.budget = static_cast<uint64_t>(n);
    else
        reader.complain("VKGEMM_BLAS_BUDGET", all, "bytes, such as 4000000000, 512M or 4G");
}

void read_devices(const Reader& reader, Settings& chosen) {
    const char* value = reader.text("VKGEMM_BLAS_DEVICE");
    for (std::string_view rest = value ? value : ""; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (const auto name = without_spaces(word); !name.empty()) chosen.devices.emplace_back(name);
    }
    for (const char* variable : rank_variables) {
        const std::string_view rank = reader.text(variable) ? reader.text(variable) : "";
        uint32_t n = 0;
        const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), n);
        if (rank.empty() || error != std::errc{} || end != rank.data() + rank.size()) continue;
        chosen.local_rank = n;
        return;
    }
}

void read_disabled(const Reader& reader, Settings& chosen) {
    const char* value = reader.text("VKGEMM_BLAS_DISABLE");
    for (std::string_view rest = value ? value : ""; !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        bool known = false;
        for (size_t i = 0; i < routine_count; ++i)
            if (name == routine_names[i])
                chosen.disabled[i] = known = true;
            else if (name == routine_names[i][0] + std::string("getrf") && i < 2)
                chosen.disabled_lu[i] = known = true;
        for (size_t i = 0; i < routine_count; ++i)
            for (size_t kind = 0; kind < kind_count; ++kind)
                if (name == routine_names[i][0] + std::string(kind_names[kind]))
                    chosen.disabled_level3[i][kind] = known = true;
        if (!known) reader.complain("VKGEMM_BLAS_DISABLE", name, "names like sgemm, dtrsm, with commas between");
    }
}

/// The XDG base directory specification takes absolute paths only.
std::string cache_folder(const Reader& reader) {
    if (const char* folder = reader.text("VKGEMM_BLAS_CACHE"))
        return folder == std::string_view("off") ? std::string() : std::string(folder);
    if (const char* base = reader.text("XDG_CACHE_HOME"); base && *base == '/') return std::string(base) + "/vkgemm";
    if (const char* home = reader.text("HOME"); home && *home == '/') return std::string(home) + "/.cache/vkgemm";
    return {};
}

}  // namespace

std::map<std::string, std::string> read_config(const std::string& text, std::vector<std::string>& complaints) {
    std::map<std::string, std::string> found;
    size_t number = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view whole = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
        ++number;
        const std::string_view line = without_spaces(whole.substr(0, whole.find('#')));
        if (line.empty()) continue;
        const size_t equals = std::min(line.find('='), line.size());
        const std::string_view name = without_spaces(line.substr(0, equals));
        if (equals < line.size() && std::ranges::find(setting_names, name) != std::end(setting_names))
            found[std::string(name)] = without_spaces(line.substr(equals + 1));
        else
            complaints.push_back("VKGEMM_BLAS_CONFIG, line " + std::to_string(number) + ": \"" + std::string(line) +
                                 "\" is ignored; a line is NAME=value, with a name like VKGEMM_BLAS_TILE");
    }
    return found;
}

Settings read_settings(const GetVariable& get, std::vector<std::string>& complaints) {
    const Reader reader(get, complaints);
    Settings s;
    reader.word("VKGEMM_BLAS", modes, s.mode);
    reader.word("VKGEMM_BLAS_LOG", levels, s.log);
    s.min = reader.number("VKGEMM_BLAS_MIN", 0.0, HUGE_VAL, "a number from 0");
    if (const auto tile = reader.number("VKGEMM_BLAS_TILE", least_tile, most_tile, "a whole number from 1 to 16384")) {
        s.tile = *tile;
        s.tile_given = true;
    }
    if (const auto depth = reader.number("VKGEMM_BLAS_PBLAS", 1, 1 << 20, "a whole number from 1 to 1048576"))
        s.pblas_depth = *depth;
    if (const auto panel = reader.number("VKGEMM_BLAS_PANEL", int64_t{4}, most_panel, "a multiple of 4 from 4 to 4096"))
        s.panel = *panel / 4 * 4;
    if (const auto depth = reader.number("VKGEMM_BLAS_DEPTH", least_tile, most_tile, "a whole number from 1 to 16384"))
        s.depth = *depth;
    if (const auto share = reader.number("VKGEMM_BLAS_MEMORY", 0.0, 1.0, "a number from 0 to 1"))
        s.memory_share = *share;
    if (const char* file = reader.text("VKGEMM_BLAS_CPU")) s.next_library = file;
    read_accuracies(reader, s);
    reader.word("VKGEMM_BLAS_FORK", forks, s.reopens);
    reader.word("VKGEMM_BLAS_ILP64", switches, s.ilp64);
    reader.word("VKGEMM_BLAS_BROADCAST", broadcasts, s.direct_broadcast);
    read_budget(reader, s);
    read_devices(reader, s);
    s.cache = cache_folder(reader);
    read_disabled(reader, s);
    return s;
}

}  // namespace vkgemm::blas
