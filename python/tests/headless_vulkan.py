# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Memory of Vulkan that is exported as a file descriptor, through ctypes."""

import ctypes

_APPLICATION_INFO = 0
_INSTANCE_CREATE_INFO = 1
_DEVICE_QUEUE_CREATE_INFO = 2
_DEVICE_CREATE_INFO = 3
_MEMORY_ALLOCATE_INFO = 5
_EXPORT_MEMORY_ALLOCATE_INFO = 1000072002
_MEMORY_GET_FD_INFO = 1000074002
_OPAQUE_FD = 1
_HOST_VISIBLE_AND_COHERENT = 6
_VERSION_1_1 = (1 << 22) | (1 << 12)


def _structure(*kinds):
    """Return a structure of Vulkan: type, next, then members of these kinds."""
    members = [("type", ctypes.c_uint32), ("next", ctypes.c_void_p)]
    members += [(f"member{index}", kind) for index, kind in enumerate(kinds)]
    return type("Structure", (ctypes.Structure,), {"_fields_": members})


_WORD, _LONG, _POINTER = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_Application = _structure(_POINTER, _WORD, _POINTER, _WORD, _WORD)
_Instance = _structure(_WORD, _POINTER, _WORD, _POINTER, _WORD, _POINTER)
_Queue = _structure(_WORD, _WORD, _WORD, _POINTER)
_Device = _structure(_WORD, _WORD, _POINTER, _WORD, _POINTER, _WORD, _POINTER, _POINTER)
_Export = _structure(_WORD)
_Allocate = _structure(_LONG, _WORD)
_GetFd = _structure(_LONG, _WORD)


class _MemoryProperties(ctypes.Structure):
    _fields_ = [
        ("type_count", _WORD),
        ("types", (_WORD * 2) * 32),  # flags and heap of each
        ("heap_count", _WORD),
        ("heaps", (_LONG * 2) * 16),
    ]


class VulkanMemory:
    """Memory that the host can see, exported as an opaque file descriptor."""

    def __init__(self, size, name):
        self._vk = ctypes.CDLL("libvulkan.so.1")
        application = _Application(_APPLICATION_INFO, None, None, 0, None, 0, _VERSION_1_1)
        self._instance = self._made(
            "vkCreateInstance",
            _Instance(
                _INSTANCE_CREATE_INFO, None, 0, ctypes.addressof(application), 0, None, 0, None
            ),
        )
        physical = self._physical_device(name)
        priority = ctypes.c_float(1)
        queue = _Queue(_DEVICE_QUEUE_CREATE_INFO, None, 0, 0, 1, ctypes.addressof(priority))
        extensions = (ctypes.c_char_p * 1)(b"VK_KHR_external_memory_fd")
        self._device = self._made(
            "vkCreateDevice",
            _Device(
                _DEVICE_CREATE_INFO,
                None,
                0,
                1,
                ctypes.addressof(queue),
                0,
                None,
                1,
                ctypes.addressof(extensions),
                None,
            ),
            physical,
        )
        export = _Export(_EXPORT_MEMORY_ALLOCATE_INFO, None, _OPAQUE_FD)
        request = _Allocate(
            _MEMORY_ALLOCATE_INFO, ctypes.addressof(export), size, self._memory_type(physical)
        )
        self._memory = _LONG()
        self._check(
            "vkAllocateMemory",
            self._device,
            ctypes.byref(request),
            None,
            ctypes.byref(self._memory),
        )
        address = _POINTER()
        self._check(
            "vkMapMemory",
            self._device,
            self._memory,
            _LONG(),
            _LONG(size),
            0,
            ctypes.byref(address),
        )
        self.contents = (ctypes.c_ubyte * size).from_address(address.value)
        self._vk.vkGetDeviceProcAddr.restype = _POINTER
        get = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER, _POINTER)(
            self._vk.vkGetDeviceProcAddr(self._device, b"vkGetMemoryFdKHR")
        )
        descriptor = ctypes.c_int(-1)
        wanted = _GetFd(_MEMORY_GET_FD_INFO, None, self._memory.value, _OPAQUE_FD)
        if get(self._device, ctypes.addressof(wanted), ctypes.addressof(descriptor)) != 0:
            raise OSError("vkGetMemoryFdKHR failed")
        self.descriptor = descriptor.value

    def close(self):
        """Free the memory and end Vulkan."""
        self._vk.vkFreeMemory(self._device, self._memory, None)
        self._vk.vkDestroyDevice(self._device, None)
        self._vk.vkDestroyInstance(self._instance, None)

    def _physical_device(self, name):
        count, devices = _WORD(16), (_POINTER * 16)()
        self._check("vkEnumeratePhysicalDevices", self._instance, ctypes.byref(count), devices)
        for index in range(count.value):
            properties = ctypes.create_string_buffer(1024)
            self._vk.vkGetPhysicalDeviceProperties(_POINTER(devices[index]), properties)
            # The name is behind the versions, the IDs and the kind.
            if name in properties.raw[20 : 20 + 256]:
                return _POINTER(devices[index])
        raise OSError(f"Vulkan has no device called {name.decode()}")

    def _memory_type(self, physical):
        properties = _MemoryProperties()
        self._vk.vkGetPhysicalDeviceMemoryProperties(physical, ctypes.byref(properties))
        for index in range(properties.type_count):
            flags = properties.types[index][0]
            if flags & _HOST_VISIBLE_AND_COHERENT == _HOST_VISIBLE_AND_COHERENT:
                return index
        raise OSError("Vulkan has no memory that the host can see")

    def _made(self, function, request, *before):
        handle = _POINTER()
        self._check(function, *before, ctypes.byref(request), None, ctypes.byref(handle))
        return handle

    def _check(self, function, *arguments):
        result = getattr(self._vk, function)(*arguments)
        if result != 0:
            raise OSError(f"{function} returned {result}")
