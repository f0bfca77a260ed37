// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/texture_object.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "memory/buffer_state.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <cuprum/texture/surface_object.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::table;

constexpr unsigned BLOCK_EDGE = 4; // elements of a compressed block

static_assert(static_cast<int>(AddressMode::Border) == CU_TR_ADDRESS_MODE_BORDER);
static_assert(static_cast<int>(FilterMode::Linear) == CU_TR_FILTER_MODE_LINEAR);
static_assert(static_cast<int>(ResourceViewFormat::UnsignedBC7) == CU_RES_VIEW_FORMAT_UNSIGNED_BC7);

constexpr CUDA_ARRAY3D_DESCRIPTOR NO_ARRAY{};

/// What a texture reads: an array, or rows of a buffer.
struct Elements {
    const ArrayFormatInfo* format;
    const CUDA_ARRAY3D_DESCRIPTOR* array = &NO_ARRAY; // lives as long as the resource
    CUarray handle = nullptr;                         // of an array without levels
    unsigned num_levels = 1;
    bool is_array = false;
    bool is_linear = false;
};

void check_options(const TextureObjectOptions& options, const Elements& elements) {
    const auto refuse = [](const std::string& text) { throw std::invalid_argument(text); };
    for (const AddressMode mode : options.address_mode) {
        if (mode > AddressMode::Border) {
            refuse("address_mode is " + std::to_string(static_cast<int>(mode)) +
                   ", expected a value of AddressMode");
        }
    }
    if (options.filter_mode > FilterMode::Linear ||
        options.mipmap_filter_mode > FilterMode::Linear ||
        options.read_mode > ReadMode::NormalizedFloat) {
        refuse("filter_mode, mipmap_filter_mode or read_mode is no value of its enumeration");
    }
    // A view in another format decides what the texture filters.
    const bool has_own_format =
        !options.view.has_value() || options.view->format == ResourceViewFormat::None;
    const bool is_integer = elements.format->is_integer && has_own_format &&
                            (options.read_mode == ReadMode::ElementType ||
                             elements.format->bytes == sizeof(std::uint32_t));
    if (options.filter_mode == FilterMode::Linear && is_integer && !elements.is_linear) {
        refuse("filter_mode is linear, but the texture returns integers of format " +
               std::string(elements.format->name) +
               ", which cannot be interpolated; use filter_mode point" +
               (elements.format->bytes < sizeof(std::uint32_t) ? ", or read_mode normalized_float"
                                                               : ", or another format"));
    }
    if (elements.num_levels > 1 && !options.normalized_coords) {
        refuse("normalized_coords is not set, but a mipmapped array needs it: its levels have "
               "different sizes");
    }
    if (options.seamless_cubemap && (elements.array->Flags & CUDA_ARRAY3D_CUBEMAP) == 0) {
        refuse("seamless_cubemap is set, but the resource is no cubemap");
    }
    if (options.srgb && elements.format->is_integer && elements.format->bytes != 1) {
        refuse("srgb is set, but the format is " + std::string(elements.format->name) +
               ", expected elements of 8 bits");
    }
    if (options.view.has_value() && !elements.is_array) {
        refuse("view is set, but the resource is a buffer; only arrays have views");
    }
    const auto check_number = [&](float value, const char* name) {
        if (!std::isfinite(value)) {
            refuse(std::string(name) + " is " + std::to_string(value) +
                   ", expected a finite number");
        }
    };
    check_number(options.mipmap_level_bias, "mipmap_level_bias");
    check_number(options.min_mipmap_level_clamp, "min_mipmap_level_clamp");
    check_number(options.max_mipmap_level_clamp, "max_mipmap_level_clamp");
}

