// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphics/gl.hpp"

#include "objects/process/error.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace cuprum::emulator::gl {

namespace {

constexpr Enum VERSION = 0x1F02;
constexpr Enum COPY_READ_BUFFER = 0x8F36;
constexpr Enum COPY_WRITE_BUFFER = 0x8F37;
constexpr Enum BUFFER_SIZE = 0x8764;
constexpr Enum BUFFER_MAPPED = 0x88BC;
constexpr Enum BUFFER_ACCESS_FLAGS = 0x911F;
constexpr Enum STREAM_DRAW = 0x88E0;
constexpr Enum STREAM_READ = 0x88E1;
constexpr unsigned MAP_READ_BIT = 0x0001;
constexpr unsigned MAP_PERSISTENT_BIT = 0x0040;

constexpr int OLDEST_VERSION = 31;
constexpr int OLDEST_EMBEDDED_VERSION = 30;

/// A library that makes contexts of OpenGL current.
struct Platform {
    std::array<const char*, 2> libraries; // by the names under which programs load them
    const char* get_current;
    const char* get_function;
    void* (*current_context)() = nullptr;
    void* (*find)(const char*) = nullptr;
    Functions functions{};

    /// Finds the library if the program has loaded it meanwhile.
    bool is_loaded() noexcept;
    void load_functions();
};

bool Platform::is_loaded() noexcept {
    if (find != nullptr) {
        return true;
    }
    const auto look_in = [&](void* library) {
        const auto context = reinterpret_cast<void* (*)()>(::dlsym(library, get_current));
        const auto function =
            reinterpret_cast<void* (*)(const char*)>(::dlsym(library, get_function));
        if (context != nullptr && function != nullptr) {
            current_context = context;
            find = function;
        }
        return find != nullptr;
    };
    for (const char* name : libraries) {
        // RTLD_NOLOAD: only what the program itself has loaded is ever used.
        if (void* const library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
            if (look_in(library)) { // keeps the library, because we keep its functions
                return true;
            }
            ::dlclose(library);
        }
    }
    return look_in(RTLD_DEFAULT); // linked into the program itself
}

void Platform::load_functions() {
    if (functions.get_string != nullptr) {
        return;
    }
    const auto load = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(name));
    };
    Functions& all = functions;
    load(all.get_integers, "glGetIntegerv");
    load(all.is_buffer, "glIsBuffer");
    load(all.generate_buffers, "glGenBuffers");
    load(all.delete_buffers, "glDeleteBuffers");
    load(all.bind_buffer, "glBindBuffer");
    load(all.buffer_data, "glBufferData");
    load(all.buffer_parameter, "glGetBufferParameteriv");
    load(all.buffer_parameter_64, "glGetBufferParameteri64v");
    load(all.copy_buffer, "glCopyBufferSubData");
    load(all.map_buffer, "glMapBufferRange");
    load(all.unmap_buffer, "glUnmapBuffer");
    load(all.get_error, "glGetError");
    load(all.is_texture, "glIsTexture");
    load(all.generate_textures, "glGenTextures");
    load(all.delete_textures, "glDeleteTextures");
    load(all.bind_texture, "glBindTexture");
    load(all.texture_parameter, "glGetTexParameteriv");
    load(all.level_parameter, "glGetTexLevelParameteriv");
    load(all.pixel_store, "glPixelStorei");
    load(all.get_image, "glGetTexImage");
    load(all.set_image_2d, "glTexSubImage2D");
    load(all.set_image_3d, "glTexSubImage3D");
    load(all.storage_2d, "glTexStorage2D");
    load(all.is_renderbuffer, "glIsRenderbuffer");
    load(all.bind_renderbuffer, "glBindRenderbuffer");
    load(all.renderbuffer_parameter, "glGetRenderbufferParameteriv");
    load(all.copy_image, "glCopyImageSubData");
    load(all.get_string, "glGetString"); // last: it marks the end
}

std::mutex platforms_mutex;

/// Returns the library whose context is current, or nullptr. The mutex must be held.
Platform* current_platform() noexcept {
    static std::array<Platform, 2> platforms{
        Platform{{"libEGL.so.1", "libEGL.so"}, "eglGetCurrentContext", "eglGetProcAddress"},
        Platform{{"libGLX.so.0", "libGL.so.1"}, "glXGetCurrentContext", "glXGetProcAddressARB"}};
    for (Platform& each : platforms) {
        if (each.is_loaded() && each.current_context() != nullptr) {
            return &each;
        }
    }
    return nullptr;
}

/// Reads "4.5 (Core Profile) Mesa 22.3.6" or "OpenGL ES 3.2 NVIDIA 580.65".
void read_version(Functions& functions) {
    const auto* const text = reinterpret_cast<const char*>(functions.get_string(VERSION));
    std::string_view version = text == nullptr ? "" : text;
    constexpr std::string_view embedded = "OpenGL ES ";
    functions.is_embedded = version.starts_with(embedded);
    if (functions.is_embedded) {
        version.remove_prefix(embedded.size());
    }
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    const bool is_known =
        version.size() >= 3 && is_digit(version[0]) && version[1] == '.' && is_digit(version[2]);
    functions.version = is_known ? (version[0] - '0') * 10 + (version[2] - '0') : 0;
}

