#include "app/ui/kit/fonts.h"

#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/imgui_compat_baking.h"
#include "app/ui/kit/letters.h"
#include "core/base/words.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace tilewalk::ui {
namespace {

// ImGui sizes a font by ascent − descent; these factors turn an em size into that.
constexpr float inter_height = 1.210f, dejavu_height = 1.164f;

struct FaceFiles {
    const char* inter;  ///< without ending; null for the number faces
    const char* dejavu;
};
constexpr FaceFiles face_files[face_count] = {{"Inter-Regular", "DejaVuSans.ttf"},
                                              {"Inter-Medium", "DejaVuSans.ttf"},
                                              {"Inter-SemiBold", "DejaVuSans-Bold.ttf"},
                                              {"Inter-Italic", "DejaVuSans-Oblique.ttf"},
                                              {"Inter-SemiBoldItalic", "DejaVuSans-BoldOblique.ttf"},
                                              {nullptr, "DejaVuSansMono.ttf"},
                                              {nullptr, "DejaVuSansMono-Bold.ttf"}};

// Which sizes each face is used in.
using Sizes = std::vector<float>;
const Sizes usual_sizes[face_count] = {
    {13, 14, 15, 16, 18, 20}, {13, 14},        {13, 14, 15, 16, 18, 22}, {15}, {13, 14, 17, 18, 20},
    {13, 14, 15, 16, 17},     {13, 15, 17, 20}};
const Sizes presenter_sizes[face_count] = {{27, 30, 34},
                                           {27},
                                           {27, 28, 30, 34, 36, 44},
                                           {27},
                                           {27, 28, 34, 35},
                                           {27, 28, 30, 34, 40},
                                           {27, 28, 30, 34, 36, 40}};

// Of indices, in the faces that have some.
const Sizes usual_indices = {10, 11, 12, 13, 14}, presenter_indices = {21, 22, 25, 26, 32};
bool has_indices(int face) {
    constexpr Face faces[] = {Face::regular, Face::semibold, Face::semibold_italic};
    return std::ranges::find(faces, static_cast<Face>(face)) != std::end(faces);
}

constexpr std::string_view glyphs =
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    "·×÷±°²³¹½‖•…–—‘’“”′˜\u00A0\u2009"
    "αβγδεηλμστωθΔΘΣΩ∑√∞∂ℓ∈−≈≠≤≥∅⊙⊘⌈⌉⌊⌋"
    "←→↑↓⇒▼▲◆◇●○■□✓✗"
    "⁰⁴⁵⁶⁷⁸⁹⁻ᵀ₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼ";

using Bytes = std::vector<char>;
constexpr std::streamoff biggest_font = 64 << 20;

struct LettersUnderWay;

/// What has been built for one context.
struct BuiltFonts {
    struct Entry {
        float em;
        ImFont* font;
        bool index = false;
    };
    ImFontAtlas* atlas = nullptr;
    float scale = 0;
    bool presenter = false;
    std::vector<FontSize> more;
    std::array<std::vector<Entry>, face_count> faces;
    std::string problem;
    std::shared_ptr<LettersUnderWay> under_way = {};  ///< while others stand in
};
/// Fonts that are being baked, while those that are there are shown in their sizes.
struct LettersUnderWay {
    LettersUnderWay(BuiltFonts there, std::vector<FontSize> sizes, float largest_px, FontBaking::Add add)
        : before(std::move(there)), baking(std::move(sizes), largest_px, std::move(add)) {}
    BuiltFonts before;  ///< what the atlas has
    std::vector<std::unique_ptr<ImFont>> standing_in;
    FontBaking baking;
};
/// ImGui keeps pointers into the files and the ranges, so they live here.
struct FontTable : BuiltFonts {
    std::map<std::string, Bytes> files;  ///< by path; empty: could not be used
    ImVector<ImWchar> ranges, ranges_with_latin;
    float growth = 1, page_growth = 1;
};

FontTable& table() {
    static FontTable only;
    return only;
}

std::vector<std::filesystem::path> font_folders() {
    std::vector<std::filesystem::path> folders = {"/usr/share/fonts/opentype/inter",
                                                  "/usr/share/fonts/truetype/dejavu",
                                                  "/usr/share/fonts/truetype/inter",
                                                  "/usr/share/fonts/inter",
                                                  "/usr/share/fonts/rsms-inter-fonts",
                                                  "/usr/share/fonts/dejavu-sans-fonts",
                                                  "/usr/share/fonts/dejavu-sans-mono-fonts",
                                                  "/usr/share/fonts/dejavu",
                                                  "/usr/share/fonts/TTF",
                                                  "/usr/share/fonts/OTF",
                                                  "/usr/local/share/fonts"};
    // The portable folder brings its own (cmake/package/start.sh).
    if (const char* own = std::getenv("TILEWALK_FONTS")) folders.insert(folders.begin(), own);
    if (const char* home = std::getenv("HOME")) {
        folders.push_back(std::filesystem::path(home) / ".local/share/fonts");
        folders.push_back(std::filesystem::path(home) / ".fonts");
    }
    return folders;
}

/// ImGui aborts on a file that is no font, so only files that begin like one get through.
bool looks_like_a_font(const Bytes& bytes) {
    if (bytes.size() < 1024) return false;
    const std::string_view magic(bytes.data(), 4);
    return magic == "OTTO" || magic == "true" || magic == "ttcf" || magic == std::string_view("\0\1\0\0", 4);
}

const Bytes* read_font(const std::filesystem::path& path) {
    auto [place, fresh] = table().files.try_emplace(path.string());
    if (fresh) {
        std::ifstream in(path, std::ios::binary | std::ios::ate);
        const auto size = static_cast<std::streamoff>(in.tellg());
        if (size > 0 && size < biggest_font) place->second.resize(static_cast<std::size_t>(size));
        in.seekg(0);
        in.read(place->second.data(), static_cast<std::streamsize>(place->second.size()));
        if (!in || !looks_like_a_font(place->second)) place->second.clear();
    }
    return place->second.empty() ? nullptr : &place->second;
}

const Bytes* find_font(const std::string& name) {
    std::error_code ignored;
    for (const auto& folder : font_folders())
        if (std::filesystem::is_regular_file(folder / name, ignored))
            if (const Bytes* bytes = read_font(folder / name)) return bytes;
    return nullptr;
}

/// The face's own file; a variable font shows its regular weight, which still is the right design.
const Bytes* find_inter(const char* name) {
    for (const std::string& file : {std::string(name) + ".otf", std::string(name) + ".ttf",
                                    std::string("InterVariable.ttf"), std::string("Inter.ttc")})
        if (const Bytes* bytes = find_font(file)) return bytes;
    return nullptr;
}

struct Source {
    const Bytes* bytes = nullptr;
    float height = dejavu_height;
};
/// First the face itself, then what fills its gaps.
struct FaceSources {
    Source main, gaps;
};

FaceSources find_sources(int face) {
    const FaceFiles& files = face_files[face];
    FaceSources found;
    if (files.inter) found.main = {find_inter(files.inter), inter_height};
    if (files.inter && !found.main.bytes)
        table().problem = "The Inter fonts are not installed (package fonts-inter); "
                          "DejaVu Sans stands in for them.";
    if (!found.main.bytes) found.main = {find_font(files.dejavu), dejavu_height};
    found.gaps = {find_font("DejaVuSans.ttf"), dejavu_height};
    if (!found.main.bytes) found.main = found.gaps;
    if (found.gaps.bytes == found.main.bytes) found.gaps.bytes = nullptr;
    return found;
}

ImFont* add_source(ImFontAtlas& atlas, const Source& source, float em, Face face, bool merge) {
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.MergeMode = merge;
    // Numbers stand in columns: whole-pixel advances. Words keep their fractional ones, which read better.
    config.PixelSnapH = face == Face::mono || face == Face::mono_bold;
    // Of large letters a pixel is fine enough, and they take long.
    constexpr float large_px = 36;
    config.OversampleH = config.PixelSnapH || em * source.height > large_px ? 1 : 2;
    config.OversampleV = 1;
    const bool latin = face == Face::regular || face == Face::medium;
    const auto& ranges = latin ? table().ranges_with_latin : table().ranges;
    // ImGui takes the data as void* but only reads it.
    return atlas.AddFontFromMemoryTTF(const_cast<char*>(source.bytes->data()),
                                      static_cast<int>(source.bytes->size()), em * source.height, &config,
                                      ranges.Data);
}

ImFont* add_size(ImFontAtlas& atlas, const FaceSources& sources, const FontSize& size, float scale) {
    if (!sources.main.bytes) return nullptr;
    ImFont* const font = add_source(atlas, sources.main, size.em * scale, size.face, false);
    if (font && sources.gaps.bytes) add_source(atlas, sources.gaps, size.em * scale, size.face, true);
    return font;
}

void list_font(const FontSize& size, ImFont* font) {
    table().faces[static_cast<std::size_t>(size.face)].push_back({size.em, font, size.index});
}

void add_face(ImFontAtlas& atlas, int number, const std::vector<FontSize>& sizes, float scale) {
    const FaceSources sources = find_sources(number);
    for (const FontSize& size : sizes)
        if (ImFont* const font = add_size(atlas, sources, size, scale)) list_font(size, font);
}

/// Without any font file the program still runs, in ImGui's built-in pixel font.
void fill_empty_faces(ImFontAtlas& atlas) {
    for (auto& face : table().faces) {
        if (!face.empty()) continue;
        if (atlas.Fonts.empty()) atlas.AddFontDefault();
        face.push_back({13.0f, atlas.Fonts[0]});
        table().problem =
            "No usable fonts were found: install the packages fonts-inter and fonts-dejavu-core.";
    }
}

void build_ranges() {
    if (!table().ranges.empty()) return;
    ImFontGlyphRangesBuilder builder;
    builder.AddText(glyphs.data(), glyphs.data() + glyphs.size());
    builder.BuildRanges(&table().ranges);
    static const ImWchar latin_1[] = {0x00A0, 0x00FF, 0};
    builder.AddRanges(latin_1);
    builder.BuildRanges(&table().ranges_with_latin);
}

// The usual ones of a face, so many times as large.
std::vector<FontSize> sizes_of(int face, bool presenter, float factor) {
    std::vector<FontSize> out;
    for (const float em : (presenter ? presenter_sizes : usual_sizes)[face])
        out.push_back({static_cast<Face>(face), em * factor});
    for (const float em : presenter ? presenter_indices : usual_indices)
        if (has_indices(face)) out.push_back({static_cast<Face>(face), em * factor, true});
    return out;
}

// And what else is asked for.
std::vector<FontSize> sizes_of(int face, bool presenter, const std::vector<FontSize>& more) {
    std::vector<FontSize> sizes = sizes_of(face, presenter, 1);
    for (const FontSize& size : more)
        if (static_cast<int>(size.face) == face && std::ranges::find(sizes, size) == sizes.end())
            sizes.push_back(size);
    return sizes;
}

/// Another context's atlas may have come to lie at the same address.
bool is_in(const ImFontAtlas& atlas, const BuiltFonts& built) {
    return built.atlas == &atlas && !atlas.Fonts.empty() &&
           std::ranges::all_of(built.faces, [&](const auto& face) {
               return !face.empty() && std::ranges::find(atlas.Fonts, face[0].font) != atlas.Fonts.end();
           });
}

bool is_as_asked(const BuiltFonts& built, float scale, bool presenter, const std::vector<FontSize>& more) {
    return built.scale == scale && built.presenter == presenter && built.more == more;
}

bool is_loaded(const ImFontAtlas& atlas, float scale, bool presenter, const std::vector<FontSize>& more) {
    return is_as_asked(table(), scale, presenter, more) && is_in(atlas, table());
}

float sensible(float scale) { return std::isfinite(scale) ? std::clamp(scale, .5f, 6.0f) : 1.0f; }

const FontTable::Entry* nearest(Face face, float em, bool index) {
    const FontTable& t = table();
    const auto number = static_cast<std::size_t>(face);
    if (number >= t.faces.size() || t.faces[number].empty()) return nullptr;
    // Nearly always one of just this size is there, and the search, of every text of a frame, ends with it.
    const FontTable::Entry* best = &t.faces[number].front();
    float least = std::numeric_limits<float>::infinity();
    for (const FontTable::Entry& entry : t.faces[number]) {
        if (entry.index && !index) continue;
        const float distance = std::abs(entry.em - em);
        if (distance < least) best = &entry, least = distance;
        if (distance == 0) break;
    }
    return best;
}

}  // namespace

