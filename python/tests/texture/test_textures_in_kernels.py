# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

import cuprum
from cuprum.graph import GraphDefinition
from cuprum.texture import ResourceDescriptor

SOURCE = r"""
extern "C" __global__ void read(cudaTextureObject_t texture, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void add(cudaSurfaceObject_t surface, float amount, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < width && y < height) {
        float value = surf2Dread<float>(surface, x * sizeof(float), y);
        surf2Dwrite<float>(value + amount, surface, x * sizeof(float), y);
    }
}
extern "C" __global__ void fetch(cudaTextureObject_t texture, int* out, int count) {
    int i = threadIdx.x;
    if (i < count) out[i] = tex1Dfetch<int>(texture, i);
}
"""
WIDTH, HEIGHT = 8, 4
CONFIG = cuprum.LaunchConfig(grid=(1, HEIGHT), block=32)


@pytest.fixture(scope="module")
def ptx():
    return cuprum.Program(SOURCE, "c++").compile("ptx").code


@pytest.fixture
def kernels(ptx):
    code = cuprum.ObjectCode.from_ptx(ptx)
    made = {name: code.get_kernel(name) for name in ("read", "add", "fetch")}
    yield made
    made.clear()  # pytest still refers to it when live objects are counted
    code.close()


@pytest.fixture
def image():
    return np.arange(WIDTH * HEIGHT, dtype=np.float32).reshape(HEIGHT, WIDTH)


@pytest.fixture
def array(device, stream, image):
    made = device.create_opaque_array(
        {"shape": (WIDTH, HEIGHT), "format": "float32", "is_surface_load_store": True}
    )
    made.copy_from(image, stream=stream)
    stream.sync()
    yield made
    made.close()


def result_of(buffer, stream, dtype=np.float32):
    values = np.empty(buffer.size // 4, dtype)
    buffer.copy_to_host(values, stream=stream)
    stream.sync()
    return values


def test_textures_and_surfaces_are_arguments(device, stream, kernels, array, image):
    resource = ResourceDescriptor.from_opaque_array(array)
    texture = device.create_texture_object(resource=resource)
    surface = device.create_surface_object(resource=resource)
    out = device.allocate(array.size_bytes, stream=stream)
    cuprum.launch(stream, CONFIG, kernels["add"], surface, 100.0, WIDTH, HEIGHT)
    cuprum.launch(stream, CONFIG, kernels["read"], texture, out, WIDTH, HEIGHT)
    np.testing.assert_array_equal(result_of(out, stream).reshape(image.shape), image + 100)
    cuprum.launch(stream, CONFIG, kernels["read"], texture.handle, out, WIDTH, HEIGHT)
    np.testing.assert_array_equal(array.to_numpy(stream=stream), image + 100)


def test_linear_memory_is_fetched(device, stream, kernels):
    values = np.arange(16, dtype=np.int32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from_host(values, stream=stream)
    texture = device.create_texture_object(
        resource=ResourceDescriptor.from_linear(buffer, format="int32", num_channels=1)
    )
    out = device.allocate(values.nbytes, stream=stream)
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernels["fetch"], texture, out, 16)
    assert result_of(out, stream, np.int32).tolist() == values.tolist()


def test_closed_objects_are_refused(device, stream, kernels, array):
    resource = ResourceDescriptor.from_opaque_array(array)
    texture = device.create_texture_object(resource=resource)
    surface = device.create_surface_object(resource=resource)
    texture.close()
    surface.close()
    out = device.allocate(array.size_bytes, stream=stream)
    with pytest.raises(cuprum.ClosedError, match="TextureObject"):
        cuprum.launch(stream, CONFIG, kernels["read"], texture, out, WIDTH, HEIGHT)
    with pytest.raises(cuprum.ClosedError, match="SurfaceObject"):
        cuprum.launch(stream, CONFIG, kernels["add"], surface, 1.0, WIDTH, HEIGHT)


def test_a_texture_for_a_number_of_32_bits_is_refused(device, stream, kernels, array):
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array))
    with pytest.raises(TypeError, match="it stands for an address or handle"):
        cuprum.launch(stream, CONFIG, kernels["read"], texture, 0, texture, HEIGHT)


@pytest.mark.parametrize("is_captured", [True, False])
def test_graphs_keep_textures_and_surfaces_alive(
    device, stream, kernels, array, image, is_captured
):
    resource = ResourceDescriptor.from_opaque_array(array)
    texture = device.create_texture_object(resource=resource)
    surface = device.create_surface_object(resource=resource)
    out = device.allocate(array.size_bytes, stream=stream)
    stream.sync()
    add = (CONFIG, kernels["add"], surface, 100.0, WIDTH, HEIGHT)
    read = (CONFIG, kernels["read"], texture, out, WIDTH, HEIGHT)
    if is_captured:
        builder = device.create_graph_builder().begin_building()
        cuprum.launch(builder, *add)
        cuprum.launch(builder, *read)
        graph = builder.end_building().complete()
    else:
        definition = GraphDefinition()
        definition.launch(*add).launch(*read)
        graph = definition.instantiate()
    texture.close()
    surface.close()
    array.close()
    resource = None
    graph.launch(stream)
    np.testing.assert_array_equal(result_of(out, stream).reshape(image.shape), image + 100)


def test_an_updated_node_keeps_its_new_texture_alive(device, stream, kernels, array, image):
    def texture_of(values):
        made = device.create_opaque_array({"shape": (WIDTH, HEIGHT), "format": "float32"})
        made.copy_from(values, stream=stream)
        stream.sync()
        return device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(made))

    out = device.allocate(array.size_bytes, stream=stream)
    first = texture_of(image)
    definition = GraphDefinition()
    node = definition.launch(CONFIG, kernels["read"], first, out, WIDTH, HEIGHT)
    graph = definition.instantiate()
    second = texture_of(image * 2)
    graph[node].update(config=CONFIG, kernel=kernels["read"], args=(second, out, WIDTH, HEIGHT))
    first.close()
    second.close()
    graph.launch(stream)
    np.testing.assert_array_equal(result_of(out, stream).reshape(image.shape), image * 2)
