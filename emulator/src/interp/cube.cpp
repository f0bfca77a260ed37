// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/cube.hpp"

#include <algorithm>
#include <cmath>

namespace cuprum::emulator {

namespace {

/// A point on the plane of a face, with the faces -1 to 1.
struct FacePoint {
    std::uint32_t face = 0;
    double across = 0;
    double down = 0;
};

/// Returns the face that a direction points at.
std::uint32_t face_of(const std::array<double, 3>& direction) {
    const auto [x, y, z] = direction;
    const double ax = std::abs(x);
    const double ay = std::abs(y);
    const double az = std::abs(z);
    if (az >= ax && az >= ay) {
        return z < 0 ? 5 : 4;
    }
    return ay >= ax ? (y < 0 ? 3 : 2) : (x < 0 ? 1 : 0);
}

/// Returns a vector in the axes of a face: across, down and away from the centre.
std::array<double, 3> in_face(std::uint32_t face, const std::array<double, 3>& vector) {
    const auto [x, y, z] = vector;
    switch (face) {
    case 0:
        return {-z, -y, x};
    case 1:
        return {z, -y, -x};
    case 2:
        return {x, z, y};
    case 3:
        return {x, -z, -y};
    case 4:
        return {x, -y, z};
    default:
        return {-x, -y, -z};
    }
}

FacePoint project(const std::array<double, 3>& direction) {
    const std::uint32_t face = face_of(direction);
    const auto [across, down, away] = in_face(face, direction);
    return {face, across / away, down / away};
}

std::array<double, 3> widened(const std::array<float, 3>& vector) {
    std::array<double, 3> wide{};
    for (std::size_t i = 0; i < wide.size(); ++i) {
        wide[i] = std::isnan(vector[i]) ? 0.0 : static_cast<double>(vector[i]);
    }
    return wide;
}

std::array<double, 3> direction_of(const FacePoint& point) {
    const double a = point.across;
    const double d = point.down;
    switch (point.face) {
    case 0:
        return {1, -d, -a};
    case 1:
        return {-1, -d, a};
    case 2:
        return {a, 1, d};
    case 3:
        return {a, -1, -d};
    case 4:
        return {a, -d, 1};
    default:
        return {-a, -d, -1};
    }
}

/// Returns a coordinate from -1 to 1 as one from 0 to 1, cut off after 21 bits.
float to_texture(double value) {
    constexpr double smallest = 0x1p-126; // quotients below become zero
    const double cut =
        std::abs(value) < smallest ? 0.0 : std::floor(std::clamp(value, -1.0, 1.0) * 0x1p20);
    return static_cast<float>((cut + 0x1p20) * 0x1p-21);
}

} // namespace

CubePlace place_on_cube(const std::array<float, 3>& direction) {
    const FacePoint point = project(widened(direction));
    if (std::isnan(point.across) || std::isnan(point.down)) { // no direction, or an infinite one
        return {point.face, 0.5f, 0.5f};
    }
    return {point.face, to_texture(point.across), to_texture(point.down)};
}

std::array<double, 2> gradient_on_cube(const std::array<float, 3>& direction,
                                       const std::array<float, 3>& gradient) {
    const std::array<double, 3> wide = widened(direction);
    const std::uint32_t face = face_of(wide);
    const auto [across, down, away] = in_face(face, wide);
    const auto [d_across, d_down, d_away] = in_face(face, widened(gradient));
    return {(d_across - across / away * d_away) / away / 2,
            (d_down - down / away * d_away) / away / 2};
}

CubeTexel texel_beyond_edge(const CubeTexel& texel, std::uint32_t size) {
    const double scale = 2.0 / size;
    const FacePoint beyond{texel.face, (static_cast<double>(texel.x) + 0.5) * scale - 1,
                           (static_cast<double>(texel.y) + 0.5) * scale - 1};
    const FacePoint found = project(direction_of(beyond));
    const auto index = [&](double value) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor((value + 1) / scale)),
                                        0, size - 1);
    };
    return {found.face, index(found.across), index(found.down)};
}

} // namespace cuprum::emulator
