// SPDX-License-Identifier: MIT
// The statistical model of SPIR-V that the packer and the unpacker share. Both walk a module instruction by
// instruction. The model predicts each word from an earlier instruction with the same surroundings, and an adaptive
// binary arithmetic coder records whether the prediction holds. Unrolled loops, inlined functions and similar modules
// repeat themselves with other ids: an id is predicted to be the one that took the earlier one's place, or the next one
// that is new (in a module whose ids are numbered in the order in which they appear; another one costs more bytes).
//
// Only integers are used: every host computes the same. No word that is decoded is trusted: it never becomes an index
// without a mask or a check.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace vkgemm::spirv {

/// `Coder` has `static constexpr bool encodes` and `bool code(uint16_t zero, bool bit)`: zero/65536 is the probability
/// of 0; an encoder returns `bit`, a decoder ignores it and returns what was encoded.
template <class Coder>
class Model {
   public:
    /// Encodes (or decodes into) words(): `count` more words, those of one whole module. `in` is read by encoders only.
    /// A second module is predicted from the first, to which it should be similar.
    void run(Coder& coder, const uint32_t* in, size_t count) {
        coder_ = &coder;
        in_ = in;
        offset_ = words_.size();
        end_ = offset_ + count;
        words_.reserve(end_);
        kinds_.reserve(end_);
        results_.fill(0);
        heads_.fill(0);
        for (auto& of_module : substitutes_) of_module.fill(0);
        new_id_ = 1;
        for (uint32_t i = 0; i < 5 && words_.size() < end_; ++i) push(number(context(header, i), next()), other);
        match_ = 5;  // the first instruction of the first module
        length_ = offset_ ? 1 : 0;
        while (words_.size() < end_) instruction();
    }
    const std::vector<uint32_t>& words() const { return words_; }

   private:
    // What a word is beside the predicting one: its substitute (or the same word, if it has none), the same, the next
    // id that is new, or none of these.
    enum Kind : uint8_t { substitute, same, new_id, other };
    enum Purpose : uint32_t { header, whole, same_head, opcode, length, kind_of_word, way, argument };
    struct Probability {
        uint16_t zero = 1 << 15, seen = 0;
    };
    static constexpr uint32_t context(uint32_t purpose, uint32_t a, uint32_t b = 0) {
        return (purpose * 0x01000193u ^ a) * 0x85ebca6bu ^ b * 0xc2b2ae35u;
    }

    uint32_t next() const { return Coder::encodes ? in_[words_.size() - offset_] : 0; }

    bool bit(uint32_t ctx, bool b) {
        static constexpr uint8_t rates[] = {1, 1, 2, 2, 3, 3};
        Probability& q = probabilities_[ctx * 0x9e3779b1u >> 15];
        b = coder_->code(q.zero, b);
        const int rate = q.seen < std::size(rates) ? rates[q.seen++] : 4;
        if (b)
            q.zero = static_cast<uint16_t>(q.zero - ((q.zero - 32) >> rate));
        else
            q.zero = static_cast<uint16_t>(q.zero + ((65535 - 32 - q.zero) >> rate));
        return b;
    }

    uint32_t tree(uint32_t ctx, uint32_t bits, uint32_t value) {
        uint32_t node = 1;
        for (uint32_t i = bits; i-- > 0;) node = node << 1 | bit(ctx * 0x101 + node, value >> i & 1);
        return node - (1u << bits);
    }

    // How many bits, then all but the first of them.
    uint32_t number(uint32_t ctx, uint32_t value) {
        uint32_t bits = 0;
        while (Coder::encodes && bits < 32 && value >> bits) ++bits;
        bits = std::min(tree(ctx, 6, bits), 32u);
        if (bits < 2) return bits;
        uint32_t out = 1;
        for (uint32_t i = bits - 1; i-- > 0;)
            out = out << 1 | bit((ctx + bits) * 0x1001 + (bits - i <= 7 ? out : 256 + i), value >> i & 1);
        return out;
    }

    void push(uint32_t word, Kind kind) {
        words_.push_back(word);
        kinds_.push_back(kind);
    }

    // The operand that is an instruction's result id. Only a guess: a wrong one costs bytes, no correctness.
    static uint32_t result_operand(uint32_t op) {
        static constexpr uint16_t none[] = {10,  14,  15,  16,  17,  56,  62,  63,  71,  72,  224,
                                            225, 246, 247, 249, 250, 251, 252, 253, 254, 255, 4458};
        if (std::find(std::begin(none), std::end(none), op) != std::end(none)) return 0;
        return op == 7 || op == 11 || op == 248 || op == 4456 || (op >= 19 && op <= 39) ? 1 : 2;
    }

