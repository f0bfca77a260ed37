// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The faces of cubemaps.

#pragma once

#include <array>
#include <cstdint>

namespace cuprum::emulator {

/// A place on a cube: a face (+x -x +y -y +z -z) and coordinates from 0 to 1.
struct CubePlace {
    std::uint32_t face = 0;
    float x = 0;
    float y = 0;
};

/// Returns the place that a direction from the centre points at.
[[nodiscard]] CubePlace place_on_cube(const std::array<float, 3>& direction);

/// Returns how fast the place changes when the direction changes by a gradient, in faces.
[[nodiscard]] std::array<double, 2> gradient_on_cube(const std::array<float, 3>& direction,
                                                     const std::array<float, 3>& gradient);

/// A texel of a cube.
struct CubeTexel {
    std::uint32_t face = 0;
    std::int64_t x = 0;
    std::int64_t y = 0;
};

/// Returns the texel beyond an edge of a face: on the face that lies there. `size`: of a face. One
/// of the coordinates is -1 or `size`; not both, since nothing lies beyond a corner.
[[nodiscard]] CubeTexel texel_beyond_edge(const CubeTexel& texel, std::uint32_t size);

} // namespace cuprum::emulator
