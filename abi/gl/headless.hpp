// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// OpenGL without a window, for the tests of core/ and emulator/.
//
// The declarations are those of EGL and OpenGL, as far as the tests use them. Nothing is linked:
// libEGL.so.1 is opened when the first context is made, and every function is found by name.

#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace cuprum::gl {

constexpr unsigned ARRAY_BUFFER = 0x8892;
constexpr unsigned PIXEL_PACK_BUFFER = 0x88EB;
constexpr unsigned DYNAMIC_DRAW = 0x88E8;
constexpr unsigned TEXTURE_1D = 0x0DE0;
constexpr unsigned TEXTURE_2D = 0x0DE1;
constexpr unsigned TEXTURE_3D = 0x806F;
constexpr unsigned TEXTURE_2D_ARRAY = 0x8C1A;
constexpr unsigned TEXTURE_CUBE_MAP = 0x8513;
constexpr unsigned TEXTURE_RECTANGLE = 0x84F5;
constexpr unsigned RENDERBUFFER = 0x8D41;
constexpr unsigned TEXTURE_BASE_LEVEL = 0x813C;
constexpr unsigned TEXTURE_MAX_LEVEL = 0x813D;
constexpr unsigned TEXTURE_MIN_FILTER = 0x2801;
constexpr int NEAREST = 0x2600;
constexpr unsigned RED = 0x1903;
constexpr unsigned RGB = 0x1907;
constexpr unsigned RGBA = 0x1908;
constexpr unsigned RED_INTEGER = 0x8D94;
constexpr unsigned UNSIGNED_BYTE = 0x1401;
constexpr unsigned UNSIGNED_INT = 0x1405;
constexpr unsigned FLOAT = 0x1406;
constexpr unsigned RGB8 = 0x8051;
constexpr unsigned RGBA8 = 0x8058;
constexpr unsigned R32F = 0x822E;
constexpr unsigned RGBA32F = 0x8814;
constexpr unsigned R32UI = 0x8236;
constexpr unsigned VENDOR = 0x1F00;