    // Finds the latest instruction that followed the same ones, and notes the one that begins now.
    void find_match() {
        static constexpr uint32_t orders[] = {12, 8, 5, 3, 2};  // how many instructions are the same
        uint32_t hash = 1, done = 0;
        uint32_t slots[std::size(orders)];
        for (size_t o = std::size(orders); o-- > 0;) {
            for (; done < orders[o]; ++done)
                hash = (hash ^ heads_[(head_count_ - 1 - done) % heads_.size()]) * 0x2c1b3c6du;
            slots[o] = (hash ^ hash >> 15) * 0x297a2d39u >> 18;
        }
        for (size_t o = 0; o < std::size(orders) && !length_; ++o)
            if (const uint32_t at = places_[slots[o]]) {
                match_ = at;
                length_ = static_cast<uint32_t>(11 - 2 * o);
            }
        for (const uint32_t s : slots) places_[s] = static_cast<uint32_t>(words_.size());
    }

    uint32_t& last_place(uint32_t head) { return last_[head * 0x9e3779b1u >> 22]; }

    // Whether the instruction that predicts is of another module.
    bool elsewhere() const { return match_ < offset_; }
    uint32_t& substitute_of(uint32_t id) { return substitutes_[elsewhere()][id % substitutes_[0].size()]; }
    Kind expected(uint32_t op, uint32_t j) const {
        const Kind k = elsewhere() ? latest_kinds_[slot(op, j)] : kinds_[match_ + j];
        return k == other ? substitute : k;
    }
    uint32_t predicted(Kind kind, uint32_t earlier) {
        if (kind == new_id) return new_id_;
        const uint32_t id = kind == same ? 0 : substitute_of(earlier);
        return id ? id : earlier;
    }

    // Every word of the instruction is the one predicted: most instructions cost one bit, and most of them nearly none.
    bool whole_instruction() {
        const uint32_t head = words_[match_], op = head & 0xffff, count = std::max(head >> 16, 1u);
        if (count > end_ - words_.size() || count > words_.size() - match_) return false;
        const uint32_t before = new_id_;
        const auto is = [&](uint32_t j, uint32_t w) {
            return !Coder::encodes || in_[words_.size() - offset_ + j] == w;
        };
        bool right = is(0, head);
        guess_.resize(count);
        for (uint32_t j = 1; j < count; ++j) {
            guess_[j] = predicted(expected(op, j), words_[match_ + j]);
            if (guess_[j] == new_id_) ++new_id_;
            right = right && is(j, guess_[j]);
        }
        new_id_ = before;
        history_ = history_ << 1 | bit(context(whole, history_ % 8 * 16 + std::min(length_, 15u), head), right);
        if (!(history_ & 1)) return false;
        begin(head);
        for (uint32_t j = 1; j < count; ++j) {
            const Kind kind = expected(op, j);
            follow(op, j, guess_[j], kind);
            put(op, j, guess_[j], kind);
        }
        ++length_;
        match_ += count;
        return true;
    }

    void begin(uint32_t head) {
        heads_[head_count_++ % heads_.size()] = head;
        last_place(head) = static_cast<uint32_t>(words_.size());
        push(head, other);
    }

    // Learns from a word that an instruction predicted.
    void follow(uint32_t op, uint32_t j, uint32_t word, Kind kind) {
        if (kind == new_id || j == result_operand(op)) substitute_of(words_[match_ + j]) = word;
        latest_kinds_[slot(op, j)] = kind;
    }
    void put(uint32_t op, uint32_t j, uint32_t word, Kind kind) {
        if (j == result_operand(op)) results_[result_count_++ % results_.size()] = word;
        if (word == new_id_) ++new_id_;
        note(op, j, word);
        push(word, kind);
    }

    static void to_front(uint32_t* list, uint32_t place, uint32_t word) {
        for (; place; --place) list[place] = list[place - 1];
        *list = word;
    }
    static uint32_t slot(uint32_t op, uint32_t operand) { return (op * 13 + std::min(operand, 12u)) % 1024; }
    void note(uint32_t op, uint32_t operand, uint32_t word) {
        auto& latest = latest_[slot(op, operand)];
        uint32_t place = 0;
        while (place < latest.size() - 1 && latest[place] != word) ++place;
        to_front(latest.data(), place, word);
    }

