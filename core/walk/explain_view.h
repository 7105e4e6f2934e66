// What the explanations of single ops share: the step with its stored values, and pieces of text.
#pragma once

#include "core/base/beside_matrix.h"
#include "core/base/words.h"
#include "core/problem/heads.h"
#include "core/walk/explain.h"
#include "core/walk/formula.h"

#include <cstdlib>
#include <initializer_list>

namespace tilewalk {

// One step as its explanation sees it: the tile, and the stored values at the target cell.
struct View {
    const Trace& trace;
    int k;
    Explanation& out;
    const Step& step = trace.step(k);
    const Problem& problem = trace.walked();
    int row = out.target.row, col = out.target.col;  // in the whole matrix

    const Value& read(Slot slot, int nth = 0) const {
        for (const Access& a : trace.reads(k))
            if (a.slot == slot && nth-- == 0) return trace.value(a.value);
        std::abort();  // an op was explained that does not read this slot
    }
    const Value& written(Slot slot) const {
        for (const Access& a : trace.writes(k))
            if (a.slot == slot) return trace.value(a.value);
        std::abort();
    }
    double at(const Value& v, int r, int c) const { return v.data(r - v.region.row, c - v.region.col); }
    // The value written to the target cell; one step may write several tiles of a slot.
    double result() const {
        for (const Access& a : trace.writes(k))
            if (a.slot == out.target.slot && trace.value(a.value).region.contains(row, col))
                return at(trace.value(a.value), row, col);
        std::abort();
    }

    void source(Slot slot, int r, int c) const { out.sources.push_back({slot, r, c}); }
    // What the step read at (r, c), in the hue of its slot: the target comes from it.
    Expr number(Slot slot, int r, int c) const {
        source(slot, r, c);
        return num(trace, slot, at(read(slot), r, c));
    }
    // The one in the target's row, and in its column if the slot has several.
    Expr number(Slot slot) const { return number(slot, row, one_column(slot) ? 0 : col); }
    Numbers numbers_in_row(Slot slot, int r) const {
        const Region& all = read(slot).region;
        Numbers numbers;
        for (int c = all.col; c < all.col + all.cols; ++c) numbers.push_back(number(slot, r, c));
        return numbers;
    }
    Numbers numbers_in_column(Slot slot, int c) const {
        const Region& all = read(slot).region;
        Numbers numbers;
        for (int r = all.row; r < all.row + all.rows; ++r) numbers.push_back(number(slot, r, c));
        return numbers;
    }

    /// "query 2", and its word if it has one: "query 2 (“cat”)"
    std::string query() const { return query_words(row, "query "); }
    std::string key() const { return key_words(col, "key "); }
    /// The same where a sentence begins with it.
    std::string first_query() const { return query_words(row, "Query "); }
    std::string first_key(int of) const { return key_words(of, "Key "); }

private:
    static std::string named(const std::string& word, const char* kind, int n) {
        return kind + str(n) + (word.empty() ? "" : " (“" + word + "”)");
    }
    std::string query_words(int r, const char* kind) const {
        return named(problem.query_token(r), kind, r % problem.rows_of_head()) + of_head(problem, r);
    }
    std::string key_words(int c, const char* kind) const { return named(problem.key_token(c), kind, c); }
};

inline std::string num_text(double v) { return format_short(v); }

inline std::string count(int n, const char* what) { return str(n) + "\u00A0" + what + (n == 1 ? "" : "s"); }

inline std::string range(int first, int count, const char* one, const char* many) {
    return count == 1 ? std::string(one) + " " + str(first)
                      : std::string(many) + " " + str(first) + "–" + str(first + count - 1);
}

// "[0]" of ℓ, "[0,2]" of S: the target's
inline std::string index_text(const View& v) {
    return index_text(v.trace, v.out.target.slot, {v.row, v.col, 1, 1}, v.k);
}

// A number as the result of a formula.
inline Span strong_number(std::string text) {
    Span shown{std::move(text), Role::none, Span::Face::number};
    shown.strong = true;
    return shown;
}
// The value written to the target cell, as its matrix has it.
inline std::string result_text(const View& v) {
    return text_alone(v.trace.digits(v.out.target.slot), v.result());
}
// "d′₃ = 1.503"
inline Line equals(Line left, std::string value) {
    left.push_back(word(" = "));
    left.push_back(strong_number(std::move(value)));
    return left;
}
inline Line equals(Line left, double value) { return equals(std::move(left), num_text(value)); }
inline void set_result(const View& v) {
    const Slot slot = v.out.target.slot;
    Line left = slot == Slot::dS ? score_gradient(v.trace, v.k) : slot_symbol(slot);
    left.push_back(word(index_text(v)));
    v.out.result = equals(std::move(left), result_text(v));
}
inline void set_bytes(const View& v, const Expr& bytes, const char* what) {
    const double all = evaluate(bytes);
    v.out.numbers = write(bytes, all);
    v.out.result = {word(what), word(" = "), strong_number(format_count(static_cast<std::int64_t>(all)))};
}

inline Line text(std::string s) { return {word(std::move(s))}; }
// What a formula is put together from: symbols, or words between them.
struct Piece {
    Line line;
    Piece(Line symbols) : line(std::move(symbols)) {}
    Piece(std::string words) : line(text(std::move(words))) {}
    Piece(const char* words) : line(text(words)) {}
};
inline Line join(std::initializer_list<Piece> pieces) {
    Line out;
    for (const Piece& piece : pieces) out.insert(out.end(), piece.line.begin(), piece.line.end());
    return out;
}
inline Line sym(Slot slot, int block = -1) { return slot_symbol(slot, block); }
// m before this tile, as in the tutorial: m_old
inline Line m_old() {
    Line line = sym(Slot::m);
    line.push_back({"old", Role::m, Span::Face::text, Span::Script::sub});
    return line;
}
inline Line transposed(Line line) {
    line.push_back({"T", line.front().role, Span::Face::symbol, Span::Script::super});
    return line;
}

// How the maximum of a row moves in this tile; the same four kinds run through the following steps.
enum Kind { stays = 0, rises = 1, starts = 2, sees_no_key = 3 };
inline Kind kind_of(double old, double now) {
    return now == minus_infinity ? sees_no_key : old == minus_infinity ? starts : now > old ? rises : stays;
}
// What there is to say of each.
struct OfKinds {
    std::string sees_no_key, starts, rises, stays;
    std::string operator[](Kind kind) const {
        return kind == Kind::sees_no_key ? sees_no_key
               : kind == Kind::starts    ? starts
               : kind == Kind::rises     ? rises
                                         : stays;
    }
};

// "4 rows × 2 columns × 4 bytes"
inline std::string size_words(const Region& of, int e) {
    return count(of.rows, "row") + " × " + count(of.cols, "column") + " × " + count(e, "byte");
}

}  // namespace tilewalk