std::vector<FontSize> font_sizes(bool presenter, float factor) {
    std::vector<FontSize> out;
    for (int face = 0; face < face_count; ++face)
        for (const FontSize& size : sizes_of(face, presenter, factor)) out.push_back(size);
    return out;
}

bool load_fonts(float scale, bool presenter, const std::vector<FontSize>& more) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    scale = sensible(scale);
    if (is_loaded(atlas, scale, presenter, more)) return false;
    FontTable& t = table();
    t.under_way.reset();
    set_default_font(nullptr);
    build_ranges();
    atlas.Clear();
    atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
    t.atlas = &atlas, t.scale = scale, t.presenter = presenter, t.more = more;
    t.problem.clear();
    for (auto& face : t.faces) face.clear();
    for (int face = 0; face < face_count; ++face)
        add_face(atlas, face, sizes_of(face, presenter, more), scale);
    fill_empty_faces(atlas);
    atlas_pixels(atlas);
    return true;
}

// ---- A bit in each frame

namespace {

bool every_face_has_a_file() {
    for (int face = 0; face < face_count; ++face)
        if (!find_sources(face).main.bytes) return false;
    return true;
}

// Where there is none of just this size the next larger one loses least.
const BuiltFonts::Entry* to_stand_in(const BuiltFonts& there, const FontSize& size, float wanted_px) {
    const BuiltFonts::Entry* best = nullptr;
    for (const BuiltFonts::Entry& entry : there.faces[static_cast<std::size_t>(size.face)]) {
        const float px = entry.em * there.scale, best_px = best ? best->em * there.scale : 0;
        if (!best || (best_px < wanted_px ? px > best_px : px >= wanted_px && px < best_px)) best = &entry;
    }
    return best;
}

void let_others_stand_in(LettersUnderWay& under_way, const std::vector<FontSize>& sizes) {
    FontTable& t = table();
    for (auto& face : t.faces) face.clear();
    for (const FontSize& size : sizes) {
        const auto* entry = to_stand_in(under_way.before, size, size.em * t.scale);
        if (!entry) continue;
        const float ratio = size.em * t.scale / (entry->em * under_way.before.scale);
        under_way.standing_in.push_back(stand_in(*entry->font, ratio));
        list_font(size, under_way.standing_in.back().get());
    }
    set_default_font(under_way.standing_in.empty() ? nullptr : under_way.standing_in[0].get());
}

// What the atlas has stays what it is, however often something else is asked for meanwhile.
void begin_letters(ImFontAtlas& atlas, float scale, bool presenter, const std::vector<FontSize>& more) {
    FontTable& t = table();
    build_ranges();
    BuiltFonts there = t.under_way ? t.under_way->before : static_cast<const BuiltFonts&>(t);
    there.under_way.reset();
    if (!is_in(atlas, there)) there = {};
    t.under_way.reset();
    t.atlas = &atlas, t.scale = scale, t.presenter = presenter, t.more = more;
    std::vector<FontSize> sizes;
    float largest = 0;
    for (int face = 0; face < face_count; ++face)
        for (const FontSize& size : sizes_of(face, presenter, more))
            sizes.push_back(size), largest = std::max(largest, size.em * scale);
    const auto add = [scale](ImFontAtlas& piece, const FontSize& size) {
        return add_size(piece, find_sources(static_cast<int>(size.face)), size, scale);
    };
    t.under_way = std::make_shared<LettersUnderWay>(std::move(there), sizes, largest, add);
    let_others_stand_in(*t.under_way, sizes);
}

void install_letters(ImFontAtlas& atlas, LetterTexture* texture) {
    FontTable& t = table();
    const std::shared_ptr<LettersUnderWay> done = std::exchange(t.under_way, nullptr);
    set_default_font(nullptr);
    for (auto& face : t.faces) face.clear();
    for (const FontBaking::Baked& baked : done->baking.install(atlas, texture))
        list_font(baked.size, baked.font);
}

}  // namespace