    void instruction() {
        find_match();
        if (length_ && whole_instruction()) {
            if (match_ >= words_.size()) length_ = 0;
            return;
        }
        uint32_t head = next();
        if (length_ && bit(context(same_head, std::min(length_, 15u), words_[match_]), head == words_[match_])) {
            head = words_[match_];
            ++length_;
        } else {
            const uint32_t before = heads_[(head_count_ - 1) % heads_.size()];
            const uint32_t op =
                tree(context(opcode, before, heads_[(head_count_ - 2) % heads_.size()]), 16, head & 0xffff);
            head = op | number(context(length, op), head >> 16) << 16;
            match_ = last_place(head);
            length_ = match_ && words_[match_] == head ? 1 : 0;
        }
        const uint32_t op = head & 0xffff, count = std::max((head >> 16) & 0xffff, 1u);
        begin(head);
        for (uint32_t j = 1; j < count && words_.size() < end_; ++j) operand(op, j);
        match_ += count;
        if (match_ >= words_.size()) length_ = 0;
    }

    void operand(uint32_t op, uint32_t j) {
        const uint32_t place = slot(op, j);
        uint32_t word = next();
        if (!length_ || match_ + j >= words_.size()) return put(op, j, unpredicted(place, word), other);
        const uint32_t earlier = words_[match_ + j];
        const Kind first = expected(op, j);
        const uint32_t ctx = context(kind_of_word, place * 4 + first, std::min(length_ / 2, 3u));
        Kind kind = other;
        for (uint32_t i = 0; i < other && kind == other; ++i) {
            const Kind k = i == 0 ? first : static_cast<Kind>(i <= first ? i - 1 : i);
            if (bit(ctx + i * 0x3001u, word == predicted(k, earlier))) kind = k;
        }
        word = kind == other ? unpredicted(place, word) : predicted(kind, earlier);
        follow(op, j, word, kind);
        put(op, j, word, kind);
    }

    // In one of four ways: of the latest in this place, of the latest results, or a difference to the latest of either.
    uint32_t unpredicted(uint32_t place, uint32_t word) {
        enum Way : uint32_t { of_place, of_results, from_result, from_place };
        const auto& latest = latest_[place];
        const auto result = [&](uint32_t back) { return results_[(result_count_ - 1 - back) % results_.size()]; };
        const auto folded = [](uint32_t difference) { return difference << 1 ^ (0u - (difference >> 31)); };
        uint32_t how = 0, what = 0;
        if constexpr (Coder::encodes) {
            const uint32_t r = folded(word - result(0)), p = folded(word - latest[0]);
            how = r <= p ? from_result : from_place;
            what = std::min(r, p);
            const auto take_if = [&](bool right, Way its_way, uint32_t back) {
                if (!right) return;
                how = its_way;
                what = back;
            };
            for (uint32_t i = 32; i-- > 0;) take_if(result(i) == word, of_results, i);
            for (uint32_t i = 4; i-- > 0;) take_if(latest[i] == word, of_place, i);
        }
        how = tree(context(way, place), 2, how);
        const uint32_t ctx = context(argument, place, how);
        if (how == of_place) return latest[tree(ctx, 2, what)];
        if (how == of_results) return result(tree(ctx, 5, what));
        what = number(ctx, what);
        return (how == from_result ? result(0) : latest[0]) + (what >> 1 ^ (0u - (what & 1)));
    }

    Coder* coder_ = nullptr;
    const uint32_t* in_ = nullptr;
    size_t end_ = 0, offset_ = 0;
    std::vector<uint32_t> words_;
    std::vector<Kind> kinds_;      // of each word
    std::vector<uint32_t> guess_;  // at the instruction at hand
    std::array<Probability, 1 << 17> probabilities_{};
    std::array<uint32_t, 1 << 14> places_{};                 // of instructions, by those before them; 0: none
    std::array<uint32_t, 1 << 10> last_{};                   // of instructions, by their own first word
    std::array<std::array<uint32_t, 4>, 1 << 10> latest_{};  // words of each operand of each opcode
    std::array<uint32_t, 64> results_{};
    std::array<uint32_t, 32> heads_{};                            // first words of the latest instructions
    std::array<std::array<uint32_t, 1 << 14>, 2> substitutes_{};  // of ids of this module, and of those before; 0: none
    std::array<Kind, 1 << 10> latest_kinds_{};                    // of each operand of each opcode
    uint32_t new_id_ = 1;                                         // the lowest that is above all ids so far
    uint32_t result_count_ = 0, head_count_ = 0, history_ = 0;
    size_t match_ = 0;     // the instruction that predicts the one at hand
    uint32_t length_ = 0;  // how far that can be trusted; 0: not at all
};

}  // namespace vkgemm::spirv
