#include "tests/app/ui/kit/colour_vision.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using Light = std::array<double, 3>;  // linear red, green, blue
using Table = std::array<Light, 3>;

constexpr Table tables[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}};

Light times(const Table& table, const Light& v) {
    Light out{};
    for (std::size_t r = 0; r < 3; ++r) out[r] = table[r][0] * v[0] + table[r][1] * v[1] + table[r][2] * v[2];
    return out;
}

Light light_of(ImU32 colour) {
    const auto linear = [&](int shift) {
        const double u = static_cast<double>((colour >> shift) & 255u) / 255;
        return u <= 0.04045 ? u / 12.92 : std::pow((u + 0.055) / 1.055, 2.4);
    };
    return {linear(IM_COL32_R_SHIFT), linear(IM_COL32_G_SHIFT), linear(IM_COL32_B_SHIFT)};
}

unsigned byte_of(double linear) {
    const double u = std::clamp(linear, 0.0, 1.0);
    return static_cast<unsigned>(
        std::lround(255 * (u <= 0.0031308 ? 12.92 * u : 1.055 * std::pow(u, 1 / 2.4) - 0.055)));
}

constexpr double pi = 3.14159265358979323846;
double cosine(double degrees) { return std::cos(degrees * pi / 180); }
double sine(double degrees) { return std::sin(degrees * pi / 180); }
double seventh(double x) { return std::pow(x, 7); }

// Hue angle in degrees, 0 … 360; 0 for grey.
double hue_angle(double a, double b) {
    if (a == 0 && b == 0) return 0;
    const double h = std::atan2(b, a) * 180 / pi;
    return h < 0 ? h + 360 : h;
}

// The mean of two hues and the way from one to the other, both over the shorter arc.
struct Hues {
    double mean, way;
};
Hues hues(double h1, double h2, bool grey) {
    if (grey) return {h1 + h2, 0};
    const double way = h2 - h1, sum = h1 + h2;
    if (std::abs(way) <= 180) return {sum / 2, way};
    return {sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2, way > 180 ? way - 360 : way + 360};
}

}  // namespace

const char* name(Vision vision) {
    static const char* const names[] = {"full", "protan", "deutan", "tritan"};
    return names[static_cast<int>(vision)];
}

ImU32 seen_by(Vision vision, ImU32 colour) {
    if (vision == Vision::full) return colour;
    const Light seen = times(tables[static_cast<int>(vision)], light_of(colour));
    return (colour & IM_COL32_A_MASK) | byte_of(seen[0]) << IM_COL32_R_SHIFT |
           byte_of(seen[1]) << IM_COL32_G_SHIFT | byte_of(seen[2]) << IM_COL32_B_SHIFT;
}

Lab lab_of(ImU32 colour) {
    constexpr Table xyz = {{{0.4124564, 0.3575761, 0.1804375},
                            {0.2126729, 0.7151522, 0.0721750},
                            {0.0193339, 0.1191920, 0.9503041}}};
    const Light v = times(xyz, light_of(colour));
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double x = f(v[0] / 0.95047), y = f(v[1]), z = f(v[2] / 1.08883);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double colour_difference(const Lab& one, const Lab& other) {
    // Chroma, with a* stretched near grey
    const double far = seventh(25), mean = (std::hypot(one.a, one.b) + std::hypot(other.a, other.b)) / 2;
    const double stretch = 1 + .5 * (1 - std::sqrt(seventh(mean) / (seventh(mean) + far)));
    const double C1 = std::hypot(stretch * one.a, one.b), C2 = std::hypot(stretch * other.a, other.b);
    const Hues h =
        hues(hue_angle(stretch * one.a, one.b), hue_angle(stretch * other.a, other.b), C1 * C2 == 0);
    // Differences in lightness, chroma and hue, each by its weight
    const double L = (one.L + other.L) / 2, C = (C1 + C2) / 2;
    const double T = 1 - .17 * cosine(h.mean - 30) + .24 * cosine(2 * h.mean) + .32 * cosine(3 * h.mean + 6) -
                     .20 * cosine(4 * h.mean - 63);
    const double dL =
        (other.L - one.L) / (1 + .015 * (L - 50) * (L - 50) / std::sqrt(20 + (L - 50) * (L - 50)));
    const double dC = (C2 - C1) / (1 + .045 * C);
    const double dH = 2 * std::sqrt(C1 * C2) * sine(h.way / 2) / (1 + .015 * C * T);
    // Blues: chroma and hue are not independent there
    const double turn = 30 * std::exp(-std::pow((h.mean - 275) / 25, 2));
    const double R = -2 * std::sqrt(seventh(C) / (seventh(C) + far)) * sine(2 * turn);
    return std::sqrt(dL * dL + dC * dC + dH * dH + R * dC * dH);
}

double colour_difference(ImU32 one, ImU32 other, Vision vision) {
    return colour_difference(lab_of(seen_by(vision, one)), lab_of(seen_by(vision, other)));
}

}  // namespace tilewalk::ui
