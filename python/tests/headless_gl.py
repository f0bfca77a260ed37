# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""OpenGL without a window, through EGL and ctypes."""

import ctypes

ARRAY_BUFFER = 0x8892
DYNAMIC_DRAW = 0x88E8
TEXTURE_1D = 0x0DE0
TEXTURE_2D = 0x0DE1
RGBA = 0x1908
RGBA8 = 0x8058
RED = 0x1903
RED_INTEGER = 0x8D94
R32F = 0x822E
R32UI = 0x8236
UNSIGNED_BYTE = 0x1401
UNSIGNED_INT = 0x1405
FLOAT = 0x1406

_TEXTURE_MIN_FILTER = 0x2801
_TEXTURE_MAX_LEVEL = 0x813D
_NEAREST = 0x2600
_VENDOR = 0x1F00
_PLATFORM_DEVICE = 0x313F
_OPENGL_API = 0x30A2


class HeadlessGL:
    """A context of OpenGL without a surface, current on the thread that made it."""

    def __init__(self):
        self._egl = ctypes.CDLL("libEGL.so.1", mode=ctypes.RTLD_GLOBAL)
        self._egl.eglGetProcAddress.restype = ctypes.c_void_p
        self._display = self._open_display()
        self._egl.eglBindAPI(_OPENGL_API)
        wanted = (ctypes.c_int * 5)(0x3033, 0x0001, 0x3040, 0x0008, 0x3038)
        config, count = ctypes.c_void_p(), ctypes.c_int()
        self._egl.eglChooseConfig(
            self._display, wanted, ctypes.byref(config), 1, ctypes.byref(count)
        )
        self._egl.eglCreateContext.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(
            self._egl.eglCreateContext(self._display, config, None, None)
        )
        if not self.make_current():
            raise OSError("EGL makes no context of OpenGL without a surface")
        self.vendor = self.function("glGetString", ctypes.c_char_p)(_VENDOR).decode()

    def _open_display(self):
        devices, count = (ctypes.c_void_p * 8)(), ctypes.c_int()
        self.function("eglQueryDevicesEXT")(8, devices, ctypes.byref(count))
        for index in range(count.value):
            display = self.function("eglGetPlatformDisplayEXT", ctypes.c_void_p)(
                _PLATFORM_DEVICE, ctypes.c_void_p(devices[index]), None
            )
            if display and self._egl.eglInitialize(ctypes.c_void_p(display), None, None):
                return ctypes.c_void_p(display)
        raise OSError(f"EGL finds none of {count.value} devices that it can use")

    def function(self, name, result=ctypes.c_int):
        """Return a function of EGL or OpenGL by its name."""
        address = self._egl.eglGetProcAddress(name.encode())
        if not address:
            raise OSError(f"the library has no function {name}")
        return ctypes.CFUNCTYPE(result)(address)

    def make_current(self):
        """Make the context current on the calling thread."""
        return self._egl.eglMakeCurrent(self._display, None, None, self._context)

    def release(self):
        """Leave the calling thread without a context."""
        self._egl.eglMakeCurrent(self._display, None, None, None)

    def close(self):
        """Destroy the context."""
        self.release()
        self._egl.eglDestroyContext(self._display, self._context)

    def make_buffer(self, array):
        """Make a buffer with the contents of an array."""
        name = ctypes.c_uint()
        self.function("glGenBuffers")(1, ctypes.byref(name))
        self.function("glBindBuffer")(ARRAY_BUFFER, name)
        self.function("glBufferData")(
            ARRAY_BUFFER,
            ctypes.c_ssize_t(array.nbytes),
            ctypes.c_void_p(array.ctypes.data),
            DYNAMIC_DRAW,
        )
        self.function("glBindBuffer")(ARRAY_BUFFER, 0)
        return name.value

    def read_buffer(self, name, array):
        """Read a buffer into an array and return it."""
        self.function("glBindBuffer")(ARRAY_BUFFER, name)
        self.function("glGetBufferSubData")(
            ARRAY_BUFFER,
            ctypes.c_ssize_t(0),
            ctypes.c_ssize_t(array.nbytes),
            ctypes.c_void_p(array.ctypes.data),
        )
        self.function("glBindBuffer")(ARRAY_BUFFER, 0)
        return array

    def delete_buffer(self, name):
        """Delete a buffer."""
        self.function("glDeleteBuffers")(1, ctypes.byref(ctypes.c_uint(name)))

    def make_texture(self, array, internal_format, layout, kind):
        """Make a two-dimensional texture of one level with the texels of an array."""
        name = ctypes.c_uint()
        self.function("glGenTextures")(1, ctypes.byref(name))
        self.function("glBindTexture")(TEXTURE_2D, name)
        self.function("glTexParameteri")(TEXTURE_2D, _TEXTURE_MIN_FILTER, _NEAREST)
        self.function("glTexParameteri")(TEXTURE_2D, _TEXTURE_MAX_LEVEL, 0)
        height, width = array.shape[:2]
        self.function("glTexImage2D")(
            TEXTURE_2D,
            0,
            internal_format,
            width,
            height,
            0,
            layout,
            kind,
            ctypes.c_void_p(array.ctypes.data),
        )
        self.function("glBindTexture")(TEXTURE_2D, 0)
        return name.value

    def read_texture(self, name, array, layout, kind):
        """Read a texture into an array and return it."""
        self.function("glBindTexture")(TEXTURE_2D, name)
        self.function("glGetTexImage")(
            TEXTURE_2D, 0, layout, kind, ctypes.c_void_p(array.ctypes.data)
        )
        self.function("glBindTexture")(TEXTURE_2D, 0)
        return array

    def delete_texture(self, name):
        """Delete a texture."""
        self.function("glDeleteTextures")(1, ctypes.byref(ctypes.c_uint(name)))
