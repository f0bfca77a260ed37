# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Buffers of the real OpenGL that kernels write."""

import gc
import weakref

import numpy as np
import pytest
from headless_gl import (
    FLOAT,
    R32F,
    R32UI,
    RED,
    RED_INTEGER,
    TEXTURE_1D,
    TEXTURE_2D,
    UNSIGNED_INT,
    HeadlessGL,
)

import cuprum
from cuprum import GraphicsResource

COUNT = 256
SOURCE = """
extern "C" __global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] *= 2; }
}
"""


@pytest.fixture
def gl(device):
    """A context of OpenGL that shares memory with the device."""
    try:
        context = HeadlessGL()
    except OSError as error:
        pytest.skip(f"no OpenGL: {error}")
    if not device.is_emulated and "NVIDIA" not in context.vendor:
        context.close()
        pytest.skip(f"OpenGL is that of {context.vendor}, not of the GPU")
    yield context
    context.close()


@pytest.fixture
def numbers():
    return np.arange(1, COUNT + 1, dtype=np.float32)


@pytest.fixture
def gl_buffer(gl, numbers):
    name = gl.make_buffer(numbers)
    yield name
    gl.make_current()
    gl.delete_buffer(name)


@pytest.fixture
def resource(gl_buffer):
    with GraphicsResource.from_gl_buffer(gl_buffer) as resource:
        yield resource


def test_a_kernel_changes_a_buffer_of_opengl(gl, gl_buffer, numbers, resource, stream):
    kernel = cuprum.Program(SOURCE, "c++").compile("cubin").get_kernel("twice")
    with resource.map(stream=stream) as mapped:
        assert isinstance(mapped, cuprum.Buffer)
        assert resource.is_mapped
        assert mapped.size == numbers.nbytes
        assert mapped.memory_resource is None
        assert mapped.is_device_accessible
        config = cuprum.LaunchConfig(grid=2, block=128)
        cuprum.launch(stream, config, kernel, mapped, COUNT)
    assert mapped.is_closed
    assert not resource.is_mapped
    read = gl.read_buffer(gl_buffer, np.zeros_like(numbers))
    np.testing.assert_array_equal(read, numbers * 2)


def test_with_maps_if_a_stream_is_given(gl, gl_buffer, numbers, stream):
    with GraphicsResource.from_gl_buffer(gl_buffer, stream=stream) as mapped:
        assert isinstance(mapped, cuprum.Buffer)
        mapped.fill(0, stream=stream)
    assert mapped.is_closed
    assert not gl.read_buffer(gl_buffer, np.ones_like(numbers)).any()


def test_with_without_a_stream_gives_the_resource(gl_buffer):
    with GraphicsResource.from_gl_buffer(gl_buffer, flags="write_discard") as resource:
        assert isinstance(resource, GraphicsResource)
        assert not resource.is_mapped
    assert resource.is_closed


def test_an_exception_unmaps(resource, stream):
    with pytest.raises(ZeroDivisionError), resource.map(stream=stream):
        raise ZeroDivisionError
    assert not resource.is_mapped


def test_unmap_closes_the_buffer(resource, device, stream):
    mapped = resource.map(stream=stream)
    resource.unmap()
    assert mapped.is_closed
    mapped = resource.map(stream=stream)
    other = device.create_stream()
    resource.unmap(stream=other)
    assert mapped.is_closed
    assert not resource.is_mapped
    other.close()


def test_the_resource_keeps_the_mapping(resource, stream):
    assert resource.map(stream=stream).size == COUNT * 4
    assert resource.is_mapped
    resource.unmap()


def test_a_mapping_keeps_the_resource_registered(gl, gl_buffer, numbers, stream):
    mapped = GraphicsResource.from_gl_buffer(gl_buffer).map(stream=stream)
    gc.collect()
    mapped.fill(0, stream=stream)
    mapped.close()
    assert not gl.read_buffer(gl_buffer, np.ones_like(numbers)).any()


def test_close_unmaps_and_can_be_repeated(gl_buffer, device, stream):
    resource = GraphicsResource.from_gl_buffer(gl_buffer)
    mapped = resource.map(stream=stream)
    other = device.create_stream()
    resource.close(other)
    resource.close()
    assert mapped.is_closed
    assert resource.is_closed
    assert repr(resource) == "<GraphicsResource closed>"
    other.close()


