// SPDX-License-Identifier: MIT
#include "blas/settings.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace vkgemm::blas {
namespace {

constexpr int64_t least_tile = 1, most_tile = 16384;

template <class T>
struct Word {
    std::string_view text;
    T value;
};
constexpr Word<Mode> modes[] = {{"auto", Mode::automatic}, {"never", Mode::never}, {"always", Mode::always}};
constexpr Word<LogLevel> levels[] = {
    {"failures", LogLevel::failures}, {"summary", LogLevel::summary}, {"calls", LogLevel::calls}};

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

void read_disabled(const Reader& reader, Settings& s) {
    const char* value = reader.text("VKGEMM_BLAS_DISABLE");
    for (std::string_view rest = value ? value : ""; !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        bool known = false;
        for (size_t i = 0; i < routine_count; ++i)
            if (name == routine_names[i]) s.disabled[i] = known = true;
        for (size_t i = 0; i < routine_count; ++i)
            for (size_t kind = 0; kind < kind_count; ++kind)
                if (name == routine_names[i][0] + std::string(kind_names[kind]))
                    s.disabled_level3[i][kind] = known = true;
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

Settings read_settings(const GetVariable& get, std::vector<std::string>& complaints) {
    const Reader reader(get, complaints);
    Settings s;
    reader.word("VKGEMM_BLAS", modes, s.mode);
    reader.word("VKGEMM_BLAS_LOG", levels, s.log);
    s.min = reader.number("VKGEMM_BLAS_MIN", 0.0, HUGE_VAL, "a number from 0");
    if (const auto tile = reader.number("VKGEMM_BLAS_TILE", least_tile, most_tile, "a whole number from 1 to 16384"))
        s.tile = *tile;
    if (const auto share = reader.number("VKGEMM_BLAS_MEMORY", 0.0, 1.0, "a number from 0 to 1"))
        s.memory_share = *share;
    if (const char* file = reader.text("VKGEMM_BLAS_CPU")) s.next_library = file;
    if (const char* device = reader.text("VKGEMM_BLAS_DEVICE")) s.device = device;
    s.cache = cache_folder(reader);
    read_disabled(reader, s);
    return s;
}

}  // namespace vkgemm::blas
