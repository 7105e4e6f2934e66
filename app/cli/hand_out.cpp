#include "app/cli/hand_out.h"

#include "app/cli/commands.h"
#include "app/cli/session.h"
#include "app/export/export_formats.h"
#include "app/export/inside_html.h"
#include "app/export/parts.h"
#include "app/export/picture.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/text.h"
#include "app/render/offscreen.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/theme.h"
#include "app/ui/state/state.h"
#include "core/base/background.h"
#include "core/base/numbers.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>
#include <thread>

namespace tilewalk {
namespace {

/// What goes on bit by bit: true from bit() says that the piece number `n` is done.
class Bits {
public:
    Bits() = default;
    Bits(const Bits&) = delete;
    Bits& operator=(const Bits&) = delete;
    virtual ~Bits() = default;
    virtual int pieces() const = 0;
    virtual Result<bool> bit(int n, bool& waits) = 0;
};

std::shared_ptr<ui::Piecework> work_of(std::shared_ptr<Bits> bits) {
    auto work = std::make_shared<ui::Piecework>();
    work->all = bits->pieces();
    // Both live in the work.
    work->next = [bits = std::move(bits), work = work.get()]() -> Result<void> {
        const PlainNumbers as_in_every_file;
        const auto done = bits->bit(work->done, work->waits);
        if (!done) return Failure{done.error};
        work->done += *done;
        return {};
    };
    return work;
}

ui::ThemeId theme_of(const PageLook& look, bool dark) {
    return !dark ? ui::ThemeId::light : look.contrast ? ui::ThemeId::contrast : ui::ThemeId::dark;
}

// ---- A page

/// Every step in presenter mode, whose letters stay legible in a column of a page, in both themes; then the
/// text of every step; then the file.
class PageBits : public Bits {
public:
    PageBits(std::string path, ui::AppState state, PageLook look)
        : path_(std::move(path)), state_(std::move(state)), look_(std::move(look)),
          steps_(state_.trace->size()) {
        state_.presenter = state_.to_take_along = true;
        apart_.pause();
    }

    int pieces() const override { return 4 * steps_ + 2; }

    Result<bool> bit(int n, bool&) override {
        const int pictures = 2 * steps_, all_added = 3 * steps_;
        if (n < pictures) return draw(n < steps_, n % steps_);
        if (n < all_added) return add(static_cast<std::size_t>(n - pictures));
        if (n == all_added) return bind();
        if (n < pieces() - 1) return write_step(n - all_added - 1);
        return write();
    }

private:
    bool draw(bool dark, int step) {
        apart_.resume();
        if (!std::exchange(placed_, true)) {
            state_.settings.theme = theme_of(look_, dark);
            ui::go_to(state_, at_step(*state_.trace, step));
        }
        const auto [width, height] = look_.size;
        if (settling_.bit(state_, width, height)) {
            drawn_[dark ? 0 : 1].push_back(svg_of_frame(state_, width, height, {}, 1));
            placed_ = false;
        }
        apart_.pause();
        return !placed_;
    }
    bool add(std::size_t step) {
        book_.add(std::exchange(drawn_[0][step], {}), std::exchange(drawn_[1][step], {}));
        return true;
    }
    bool bind() {
        book_.bind();
        page_.emplace(*state_.trace, book_);
        return true;
    }
    bool write_step(int step) {
        page_->put_step(articles_, step);
        return true;
    }
    Result<bool> write() {
        std::ostringstream out;
        page_->write(out, look_.theme, look_.contrast, [&] { out << articles_.str(); });
        if (auto written = write_file_atomic(path_, out.str()); !written) return Failure{written.error};
        return true;
    }

    std::string path_;
    ui::AppState state_;
    PageLook look_;
    int steps_;
    std::vector<std::string> drawn_[2];  ///< dark, light
    PictureBook book_;
    std::optional<ExportPage> page_;
    std::ostringstream articles_;
    bool placed_ = false;
    Settling settling_;
    DrawingApart apart_;
};

// ---- Notes and documents

class TextBits : public Bits {
public:
    TextBits(std::string path, std::shared_ptr<const Trace> trace, const HandOutText& text)
        : path_(std::move(path)), trace_(std::move(trace)), text_(text),
          steps_(static_cast<std::size_t>(trace_->size())) {
        std::iota(steps_.begin(), steps_.end(), 0);
    }