/// Binds two buffers for a copy, and what was bound before when it ends.
class BoundForCopy {
public:
    BoundForCopy(const Functions& gl, Name from, Name to) : gl_(gl) {
        gl_.get_integers(COPY_READ_BUFFER, &read_before_); // the binding has the target's number
        gl_.get_integers(COPY_WRITE_BUFFER, &write_before_);
        gl_.bind_buffer(COPY_READ_BUFFER, from);
        gl_.bind_buffer(COPY_WRITE_BUFFER, to);
    }

    ~BoundForCopy() {
        gl_.bind_buffer(COPY_READ_BUFFER, static_cast<Name>(read_before_));
        gl_.bind_buffer(COPY_WRITE_BUFFER, static_cast<Name>(write_before_));
    }

    BoundForCopy(const BoundForCopy&) = delete;
    BoundForCopy& operator=(const BoundForCopy&) = delete;

private:
    const Functions& gl_;
    int read_before_ = 0;
    int write_before_ = 0;
};

/// A buffer of OpenGL for the time of one copy.
///
/// Copying through it works for every buffer, however its storage was made: programs may have
/// forbidden to map it or to write it from memory.
class StagingBuffer {
public:
    explicit StagingBuffer(const Functions& gl) : gl_(gl) { gl_.generate_buffers(1, &name_); }

    ~StagingBuffer() { gl_.delete_buffers(1, &name_); }

    StagingBuffer(const StagingBuffer&) = delete;
    StagingBuffer& operator=(const StagingBuffer&) = delete;

    [[nodiscard]] Name name() const noexcept { return name_; }

private:
    const Functions& gl_;
    Name name_ = 0;
};

/// Throws if OpenGL would not copy the buffer that is bound to a target.
void check_not_mapped(const Functions& gl, Enum target, CUresult code) {
    int is_mapped = 0;
    gl.buffer_parameter(target, BUFFER_MAPPED, &is_mapped);
    if (is_mapped == 0) {
        return;
    }
    int access = 0;
    gl.buffer_parameter(target, BUFFER_ACCESS_FLAGS, &access);
    if ((static_cast<unsigned>(access) & MAP_PERSISTENT_BIT) == 0) {
        fail(code, "OpenGL itself has the buffer mapped (glMapBuffer); unmap it there first");
    }
}

} // namespace

const Functions& current() {
    const std::lock_guard lock(platforms_mutex);
    Platform* const platform = current_platform();
    if (platform == nullptr) {
        fail(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
             "no context of OpenGL is current on this thread; make one current with "
             "eglMakeCurrent or glXMakeCurrent");
    }
    platform->load_functions();
    // Contexts of different versions may be current one after the other, or on different threads.
    static thread_local Functions functions;
    functions = platform->functions;
    read_version(functions);
    return functions;
}

std::uint64_t buffer_bytes(const Functions& gl, Name buffer) {
    const int oldest = gl.is_embedded ? OLDEST_EMBEDDED_VERSION : OLDEST_VERSION;
    if (gl.version < oldest) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the emulated device shares buffers with OpenGL 3.1 or OpenGL ES 3.0 and newer");
    }
    require(buffer != 0, "0 is no buffer of OpenGL");
    if (gl.is_buffer(buffer) == 0) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "OpenGL has no buffer " + std::to_string(buffer) +
                 " in the current context; a name becomes a buffer when it is first bound");
    }
    const BoundForCopy bound(gl, buffer, 0);
    if (gl.buffer_parameter_64 != nullptr) {
        std::int64_t bytes = 0;
        gl.buffer_parameter_64(COPY_READ_BUFFER, BUFFER_SIZE, &bytes);
        return static_cast<std::uint64_t>(bytes);
    }
    int bytes = 0;
    gl.buffer_parameter(COPY_READ_BUFFER, BUFFER_SIZE, &bytes);
    return static_cast<std::uint64_t>(bytes);
}

void read_buffer(const Functions& gl, Name buffer, void* to, std::uint64_t bytes) {
    const auto size = static_cast<std::ptrdiff_t>(bytes);
    const StagingBuffer staging(gl);
    const BoundForCopy bound(gl, buffer, staging.name());
    check_not_mapped(gl, COPY_READ_BUFFER, CUDA_ERROR_MAP_FAILED);
    gl.buffer_data(COPY_WRITE_BUFFER, size, nullptr, STREAM_READ);
    gl.copy_buffer(COPY_READ_BUFFER, COPY_WRITE_BUFFER, 0, 0, size);
    const void* const data = gl.map_buffer(COPY_WRITE_BUFFER, 0, size, MAP_READ_BIT);
    if (data == nullptr) {
        fail(CUDA_ERROR_MAP_FAILED,
             "OpenGL refused to map a copy of the buffer of " + std::to_string(bytes) + " bytes");
    }
    std::memcpy(to, data, bytes);
    gl.unmap_buffer(COPY_WRITE_BUFFER);
}

void write_buffer(const Functions& gl, Name buffer, const void* from, std::uint64_t bytes) {
    const auto size = static_cast<std::ptrdiff_t>(bytes);
    const StagingBuffer staging(gl);
    const BoundForCopy bound(gl, staging.name(), buffer);
    check_not_mapped(gl, COPY_WRITE_BUFFER, CUDA_ERROR_UNMAP_FAILED);
    gl.buffer_data(COPY_READ_BUFFER, size, from, STREAM_DRAW);
    gl.copy_buffer(COPY_READ_BUFFER, COPY_WRITE_BUFFER, 0, 0, size);
}

} // namespace cuprum::emulator::gl
