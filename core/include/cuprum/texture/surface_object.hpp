// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/device.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <cuprum/texture/resource_descriptor.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace cuprum {

/// A handle by which kernels read and write an array.
///
/// It keeps the array alive. Pass it to `launch` for a parameter of type `cudaSurfaceObject_t`.
/// Copies share one driver object, which is destroyed with the last of them and of the graphs that
/// use it. Keep it until the kernels that use it are done.
///
/// @code
/// const cuprum::OpaqueArray array = device.create_opaque_array(
///     {.extent = {.width = 8, .height = 8}, .is_surface_load_store = true});
/// const auto surface = cuprum::SurfaceObject::create(array); // pass it to a kernel
/// @endcode
class CUPRUM_API SurfaceObject : public detail::HandleArgument {
public:
    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "SurfaceObject";

    /// Makes a surface in the context of the array.
    /// @throws std::invalid_argument if the resource is no OpaqueArray, or the array was made
    /// without is_surface_load_store.
    [[nodiscard]] static SurfaceObject create(const ResourceDescriptor& resource);
    /// Creates a surface of an array that has `is_surface_load_store`.
    [[nodiscard]] static SurfaceObject create(const OpaqueArray& array);

    /// Returns the handle that kernels take.
    /// @throws ClosedError if the surface is closed or a device reset destroyed it.
    [[nodiscard]] CUsurfObject handle() const;
    /// Returns what the surface accesses.
    [[nodiscard]] const ResourceDescriptor& resource() const;
    /// Returns the context that it belongs to.
    [[nodiscard]] Context context() const;
    /// Returns the device that it lies on.
    [[nodiscard]] Device device() const;

    /// Compares the driver's objects.
    friend CUPRUM_API bool operator==(const SurfaceObject& left,
                                      const SurfaceObject& right) noexcept;

private:
    friend struct detail::Access;
    using detail::HandleArgument::HandleArgument;
};

/// Returns the handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const SurfaceObject& surface);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::SurfaceObject> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::SurfaceObject& surface) const noexcept;
};