Typefaces load_letters(float scale, bool presenter, const std::vector<FontSize>& more, double seconds,
                       LetterTexture* texture) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    FontTable& t = table();
    scale = sensible(scale);
    if (is_loaded(atlas, scale, presenter, more)) return Typefaces::ready;
    // Back to what is there before the others were.
    if (t.under_way && is_as_asked(t.under_way->before, scale, presenter, more) &&
        is_in(atlas, t.under_way->before)) {
        static_cast<BuiltFonts&>(t) = BuiltFonts(t.under_way->before);
        set_default_font(nullptr);
        return Typefaces::ready;
    }
    if (!t.under_way || t.atlas != &atlas || !is_as_asked(t, scale, presenter, more)) {
        if (bakes_on_demand || !every_face_has_a_file())
            return load_fonts(scale, presenter, more) ? Typefaces::fresh : Typefaces::ready;
        begin_letters(atlas, scale, presenter, more);
        return Typefaces::standing_in;  // this frame has made those that stand in
    }
    do
        if (!t.under_way->baking.step(texture)) {
            install_letters(atlas, texture);
            return Typefaces::fresh;
        }
    while (Clock::now() < until && !t.under_way->baking.is_long_step());  // that one has a frame of its own
    return Typefaces::standing_in;
}

void restart_letters() {
    FontTable& t = table();
    if (!t.under_way) return;
    static_cast<BuiltFonts&>(t) = BuiltFonts(t.under_way->before);
    if (ImGui::GetCurrentContext()) set_default_font(nullptr);
}

