// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of arrays, textures and surfaces hold.

#pragma once

#include "support/held.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <cuprum/texture/surface_object.hpp>
#include <cuprum/texture/texture_object.hpp>

#include <nanobind/nanobind.h>

#include <span>
#include <utility>
#include <vector>

namespace cuprum::python {

// Destroying an array waits for the device, destroying a texture or a surface does not.
template <>
inline constexpr bool IS_RELEASE_BRIEF<TextureObject> = true;
template <>
inline constexpr bool IS_RELEASE_BRIEF<SurfaceObject> = true;

using PyOpaqueArray = Held<OpaqueArray>;
using PyMipmappedArray = Held<MipmappedArray>;

/// A resource, with the Python object that it describes.
struct PyResourceDescriptor {
    PyResourceDescriptor(ResourceDescriptor described, nb::object from)
        : core(std::move(described)), source(std::move(from)) {}

    ResourceDescriptor core;
    nb::object source; // an OpaqueArray, a MipmappedArray or a Buffer
};

/// A texture, with the Python objects that it was made from.
struct PyTextureObject : Held<TextureObject> {
    PyTextureObject(TextureObject texture, nb::object from, nb::object how)
        : Held<TextureObject>(std::move(texture)), source(std::move(from)),
          settings(std::move(how)) {}

    nb::object source;   // a ResourceDescriptor; null once closed
    nb::object settings; // a TextureObjectOptions; null if none were given
};

/// A surface, with the Python object that it was made from.
struct PySurfaceObject : Held<SurfaceObject> {
    PySurfaceObject(SurfaceObject surface, nb::object from)
        : Held<SurfaceObject>(std::move(surface)), source(std::move(from)) {}

    nb::object source; // a ResourceDescriptor; null once closed
};

template <>
inline constexpr bool IS_RECYCLED<PyTextureObject> = true;
template <>
inline constexpr bool IS_RECYCLED<PySurfaceObject> = true;

/// Options are Python objects, to which programs can add any attribute.
template <>
[[nodiscard]] inline bool may_refer_back(const PyTextureObject& texture) noexcept {
    return texture.settings.is_valid();
}

template <>
[[nodiscard]] inline bool may_begin_chain(const PyTextureObject& /*texture*/) noexcept {
    return false;
}

/// The settings of a texture as C++ has them. A TextureObjectOptions caches it.
struct TextureSampling {
    TextureObjectOptions core;
};

/// Returns the texture or surface that a Python object is, or null.
[[nodiscard]] const detail::HandleArgument* handle_argument(nb::handle object) noexcept;

/// The textures and surfaces among the arguments of a kernel.
[[nodiscard]] std::vector<const detail::HandleArgument*>
handle_arguments(std::span<PyObject* const> values);

/// Makes the Python object of an array.
[[nodiscard]] nb::object array_object(OpaqueArray array);

/// Makes the Python object that says how a sparse array is divided.
[[nodiscard]] nb::object sparse_object(const ArraySparseProperties& properties);

} // namespace cuprum::python