def test_the_flags_are_promises(gl, gl_buffer, numbers, stream):
    read = np.zeros_like(numbers)
    with GraphicsResource.from_gl_buffer(gl_buffer, flags=["read_only"]) as resource:
        with resource.map(stream=stream) as mapped:
            mapped.copy_to_host(read, stream=stream)
            stream.sync()
        np.testing.assert_array_equal(read, numbers)
        resource.set_map_use("write_discard")
        with resource.map(stream=stream) as mapped:
            mapped.fill(0, stream=stream)
    assert not gl.read_buffer(gl_buffer, read).any()


PAINT = """
extern "C" __global__ void paint(cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) { surf2Dwrite(x + 256 * y, surface, 4 * x, y); }
}
"""


def test_an_image_is_mapped_as_an_array(gl, stream):
    texels = np.arange(32 * 16, dtype=np.float32).reshape(16, 32)
    texture = gl.make_texture(texels, R32F, RED, FLOAT)
    with GraphicsResource.from_gl_image(texture, TEXTURE_2D) as image:
        assert image.is_image
        with image.map_array(stream=stream) as array:
            assert isinstance(array, cuprum.texture.OpaqueArray)
            assert image.is_mapped
            np.testing.assert_array_equal(array.to_numpy(stream=stream), texels)
            array.copy_from(texels * 2, stream=stream)
            assert image.mapped_array(0, 0).shape == array.shape
            with pytest.raises(cuprum.CUDAError, match="cuGraphicsSubResourceGetMappedArray"):
                image.mapped_array(level=1)
        gc.collect()
        assert not image.is_mapped
        array = image.map_array(stream=stream)
        other = image.mapped_array()
        image.unmap()
        assert array.is_closed
        with pytest.raises(cuprum.ClosedError, match="OpaqueArray"):
            _ = other.handle
        with pytest.raises(RuntimeError, match="is an image"):
            image.map(stream=stream)
        with pytest.raises(RuntimeError, match=r"map_array\(\) comes first"):
            image.mapped_array()
        image.map_array(stream=stream)  # closing the resource unmaps it
    read = gl.read_texture(texture, np.zeros_like(texels), RED, FLOAT)
    np.testing.assert_array_equal(read, texels * 2)
    gl.delete_texture(texture)


def test_a_kernel_paints_a_texture(gl, device, stream):
    width, height = 40, 24
    blank = np.zeros((height, width), np.uint32)
    texture = gl.make_texture(blank, R32UI, RED_INTEGER, UNSIGNED_INT)
    kernel = cuprum.Program(PAINT, "c++").compile("cubin").get_kernel("paint")
    config = cuprum.LaunchConfig(grid=(3, 2), block=(16, 16))
    image = GraphicsResource.from_gl_image(texture, TEXTURE_2D, flags="surface_load_store")
    with image, image.map_array(stream=stream) as array:
        resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
        with device.create_surface_object(resource=resource) as surface:
            cuprum.launch(stream, config, kernel, surface, width, height)
            stream.sync()
    read = gl.read_texture(texture, blank, RED_INTEGER, UNSIGNED_INT)
    y, x = np.mgrid[:height, :width]
    np.testing.assert_array_equal(read, x + 256 * y)
    gl.delete_texture(texture)


def test_a_surface_ends_with_the_mapping(gl, device, stream):
    blank = np.zeros((16, 16), np.uint32)
    texture = gl.make_texture(blank, R32UI, RED_INTEGER, UNSIGNED_INT)
    kernel = cuprum.Program(PAINT, "c++").compile("cubin").get_kernel("paint")
    config = cuprum.LaunchConfig(grid=1, block=(16, 16))
    with GraphicsResource.from_gl_image(texture, TEXTURE_2D, flags="surface_load_store") as image:
        array = image.map_array(stream=stream)
        resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
        with device.create_surface_object(resource=resource) as surface:
            image.unmap()
            with pytest.raises(cuprum.ClosedError, match="SurfaceObject"):
                cuprum.launch(stream, config, kernel, surface, 16, 16)
            with pytest.raises(cuprum.ClosedError, match="SurfaceObject"):
                _ = surface.handle
    gl.delete_texture(texture)


def test_describes_itself(resource, device, stream):
    assert repr(resource).startswith("<GraphicsResource handle=0x")
    assert resource.handle == resource.resource_handle != 0
    assert resource == resource
    assert resource in {resource}
    assert resource.device is device
    assert not resource.is_image
    with resource.map(stream=stream):
        assert repr(resource).endswith(" mapped>")