CUDA_TEXTURE_DESC sampling_of(const TextureObjectOptions& options, const Elements& elements) {
    CUDA_TEXTURE_DESC made{};
    std::ranges::transform(options.address_mode, std::begin(made.addressMode),
                           [](AddressMode mode) { return static_cast<CUaddress_mode>(mode); });
    made.filterMode = static_cast<CUfilter_mode>(options.filter_mode);
    const auto set = [&](bool is_set, unsigned flag) { made.flags |= is_set ? flag : 0U; };
    set(options.read_mode == ReadMode::ElementType, CU_TRSF_READ_AS_INTEGER);
    set(options.normalized_coords, CU_TRSF_NORMALIZED_COORDINATES);
    set(options.srgb || elements.format->is_srgb, CU_TRSF_SRGB);
    set(options.disable_trilinear_optimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    set(options.seamless_cubemap, CU_TRSF_SEAMLESS_CUBEMAP);
    made.maxAnisotropy = options.max_anisotropy;
    made.mipmapFilterMode = static_cast<CUfilter_mode>(options.mipmap_filter_mode);
    made.mipmapLevelBias = options.mipmap_level_bias;
    made.minMipmapLevelClamp = options.min_mipmap_level_clamp;
    made.maxMipmapLevelClamp = options.max_mipmap_level_clamp;
    std::ranges::copy(options.border_color, std::begin(made.borderColor));
    return made;
}

/// Returns the view format that reads an array as it is.
ResourceViewFormat own_view_format(const Elements& elements) {
    const unsigned channels = elements.array->NumChannels;
    const auto nth = static_cast<unsigned>(channels == 4 ? 2 : channels - 1);
    const auto of = [&](ResourceViewFormat first) {
        return static_cast<ResourceViewFormat>(static_cast<unsigned>(first) + nth);
    };
    switch (elements.format->format) {
    case ArrayFormat::UInt8:
        return of(ResourceViewFormat::UInt8x1);
    case ArrayFormat::UInt16:
        return of(ResourceViewFormat::UInt16x1);
    case ArrayFormat::UInt32:
        return of(ResourceViewFormat::UInt32x1);
    case ArrayFormat::Int8:
        return of(ResourceViewFormat::Int8x1);
    case ArrayFormat::Int16:
        return of(ResourceViewFormat::Int16x1);
    case ArrayFormat::Int32:
        return of(ResourceViewFormat::Int32x1);
    case ArrayFormat::Float16:
        return of(ResourceViewFormat::Float16x1);
    case ArrayFormat::Float32:
        return of(ResourceViewFormat::Float32x1);
    default:
        throw std::invalid_argument("view.format is none, but there is no view of the format " +
                                    std::string(elements.format->name));
    }
}

/// Checks one range of a view and returns its end.
unsigned last_of(unsigned first, const std::optional<unsigned>& last, unsigned count,
                 const std::string& what) {
    const unsigned end = last.value_or(count - 1);
    if (end >= count || first > end) {
        throw std::invalid_argument("view has the " + what + "s " + std::to_string(first) + " to " +
                                    std::to_string(end) + ", but the array has " +
                                    std::to_string(count) + " " + what + (count == 1 ? "" : "s") +
                                    ", counted from 0");
    }
    return end;
}

CUDA_RESOURCE_VIEW_DESC view_of(const ResourceView& view, const Elements& elements) {
    const ResourceViewFormat format =
        view.format == ResourceViewFormat::None ? own_view_format(elements) : view.format;
    if (format > ResourceViewFormat::UnsignedBC7) {
        throw std::invalid_argument("view.format is " + std::to_string(static_cast<int>(format)) +
                                    ", expected a value of ResourceViewFormat");
    }
    if (elements.format->block != 1) {
        throw std::invalid_argument("view is set, but the array has the compressed format " +
                                    std::string(elements.format->name) + "; such arrays have none");
    }
    const bool is_layered =
        (elements.array->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    const unsigned layers = is_layered ? static_cast<unsigned>(elements.array->Depth) : 1;
    const std::size_t scale = format >= ResourceViewFormat::UnsignedBC1 ? BLOCK_EDGE : 1;
    CUDA_RESOURCE_VIEW_DESC made{};
    made.format = static_cast<CUresourceViewFormat>(format);
    made.width = elements.array->Width * scale;
    made.height = elements.array->Height * scale;
    made.depth = elements.array->Depth;
    made.firstMipmapLevel = view.first_level;
    made.lastMipmapLevel = last_of(view.first_level, view.last_level, elements.num_levels, "level");
    made.firstLayer = view.first_layer;
    made.lastLayer = last_of(view.first_layer, view.last_layer, layers, "layer");
    return made;
}

[[noreturn, gnu::cold]] void raise_texture_failure(CUresult status, const char* call,
                                                   const ResourceDescriptor& resource,
                                                   const detail::DeviceState& device) {
    if (status == CUDA_ERROR_INVALID_VALUE && resource.buffer() != nullptr) {
        const DeviceProperties limits = Device(device.ordinal).properties();
        const PitchedRows& rows = resource.rows();
        const CUdeviceptr address = resource.buffer()->handle();
        const auto over = [&](std::size_t value, const char* name, const char* property) {
            const int most = limits.get(property, 0);
            if (most > 0 && value > static_cast<std::size_t>(most)) {
                throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) +
                                            ", expected at most " + std::to_string(most) +
                                            ": the " + property + " of device " +
                                            std::to_string(device.ordinal));
            }
        };
        const auto unaligned = [&](std::size_t value, const std::string& shown, const char* name,
                                   const char* property) {
            const int step = limits.get(property, 0);
            if (step > 0 && value % static_cast<std::size_t>(step) != 0) {
                throw std::invalid_argument(std::string(name) + " is " + shown +
                                            ", expected a multiple of " + std::to_string(step) +
                                            ": the " + property + " of device " +
                                            std::to_string(device.ordinal));
            }
        };
        unaligned(address, detail::hexadecimal(address), "the buffer's address",
                  "texture_alignment");
        if (resource.kind() == ResourceKind::Linear) {
            over(rows.width, "the number of elements", "maximum_texture1d_linear_width");
        } else {
            unaligned(rows.pitch_bytes, std::to_string(rows.pitch_bytes), "pitch_bytes",
                      "texture_pitch_alignment");
            over(rows.width, "width", "maximum_texture2d_linear_width");
            over(rows.height, "height", "maximum_texture2d_linear_height");
            over(rows.pitch_bytes, "pitch_bytes", "maximum_texture2d_linear_pitch");
        }
    }
    driver::raise(status, call);
}

