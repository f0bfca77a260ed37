// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Draws a picture with a kernel into a buffer of OpenGL, without a window. OpenGL then copies the
// buffer into a texture and reads it back. Pass a path to keep the picture, in the format PPM.

#include <cuprum/cuprum.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr int WIDTH = 320;
constexpr int HEIGHT = 240;
constexpr std::size_t BYTES = std::size_t{WIDTH} * HEIGHT * 4;

constexpr const char* SOURCE = R"(
// Colours how fast z = z * z + c grows.
extern "C" __global__ void draw(uchar4* pixels, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float re = 3.0f * x / width - 2.2f, im = 2.25f * y / height - 1.125f;
    float a = 0, b = 0;
    int steps = 0;
    for (; steps < 64 && a * a + b * b < 4; ++steps) {
        const float next = a * a - b * b + re;
        b = 2 * a * b + im;
        a = next;
    }
    const unsigned char tone = steps == 64 ? 0 : 4 * steps;
    pixels[y * width + x] = make_uchar4(tone, tone / 2, 255 - tone, 255);
}
)";

/// Calls functions of EGL and OpenGL by their names. Nothing is linked.
class GL {
public:
    /// Makes a context without a surface current on this thread.
    GL() {
        void* const library = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) {
            throw std::runtime_error(::dlerror());
        }
        find_ = reinterpret_cast<void* (*)(const char*)>(::dlsym(library, "eglGetProcAddress"));
        void* device = nullptr;
        int count = 0;
        call<unsigned(int, void**, int*)>("eglQueryDevicesEXT", 1, &device, &count);
        void* const display = call<void*(unsigned, void*, const int*)>(
            "eglGetPlatformDisplayEXT", 0x313FU /* EGL_PLATFORM_DEVICE_EXT */, device, nullptr);
        if (count == 0 ||
            call<unsigned(void*, int*, int*)>("eglInitialize", display, nullptr, nullptr) == 0) {
            throw std::runtime_error("EGL finds no device");
        }
        call<unsigned(unsigned)>("eglBindAPI", 0x30A2U /* EGL_OPENGL_API */);
        const int wanted[] = {0x3040 /* EGL_RENDERABLE_TYPE */, 8 /* EGL_OPENGL_BIT */, 0x3038};
        void* config = nullptr;
        call<unsigned(void*, const int*, void**, int, int*)>("eglChooseConfig", display, wanted,
                                                             &config, 1, &count);
        void* const context = call<void*(void*, void*, void*, const int*)>(
            "eglCreateContext", display, config, nullptr, nullptr);
        if (call<unsigned(void*, void*, void*, void*)>("eglMakeCurrent", display, nullptr, nullptr,
                                                       context) == 0) {
            throw std::runtime_error("EGL makes no context without a surface");
        }
    }

    template <typename Signature, typename... Arguments>
    std::invoke_result_t<Signature*, Arguments...> call(const char* name,
                                                        Arguments... arguments) const {
        const auto function = reinterpret_cast<Signature*>(find_(name));
        if (function == nullptr) {
            throw std::runtime_error(std::string("no function ") + name);
        }
        return function(arguments...);
    }

    [[nodiscard]] std::string vendor() const {
        return reinterpret_cast<const char*>(
            call<const unsigned char*(unsigned)>("glGetString", 0x1F00U));
    }

private:
    void* (*find_)(const char*) = nullptr;
};

void draw(const GL& gl, const cuprum::Device& device, const char* path) {
    constexpr unsigned unpack_buffer = 0x88EC; // GL_PIXEL_UNPACK_BUFFER
    constexpr unsigned texture_2d = 0x0DE1;
    constexpr unsigned rgba = 0x1908;
    constexpr unsigned unsigned_byte = 0x1401;
    unsigned buffer = 0;
    gl.call<void(int, unsigned*)>("glGenBuffers", 1, &buffer);
    gl.call<void(unsigned, unsigned)>("glBindBuffer", unpack_buffer, buffer);
    gl.call<void(unsigned, std::ptrdiff_t, const void*, unsigned)>(
        "glBufferData", unpack_buffer, BYTES, nullptr, 0x88E0U /* GL_STREAM_DRAW */);

    // The kernel writes all of the buffer, so its old contents need not be there.
    const cuprum::Stream stream = device.create_stream();
    const cuprum::ObjectCode code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    const auto resource = cuprum::GraphicsResource::from_gl_buffer(stream.context(), buffer,
                                                                   {.is_write_discard = true});
    {
        const cuprum::Buffer pixels = resource.map(stream); // unmapped at the end of its scope
        cuprum::launch(stream, {.grid = {WIDTH / 16, HEIGHT / 16}, .block = {16, 16}},
                       code.get_kernel("draw"), pixels, WIDTH, HEIGHT);
    }

    // From here on the picture belongs to OpenGL: make a texture of it and read that.
    unsigned texture = 0;
    gl.call<void(int, unsigned*)>("glGenTextures", 1, &texture);
    gl.call<void(unsigned, unsigned)>("glBindTexture", texture_2d, texture);
    gl.call<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>(
        "glTexImage2D", texture_2d, 0, 0x8058 /* GL_RGBA8 */, WIDTH, HEIGHT, 0, rgba, unsigned_byte,
        nullptr);
    gl.call<void(unsigned, unsigned)>("glBindBuffer", unpack_buffer, 0U);
    std::vector<unsigned char> picture(BYTES);
    gl.call<void(unsigned, int, unsigned, unsigned, void*)>("glGetTexImage", texture_2d, 0, rgba,
                                                            unsigned_byte, picture.data());
    if (std::set<unsigned char>(picture.begin(), picture.end()).size() < 30) {
        throw std::logic_error("the picture is empty");
    }
    if (path != nullptr) {
        std::ofstream file(path, std::ios::binary);
        file << "P6\n" << WIDTH << " " << HEIGHT << "\n255\n";
        for (std::size_t pixel = 0; pixel < BYTES; pixel += 4) {
            file.write(reinterpret_cast<const char*>(&picture[pixel]), 3);
        }
    }
    std::printf("drew %d x %d pixels on %s, read by %s\n", WIDTH, HEIGHT, device.name().c_str(),
                gl.vendor().c_str());
}

} // namespace

int main(int count, char** arguments) try {
    const cuprum::Device device(0);
    try {
        const GL gl;
        if (!device.is_emulated() && gl.vendor().find("NVIDIA") == std::string::npos) {
            throw std::runtime_error("OpenGL is that of " + gl.vendor() + ", not of the GPU");
        }
        draw(gl, device, count > 1 ? arguments[1] : nullptr);
    } catch (const cuprum::Error&) {
        throw;
    } catch (const std::runtime_error& error) {
        std::printf("skipped: no OpenGL here (%s)\n", error.what());
    }
} catch (const std::exception& error) {

    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