    int pieces() const override { return trace_->size() + 2; }

    Result<bool> bit(int n, bool&) override {
        if (n == 0)
            text_.head(out_, *trace_, steps_);
        else if (n <= trace_->size())
            text_.step(out_, *trace_, steps_, static_cast<std::size_t>(n - 1));
        if (n + 1 < pieces()) return true;
        text_.end(out_, *trace_);
        if (auto written = write_file_atomic(path_, out_.str()); !written) return Failure{written.error};
        return true;
    }

private:
    std::string path_;
    std::shared_ptr<const Trace> trace_;
    const HandOutText& text_;
    std::vector<int> steps_;
    std::ostringstream out_;
};

// ---- A picture

/// The page is laid out, drawn some rows at a time, and packed beside the frames.
class PictureBits : public Bits {
public:
    PictureBits(std::string path, const ui::AppState& state, int width, int height)
        : path_(std::move(path)), state_(view_alone(state)), width_(width), height_(height),
          rows_(std::max(8, most_pixels / std::max(width, 1))), bands_((height + rows_ - 1) / rows_),
          shapes_(is_svg_path(path_)) {
        apart_.pause();
    }

    int pieces() const override { return shapes_ ? 3 : bands_ + 3; }

    Result<bool> bit(int n, bool& waits) override {
        if (n == 0) return lay_out();
        if (n + 1 == pieces()) return write();
        return !shapes_ && n <= bands_ ? draw_band(n - 1) : pack(waits);
    }

private:
    static constexpr int most_pixels = 1 << 17;  // in one go