[[gnu::hot]] TextureObject make_texture(const ResourceDescriptor& resource,
                                        const Elements& elements,
                                        const TextureObjectOptions& options,
                                        const std::shared_ptr<detail::ContextState>& context) {
    check_options(options, elements);
    CUDA_RESOURCE_DESC memory{};
    if (elements.handle != nullptr) [[likely]] {
        memory.resType = CU_RESOURCE_TYPE_ARRAY;
        memory.res.array.hArray = elements.handle;
    } else {
        memory = detail::description_of(resource);
    }
    const CUDA_TEXTURE_DESC sampling = sampling_of(options, elements);
    std::optional<CUDA_RESOURCE_VIEW_DESC> view;
    if (options.view.has_value()) [[unlikely]] {
        view = view_of(*options.view, elements);
    }
    auto state = std::make_shared<detail::HandleState>(resource, options, context);
    const driver::Current current(state->context->handle);
    const auto& entry = table().cuTexObjectCreate;
    const CUresult status =
        entry(&state->handle, &memory, &sampling, view.has_value() ? &*view : nullptr);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        raise_texture_failure(status, entry.name, resource, *state->context->device);
    }
    state->is_owned = true;
    return detail::Access::make<TextureObject>(std::move(state));
}

Elements elements_of(const detail::ArrayState& array) {
    return {.format = array.format,
            .array = &array.description,
            .handle = array.handle,
            .is_array = true};
}

Elements elements_of(const ResourceDescriptor& resource) {
    if (const OpaqueArray* const array = resource.opaque_array()) {
        return elements_of(detail::open(*array));
    }
    if (const MipmappedArray* const mipmap = resource.mipmapped_array()) {
        const detail::MipmapState& state = detail::open(*mipmap);
        return {.format = state.format,
                .array = &state.description,
                .num_levels = state.num_levels,
                .is_array = true};
    }
    return {.format = &info_of(resource.rows().format),
            .is_linear = resource.kind() == ResourceKind::Linear};
}

} // namespace

TextureObject TextureObject::create(const ResourceDescriptor& resource,
                                    const TextureObjectOptions& options) {
    return make_texture(resource, elements_of(resource), options, detail::context_of(resource));
}

[[gnu::hot]] TextureObject
Device::create_texture_object(const ResourceDescriptor& resource,
                              const TextureObjectOptions& options) const {
    const auto check_device = [&](const detail::ContextState& home) {
        if (home.device != state_) [[unlikely]] {
            detail::refuse_device(home.device->ordinal, *state_);
        }
    };
    // Nearly all textures are of arrays without levels: look at these once.
    if (const OpaqueArray* const array = resource.opaque_array()) [[likely]] {
        const detail::ArrayState& state = detail::open(*array);
        check_device(*state.context);
        return make_texture(resource, elements_of(state), options, state.context);
    }
    if (const auto* const home = detail::array_context(resource)) {
        check_device(**home);
        return make_texture(resource, elements_of(resource), options, *home);
    }
    const int home = resource.buffer()->device_id();
    if (home >= 0 && home != state_->ordinal) {
        detail::refuse_device(home, *state_);
    }
    return make_texture(resource, elements_of(resource), options, detail::context_for(*state_));
}

CUtexObject TextureObject::handle() const {
    return detail::open_handle(*this).handle;
}

const ResourceDescriptor& TextureObject::resource() const {
    return detail::open_handle(*this).resource;
}

const TextureObjectOptions& TextureObject::options() const {
    return detail::open_handle(*this).options;
}

Context TextureObject::context() const {
    return detail::Access::make<Context>(detail::open_handle(*this).context);
}

