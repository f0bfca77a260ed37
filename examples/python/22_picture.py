# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Load a PNG, blur it and scale it up through textures, and write a PNG.

python 22_picture.py [INPUT.png [OUTPUT.png]]
"""

import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

import cuprum
from cuprum.texture import ResourceDescriptor, TextureObjectOptions

SOURCE = r"""
// Weighs 5 by 5 neighbours. The texture repeats the pixels at its edges.
extern "C" __global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out, int width,
                                int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float red = 0, green = 0, blue = 0;
    for (int dy = 0; dy < 5; ++dy) {
        for (int dx = 0; dx < 5; ++dx) {
            const float4 pixel = tex2D<float4>(in, x + dx - 1.5f, y + dy - 1.5f);
            const float weight = weights[dx] * weights[dy] * 255;
            red += weight * pixel.x;
            green += weight * pixel.y;
            blue += weight * pixel.z;
        }
    }
    surf2Dwrite(make_uchar4(red + 0.5f, green + 0.5f, blue + 0.5f, 255), out, x * 4, y);
}
// Reads between the pixels: the texture interpolates.
extern "C" __global__ void scale(cudaTextureObject_t in, uchar4* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 pixel = tex2D<float4>(in, (x + 0.5f) / width, (y + 0.5f) / height);
    out[y * width + x] = make_uchar4(pixel.x * 255 + 0.5f, pixel.y * 255 + 0.5f,
                                     pixel.z * 255 + 0.5f, 255);
}
"""
FACTOR = 2
BLOCK = 8


def read_png(path):
    """Return the pixels of a PNG with 8 bits a channel, as rows of RGBA."""
    data = Path(path).read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path} is no PNG")
    place, compressed = 8, b""
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            compressed += body
        place += 12 + length
    if depth != 8 or color not in (2, 6) or interlace:
        raise ValueError(f"{path} is no plain RGB or RGBA picture with 8 bits a channel")
    channels = 3 if color == 2 else 4
    lines = np.frombuffer(zlib.decompress(compressed), np.uint8).reshape(height, -1)
    rows = np.zeros((height + 1, width + 1, channels), np.int32)  # with a margin of zeros
    for y, line in enumerate(lines, start=1):
        values = line[1:].reshape(width, channels).astype(np.int32)
        for x, value in enumerate(values, start=1):
            left, up, corner = rows[y, x - 1], rows[y - 1, x], rows[y - 1, x - 1]
            guess = left + up - corner
            near = np.stack([abs(guess - left), abs(guess - up), abs(guess - corner)])
            nearest = np.choose(near.argmin(axis=0), [left, up, corner])
            rows[y, x] = (value + (0, left, up, (left + up) // 2, nearest)[line[0]]) & 255
    pixels = np.full((height, width, 4), 255, np.uint8)
    pixels[:, :, :channels] = rows[1:, 1:]
    return pixels


def write_png(path, pixels):
    """Write rows of RGBA as a PNG without transparency."""

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels[:, :, :3])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )


def blurred_on_host(pixels):
    """Return what the kernel `blur` computes."""
    weights = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(pixels.astype(float), ((2, 2), (2, 2), (0, 0)), mode="edge")
    height, width, _ = pixels.shape
    rows = sum(w * padded[i : i + height] for i, w in enumerate(weights))
    return sum(w * rows[:, i : i + width] for i, w in enumerate(weights))


pictures = Path(__file__).resolve().parents[2] / "docs" / "images"
source = Path(sys.argv[1]) if len(sys.argv) > 1 else pictures / "picture.png"
default = Path(tempfile.gettempdir()) / "cuprum_picture.png"
target = Path(sys.argv[2]) if len(sys.argv) > 2 else default

device = cuprum.Device()
stream = device.create_stream()
code = cuprum.Program(SOURCE, "c++").compile("ptx")

picture = read_png(source)
height, width, _ = picture.shape

# The picture goes into an array, and a second one takes the blurred picture.
options = {"shape": (width, height), "format": "uint8", "num_channels": 4}
sharp = device.create_opaque_array(options)
soft = device.create_opaque_array({**options, "is_surface_load_store": True})
sharp.copy_from(picture, stream=stream)

# Kernels read bytes as numbers from 0 to 1. The second texture interpolates.
pixels = device.create_texture_object(
    resource=ResourceDescriptor.from_opaque_array(sharp),
    options=TextureObjectOptions(read_mode="normalized_float"),
)
between = device.create_texture_object(
    resource=ResourceDescriptor.from_opaque_array(soft),
    options=TextureObjectOptions(
        read_mode="normalized_float", filter_mode="linear", normalized_coords=True
    ),
)
surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(soft))


def config(columns, rows):
    return cuprum.LaunchConfig(grid=(-(-columns // BLOCK), -(-rows // BLOCK)), block=(BLOCK, BLOCK))


large = (height * FACTOR, width * FACTOR, 4)
with device.allocate(int(np.prod(large)), stream=stream) as out:
    cuprum.launch(
        stream, config(width, height), code.get_kernel("blur"), pixels, surface, width, height
    )
    cuprum.launch(
        stream,
        config(large[1], large[0]),
        code.get_kernel("scale"),
        between,
        out,
        large[1],
        large[0],
    )
    result = np.empty(large, np.uint8)
    out.copy_to_host(result, stream=stream)
    blurred = soft.to_numpy(stream=stream)

assert abs(blurred[:, :, :3] - blurred_on_host(picture)[:, :, :3]).max() <= 1
assert abs(result.mean(axis=(0, 1)) - blurred.mean(axis=(0, 1))).max() < 1
write_png(target, result)
print(f"{source.name}: {width} x {height} pixels, blurred")
print(f"{target.name}: {large[1]} x {large[0]} pixels")
