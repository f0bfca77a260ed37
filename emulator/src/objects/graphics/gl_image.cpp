// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphics/gl_image.hpp"

#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace cuprum::emulator::gl {

namespace {

constexpr Enum RED = 0x1903;
constexpr Enum ALPHA = 0x1906;
constexpr Enum RGBA = 0x1908;
constexpr Enum LUMINANCE = 0x1909;
constexpr Enum LUMINANCE_ALPHA = 0x190A;
constexpr Enum RG = 0x8227;
constexpr Enum RED_INTEGER = 0x8D94;
constexpr Enum RG_INTEGER = 0x8228;
constexpr Enum RGBA_INTEGER = 0x8D99;
constexpr Enum BYTE = 0x1400;
constexpr Enum UNSIGNED_BYTE = 0x1401;
constexpr Enum SHORT = 0x1402;
constexpr Enum UNSIGNED_SHORT = 0x1403;
constexpr Enum INT = 0x1404;
constexpr Enum UNSIGNED_INT = 0x1405;
constexpr Enum FLOAT = 0x1406;
constexpr Enum HALF_FLOAT = 0x140B;

constexpr Enum TEXTURE_WIDTH = 0x1000;
constexpr Enum TEXTURE_HEIGHT = 0x1001;
constexpr Enum TEXTURE_INTERNAL_FORMAT = 0x1003;
constexpr Enum TEXTURE_DEPTH = 0x8071;
constexpr Enum TEXTURE_MAX_LEVEL = 0x813D;
constexpr Enum TEXTURE_CUBE_MAP_POSITIVE_X = 0x8515;
constexpr Enum RENDERBUFFER_BINDING = 0x8CA7;
constexpr Enum RENDERBUFFER_WIDTH = 0x8D42;
constexpr Enum RENDERBUFFER_HEIGHT = 0x8D43;
constexpr Enum RENDERBUFFER_INTERNAL_FORMAT = 0x8D44;
constexpr Enum PIXEL_PACK_BUFFER = 0x88EB;
constexpr Enum PIXEL_PACK_BUFFER_BINDING = 0x88ED;
constexpr Enum PIXEL_UNPACK_BUFFER = 0x88EC;
constexpr Enum PIXEL_UNPACK_BUFFER_BINDING = 0x88EF;

constexpr int OLDEST_IMAGE_VERSION = 30;
constexpr int OLDEST_RENDERBUFFER_VERSION = 43;
constexpr unsigned CUBE_FACES = 6;

constexpr auto U8 = CU_AD_FORMAT_UNSIGNED_INT8;
constexpr auto U16 = CU_AD_FORMAT_UNSIGNED_INT16;
constexpr auto U32 = CU_AD_FORMAT_UNSIGNED_INT32;
constexpr auto S8 = CU_AD_FORMAT_SIGNED_INT8;
constexpr auto S16 = CU_AD_FORMAT_SIGNED_INT16;
constexpr auto S32 = CU_AD_FORMAT_SIGNED_INT32;
constexpr auto F16 = CU_AD_FORMAT_HALF;
constexpr auto F32 = CU_AD_FORMAT_FLOAT;

// What NVIDIA's driver 580 takes. Formats of three channels have a fourth one in the array.
constexpr auto FORMATS = std::to_array<ImageFormat>({
    // clang-format off
    {0x8229, RED, UNSIGNED_BYTE, U8, 1, 1},           // GL_R8
    {0x822B, RG, UNSIGNED_BYTE, U8, 2, 1},            // GL_RG8
    {0x8051, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_RGB8
    {0x8058, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_RGBA8
    {0x8C41, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_SRGB8
    {0x8C43, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_SRGB8_ALPHA8
    {0x822A, RED, UNSIGNED_SHORT, U16, 1, 2},         // GL_R16
    {0x822C, RG, UNSIGNED_SHORT, U16, 2, 2},          // GL_RG16
    {0x805B, RGBA, UNSIGNED_SHORT, U16, 4, 2},        // GL_RGBA16
    {0x822D, RED, HALF_FLOAT, F16, 1, 2},             // GL_R16F
    {0x822F, RG, HALF_FLOAT, F16, 2, 2},              // GL_RG16F
    {0x881A, RGBA, HALF_FLOAT, F16, 4, 2},            // GL_RGBA16F
    {0x822E, RED, FLOAT, F32, 1, 4},                  // GL_R32F
    {0x8230, RG, FLOAT, F32, 2, 4},                   // GL_RG32F
    {0x8814, RGBA, FLOAT, F32, 4, 4},                 // GL_RGBA32F
    {0x8232, RED_INTEGER, UNSIGNED_BYTE, U8, 1, 1},   // GL_R8UI
    {0x8238, RG_INTEGER, UNSIGNED_BYTE, U8, 2, 1},    // GL_RG8UI
    {0x8D7C, RGBA_INTEGER, UNSIGNED_BYTE, U8, 4, 1},  // GL_RGBA8UI
    {0x8234, RED_INTEGER, UNSIGNED_SHORT, U16, 1, 2}, // GL_R16UI
    {0x823A, RG_INTEGER, UNSIGNED_SHORT, U16, 2, 2},  // GL_RG16UI
    {0x8D76, RGBA_INTEGER, UNSIGNED_SHORT, U16, 4, 2},// GL_RGBA16UI
    {0x8236, RED_INTEGER, UNSIGNED_INT, U32, 1, 4},   // GL_R32UI
    {0x823C, RG_INTEGER, UNSIGNED_INT, U32, 2, 4},    // GL_RG32UI
    {0x8D70, RGBA_INTEGER, UNSIGNED_INT, U32, 4, 4},  // GL_RGBA32UI
    {0x8231, RED_INTEGER, BYTE, S8, 1, 1},            // GL_R8I
    {0x8237, RG_INTEGER, BYTE, S8, 2, 1},             // GL_RG8I
    {0x8D8E, RGBA_INTEGER, BYTE, S8, 4, 1},           // GL_RGBA8I
    {0x8233, RED_INTEGER, SHORT, S16, 1, 2},          // GL_R16I
    {0x8239, RG_INTEGER, SHORT, S16, 2, 2},           // GL_RG16I
    {0x8D88, RGBA_INTEGER, SHORT, S16, 4, 2},         // GL_RGBA16I
    {0x8235, RED_INTEGER, INT, S32, 1, 4},            // GL_R32I
    {0x823B, RG_INTEGER, INT, S32, 2, 4},             // GL_RG32I
    {0x8D82, RGBA_INTEGER, INT, S32, 4, 4},           // GL_RGBA32I
    {0x803C, ALPHA, UNSIGNED_BYTE, U8, 1, 1},         // GL_ALPHA8
    {0x8040, LUMINANCE, UNSIGNED_BYTE, U8, 1, 1},     // GL_LUMINANCE8
    {0x8045, LUMINANCE_ALPHA, UNSIGNED_BYTE, U8, 2, 1}, // GL_LUMINANCE8_ALPHA8
    {0x1903, RED, UNSIGNED_BYTE, U8, 1, 1},           // GL_RED, without a size: 8 bits
    {0x8227, RG, UNSIGNED_BYTE, U8, 2, 1},            // GL_RG
    {0x1907, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_RGB
    {0x1908, RGBA, UNSIGNED_BYTE, U8, 4, 1},          // GL_RGBA
    // clang-format on
});

struct Target {
    Enum target;
    Enum binding; // what glGetIntegerv calls the image that is bound there
};

constexpr std::array TARGETS{Target{TEXTURE_2D, 0x8069},       Target{TEXTURE_RECTANGLE, 0x84F6},
                             Target{TEXTURE_CUBE_MAP, 0x8514}, Target{TEXTURE_3D, 0x806A},
                             Target{TEXTURE_2D_ARRAY, 0x8C1D}, Target{RENDERBUFFER, 0x8CA7}};

std::string hex(Enum number) {
    std::ostringstream out;
    out << "0x" << std::hex << number;
    return out.str();
}

Enum binding_of(Enum target) {
    const auto* const found = std::ranges::find(TARGETS, target, &Target::target);
    require(found != TARGETS.end(), "images of this target cannot be registered");
    return found->binding;
}

const ImageFormat& format_of(int internal) {
    const auto* const found =
        std::ranges::find(FORMATS, static_cast<Enum>(internal), &ImageFormat::internal);
    if (found == FORMATS.end()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "the internal format of the image is " + hex(static_cast<Enum>(internal)) +
                 ", which CUDA does not share; use one of R, RG or RGBA with 8, 16 or 32 bits");
    }
    return *found;
}

/// Binds a texture, and what was bound before when it ends.
class BoundTexture {
public:
    BoundTexture(const Functions& gl, Enum target, Name texture) : gl_(gl), target_(target) {
        gl_.get_integers(binding_of(target), &before_);
        gl_.bind_texture(target, texture);
        int now = 0;
        gl_.get_integers(binding_of(target), &now);
        if (now != static_cast<int>(texture)) {
            (void)gl_.get_error(); // of the line above, not the program's
            fail(CUDA_ERROR_INVALID_VALUE, "texture " + std::to_string(texture) +
                                               " of OpenGL has another target than " + hex(target));
        }
    }

    ~BoundTexture() { gl_.bind_texture(target_, static_cast<Name>(before_)); }

    BoundTexture(const BoundTexture&) = delete;
    BoundTexture& operator=(const BoundTexture&) = delete;

private:
    const Functions& gl_;
    Enum target_;
    int before_ = 0;
};

/// Makes OpenGL copy texels from or to plain memory without gaps, and sets all back when it ends.
class PlainTexels {
public:
    PlainTexels(const Functions& gl, bool is_pack) : gl_(gl), is_pack_(is_pack) {
        gl_.get_integers(is_pack ? PIXEL_PACK_BUFFER_BINDING : PIXEL_UNPACK_BUFFER_BINDING,
                         &buffer_);
        gl_.bind_buffer(target(), 0);
        for (std::size_t index = 0; index < SETTINGS.size(); ++index) {
            gl_.get_integers(setting(index), &before_[index]);
            gl_.pixel_store(setting(index), SETTINGS[index].wanted);
        }
    }

    ~PlainTexels() {
        for (std::size_t index = 0; index < SETTINGS.size(); ++index) {
            gl_.pixel_store(setting(index), before_[index]);
        }
        gl_.bind_buffer(target(), static_cast<Name>(buffer_));
    }

    PlainTexels(const PlainTexels&) = delete;
    PlainTexels& operator=(const PlainTexels&) = delete;

private:
    struct Setting {
        Enum pack;
        Enum unpack;
        int wanted;
    };

    static constexpr std::array SETTINGS{
        Setting{0x0D00, 0x0CF0, 0}, // SWAP_BYTES
        Setting{0x0D02, 0x0CF2, 0}, // ROW_LENGTH
        Setting{0x0D03, 0x0CF3, 0}, // SKIP_ROWS
        Setting{0x0D04, 0x0CF4, 0}, // SKIP_PIXELS
        Setting{0x0D05, 0x0CF5, 1}, // ALIGNMENT
        Setting{0x806B, 0x806D, 0}, // SKIP_IMAGES
        Setting{0x806C, 0x806E, 0}, // IMAGE_HEIGHT
    };

    [[nodiscard]] Enum target() const noexcept {
        return is_pack_ ? PIXEL_PACK_BUFFER : PIXEL_UNPACK_BUFFER;
    }

    [[nodiscard]] Enum setting(std::size_t index) const noexcept {
        return is_pack_ ? SETTINGS[index].pack : SETTINGS[index].unpack;
    }

    const Functions& gl_;
    bool is_pack_;
    int buffer_ = 0;
    std::array<int, SETTINGS.size()> before_{};
};

/// A texture for the time of one copy. It stands for a renderbuffer, whose texels OpenGL does not
/// read or write itself.
class StandIn {
public:
    StandIn(const Functions& gl, const Image& image) : gl_(gl), image_(image) {
        gl_.generate_textures(1, &name_);
        const BoundTexture bound(gl_, TEXTURE_2D, name_);
        gl_.storage_2d(TEXTURE_2D, 1, image_.format->internal, static_cast<int>(image_.width),
                       static_cast<int>(image_.height));
    }

    ~StandIn() { gl_.delete_textures(1, &name_); }

    StandIn(const StandIn&) = delete;
    StandIn& operator=(const StandIn&) = delete;

    /// Returns the texture as an image.
    [[nodiscard]] Image image() const {
        Image result = image_;
        result.name = name_;
        result.target = TEXTURE_2D;
        return result;
    }

    void take_renderbuffer() const { copy(image_.name, RENDERBUFFER, name_, TEXTURE_2D); }

    void give_renderbuffer() const { copy(name_, TEXTURE_2D, image_.name, RENDERBUFFER); }

private:
    void copy(Name from, Enum from_target, Name to, Enum to_target) const {
        gl_.copy_image(from, from_target, 0, 0, 0, 0, to, to_target, 0, 0, 0, 0,
                       static_cast<int>(image_.width), static_cast<int>(image_.height), 1);
    }

    const Functions& gl_;
    const Image& image_;
    Name name_ = 0;
};

Image find_renderbuffer(const Functions& gl, Name name) {
    if (gl.version < OLDEST_RENDERBUFFER_VERSION || gl.copy_image == nullptr ||
        gl.storage_2d == nullptr) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the emulated device shares renderbuffers with OpenGL 4.3 and newer");
    }
    if (gl.is_renderbuffer(name) == 0) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "OpenGL has no renderbuffer " + std::to_string(name) + " in the current context");
    }
    int before = 0;
    int width = 0;
    int height = 0;
    int format = 0;
    gl.get_integers(RENDERBUFFER_BINDING, &before);
    gl.bind_renderbuffer(RENDERBUFFER, name);
    gl.renderbuffer_parameter(RENDERBUFFER, RENDERBUFFER_WIDTH, &width);
    gl.renderbuffer_parameter(RENDERBUFFER, RENDERBUFFER_HEIGHT, &height);
    gl.renderbuffer_parameter(RENDERBUFFER, RENDERBUFFER_INTERNAL_FORMAT, &format);
    gl.bind_renderbuffer(RENDERBUFFER, static_cast<Name>(before));
    require(width > 0 && height > 0, "the renderbuffer has no storage");
    return {name,
            RENDERBUFFER,
            &format_of(format),
            static_cast<unsigned>(width),
            static_cast<unsigned>(height),
            0,
            1};
}

/// Returns the target of queries about a texture: of a cube map, that of its first face.
Enum query_target(Enum target) {
    return target == TEXTURE_CUBE_MAP ? TEXTURE_CUBE_MAP_POSITIVE_X : target;
}

unsigned halved(unsigned size, unsigned level) {
    return std::max(1U, size >> level);
}

/// Returns whether a level of a bound texture, or of a face of a cube map, has the size and the
/// format that level 0 prescribes. Programs may define levels that do not fit.
bool has_level(const Functions& gl, Enum query, int level, const Image& whole) {
    const auto is = [&](Enum parameter, unsigned expected) {
        int value = 0;
        gl.level_parameter(query, level, parameter, &value);
        return value > 0 && static_cast<unsigned>(value) == expected;
    };
    const auto number = static_cast<unsigned>(level);
    return is(TEXTURE_WIDTH, whole.width_of(number)) &&
           is(TEXTURE_HEIGHT, whole.height_of(number)) &&
           is(TEXTURE_INTERNAL_FORMAT, whole.format->internal) &&
           (whole.target == TEXTURE_CUBE_MAP || whole.depth == 0 ||
            is(TEXTURE_DEPTH, whole.slices_of(number)));
}

/// Counts the levels that a bound texture has.
unsigned count_levels(const Functions& gl, const Image& whole) {
    const Enum target = whole.target;
    if (target == TEXTURE_RECTANGLE) {
        return 1;
    }
    int last = 0;
    gl.texture_parameter(target, TEXTURE_MAX_LEVEL, &last);
    constexpr int most_levels = 32;
    unsigned levels = 0;
    for (int level = 0; level <= std::min(last, most_levels - 1); ++level) {
        const unsigned faces = target == TEXTURE_CUBE_MAP ? CUBE_FACES : 1;
        for (unsigned face = 0; face < faces; ++face) {
            if (!has_level(gl, query_target(target) + face, level, whole)) {
                return levels;
            }
        }
        ++levels;
    }
    return levels;
}

} // namespace

unsigned Image::width_of(unsigned level) const noexcept {
    return halved(width, level);
}

unsigned Image::height_of(unsigned level) const noexcept {
    return halved(height, level);
}

unsigned Image::slices_of(unsigned level) const noexcept {
    return target == TEXTURE_3D ? halved(depth, level) : std::max(1U, depth);
}

bool is_image_target(Enum target) noexcept {
    return std::ranges::find(TARGETS, target, &Target::target) != TARGETS.end();
}

Image find_image(const Functions& gl, Name name, Enum target) {
    if (gl.is_embedded || gl.version < OLDEST_IMAGE_VERSION || gl.get_image == nullptr) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the emulated device shares images with OpenGL 3.0 and newer, not with OpenGL ES");
    }
    require(name != 0, "0 is no image of OpenGL");
    if (target == RENDERBUFFER) {
        return find_renderbuffer(gl, name);
    }
    if (gl.is_texture(name) == 0) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "OpenGL has no texture " + std::to_string(name) +
                 " in the current context; a name becomes a texture when it is first bound");
    }
    const BoundTexture bound(gl, target, name);
    const Enum query = query_target(target);
    int width = 0;
    int height = 0;
    int depth = 0;
    int format = 0;
    gl.level_parameter(query, 0, TEXTURE_WIDTH, &width);
    gl.level_parameter(query, 0, TEXTURE_HEIGHT, &height);
    gl.level_parameter(query, 0, TEXTURE_INTERNAL_FORMAT, &format);
    require(width > 0 && height > 0, "the texture has no storage: its level 0 is not defined");
    if (target == TEXTURE_3D || target == TEXTURE_2D_ARRAY) {
        gl.level_parameter(query, 0, TEXTURE_DEPTH, &depth);
    } else if (target == TEXTURE_CUBE_MAP) {
        depth = static_cast<int>(CUBE_FACES);
    }
    Image image{name,
                target,
                &format_of(format),
                static_cast<unsigned>(width),
                static_cast<unsigned>(height),
                static_cast<unsigned>(depth),
                0};
    image.levels = count_levels(gl, image);
    require(image.levels != 0, "the faces of the cube map have different sizes or formats");
    return image;
}

