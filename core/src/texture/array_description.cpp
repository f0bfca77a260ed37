// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "texture/array_description.hpp"

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "memory/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

constexpr unsigned CUBE_FACES = 6;

/// A limit of a device: the largest size in one direction.
struct SizeLimit {
    std::size_t size = 0;
    std::string what;     // "width"
    std::string property; // the name of the device's property
};

using Limits = std::vector<SizeLimit>;

/// The ways in which an option sets a flag.
constexpr std::array<std::pair<bool OpaqueArrayOptions::*, unsigned>, 8> ARRAY_FLAGS{{
    {&OpaqueArrayOptions::is_cubemap, CUDA_ARRAY3D_CUBEMAP},
    {&OpaqueArrayOptions::is_surface_load_store, CUDA_ARRAY3D_SURFACE_LDST},
    {&OpaqueArrayOptions::is_texture_gather, CUDA_ARRAY3D_TEXTURE_GATHER},
    {&OpaqueArrayOptions::is_depth_texture, CUDA_ARRAY3D_DEPTH_TEXTURE},
    {&OpaqueArrayOptions::is_color_attachment, CUDA_ARRAY3D_COLOR_ATTACHMENT},
    {&OpaqueArrayOptions::is_sparse, CUDA_ARRAY3D_SPARSE},
    {&OpaqueArrayOptions::is_deferred_mapping, CUDA_ARRAY3D_DEFERRED_MAPPING},
    {&OpaqueArrayOptions::is_video, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE},
}};

void check_extent(const OpaqueArrayOptions& options);
unsigned checked_channels(const OpaqueArrayOptions& options);
Limits size_limits(const CUDA_ARRAY3D_DESCRIPTOR& array, const std::string& use,
                   const std::string& kind, const std::string& suffix = {});
std::string exceeded_texture_limit(const CUDA_ARRAY3D_DESCRIPTOR& array, bool is_mipmapped,
                                   const Device& device);
std::string exceeded_limit(const Limits& limits, const Device& device);
std::string why_refused(const CUDA_ARRAY3D_DESCRIPTOR& array);

} // namespace

CUDA_ARRAY3D_DESCRIPTOR detail::description_of(const OpaqueArrayOptions& options) {
    check_extent(options);
    CUDA_ARRAY3D_DESCRIPTOR made{};
    made.Width = options.extent.width;
    made.Height = options.extent.height;
    made.Depth = options.extent.depth;
    made.Format = static_cast<CUarray_format>(options.format);
    made.NumChannels = checked_channels(options);
    for (const auto& [option, flag] : ARRAY_FLAGS) {
        made.Flags |= options.*option ? flag : 0U;
    }
    if (options.num_layers != 0) {
        made.Flags |= CUDA_ARRAY3D_LAYERED;
        made.Depth = options.num_layers;
    }
    if (options.is_cubemap) {
        made.Depth = std::size_t{CUBE_FACES} * std::max(options.num_layers, 1U);
    }
    return made;
}

OpaqueArrayOptions detail::options_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    OpaqueArrayOptions made{.extent = {description.Width, description.Height, description.Depth},
                            .format = static_cast<ArrayFormat>(description.Format),
                            .num_channels = description.NumChannels};
    for (const auto& [option, flag] : ARRAY_FLAGS) {
        made.*option = (description.Flags & flag) != 0;
    }
    const auto layers = static_cast<unsigned>(description.Depth);
    if ((description.Flags & CUDA_ARRAY3D_LAYERED) != 0) {
        made.num_layers = made.is_cubemap ? layers / CUBE_FACES : layers;
    }
    if (made.is_cubemap || made.num_layers != 0) {
        made.extent.depth = 0;
    }
    return made;
}

std::size_t detail::bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const ArrayFormatInfo& format = info_of(static_cast<ArrayFormat>(description.Format));
    const auto blocks = [&](std::size_t elements) {
        return (std::max<std::size_t>(elements, 1) + format.block - 1) / format.block;
    };
    const std::size_t bytes =
        std::size_t{format.bytes} * (format.num_channels == 0 ? description.NumChannels : 1U);
    return blocks(description.Width) * blocks(description.Height) *
           std::max<std::size_t>(description.Depth, 1) * bytes;
}

