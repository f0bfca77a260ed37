// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Converts the options of arrays and textures between Python and the core.

#pragma once

#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <cuprum/texture/texture_object.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns the options in `cuprum._texture_options.<class_name>`, which a dict is converted to.
/// @throws TypeError, naming the class, for anything else.
[[nodiscard]] nb::object texture_options_argument(nb::handle options, const char* class_name,
                                                  const char* what);

/// Returns the options of an array from an OpaqueArrayOptions or a MipmappedArrayOptions.
[[nodiscard]] OpaqueArrayOptions array_options(nb::handle options);

/// Returns how a texture is made: the TextureSampling of a TextureObjectOptions.
[[nodiscard]] nb::object sampling_options(nb::handle options);

/// Where a TextureObjectOptions keeps its TextureSampling. Creating a texture reads it in place.
struct SamplingSlot {
    PyTypeObject* type = nullptr; // TextureObjectOptions; null until the first are read
    Py_ssize_t offset = 0;        // of a slot, which is null if it was never set

    /// Returns the TextureSampling of options that are of exactly this class; null if there is none
    /// yet. It stays valid until the options change.
    [[nodiscard]] PyObject* find(PyObject* options) const noexcept {
#if defined(Py_GIL_DISABLED) // other threads may change it meanwhile
        static_cast<void>(options);
        return nullptr;
#else
        return Py_TYPE(options) != type
                   ? nullptr
                   : *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(options) + offset);
#endif
    }
};

inline constinit SamplingSlot SAMPLING_SLOT;

/// Returns a format from what `format` takes: an ArrayFormatType, a str or a numpy type.
[[nodiscard]] ArrayFormat format_argument(nb::handle format);

/// Returns the member of ArrayFormatType.
[[nodiscard]] nb::object format_object(ArrayFormat format);

/// Returns a number of channels.
/// @throws ValueError for anything but an int from 1 to 4.
[[nodiscard]] unsigned channels_argument(nb::handle num_channels);

/// Returns sizes as a tuple, with as many numbers as there are dimensions.
[[nodiscard]] nb::tuple shape_object(const ArrayExtent& extent);

/// Returns a region from `offset` and `shape`, each a tuple of 1 to 3 numbers or None.
[[nodiscard]] ArrayRegion region_argument(nb::handle offset, nb::handle shape,
                                          const char* offset_name = "offset");

} // namespace cuprum::python