struct FontsAside::Kept {
    BuiltFonts fonts;
};

FontsAside::FontsAside() : kept_(std::make_unique<Kept>(Kept{table()})) {}
void FontsAside::swap() { std::swap(static_cast<BuiltFonts&>(table()), kept_->fonts); }
FontsAside::~FontsAside() { static_cast<BuiltFonts&>(table()) = std::move(kept_->fonts); }

FontFiles font_files(Face face) {
    const FaceSources sources = find_sources(static_cast<int>(face));
    const auto bytes = [](const Source& source) {
        return source.bytes ? std::string_view(source.bytes->data(), source.bytes->size())
                            : std::string_view();
    };
    return {bytes(sources.main), bytes(sources.gaps)};
}

const std::string& font_problem() { return table().problem; }
float font_scale() { return table().scale > 0 ? table().scale : 1.0f; }

float set_type_growth(float wanted) { return std::exchange(table().growth, wanted); }
float type_growth() { return table().growth; }
bool far_type() { return table().growth > table().page_growth; }
float set_page_growth(float wanted) { return std::exchange(table().page_growth, wanted); }

ImFont* font(Face face, float em, bool index) {
    const auto* entry = nearest(face, em * table().growth, index);
    return entry ? entry->font : ImGui::GetFont();
}

