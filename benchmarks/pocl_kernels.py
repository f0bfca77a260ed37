#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compare kernels on the emulated device with PoCL, which compiles OpenCL for the CPU.

Both sides run in this process and take turns. The figure is processor time of all threads, which
other programs on the machine hardly change. Writes JSON.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import cuprum

LARGE = 1 << 24
SIDE = 512
PICTURE = 1024
LIMIT = 256

CUDA = r"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float at[16][16], bt[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += at[threadIdx.y][i] * bt[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void mandelbrot(int* out, int size, int limit) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    const float cx = -2.0f + 3.0f * px / size, cy = -1.5f + 3.0f * py / size;
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
    }
    out[py * size + px] = n;
}
extern "C" __global__ void histogram(unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[(i * 2654435761u) >> 24], 1u);
}
extern "C" __global__ void nothing() {}
"""

OPENCL = rb"""
kernel void saxpy(float a, global const float* x, global float* y, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
kernel void matmul(global const float* a, global const float* b, global float* c, int n) {
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
kernel void tiled(global const float* a, global const float* b, global float* c, int n) {
    local float at[16][16], bt[16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[y][x] = a[row * n + k + x];
        bt[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 16; ++i) sum += at[y][i] * bt[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
kernel void mandelbrot(global int* out, int size, int limit) {
    const int px = get_global_id(0), py = get_global_id(1);
    const float cx = -2.0f + 3.0f * px / size, cy = -1.5f + 3.0f * py / size;
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
    }
    out[py * size + px] = n;
}
kernel void histogram(global volatile unsigned* bins, int n) {
    const int i = get_global_id(0);
    if (i < n) atomic_inc(&bins[(i * 2654435761u) >> 24]);
}
kernel void nothing() {}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--only", help="run one kernel")
    args = parser.parse_args()
    device = Emulated()
    try:
        pocl = Pocl(device.buffers)
    except PoclMissingError as reason:
        print(f"PoCL cannot run here: {reason}", file=sys.stderr)
        print("{}")
        return
    figures = {}
    for name, grid, block, arguments in kernels():
        if args.only in (None, name):
            figures[name] = compare(
                [
                    device.launcher(name, grid, block, arguments),
                    pocl.launcher(name, grid, block, arguments),
                ],
                args.turns,
            )
    print(json.dumps(figures, indent=1))


def kernels():
    """Return name, grid, block and arguments of each kernel; "x", "y" and "z" are buffers."""
    tiles = (SIDE // 16, SIDE // 16)
    return [
        ("saxpy", (LARGE // 256,), (256,), (1.5, "x", "y", LARGE)),
        ("matmul", tiles, (16, 16), ("x", "y", "z", SIDE)),
        ("tiled", tiles, (16, 16), ("x", "y", "z", SIDE)),
        ("mandelbrot", (PICTURE // 32, PICTURE // 8), (32, 8), ("z", PICTURE, LIMIT)),
        ("histogram", (LARGE // 256,), (256,), ("z", LARGE)),
        ("nothing", (100_000,), (32,), ()),
    ]


def compare(sides, turns):
    """Run both sides in turns and return their processor times, and the ratios of both clocks."""
    for run in sides:
        run()  # the first run compiles and touches memory
    processor = [[], []]
    elapsed = [[], []]
    for turn in range(turns):
        for index in (0, 1) if turn % 2 == 0 else (1, 0):
            begin = time.perf_counter()
            processor_begin = time.process_time()
            sides[index]()
            processor[index].append(1e3 * (time.process_time() - processor_begin))
            elapsed[index].append(1e3 * (time.perf_counter() - begin))
    return {
        "emulated_ms": min(processor[0]),
        "pocl_ms": min(processor[1]),
        "ratio": median_ratio(*processor),
        "elapsed_ratio": median_ratio(*elapsed),
    }


def median_ratio(emulated, pocl):
    return statistics.median(a / b for a, b in zip(emulated, pocl, strict=True))


class Emulated:
    """The emulated device, through Cuprum."""

    def __init__(self):
        device = cuprum.Device()
        device.set_current()
        self.stream = device.create_stream()
        self.code = cuprum.Program(CUDA, "c++").compile("ptx")
        self.buffers = {each: device.allocate(4 * LARGE, stream=self.stream) for each in "xyz"}
        for buffer in self.buffers.values():
            buffer.fill(0, stream=self.stream)
        self.stream.sync()

    def launcher(self, name, grid, block, arguments):
        kernel = self.code.get_kernel(name)
        config = cuprum.LaunchConfig(grid=grid, block=block)
        values = [self.buffers[each] if isinstance(each, str) else to_c(each) for each in arguments]

        def run():
            cuprum.launch(self.stream, config, kernel, *values)
            self.stream.sync()

        return run


class PoclMissingError(RuntimeError):
    """There is no PoCL, and it could not be installed."""


class Pocl:
    """PoCL's CPU device, through the OpenCL library.

    Its buffers are those of the emulated device, whose memory is memory of the host. With buffers
    of its own, one side could be up to 1.6 times faster: it depends on where the system finds
    pages.
    """

    def __init__(self, buffers):
        self.library = load_opencl()
        platform = self.find_platform()
        device = ctypes.c_void_p()
        every_device = ctypes.c_uint64(0xFFFFFFFF)
        self.check(
            self.library.clGetDeviceIDs(platform, every_device, 1, ctypes.byref(device), None)
        )
        self.context = self.create("clCreateContext", None, 1, ctypes.byref(device), None, None)
        self.queue = self.create("clCreateCommandQueue", self.context, device, ctypes.c_uint64(0))
        text = ctypes.c_char_p(OPENCL)
        self.program = self.create(
            "clCreateProgramWithSource", self.context, 1, ctypes.byref(text), None
        )
        self.check(
            self.library.clBuildProgram(self.program, 1, ctypes.byref(device), b"", None, None)
        )
        in_place = ctypes.c_uint64(1 | 8)  # CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR
        self.buffers = {
            name: self.create(
                "clCreateBuffer",
                self.context,
                in_place,
                ctypes.c_size_t(buffer.size),
                ctypes.c_void_p(int(buffer.handle)),
            )
            for name, buffer in buffers.items()
        }

    def find_platform(self):
        count = ctypes.c_uint()
        if self.library.clGetPlatformIDs(0, None, ctypes.byref(count)) != 0 or count.value == 0:
            raise PoclMissingError("there is no OpenCL platform")
        platforms = (ctypes.c_void_p * count.value)()
        self.check(self.library.clGetPlatformIDs(count.value, platforms, None))
        for platform in platforms:
            name = ctypes.create_string_buffer(256)
            platform_name = 0x0902
            self.check(
                self.library.clGetPlatformInfo(
                    ctypes.c_void_p(platform), platform_name, ctypes.c_size_t(256), name, None
                )
            )
            if b"Portable Computing Language" in name.value:
                return ctypes.c_void_p(platform)
        raise PoclMissingError("none of the OpenCL platforms is PoCL")

    def launcher(self, name, grid, block, arguments):
        kernel = self.create("clCreateKernel", self.program, name.encode())
        for index, each in enumerate(arguments):
            value = self.buffers[each] if isinstance(each, str) else to_c(each)
            self.check(
                self.library.clSetKernelArg(
                    kernel,
                    index,
                    ctypes.c_size_t(ctypes.sizeof(value)),
                    ctypes.byref(value),
                )
            )
        axes = len(grid)
        local = (ctypes.c_size_t * axes)(*block)
        whole = (ctypes.c_size_t * axes)(*(a * b for a, b in zip(grid, block, strict=True)))

        def run():
            self.check(
                self.library.clEnqueueNDRangeKernel(
                    self.queue,
                    kernel,
                    axes,
                    None,
                    whole,
                    local,
                    0,
                    None,
                    None,
                )
            )
            self.check(self.library.clFinish(self.queue))

        return run

    def create(self, function, *arguments):
        status = ctypes.c_int()
        entry = getattr(self.library, function)
        entry.restype = ctypes.c_void_p
        result = entry(*arguments, ctypes.byref(status))
        self.check(status.value)
        return ctypes.c_void_p(result)

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"OpenCL returned {status}")


def load_opencl():
    """Load the OpenCL library, after installing Debian's package of PoCL if that is possible."""
    try:
        if os.path.isfile("/etc/OpenCL/vendors/pocl.icd"):
            return ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        pass
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise PoclMissingError("install the packages pocl-opencl-icd and ocl-icd-libopencl1")
    command = [apt, "install", "-y", "--no-install-recommends", "pocl-opencl-icd"]
    done = subprocess.run([*command, "ocl-icd-libopencl1"], capture_output=True, text=True)
    if done.returncode != 0:
        raise PoclMissingError(f"apt-get could not install pocl-opencl-icd: {done.stderr.strip()}")
    return ctypes.CDLL("libOpenCL.so.1")


def to_c(value):
    """Return a number as the 32-bit C type that the kernels take."""
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int(value)


if __name__ == "__main__":
    main()