/// A context of OpenGL without a surface, current on the thread that made it.
class Headless {
public:
    /// @throws std::runtime_error, saying why, if this machine cannot make one.
    Headless() {
        using namespace std::string_literals;
        void* const library = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) {
            throw std::runtime_error("no EGL: "s + ::dlerror());
        }
        find_ = reinterpret_cast<Find>(::dlsym(library, "eglGetProcAddress"));
        if (find_ == nullptr) {
            throw std::runtime_error("libEGL.so.1 has no eglGetProcAddress");
        }
        open_display();
        constexpr unsigned opengl_api = 0x30A2;
        constexpr std::array<int, 5> wanted{0x3033 /* SURFACE_TYPE */, 0x0001 /* PBUFFER_BIT */,
                                            0x3040 /* RENDERABLE_TYPE */, 0x0008 /* OPENGL_BIT */,
                                            0x3038 /* NONE */};
        void* configuration = nullptr;
        int count = 0;
        call<unsigned(unsigned)>("eglBindAPI", opengl_api);
        call<unsigned(void*, const int*, void**, int, int*)>(
            "eglChooseConfig", display_, wanted.data(), &configuration, 1, &count);
        context_ = call<void*(void*, void*, void*, const int*)>("eglCreateContext", display_,
                                                                configuration, nullptr, nullptr);
        if (context_ == nullptr || !make_current()) {
            throw std::runtime_error("EGL makes no context of OpenGL without a surface");
        }
    }

    ~Headless() {
        release();
        call<unsigned(void*, void*)>("eglDestroyContext", display_, context_);
    }

    Headless(const Headless&) = delete;
    Headless& operator=(const Headless&) = delete;

    /// Makes the context current on the calling thread.
    bool make_current() const {
        return call<unsigned(void*, void*, void*, void*)>("eglMakeCurrent", display_, nullptr,
                                                          nullptr, context_) != 0;
    }

    /// Leaves the calling thread without a context.
    void release() const {
        call<unsigned(void*, void*, void*, void*)>("eglMakeCurrent", display_, nullptr, nullptr,
                                                   nullptr);
    }

    /// Calls a function of EGL or OpenGL by its name and type.
    template <typename Signature, typename... Arguments>
    std::invoke_result_t<Signature*, Arguments...> call(const char* name,
                                                        Arguments... arguments) const {
        const auto function = reinterpret_cast<Signature*>(find_(name));
        if (function == nullptr) {
            throw std::runtime_error(std::string("the library has no function ") + name);
        }
        return function(arguments...);
    }

    [[nodiscard]] unsigned error() const { return call<unsigned()>("glGetError"); }

    [[nodiscard]] int integer(unsigned which) const {
        int value = 0;
        call<void(unsigned, int*)>("glGetIntegerv", which, &value);
        return value;
    }

    /// Makes a buffer that holds these values and leaves none bound.
    template <typename T>
    [[nodiscard]] unsigned make_buffer(const std::vector<T>& values) const {
        unsigned name = 0;
        call<void(int, unsigned*)>("glGenBuffers", 1, &name);
        call<void(unsigned, unsigned)>("glBindBuffer", ARRAY_BUFFER, name);
        call<void(unsigned, std::ptrdiff_t, const void*, unsigned)>(
            "glBufferData", ARRAY_BUFFER, static_cast<std::ptrdiff_t>(values.size() * sizeof(T)),
            values.data(), DYNAMIC_DRAW);
        call<void(unsigned, unsigned)>("glBindBuffer", ARRAY_BUFFER, 0U);
        return name;
    }

    /// Returns what a buffer holds.
    template <typename T>
    [[nodiscard]] std::vector<T> read_buffer(unsigned name, std::size_t count) const {
        std::vector<T> values(count);
        call<void(unsigned, unsigned)>("glBindBuffer", ARRAY_BUFFER, name);
        call<void(unsigned, std::ptrdiff_t, std::ptrdiff_t, void*)>(
            "glGetBufferSubData", ARRAY_BUFFER, 0, static_cast<std::ptrdiff_t>(count * sizeof(T)),
            values.data());
        call<void(unsigned, unsigned)>("glBindBuffer", ARRAY_BUFFER, 0U);
        return values;
    }

    void delete_buffer(unsigned name) const {
        call<void(int, const unsigned*)>("glDeleteBuffers", 1, &name);
    }

    /// Makes a two-dimensional texture of one level and leaves none bound.
    [[nodiscard]] unsigned make_texture(unsigned internal_format, int width, int height,
                                        unsigned format, unsigned type, const void* texels) const {
        unsigned name = 0;
        call<void(int, unsigned*)>("glGenTextures", 1, &name);
        call<void(unsigned, unsigned)>("glBindTexture", TEXTURE_2D, name);
        call<void(unsigned, unsigned, int)>("glTexParameteri", TEXTURE_2D, TEXTURE_MIN_FILTER,
                                            NEAREST);
        call<void(unsigned, unsigned, int)>("glTexParameteri", TEXTURE_2D, TEXTURE_MAX_LEVEL, 0);
        call<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>(
            "glTexImage2D", TEXTURE_2D, 0, static_cast<int>(internal_format), width, height, 0,
            format, type, texels);
        call<void(unsigned, unsigned)>("glBindTexture", TEXTURE_2D, 0U);
        return name;
    }

    /// Reads all texels of a texture's first level.
    void read_texture(unsigned name, unsigned format, unsigned type, void* texels) const {
        call<void(unsigned, unsigned)>("glBindTexture", TEXTURE_2D, name);
        call<void(unsigned, int, unsigned, unsigned, void*)>("glGetTexImage", TEXTURE_2D, 0, format,
                                                             type, texels);
        call<void(unsigned, unsigned)>("glBindTexture", TEXTURE_2D, 0U);
    }

    void delete_texture(unsigned name) const {
        call<void(int, const unsigned*)>("glDeleteTextures", 1, &name);
    }

private:
    using Find = void* (*)(const char*);

    /// Opens the first device of EGL that works. Mesa and NVIDIA both list their devices.
    void open_display() {
        constexpr unsigned platform_device = 0x313F;
        constexpr int most_devices = 8;
        std::array<void*, most_devices> devices{};
        int count = 0;
        call<unsigned(int, void**, int*)>("eglQueryDevicesEXT", most_devices, devices.data(),
                                          &count);
        for (int index = 0; index < count; ++index) {
            display_ = call<void*(unsigned, void*, const int*)>(
                "eglGetPlatformDisplayEXT", platform_device,
                devices[static_cast<std::size_t>(index)], nullptr);
            if (display_ != nullptr && call<unsigned(void*, int*, int*)>("eglInitialize", display_,
                                                                         nullptr, nullptr) != 0) {
                return;
            }
        }
        throw std::runtime_error("EGL finds none of " + std::to_string(count) +
                                 " devices that it can use");
    }

    Find find_ = nullptr;
    void* display_ = nullptr;
    void* context_ = nullptr;
};

} // namespace cuprum::gl