float baked_em(Face face, float em, bool index) {
    const auto* entry = nearest(face, em * table().growth, index);
    return entry ? entry->em / table().growth : em;
}

float text_width(Face face, float em, std::string_view text, bool index) {
    const ImFont* face_font = font(face, em, index);
    float width = 0;
    while (!text.empty()) {
        const unsigned code_point = next_code_point(text);
        if (code_point != 0x0303) width += glyph_advance(face_font, code_point);
    }
    return width / (font_scale() * table().growth);
}

std::string_view used_glyphs() { return glyphs; }

unsigned next_code_point(std::string_view& rest) {
    unsigned code_point = static_cast<unsigned char>(rest[0]);
    // The first byte tells how many follow.
    const std::size_t more = code_point < 0x80   ? 0
                             : code_point < 0xC2 ? 9
                             : code_point < 0xE0 ? 1
                             : code_point < 0xF0 ? 2
                             : code_point < 0xF5 ? 3
                                                 : 9;
    if (more > 0 && more < 9) code_point &= 0x3Fu >> more;
    for (std::size_t k = 1; k <= more; ++k) {
        const bool follows = more < 9 && k < rest.size() && continues_character(rest[k]);
        if (!follows) {
            rest.remove_prefix(1);
            return 0xFFFD;
        }
        code_point = code_point << 6 | (static_cast<unsigned char>(rest[k]) & 0x3Fu);
    }
    rest.remove_prefix(more + 1);
    return code_point > 0xFFFF ? 0xFFFD : code_point;
}

}  // namespace tilewalk::ui
