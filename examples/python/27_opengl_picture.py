# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Draw a picture with a kernel into a buffer of OpenGL, without a window.

OpenGL then copies the buffer into a texture and reads it back. Pass a path to keep the picture.
"""

import ctypes
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import cuprum

WIDTH, HEIGHT = 320, 240
SOURCE = r"""
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
"""


def open_gl():
    """Make a context of OpenGL without a surface current; return its functions by name."""
    egl = ctypes.CDLL("libEGL.so.1", mode=ctypes.RTLD_GLOBAL)
    egl.eglGetProcAddress.restype = ctypes.c_void_p

    def function(name, result=ctypes.c_int):
        return ctypes.CFUNCTYPE(result)(egl.eglGetProcAddress(name.encode()))

    device, count = ctypes.c_void_p(), ctypes.c_int()
    function("eglQueryDevicesEXT")(1, ctypes.byref(device), ctypes.byref(count))
    get_display = function("eglGetPlatformDisplayEXT", ctypes.c_void_p)
    display = ctypes.c_void_p(get_display(0x313F, device, None))  # EGL_PLATFORM_DEVICE_EXT
    if not count.value or not egl.eglInitialize(display, None, None):
        raise OSError("EGL finds no device")
    egl.eglBindAPI(0x30A2)  # EGL_OPENGL_API
    wanted = (ctypes.c_int * 3)(0x3040, 8, 0x3038)  # EGL_RENDERABLE_TYPE: EGL_OPENGL_BIT
    config = ctypes.c_void_p()
    egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
    context = function("eglCreateContext", ctypes.c_void_p)(display, config, None, None)
    if not egl.eglMakeCurrent(display, None, None, ctypes.c_void_p(context)):
        raise OSError("EGL makes no context without a surface")
    return function


def write_png(path, pixels):
    """Write RGBA bytes as a picture."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (pixels[y * WIDTH * 4 : (y + 1) * WIDTH * 4] for y in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


def main():
    """Draw, let OpenGL read the picture, and write it to a file."""
    device = cuprum.Device()
    device.set_current()
    try:
        gl = open_gl()
        vendor = gl("glGetString", ctypes.c_char_p)(0x1F00).decode()
    except OSError as error:
        print(f"skipped: no OpenGL here ({error})")
        return
    if not device.is_emulated and "NVIDIA" not in vendor:
        print(f"skipped: OpenGL is that of {vendor}, not of the GPU")
        return

    size = WIDTH * HEIGHT * 4
    buffer, texture = ctypes.c_uint(), ctypes.c_uint()
    unpack_buffer, texture_2d, rgba, unsigned_byte = 0x88EC, 0x0DE1, 0x1908, 0x1401
    gl("glGenBuffers")(1, ctypes.byref(buffer))
    gl("glBindBuffer")(unpack_buffer, buffer)
    gl("glBufferData")(unpack_buffer, ctypes.c_ssize_t(size), None, 0x88E0)  # GL_STREAM_DRAW

    # The kernel writes all of the buffer, so its old contents need not be there.
    stream = device.create_stream()
    kernel = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("draw")
    config = cuprum.LaunchConfig(grid=(WIDTH // 16, HEIGHT // 16), block=(16, 16))
    resource = cuprum.GraphicsResource.from_gl_buffer(buffer.value, flags="write_discard")
    with resource, resource.map(stream=stream) as pixels:
        cuprum.launch(stream, config, kernel, pixels, WIDTH, HEIGHT)

    # From here on the picture belongs to OpenGL: make a texture of it and read that.
    gl("glGenTextures")(1, ctypes.byref(texture))
    gl("glBindTexture")(texture_2d, texture)
    gl("glTexImage2D")(texture_2d, 0, 0x8058, WIDTH, HEIGHT, 0, rgba, unsigned_byte, None)
    gl("glBindBuffer")(unpack_buffer, 0)
    picture = ctypes.create_string_buffer(size)
    gl("glGetTexImage")(texture_2d, 0, rgba, unsigned_byte, picture)
    assert len(set(picture.raw)) > 30, "the picture is empty"

    if len(sys.argv) > 1:
        write_png(Path(sys.argv[1]), picture.raw)
    else:
        with tempfile.TemporaryDirectory() as folder:
            write_png(Path(folder) / "picture.png", picture.raw)
    print(f"drew {WIDTH} x {HEIGHT} pixels on {device.name}, read by {vendor}")


main()
