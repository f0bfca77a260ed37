// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphics/gl_test.hpp"
#include "support/every_failure.hpp"
#include "support/expect_error.hpp"

#include <cuprum/graphics/graphics_resource.hpp>
#include <cuprum/texture/surface_object.hpp>
#include <cuprum/texture/texture_object.hpp>

#include <numeric>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr int COUNT = 256;
constexpr std::size_t BYTES = COUNT * sizeof(float);
constexpr unsigned GL_TEXTURE_1D = 0x0DE0;

class GraphicsResourceTest : public testing::GLTest {
protected:
    void SetUp() override {
        GLTest::SetUp();
        if (!IsSkipped()) {
            buffer_ = gl().make_buffer(numbers());
        }
    }

    void TearDown() override {
        if (!IsSkipped()) {
            gl().make_current();
            gl().delete_buffer(buffer_);
        }
        GLTest::TearDown();
    }

    static std::vector<float> numbers() {
        std::vector<float> values(COUNT);
        std::iota(values.begin(), values.end(), 1.0F);
        return values;
    }

    [[nodiscard]] GraphicsResource registered(const GraphicsOptions& options = {}) const {
        return GraphicsResource::from_gl_buffer(context(), buffer_, options);
    }

    [[nodiscard]] std::vector<float> read_back() const {
        return gl().read_buffer<float>(buffer_, COUNT);
    }

    unsigned buffer_ = 0;
};

} // namespace

TEST_F(GraphicsResourceTest, a_kernel_changes_a_buffer_of_opengl) {
    const ObjectCode code =
        compile("extern \"C\" __global__ void twice(float* x, int n) {"
                " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i] *= 2; } }");
    const GraphicsResource resource = registered();
    EXPECT_FALSE(resource.is_mapped());
    EXPECT_FALSE(resource.is_image());
    {
        const Buffer mapped = resource.map(stream());
        EXPECT_TRUE(resource.is_mapped());
        EXPECT_EQ(mapped.size(), BYTES);
        EXPECT_EQ(mapped.device_id(), 0);
        EXPECT_TRUE(mapped.is_device_accessible());
        EXPECT_FALSE(mapped.is_host_accessible());
        launch(stream(), {.grid = {2}, .block = {128}}, code.get_kernel("twice"), mapped, COUNT);
    }
    EXPECT_FALSE(resource.is_mapped());
    std::vector<float> expected = numbers();
    for (float& value : expected) {
        value *= 2;
    }
    EXPECT_EQ(read_back(), expected);
}

TEST_F(GraphicsResourceTest, copies_and_slices_share_the_mapping) {
    GraphicsResource resource = registered({.is_write_discard = true});
    Buffer whole = resource.map(stream());
    Buffer part = whole.slice(16, 16);
    whole.close();
    EXPECT_TRUE(resource.is_mapped()) << "the slice still uses it";
    GraphicsResource copy = resource;
    EXPECT_EQ(copy, resource);
    resource.close();
    EXPECT_TRUE(resource.is_closed());
    EXPECT_TRUE(copy.is_mapped());
    part.close();
    EXPECT_FALSE(copy.is_mapped());
}

TEST_F(GraphicsResourceTest, a_mapping_keeps_a_closed_resource_registered) {
    GraphicsResource resource = registered();
    Buffer mapped = resource.map(stream());
    resource.close();
    mapped.fill(std::uint32_t{0}, stream());
    mapped.close();
    EXPECT_EQ(read_back(), std::vector<float>(COUNT, 0.0F));
}

TEST_F(GraphicsResourceTest, an_exception_unmaps) {
    const GraphicsResource resource = registered();
    try {
        const Buffer mapped = resource.map(stream());
        throw std::runtime_error("in between");
    } catch (const std::runtime_error&) {
        EXPECT_FALSE(resource.is_mapped());
    }
    EXPECT_FALSE(resource.map(stream()).is_closed()) << "it can be mapped again";
}

TEST_F(GraphicsResourceTest, unmap_ends_the_mapping_before_its_buffers) {
    const GraphicsResource resource = registered();
    const Stream other = device().create_stream();
    {
        const Buffer mapped = resource.map(stream());
        mapped.fill(std::uint32_t{0}, stream());
        stream().sync();
        resource.unmap(other);
        EXPECT_FALSE(resource.is_mapped());
        EXPECT_EQ(read_back(), std::vector<float>(COUNT, 0.0F));
    }
    const Buffer again = resource.map(stream());
    resource.unmap();
    EXPECT_FALSE(resource.is_mapped());
}

TEST_F(GraphicsResourceTest, closing_on_another_stream_orders_the_unmapping_there) {
    const GraphicsResource resource = registered();
    const Stream other = device().create_stream();
    Buffer mapped = resource.map(stream());
    mapped.fill(std::uint32_t{0x3F800000}, other);
    mapped.close(other);
    EXPECT_EQ(read_back(), std::vector<float>(COUNT, 1.0F));
}

