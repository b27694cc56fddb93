// SPDX-License-Identifier: MIT
//
// Which side multiplies a class of products: ggml or vkgemm. Plain data and pure functions, without Vulkan.
#ifndef VKGEMM_GGML_TRIALS_H
#define VKGEMM_GGML_TRIALS_H

#include <array>
#include <map>
#include <string>
#include <vector>

#include "vkgemm_ggml/products.h"

namespace vkgemm::ggml {

/// The products that are timed together and have one winner. Rows are counted up to 8, and above by powers of two, as
/// both sides change their kernels. In a batch, which attention has, so are M and K, which grow with each token.
struct ClassKey {
    std::array<uint64_t, 12> words{};
    bool operator==(const ClassKey&) const = default;
};
struct ClassKeyHash {
    size_t operator()(const ClassKey& key) const;
};
ClassKey class_of(const MulMat& x);
/// MUL_MAT q4_k*f32 4096x512x14336 ...: M, N and K as ggml counts them. One text for each key.
std::string text_of(const ClassKey& key);

/// Times of a class, in microseconds.
class Trial {
   public:
    enum class State { RUNNING, GGML, VKGEMM };
    static constexpr uint32_t turns = 14;  ///< most, of both sides together

    State state() const { return state_; }
    /// Whose turn number `turn` is. Both sides have as many, and neither is always before the other or behind it,
    /// because ggml converts rows once for the products that follow with the same rows.
    static bool is_ours(uint32_t turn);
    /// The first time of either side does not count. A side wins if its slowest time is much faster than the other's
    /// fastest, and else by medians when all turns are over; vkgemm then has to be faster by 2 %.
    void add(bool is_ours, double microseconds);
    /// Of earlier processes.
    void set(double ggml, double vkgemm);
    /// vkgemm cannot multiply this class, so nothing has to be timed, or held back.
    void drop() { state_ = State::VKGEMM; }
    /// Medians of what counts; 0: nothing yet.
    std::array<double, 2> medians() const;

    uint32_t given = 0;  ///< turns

   private:
    State state_ = State::RUNNING;
    std::array<std::vector<double>, 2> times_{};  // ggml's and vkgemm's
};

/// Times of earlier processes, in lines of a text file: device, class, and the two medians, with tabs between.
class TimesFile {
   public:
    /// Lines for another `device` are left alone. An empty name: no file.
    TimesFile(std::string name, std::string device);
    /// Null: none.
    const std::array<double, 2>* find(const std::string& text) const;
    /// Appends a line. Not written: the file cannot be.
    bool add(const std::string& text, const std::array<double, 2>& medians);

   private:
    std::string name_, device_;
    std::map<std::string, std::array<double, 2>> times_;
};

}  // namespace vkgemm::ggml
#endif