Device TextureObject::device() const {
    return Device(detail::open_handle(*this).context->device->ordinal);
}

bool operator==(const TextureObject& left, const TextureObject& right) noexcept {
    return left.state_ == right.state_;
}

std::string to_string(const TextureObject& texture) {
    return texture.is_closed()
               ? "<TextureObject closed>"
               : "<TextureObject handle=" +
                     detail::hexadecimal(detail::Access::state(texture)->handle) + ">";
}

const char* to_string(AddressMode mode) noexcept {
    return detail::enumerator_text<AddressMode::Border>(mode,
                                                        {"wrap", "clamp", "mirror", "border"});
}

const char* to_string(FilterMode mode) noexcept {
    return mode == FilterMode::Point ? "point" : mode == FilterMode::Linear ? "linear" : "unknown";
}

const char* to_string(ReadMode mode) noexcept {
    return mode == ReadMode::ElementType       ? "element_type"
           : mode == ReadMode::NormalizedFloat ? "normalized_float"
                                               : "unknown";
}

[[gnu::hot]] detail::HandleState::~HandleState() {
    if (!is_owned) {
        return;
    }
    if (is_surface) {
        release_in<ReleaseIn::ItsContextOnly>(context, made_at, "surface",
                                              driver::table().cuSurfObjectDestroy, handle);
    } else {
        release_in<ReleaseIn::ItsContextOnly>(context, made_at, "texture",
                                              driver::table().cuTexObjectDestroy, handle);
    }
}

void detail::retain_handle(const Stream& stream, const HandleArgument& argument) {
    if (!argument.is_closed()) {
        retain_if_captured(open(stream), Access::state(argument));
    }
}

} // namespace cuprum

std::size_t
std::hash<cuprum::TextureObject>::operator()(const cuprum::TextureObject& texture) const noexcept {
    return std::hash<std::shared_ptr<cuprum::detail::HandleState>>()(
        cuprum::detail::Access::state(texture));
}

namespace cuprum {

SurfaceObject SurfaceObject::create(const ResourceDescriptor& resource) {
    if (resource.kind() != ResourceKind::OpaqueArray) {
        throw std::invalid_argument("resource has the kind " +
                                    std::string(to_string(resource.kind())) +
                                    ", expected an array-backed one: only an OpaqueArray, or a "
                                    "level of a MipmappedArray, can be a surface");
    }
    const detail::ArrayState& array = detail::open(*resource.opaque_array());
    if (!array.has_flag(CUDA_ARRAY3D_SURFACE_LDST)) {
        throw std::invalid_argument("the array was made without is_surface_load_store; make it "
                                    "with is_surface_load_store=True");
    }
    const CUDA_RESOURCE_DESC memory = detail::description_of(resource);
    auto state =
        std::make_shared<detail::HandleState>(resource, TextureObjectOptions{}, array.context);
    state->is_surface = true;
    const driver::Current current(state->context->handle);
    driver::call(driver::table().cuSurfObjectCreate, &state->handle, &memory);
    state->is_owned = true;
    return SurfaceObject(std::move(state));
}

SurfaceObject SurfaceObject::create(const OpaqueArray& array) {
    return create(ResourceDescriptor::from_opaque_array(array));
}

SurfaceObject Device::create_surface_object(const ResourceDescriptor& resource) const {
    if (const auto* const home = detail::array_context(resource);
        home != nullptr && (*home)->device != state_) {
        detail::refuse_device((*home)->device->ordinal, *state_);
    }
    return SurfaceObject::create(resource);
}

CUsurfObject SurfaceObject::handle() const {
    return detail::open_handle(*this).handle;
}

const ResourceDescriptor& SurfaceObject::resource() const {
    return detail::open_handle(*this).resource;
}

Context SurfaceObject::context() const {
    return detail::Access::make<Context>(detail::open_handle(*this).context);
}

Device SurfaceObject::device() const {
    return Device(detail::open_handle(*this).context->device->ordinal);
}

bool operator==(const SurfaceObject& left, const SurfaceObject& right) noexcept {
    return left.state_ == right.state_;
}

std::string to_string(const SurfaceObject& surface) {
    return surface.is_closed()
               ? "<SurfaceObject closed>"
               : "<SurfaceObject handle=" +
                     detail::hexadecimal(detail::Access::state(surface)->handle) + ">";
}

} // namespace cuprum

std::size_t
std::hash<cuprum::SurfaceObject>::operator()(const cuprum::SurfaceObject& surface) const noexcept {
    return std::hash<std::shared_ptr<cuprum::detail::HandleState>>()(
        cuprum::detail::Access::state(surface));
}