TEST_F(GraphicsResourceTest, what_kernels_do_can_change_between_mappings) {
    const GraphicsResource resource = registered();
    resource.set_map_use(GraphicsMapUse::ReadOnly);
    {
        std::vector<float> seen(COUNT);
        const Buffer mapped = resource.map(stream());
        mapped.copy_to_host(seen, stream());
        stream().sync();
        EXPECT_EQ(seen, numbers());
        expect_error<std::logic_error>([&] { resource.set_map_use(GraphicsMapUse::ReadWrite); },
                                       {"the GraphicsResource is mapped", "unmap it before"});
    }
    resource.set_map_use(GraphicsMapUse::WriteDiscard);
    resource.map(stream()).fill(std::uint32_t{0}, stream());
    EXPECT_EQ(read_back(), std::vector<float>(COUNT, 0.0F));
}

TEST_F(GraphicsResourceTest, says_what_is_wrong) {
    GraphicsResource resource = registered();
    expect_error<std::logic_error>([&] { resource.unmap(); },
                                   {"the GraphicsResource is not mapped", "map() comes first"});
    expect_error<std::logic_error>([&] { resource.unmap(stream()); },
                                   {"the GraphicsResource is not mapped"});
    {
        const Buffer mapped = resource.map(stream());
        expect_error<std::logic_error>(
            [&] { static_cast<void>(resource.map(stream())); },
            {"the GraphicsResource is already mapped", "close the buffer"});
    }
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(registered({.is_read_only = true, .is_write_discard = true})); },
        {"read_only and write_discard are both set"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(registered({.is_surface_load_store = true})); },
        {"surface_load_store is set", "from_gl_image"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(registered({.is_texture_gather = true})); },
        {"texture_gather is set"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(GraphicsResource::from_gl_image(context(), 1, GL_TEXTURE_1D)); },
        {"target is 0xde0", "GL_TEXTURE_2D", "GL_RENDERBUFFER"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(GraphicsResource::from_egl_image(context(), nullptr)); },
        {"image is null", "EGLImage"});
    expect_error<std::invalid_argument>(
        [&] { resource.set_map_use(static_cast<GraphicsMapUse>(7)); },
        {"use is 7", "GraphicsMapUse"});
    expect_error<CUDAError>(
        [&] { static_cast<void>(GraphicsResource::from_gl_buffer(context(), 98765)); },
        {"cuGraphicsGLRegisterBuffer", "no buffer 98765", "make the context"});
    Stream closed = device().create_stream();
    closed.close();
    expect_error<ClosedError>([&] { static_cast<void>(resource.map(closed)); }, {"Stream"});
    EXPECT_FALSE(resource.is_mapped());
    resource.close();
    resource.close();
    expect_error<ClosedError>([&] { static_cast<void>(resource.map(stream())); },
                              {"GraphicsResource"});
    expect_error<ClosedError>([&] { resource.unmap(); }, {"GraphicsResource"});
    expect_error<ClosedError>([&] { static_cast<void>(resource.handle()); }, {"GraphicsResource"});
}

TEST_F(GraphicsResourceTest, needs_a_context_of_opengl) {
    const GraphicsResource resource = registered();
    gl().release();
    expect_error<CUDAError>([&] { static_cast<void>(registered()); },
                            {"cuGraphicsGLRegisterBuffer", "context of OpenGL is current"});
    if (device().is_emulated()) { // drivers of GPUs may not need it for a mapping
        expect_error<CUDAError>([&] { static_cast<void>(resource.map(stream())); },
                                {"cuGraphicsMapResources"});
        EXPECT_FALSE(resource.is_mapped());
    }
    expect_error<CUDAError>([&] { static_cast<void>(gl_devices()); }, {"cuGLGetDevices"});
    gl().make_current();
    EXPECT_EQ(resource.map(stream()).size(), BYTES);
    const std::vector<Device> devices = gl_devices(GLDeviceList::All);
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices.front(), device());
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(gl_devices(static_cast<GLDeviceList>(9))); }, {"list is 9"});
}

TEST_F(GraphicsResourceTest, a_buffer_that_cannot_be_unmapped_warns_once) {
    if (!device().is_emulated()) {
        GTEST_SKIP() << "the driver of a GPU unmaps from other threads";
    }
    const GraphicsResource resource = registered();
    Buffer mapped = resource.map(stream());
    gl().release();
    mapped.close();
    gl().make_current();
    const auto told = warnings.take(WarningKind::Release);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("cuGraphicsUnmapResources"), std::string::npos) << told[0];
}

TEST_F(GraphicsResourceTest, is_described_and_hashed) {
    GraphicsResource resource = registered();
    EXPECT_EQ(to_string(resource).find("<GraphicsResource handle=0x"), 0U) << to_string(resource);
    const Buffer mapped = resource.map(stream());
    EXPECT_NE(to_string(resource).find(" mapped>"), std::string::npos) << to_string(resource);
    EXPECT_TRUE((std::unordered_set<GraphicsResource>{resource}.contains(resource)));
    EXPECT_EQ(resource.context(), context());
    resource.close();
    EXPECT_EQ(to_string(resource), "<GraphicsResource closed>");
}