def test_the_devices_of_opengl(gl, device):
    assert device in cuprum.gl_devices()
    assert device in cuprum.gl_devices("current_frame")
    with pytest.raises(ValueError, match="devices is 'some', expected one of 'all'"):
        cuprum.gl_devices("some")


def test_mapping_in_the_wrong_order(resource, stream):
    with pytest.raises(RuntimeError, match=r"not mapped; map\(\) comes first"):
        resource.unmap()
    with resource.map(stream=stream):
        with pytest.raises(RuntimeError, match="already mapped; unmap it"):
            resource.map(stream=stream)
        with pytest.raises(RuntimeError, match="is mapped; unmap it before"):
            resource.set_map_use("read_only")
    resource.close()
    with pytest.raises(cuprum.ClosedError, match="GraphicsResource was closed"):
        resource.map(stream=stream)
    with pytest.raises(cuprum.ClosedError, match="GraphicsResource was closed"):
        resource.unmap()
    with pytest.raises(cuprum.ClosedError, match="GraphicsResource was closed"):
        _ = resource.handle


@pytest.mark.parametrize(
    ("error", "text", "make"),
    [
        (TypeError, "gl_buffer must be an integer", lambda b: ("1", {})),
        (ValueError, "gl_buffer is 4294967296, .* 32 bits", lambda b: (1 << 32, {})),
        (ValueError, "Unknown register flag 'fast'; expected", lambda b: (b, {"flags": "fast"})),
        (TypeError, "flags", lambda b: (b, {"flags": 3})),
        (ValueError, "both set", lambda b: (b, {"flags": ("read_only", "write_discard")})),
        (ValueError, "from_gl_image", lambda b: (b, {"flags": "surface_load_store"})),
        (TypeError, "stream", lambda b: (b, {"stream": 7})),
        (cuprum.CUDAError, "cuGraphicsGLRegisterBuffer", lambda b: (98765, {})),
    ],
)
def test_bad_buffers(gl_buffer, error, text, make):
    buffer, options = make(gl_buffer)
    with pytest.raises(error, match=text):
        GraphicsResource.from_gl_buffer(buffer, **options)


def test_bad_images(gl):
    with pytest.raises(ValueError, match="target is 0xde0, expected one of GL_TEXTURE_2D"):
        GraphicsResource.from_gl_image(1, TEXTURE_1D)
    with pytest.raises(TypeError, match="target must be an integer"):
        GraphicsResource.from_gl_image(1, "GL_TEXTURE_2D")
    with pytest.raises(ValueError, match="image is null"):
        GraphicsResource.from_egl_image(0)


def test_map_needs_a_stream(resource):
    with pytest.raises(TypeError, match="keyword-only argument"):
        resource.map()
    with pytest.raises(TypeError, match="stream"):
        resource.map(stream=None)


def test_objects_are_not_made_directly():
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        GraphicsResource()


def test_needs_a_context_of_opengl(device, gl, gl_buffer, resource, stream):
    gl.release()
    # The H200 answers INVALID_VALUE, as for a buffer that does not exist.
    expected = r"CUDA_ERROR_INVALID_(GRAPHICS_CONTEXT|VALUE) .*context of OpenGL is current on this"
    with pytest.raises(cuprum.CUDAError, match=expected):
        GraphicsResource.from_gl_buffer(gl_buffer)
    if device.is_emulated:  # drivers of GPUs may not need it for a mapping
        with pytest.raises(cuprum.CUDAError, match="OpenGL"):
            resource.map(stream=stream)
    gl.make_current()
    with resource.map(stream=stream):
        pass


def test_needs_a_context_of_cuda(gl_buffer, device):
    device.context.pop()
    try:
        with pytest.raises(cuprum.CUDAError, match="registering a graphics resource needs"):
            GraphicsResource.from_gl_buffer(gl_buffer)
    finally:
        device.set_current()


def test_a_dropped_resource_unregisters(gl_buffer, stream):
    resource = GraphicsResource.from_gl_buffer(gl_buffer)
    mapped = weakref.ref(resource.map(stream=stream))
    assert mapped() is not None
    del resource
    gc.collect()
    assert mapped() is None  # the fixture looks for leaks