void detail::raise_array_failure(CUresult status, const char* call,
                                 const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                                 DeviceState& device) {
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        raise_out_of_memory(call, bytes_of(description), device.ordinal);
    }
    if (status == CUDA_ERROR_INVALID_VALUE) {
        const Device home(device.ordinal);
        std::string text = exceeded_texture_limit(description, levels != 0, home);
        if (text.empty() && (description.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0) {
            text = exceeded_limit(size_limits(description, "surface", {}), home);
        }
        if (!text.empty()) {
            throw std::invalid_argument(text);
        }
    }
    const std::string hint = why_refused(description);
    if (!hint.empty() &&
        (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED)) {
        throw std::invalid_argument(hint);
    }
    driver::raise(status, call);
}

void detail::check_deferred(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    if ((description.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) {
        throw std::invalid_argument("the array was made without is_deferred_mapping: only arrays "
                                    "whose memory is mapped later have requirements");
    }
}

void detail::check_sparse(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    if ((description.Flags & CUDA_ARRAY3D_SPARSE) == 0) {
        throw std::invalid_argument("the array was made without is_sparse: only sparse arrays have "
                                    "tiles");
    }
}

std::string detail::text_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const OpaqueArrayOptions options = options_of(description);
    std::string text = to_string(options.extent) + " of " + to_string(options.format) +
                       " channels=" + std::to_string(options.num_channels);
    text += options.is_cubemap ? " cubemap" : "";
    text += options.num_layers != 0 ? " layers=" + std::to_string(options.num_layers) : "";
    return text;
}

ArraySparseProperties detail::sparse_properties_of(const CUDA_ARRAY_SPARSE_PROPERTIES& found) {
    return {.tile = {found.tileExtent.width, found.tileExtent.height, found.tileExtent.depth},
            .miptail_first_level = found.miptailFirstLevel,
            .miptail_size = found.miptailSize,
            .is_single_miptail = (found.flags & CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL) != 0};
}