TEST_F(GraphicsResourceTest, an_image_is_mapped_as_an_array) {
    constexpr int width = 16;
    constexpr int height = 8;
    const std::vector<float> texels(width * height, 3.0F);
    const unsigned texture =
        gl().make_texture(gl::R32F, width, height, gl::RED, gl::FLOAT, texels.data());
    GraphicsResource image = GraphicsResource::from_gl_image(context(), texture, gl::TEXTURE_2D,
                                                             {.is_surface_load_store = true});
    EXPECT_TRUE(image.is_image());
    {
        const OpaqueArray array = image.map_array(stream());
        EXPECT_TRUE(image.is_mapped());
        EXPECT_EQ(array.extent(), (ArrayExtent{width, height, 0}));
        EXPECT_EQ(array.format(), ArrayFormat::Float32);
        const OpaqueArray same = image.mapped_array(0, 0);
        std::vector<float> seen(texels.size());
        same.copy_to_host(seen, stream());
        stream().sync();
        EXPECT_EQ(seen, texels);
        array.copy_from_host(std::vector<float>(texels.size(), 5.0F), stream());
        expect_error<std::logic_error>([&] { static_cast<void>(image.map_array(stream())); },
                                       {"already mapped"});
        expect_error<CUDAError>([&] { static_cast<void>(image.mapped_array(1, 0)); },
                                {"cuGraphicsSubResourceGetMappedArray"});
        expect_error<CUDAError>([&] { static_cast<void>(image.mapped_array(0, 1)); },
                                {"cuGraphicsSubResourceGetMappedArray"});
    }
    EXPECT_FALSE(image.is_mapped());
    std::vector<float> seen(texels.size());
    gl().read_texture(texture, gl::RED, gl::FLOAT, seen.data());
    EXPECT_EQ(seen, std::vector<float>(texels.size(), 5.0F));
    const OpaqueArray array = image.map_array(stream());
    const MipmappedArray mipmapped = image.mapped_mipmapped_array();
    EXPECT_EQ(mipmapped.extent(), (ArrayExtent{width, height, 0}));
    const OpaqueArray level = mipmapped.level(0);
    const SurfaceObject surface = SurfaceObject::create(level);
    const TextureObject texture_object =
        TextureObject::create(ResourceDescriptor::from_opaque_array(array));
    const TextureObject mipmapped_texture = TextureObject::create(
        ResourceDescriptor::from_mipmapped_array(mipmapped), {.normalized_coords = true});
    level.copy_to_host(seen, stream());
    EXPECT_NE(surface.handle(), 0U);
    EXPECT_NE(texture_object.handle(), 0U);
    image.unmap();
    expect_error<ClosedError>([&] { level.copy_to_host(seen, stream()); }, {"OpaqueArray"});
    expect_error<ClosedError>([&] { static_cast<void>(surface.handle()); }, {"SurfaceObject"});
    expect_error<ClosedError>([&] { static_cast<void>(texture_object.handle()); },
                              {"TextureObject"});
    expect_error<ClosedError>([&] { static_cast<void>(mipmapped_texture.handle()); },
                              {"TextureObject"});
    expect_error<ClosedError>([&] { static_cast<void>(array.handle()); }, {"OpaqueArray"});
    expect_error<ClosedError>([&] { static_cast<void>(mipmapped.handle()); }, {"MipmappedArray"});
    expect_error<std::logic_error>([&] { static_cast<void>(image.mapped_array()); },
                                   {"not mapped", "map_array() comes first"});
    expect_error<std::logic_error>([&] { static_cast<void>(image.map(stream())); },
                                   {"is an image", "map_array()"});
    const GraphicsResource buffer = registered();
    expect_error<std::logic_error>([&] { static_cast<void>(buffer.map_array(stream())); },
                                   {"is a buffer", "map()"});
    expect_error<CUDAError>([&] { static_cast<void>(image.map_array(stream(), 0, 9)); },
                            {"cuGraphicsSubResourceGetMappedArray"});
    EXPECT_FALSE(image.is_mapped()) << "a failure leaves nothing mapped";
    image.close();
    gl().delete_texture(texture);
}

TEST_F(GraphicsResourceTest, images_survive_a_failure_of_every_driver_call) {
    const unsigned texture = gl().make_texture(gl::R32F, 4, 4, gl::RED, gl::FLOAT, nullptr);
    stream().sync();
    testing::check_every_failure_on_driver([&] {
        const GraphicsResource image =
            GraphicsResource::from_gl_image(context(), texture, gl::TEXTURE_2D);
        const OpaqueArray array = image.map_array(stream());
        static_cast<void>(image.mapped_array());
    });
    gl().delete_texture(texture);
}

TEST_F(GraphicsResourceTest, survives_a_failure_of_every_driver_call) {
    stream().sync();
    testing::check_every_failure_on_driver([&] {
        const GraphicsResource resource = registered();
        resource.set_map_use(GraphicsMapUse::ReadWrite);
        {
            const Buffer mapped = resource.map(stream());
            mapped.fill(std::uint8_t{1}, stream());
        }
        const Buffer again = resource.map(stream());
        resource.unmap(stream());
        static_cast<void>(gl_devices());
    });
}

} // namespace cuprum