    bool lay_out() {
        apart_.resume();
        const bool last = settling_.bit(state_, width_, height_);
        if (last && shapes_)
            drawn_ = vectors_of_frame(state_, width_, height_, 1);
        else if (last && settle_frame(state_, width_, height_, 1)) {
            image_.width = width_, image_.height = height_;
            image_.rgba.resize(4 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
        }
        apart_.pause();
        return last;
    }
    bool draw_band(int band) {
        apart_.resume();
        draw_rows_of_frame(image_, ui::theme(state_.settings.theme).bg, band * rows_, (band + 1) * rows_);
        apart_.pause();
        return true;
    }
    // In a browser there is no thread: the page stands still for this one.
    bool pack(bool& waits) {
        if (!packing_.begun() && shapes_)
            packing_ = Background<std::string>(
                [drawn = std::move(drawn_), w = width_, h = height_](const std::stop_token&) {
                    return drawn.shapes.empty() ? "" : ui::to_svg(drawn, w, h);
                });
        else if (!packing_.begun())
            packing_ = Background<std::string>(
                [image = std::move(image_)](const std::stop_token&) { return encode_png(image); });
        waits = !packing_.ready();
        if (!waits) bytes_ = packing_.take();
        return !waits;
    }
    Result<bool> write() {
        if (auto written = write_file_atomic(path_, bytes_); !written) return Failure{written.error};
        return true;
    }

    std::string path_;
    ui::AppState state_;
    int width_, height_, rows_, bands_;
    bool shapes_;
    Settling settling_;
    Image image_;
    ui::VectorPicture drawn_;
    Background<std::string> packing_;
    std::string bytes_;
    DrawingApart apart_;
};

// ---- A kernel's run

/// Its text is made at once: it is one table of lines.
class RunBits : public Bits {
public:
    RunBits(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
    int pieces() const override { return 1; }
    Result<bool> bit(int, bool&) override {
        if (auto written = write_file_atomic(path_, bytes_); !written) return Failure{written.error};
        return true;
    }

private:
    std::string path_, bytes_;
};

FileWork begin_run(const std::string& path, HandOut format, const ui::AppState& state) {
    const PlainNumbers as_in_every_file;
    const ui::InsidePage& page = *state.kernel_walk;
    const auto& walk = page.shown;
    std::optional<BrokenWords> broken;
    if (page.broken && page.sound && !page.broken->own)
        broken = words_of_broken(page.sound->record, walk->record, page.broken->damage, page.broken->tried);
    if (format == HandOut::tex) return Failure{"A kernel's run is written as HTML, PDF or Markdown."};
    if (format == HandOut::md)
        return work_of(std::make_shared<RunBits>(
            path, "# Inside " + walk->record.kernel + "\n\n```text\n" +
                      inside_text(walk->record, broken ? broken_head(*broken) : "") +
                      (broken ? broken_end(*broken) : "") + "```\n"));
    std::vector<inside::SourceText> sources = state.kernel_walk->sources;
    if (walk->own_source.count() > 0) sources.push_back(walk->own_source);
    std::ostringstream out;
    write_inside_html(out, walk->record, walk->problem, sources, broken ? &*broken : nullptr);
    return work_of(std::make_shared<RunBits>(path, std::move(out).str()));
}

}  // namespace

std::optional<HandOut> format_of_ending(const std::string& path) {
    const std::string ending = lower_case(path.substr(std::min(path.rfind('.'), path.size())));
    if (ending == ".html" || ending == ".htm") return HandOut::html;
    if (ending == ".pdf") return HandOut::pdf;
    if (ending == ".md" || ending == ".markdown") return HandOut::md;
    if (ending == ".tex") return HandOut::tex;
    return std::nullopt;
}

PictureBook draw_pictures(ui::AppState& state, const PageLook& look) {
    const DrawingApart apart;
    std::vector<std::string> drawn[2];
    state.presenter = state.to_take_along = true;
    for (const bool dark : {true, false}) {
        state.settings.theme = theme_of(look, dark);
        for (int k = 0; k < state.trace->size(); ++k) {
            ui::go_to(state, at_step(*state.trace, k));
            drawn[dark ? 0 : 1].push_back(svg_of_frame(state, look.size.width, look.size.height));
        }
    }
    PictureBook book;
    for (std::size_t k = 0; k < drawn[0].size(); ++k) book.add(drawn[0][k], drawn[1][k]);
    book.bind();
    return book;
}

FileWork begin_hand_out(const std::string& path, const ui::AppState& shown) {
    const auto format = format_of_ending(path);
    if (!format || *format == HandOut::pdf)
        return Failure{"The name " + in_quotes(path) + " ends in none of .html, .md and .tex."};
    if (shown.page == ui::Page::inside) return begin_run(path, *format, shown);
    if (*format != HandOut::html)
        return work_of(std::make_shared<TextBits>(path, shown.trace,
                                                  *format == HandOut::md ? markdown_notes : tex_article));
    if (auto sentence = refuse_page(*shown.trace)) return Failure{*sentence};
    // The walk is there already; all else is as on the command line.
    Result<ui::AppState> state = make_state(&default_lesson(), examples().front(), ui::Settings{});
    if (!state) return Failure{state.error};
    static_cast<ui::WalkView&>(*state) = shown;
    state->inspection.reset();
    state->before_edit.reset();
    state->timeline = {};
    state->row = 0, state->col = -1, state->row_chosen = false;
    PageLook look;
    look.contrast = shown.settings.theme == ui::ThemeId::contrast;
    return work_of(std::make_shared<PageBits>(path, std::move(*state), look));
}

FileWork begin_picture(const std::string& path, const ui::AppState& state, int width, int height) {
    if (width < 64 || height < 64) return Failure{"There is nothing to be seen of a window this small."};
    return work_of(std::make_shared<PictureBits>(path, state, width, height));
}

Result<void> finish(const FileWork& begun) {
    if (!begun) return Failure{begun.error};
    ui::Piecework& work = **begun;
    while (work.done < work.all) {
        if (auto done = work.next(); !done) return done;
        if (work.waits && !do_one_beside()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

}  // namespace tilewalk