std::string to_string(const ArrayExtent& extent) {
    std::string text = std::to_string(extent.width);
    if (extent.height != 0) {
        text += " x " + std::to_string(extent.height);
    }
    if (extent.depth != 0) {
        text += " x " + std::to_string(extent.depth);
    }
    return text;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void check_extent(const OpaqueArrayOptions& options) {
    const ArrayExtent& extent = options.extent;
    const auto refuse = [](const std::string& text) { throw std::invalid_argument(text); };
    if (extent.width == 0) {
        refuse("width is 0, expected at least 1 element");
    }
    if (extent.depth != 0 && extent.height == 0) {
        refuse("height is 0 and depth is " + std::to_string(extent.depth) +
               ", expected a height: a depth needs all three sizes");
    }
    if (extent.depth != 0 && options.num_layers != 0) {
        refuse("depth is " + std::to_string(extent.depth) + " and num_layers is " +
               std::to_string(options.num_layers) +
               ", expected one of them: only 1-D and 2-D arrays have layers");
    }
    if (options.is_cubemap && extent.depth != 0) {
        refuse("depth is " + std::to_string(extent.depth) +
               ", expected none: a cubemap has six 2-D faces");
    }
    if (options.is_cubemap && extent.width != extent.height) {
        refuse("width is " + std::to_string(extent.width) + " and height is " +
               std::to_string(extent.height) +
               ", expected equal ones: faces of a cubemap are square");
    }
    const bool is_plain_2d =
        extent.height != 0 && extent.depth == 0 && options.num_layers == 0 && !options.is_cubemap;
    if (options.is_texture_gather && !is_plain_2d) {
        refuse("is_texture_gather is set, expected it only for a 2-D array without layers; this "
               "one has " +
               to_string(extent) + " elements");
    }
}

unsigned checked_channels(const OpaqueArrayOptions& options) {
    const ArrayFormatInfo& format = info_of(options.format);
    const unsigned wanted = options.num_channels;
    if (wanted == 0) {
        return std::max(format.num_channels, 1U);
    }
    const bool is_known = format.num_channels == 0 ? wanted == 1 || wanted == 2 || wanted == 4
                                                   : wanted == format.num_channels;
    if (!is_known) {
        throw std::invalid_argument(
            "num_channels is " + std::to_string(wanted) + ", expected " +
            (format.num_channels == 0 ? "1, 2 or 4" : std::to_string(format.num_channels)) +
            " for the format " + format.name);
    }
    return wanted;
}

/// Returns the sizes of an array with the properties that limit them: "maximum_", the use
/// ("texture" or "surface"), the dimensions, the kind ("mipmapped_"), the direction, and the
/// suffix.
Limits size_limits(const CUDA_ARRAY3D_DESCRIPTOR& array, const std::string& use,
                   const std::string& kind, const std::string& suffix) {
    const bool is_layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    const bool is_cubemap = (array.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    const std::string dimensions = is_cubemap                       ? "cubemap"
                                   : array.Height == 0              ? "1d"
                                   : array.Depth == 0 || is_layered ? "2d"
                                                                    : "3d";
    const std::string start =
        "maximum_" + use + dimensions + "_" + (is_layered ? "layered_" : kind);
    Limits limits{{array.Width, "width", start + "width" + suffix}};
    if (array.Height != 0 && !is_cubemap) {
        limits.push_back({array.Height, "height", start + "height" + suffix});
    }
    if (is_layered) {
        limits.push_back(
            {array.Depth, is_cubemap ? "num_layers times 6" : "num_layers", start + "layers"});
    } else if (dimensions == "3d") {
        limits.push_back({array.Depth, "depth", start + "depth" + suffix});
    }
    return limits;
}

std::string exceeded_texture_limit(const CUDA_ARRAY3D_DESCRIPTOR& array, bool is_mipmapped,
                                   const Device& device) {
    const bool is_plain = (array.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0;
    if (is_plain && array.Depth != 0) { // 3-D arrays meet one of two sets of limits
        const std::string text = exceeded_limit(size_limits(array, "texture", {}), device);
        return exceeded_limit(size_limits(array, "texture", {}, "_alternate"), device).empty()
                   ? std::string()
                   : text;
    }
    const bool is_gathered = (array.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
    const std::string kind = !is_plain      ? ""
                             : is_gathered  ? "gather_"
                             : is_mipmapped ? "mipmapped_"
                                            : "";
    return exceeded_limit(size_limits(array, "texture", kind), device);
}

/// Returns a sentence about the first size over its limit; empty if there is none.
std::string exceeded_limit(const Limits& limits, const Device& device) {
    for (const SizeLimit& limit : limits) {
        const int most = device.properties().get(limit.property, 0);
        if (most > 0 && limit.size > static_cast<std::size_t>(most)) {
            return limit.what + " is " + std::to_string(limit.size) + ", expected at most " +
                   std::to_string(most) + ": the " + limit.property + " of device " +
                   std::to_string(device.ordinal());
        }
    }
    return {};
}

/// Returns what drivers are known to refuse about an array; empty if there is nothing.
std::string why_refused(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    const ArrayFormatInfo& format = info_of(static_cast<ArrayFormat>(array.Format));
    const std::string name = format.name;
    const auto has = [&](unsigned flag) { return (array.Flags & flag) != 0; };
    if (format.is_video && !has(CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)) {
        return "format is " + name + ", which the driver refuses without is_video";
    }
    if (format.block != 1 && array.Height == 0) {
        return "format is " + name + " and height is 0, expected a height: blocks have two sizes";
    }
    if (format.block != 1 && has(CUDA_ARRAY3D_SURFACE_LDST)) {
        return "is_surface_load_store is set, but the format is " + name +
               "; kernels cannot write compressed blocks";
    }
    if (has(CUDA_ARRAY3D_DEPTH_TEXTURE) || has(CUDA_ARRAY3D_COLOR_ATTACHMENT)) {
        return "is_depth_texture or is_color_attachment is set, which the driver allows only for "
               "memory of a graphics API";
    }
    if (has(CUDA_ARRAY3D_SPARSE) && has(CUDA_ARRAY3D_DEFERRED_MAPPING)) {
        return "is_sparse and is_deferred_mapping are set, expected one of them";
    }
    if (has(CUDA_ARRAY3D_SPARSE) && array.Height == 0) {
        return "is_sparse is set, expected a height: 1-D arrays cannot be sparse";
    }
    return {};
}

} // namespace

} // namespace cuprum