void read_level(const Functions& gl, const Image& image, unsigned level, void* to) {
    if (image.target == RENDERBUFFER) {
        const StandIn texture(gl, image);
        texture.take_renderbuffer();
        read_level(gl, texture.image(), 0, to);
        return;
    }
    const BoundTexture bound(gl, image.target, image.name);
    const PlainTexels plain(gl, true);
    const ImageFormat& format = *image.format;
    if (image.target != TEXTURE_CUBE_MAP) {
        gl.get_image(image.target, static_cast<int>(level), format.layout, format.type, to);
        return;
    }
    const std::size_t face_bytes =
        std::size_t{image.width_of(level)} * image.height_of(level) * format.texel_bytes();
    for (unsigned face = 0; face < CUBE_FACES; ++face) {
        gl.get_image(TEXTURE_CUBE_MAP_POSITIVE_X + face, static_cast<int>(level), format.layout,
                     format.type, static_cast<std::byte*>(to) + face * face_bytes);
    }
}

void write_level(const Functions& gl, const Image& image, unsigned level, const void* from) {
    if (image.target == RENDERBUFFER) {
        const StandIn texture(gl, image);
        write_level(gl, texture.image(), 0, from);
        texture.give_renderbuffer();
        return;
    }
    const BoundTexture bound(gl, image.target, image.name);
    const PlainTexels plain(gl, false);
    const ImageFormat& format = *image.format;
    const auto number = static_cast<int>(level);
    const auto width = static_cast<int>(image.width_of(level));
    const auto height = static_cast<int>(image.height_of(level));
    if (image.target == TEXTURE_3D || image.target == TEXTURE_2D_ARRAY) {
        gl.set_image_3d(image.target, number, 0, 0, 0, width, height,
                        static_cast<int>(image.slices_of(level)), format.layout, format.type, from);
        return;
    }
    if (image.target != TEXTURE_CUBE_MAP) {
        gl.set_image_2d(image.target, number, 0, 0, width, height, format.layout, format.type,
                        from);
        return;
    }
    const std::size_t face_bytes =
        std::size_t{image.width_of(level)} * image.height_of(level) * format.texel_bytes();
    for (unsigned face = 0; face < CUBE_FACES; ++face) {
        gl.set_image_2d(TEXTURE_CUBE_MAP_POSITIVE_X + face, number, 0, 0, width, height,
                        format.layout, format.type,
                        static_cast<const std::byte*>(from) + face * face_bytes);
    }
}

} // namespace cuprum::emulator::gl
