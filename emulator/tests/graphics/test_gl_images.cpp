// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Textures and renderbuffers of the real OpenGL that CUDA reads and writes.

#include "graphics/gl_test.hpp"

#include <numeric>
#include <vector>

using namespace cuprum::emulator::test;
namespace gl = cuprum::gl;

namespace {

constexpr int WIDTH = 30;
constexpr int HEIGHT = 20;
constexpr std::size_t TEXELS = WIDTH * HEIGHT;

/// Writes texel (x, y) of a surface as x + 256 * y.
constexpr const char* PAINT_PTX = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry paint(.param .u64 surface)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [surface];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 8;
    add.u32 %r4, %r3, %r1;
    shl.b32 %r5, %r1, 2;
    sust.b.2d.b32.trap [%rd1, {%r5, %r2}], {%r4};
    ret;
}
)";

template <typename T>
std::vector<T> counting(std::size_t count, T first = 0) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

class GLImageTest : public GLTest {
protected:
    [[nodiscard]] CUgraphicsResource registered_image(unsigned name, unsigned target,
                                                      unsigned flags = 0) const {
        CUgraphicsResource resource = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphicsGLRegisterImage)(&resource, name, target, flags)));
        return resource;
    }

    [[nodiscard]] CUarray array(CUgraphicsResource resource, unsigned index = 0,
                                unsigned level = 0) const {
        CUarray result = nullptr;
        EXPECT_TRUE(
            succeeds(CU(cuGraphicsSubResourceGetMappedArray)(&result, resource, index, level)));
        return result;
    }

    static CUDA_ARRAY3D_DESCRIPTOR descriptor(CUarray array) {
        CUDA_ARRAY3D_DESCRIPTOR result{};
        EXPECT_TRUE(succeeds(CU(cuArray3DGetDescriptor)(&result, array)));
        return result;
    }

    /// Copies rows between an array and memory of the host.
    static CUresult copy(CUarray array, void* host, std::size_t row_bytes, std::size_t rows,
                         bool is_read) {
        CUDA_MEMCPY2D request{};
        request.WidthInBytes = row_bytes;
        request.Height = rows;
        if (is_read) {
            request.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            request.srcArray = array;
            request.dstMemoryType = CU_MEMORYTYPE_HOST;
            request.dstHost = host;
            request.dstPitch = row_bytes;
        } else {
            request.srcMemoryType = CU_MEMORYTYPE_HOST;
            request.srcHost = host;
            request.srcPitch = row_bytes;
            request.dstMemoryType = CU_MEMORYTYPE_ARRAY;
            request.dstArray = array;
        }
        return CU(cuMemcpy2D)(&request);
    }

    void unregister(CUgraphicsResource resource) const {
        EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    }
};

} // namespace

TEST_F(GLImageTest, cuda_reads_and_writes_a_texture) {
    const auto before = counting<std::uint8_t>(TEXELS * 4);
    const unsigned texture =
        gl_->make_texture(gl::RGBA8, WIDTH, HEIGHT, gl::RGBA, gl::UNSIGNED_BYTE, before.data());
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D);
    ASSERT_TRUE(succeeds(map(resource)));
    const CUarray mapped = array(resource);
    const CUDA_ARRAY3D_DESCRIPTOR shape = descriptor(mapped);
    EXPECT_EQ(shape.Width, std::size_t{WIDTH});
    EXPECT_EQ(shape.Height, std::size_t{HEIGHT});
    EXPECT_EQ(shape.Depth, 0U);
    EXPECT_EQ(shape.Format, CU_AD_FORMAT_UNSIGNED_INT8);
    EXPECT_EQ(shape.NumChannels, 4U);
    std::vector<std::uint8_t> seen(TEXELS * 4);
    ASSERT_TRUE(succeeds(copy(mapped, seen.data(), WIDTH * 4, HEIGHT, true)));
    EXPECT_EQ(seen, before);
    auto after = counting<std::uint8_t>(TEXELS * 4, 77);
    ASSERT_TRUE(succeeds(copy(mapped, after.data(), WIDTH * 4, HEIGHT, false)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    gl_->read_texture(texture, gl::RGBA, gl::UNSIGNED_BYTE, seen.data());
    EXPECT_EQ(seen, after);
    CUDA_ARRAY3D_DESCRIPTOR unused{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&unused, mapped)))
        << "the array is gone";
    unregister(resource);
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, a_kernel_paints_a_texture_through_a_surface) {
    const unsigned texture =
        gl_->make_texture(gl::R32UI, WIDTH, HEIGHT, gl::RED_INTEGER, gl::UNSIGNED_INT, nullptr);
    const CUgraphicsResource resource =
        registered_image(texture, gl::TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CUmodule module = nullptr;
    CUfunction paint = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, PAINT_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&paint, module, "paint")));
    ASSERT_TRUE(succeeds(map(resource)));
    CUDA_RESOURCE_DESC description{};
    description.resType = CU_RESOURCE_TYPE_ARRAY;
    description.res.array.hArray = array(resource);
    EXPECT_EQ(descriptor(array(resource)).Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
    CUsurfObject surface = 0;
    ASSERT_TRUE(succeeds(CU(cuSurfObjectCreate)(&surface, &description)));
    void* arguments[] = {&surface};
    ASSERT_TRUE(succeeds(
        CU(cuLaunchKernel)(paint, HEIGHT, 1, 1, WIDTH, 1, 1, 0, stream_, arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    ASSERT_TRUE(succeeds(CU(cuSurfObjectDestroy)(surface)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    std::vector<std::uint32_t> seen(TEXELS);
    gl_->read_texture(texture, gl::RED_INTEGER, gl::UNSIGNED_INT, seen.data());
    for (std::uint32_t y = 0; y < HEIGHT; ++y) {
        for (std::uint32_t x = 0; x < WIDTH; ++x) {
            ASSERT_EQ(seen[y * WIDTH + x], x + 256 * y) << x << ", " << y;
        }
    }
    unregister(resource);
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, every_format_of_opengl_that_cuda_shares_keeps_its_texels) {
    struct Case {
        unsigned internal;
        unsigned layout;
        unsigned type;
        CUarray_format format;
        unsigned channels;
        std::size_t texel_bytes;
    };

    constexpr unsigned rg = 0x8227;
    constexpr unsigned half = 0x140B;
    constexpr unsigned rgba_integer = 0x8D99;
    constexpr unsigned unsigned_short = 0x1403;
    const Case cases[] = {
        {0x8229, gl::RED, gl::UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
        {0x822B, rg, gl::UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 2, 2},
        {0x8C43, gl::RGBA, gl::UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4},
        {0x822A, gl::RED, unsigned_short, CU_AD_FORMAT_UNSIGNED_INT16, 1, 2},
        {0x805B, gl::RGBA, unsigned_short, CU_AD_FORMAT_UNSIGNED_INT16, 4, 8},
        {0x881A, gl::RGBA, half, CU_AD_FORMAT_HALF, 4, 8},
        {gl::R32F, gl::RED, gl::FLOAT, CU_AD_FORMAT_FLOAT, 1, 4},
        {gl::RGBA32F, gl::RGBA, gl::FLOAT, CU_AD_FORMAT_FLOAT, 4, 16},
        {gl::R32UI, gl::RED_INTEGER, gl::UNSIGNED_INT, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4},
        {0x8D82, rgba_integer, 0x1404, CU_AD_FORMAT_SIGNED_INT32, 4, 16},
        {0x8D8E, rgba_integer, 0x1400, CU_AD_FORMAT_SIGNED_INT8, 4, 4},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.internal);
        std::vector<std::uint8_t> before(TEXELS * each.texel_bytes);
        for (std::size_t index = 0; index < before.size(); ++index) {
            before[index] = static_cast<std::uint8_t>(index % 61); // small: no NaN
        }
        const unsigned texture =
            gl_->make_texture(each.internal, WIDTH, HEIGHT, each.layout, each.type, nullptr);
        const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D);
        ASSERT_TRUE(succeeds(map(resource)));
        EXPECT_EQ(descriptor(array(resource)).Format, each.format);
        EXPECT_EQ(descriptor(array(resource)).NumChannels, each.channels);
        ASSERT_TRUE(succeeds(
            copy(array(resource), before.data(), WIDTH * each.texel_bytes, HEIGHT, false)));
        ASSERT_TRUE(succeeds(unmap(resource)));
        ASSERT_TRUE(succeeds(map(resource))); // comes back from OpenGL
        std::vector<std::uint8_t> after(before.size());
        ASSERT_TRUE(
            succeeds(copy(array(resource), after.data(), WIDTH * each.texel_bytes, HEIGHT, true)));
        EXPECT_EQ(after, before);
        ASSERT_TRUE(succeeds(unmap(resource)));
        unregister(resource);
        gl_->delete_texture(texture);
    }
}

TEST_F(GLImageTest, layers_and_levels_are_arrays) {
    constexpr unsigned layers = 3;
    unsigned texture = 0;
    gl_->call<void(int, unsigned*)>("glGenTextures", 1, &texture);
    gl_->call<void(unsigned, unsigned)>("glBindTexture", gl::TEXTURE_2D_ARRAY, texture);
    gl_->call<void(unsigned, int, unsigned, int, int, int)>(
        "glTexStorage3D", gl::TEXTURE_2D_ARRAY, 2, gl::R32UI, 8, 4, static_cast<int>(layers));
    const auto texels = counting<std::uint32_t>(8 * 4 * layers);
    gl_->call<void(unsigned, int, int, int, int, int, int, int, unsigned, unsigned, const void*)>(
        "glTexSubImage3D", gl::TEXTURE_2D_ARRAY, 0, 0, 0, 0, 8, 4, static_cast<int>(layers),
        gl::RED_INTEGER, gl::UNSIGNED_INT, texels.data());
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D_ARRAY);
    ASSERT_TRUE(succeeds(map(resource)));
    const CUarray layer = array(resource, 2, 0);
    EXPECT_EQ(descriptor(layer).Depth, 0U);
    EXPECT_EQ(array(resource, 2, 0), layer) << "one array for one layer";
    std::vector<std::uint32_t> seen(8 * 4);
    ASSERT_TRUE(succeeds(copy(layer, seen.data(), 8 * 4, 4, true)));
    EXPECT_EQ(seen, counting<std::uint32_t>(8 * 4, 2 * 8 * 4));
    EXPECT_EQ(descriptor(array(resource, 0, 1)).Width, 4U);
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphicsResourceGetMappedMipmappedArray)(&mipmap, resource)));
    CUarray level = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&level, mipmap, 1)));
    EXPECT_EQ(descriptor(level).Depth, std::size_t{layers});
    CUarray none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphicsSubResourceGetMappedArray)(&none, resource, layers, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphicsSubResourceGetMappedArray)(&none, resource, 0, 2)));
    // Write layer 1 of level 0, and see it in OpenGL.
    auto written = counting<std::uint32_t>(8 * 4, 1000);
    ASSERT_TRUE(succeeds(copy(array(resource, 1, 0), written.data(), 8 * 4, 4, false)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    std::vector<std::uint32_t> all(8 * 4 * layers);
    gl_->call<void(unsigned, int, unsigned, unsigned, void*)>(
        "glGetTexImage", gl::TEXTURE_2D_ARRAY, 0, gl::RED_INTEGER, gl::UNSIGNED_INT, all.data());
    auto expected = texels;
    std::ranges::copy(written, expected.begin() + 8 * 4);
    EXPECT_EQ(all, expected);
    unregister(resource);
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, the_mipmap_of_a_mapped_image_is_not_destroyed_by_hand) {
    const auto before = counting<std::uint8_t>(TEXELS * 4);
    const unsigned texture =
        gl_->make_texture(gl::RGBA8, WIDTH, HEIGHT, gl::RGBA, gl::UNSIGNED_BYTE, before.data());
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D);
    ASSERT_TRUE(succeeds(map(resource)));
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphicsResourceGetMappedMipmappedArray)(&mipmap, resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_ARRAY_IS_MAPPED, CU(cuMipmappedArrayDestroy)(mipmap)));
    std::vector<std::uint8_t> seen(TEXELS * 4);
    EXPECT_TRUE(succeeds(copy(array(resource), seen.data(), WIDTH * 4, HEIGHT, true)));
    EXPECT_EQ(seen, before);
    EXPECT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuMipmappedArrayDestroy)(mipmap)));
    unregister(resource);
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, levels_that_do_not_fit_level_0_are_not_shared) {
    const auto define = [&](int level, int size) {
        gl_->call<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>(
            "glTexImage2D", gl::TEXTURE_2D, level, static_cast<int>(gl::R32UI), size, size, 0,
            gl::RED_INTEGER, gl::UNSIGNED_INT, nullptr);
    };
    unsigned texture = 0;
    gl_->call<void(int, unsigned*)>("glGenTextures", 1, &texture);
    gl_->call<void(unsigned, unsigned)>("glBindTexture", gl::TEXTURE_2D, texture);
    define(0, 4);
    define(1, 2);
    define(2, 2048); // far more than the array of one texel that level 2 has
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D);
    ASSERT_TRUE(succeeds(map(resource)));
    EXPECT_EQ(descriptor(array(resource, 0, 1)).Width, 2U);
    CUarray none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphicsSubResourceGetMappedArray)(&none, resource, 0, 2)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    unregister(resource);
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, faces_of_a_cube_map_are_arrays) {
    constexpr unsigned first_face = 0x8515;
    unsigned texture = 0;
    gl_->call<void(int, unsigned*)>("glGenTextures", 1, &texture);
    gl_->call<void(unsigned, unsigned)>("glBindTexture", gl::TEXTURE_CUBE_MAP, texture);
    for (unsigned face = 0; face < 6; ++face) {
        const std::vector<std::uint32_t> texels(16, face + 1);
        gl_->call<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>(
            "glTexImage2D", first_face + face, 0, static_cast<int>(gl::R32UI), 4, 4, 0,
            gl::RED_INTEGER, gl::UNSIGNED_INT, texels.data());
    }
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_CUBE_MAP);
    ASSERT_TRUE(succeeds(map(resource)));
    for (unsigned face = 0; face < 6; ++face) {
        std::vector<std::uint32_t> seen(16);
        ASSERT_TRUE(succeeds(copy(array(resource, face), seen.data(), 16, 4, true)));
        EXPECT_EQ(seen, std::vector<std::uint32_t>(16, face + 1));
        std::vector<std::uint32_t> written(16, 10 * face);
        ASSERT_TRUE(succeeds(copy(array(resource, face), written.data(), 16, 4, false)));
    }
    ASSERT_TRUE(succeeds(unmap(resource)));
    for (unsigned face = 0; face < 6; ++face) {
        std::vector<std::uint32_t> seen(16);
        gl_->call<void(unsigned, int, unsigned, unsigned, void*)>(
            "glGetTexImage", first_face + face, 0, gl::RED_INTEGER, gl::UNSIGNED_INT, seen.data());
        EXPECT_EQ(seen, std::vector<std::uint32_t>(16, 10 * face));
    }
    unregister(resource);
    gl_->delete_texture(texture);
}

TEST_F(GLImageTest, a_renderbuffer_is_an_array) {
    constexpr unsigned framebuffer_target = 0x8D40;
    unsigned renderbuffer = 0;
    unsigned framebuffer = 0;
    gl_->call<void(int, unsigned*)>("glGenRenderbuffers", 1, &renderbuffer);
    gl_->call<void(unsigned, unsigned)>("glBindRenderbuffer", gl::RENDERBUFFER, renderbuffer);
    gl_->call<void(unsigned, unsigned, int, int)>("glRenderbufferStorage", gl::RENDERBUFFER,
                                                  gl::RGBA8, WIDTH, HEIGHT);
    gl_->call<void(int, unsigned*)>("glGenFramebuffers", 1, &framebuffer);
    gl_->call<void(unsigned, unsigned)>("glBindFramebuffer", framebuffer_target, framebuffer);
    gl_->call<void(unsigned, unsigned, unsigned, unsigned)>(
        "glFramebufferRenderbuffer", framebuffer_target, 0x8CE0, gl::RENDERBUFFER, renderbuffer);
    gl_->call<void(float, float, float, float)>("glClearColor", 1.0F, 0.0F, 1.0F, 0.0F);
    gl_->call<void(unsigned)>("glClear", 0x4000U);
    const CUgraphicsResource resource = registered_image(renderbuffer, gl::RENDERBUFFER);
    ASSERT_TRUE(succeeds(map(resource)));
    std::vector<std::uint32_t> seen(TEXELS);
    ASSERT_TRUE(succeeds(copy(array(resource), seen.data(), WIDTH * 4, HEIGHT, true)));
    EXPECT_EQ(seen, std::vector<std::uint32_t>(TEXELS, 0x00FF00FF));
    auto written = counting<std::uint32_t>(TEXELS);
    ASSERT_TRUE(succeeds(copy(array(resource), written.data(), WIDTH * 4, HEIGHT, false)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    gl_->call<void(int, int, int, int, unsigned, unsigned, void*)>(
        "glReadPixels", 0, 0, WIDTH, HEIGHT, gl::RGBA, gl::UNSIGNED_BYTE, seen.data());
    EXPECT_EQ(seen, written);
    unregister(resource);
    gl_->call<void(int, const unsigned*)>("glDeleteFramebuffers", 1, &framebuffer);
    gl_->call<void(int, const unsigned*)>("glDeleteRenderbuffers", 1, &renderbuffer);
}

TEST_F(GLImageTest, the_state_of_opengl_is_kept) {
    constexpr unsigned pack_alignment = 0x0D05;
    constexpr unsigned unpack_row_length = 0x0CF2;
    constexpr unsigned texture_binding_2d = 0x8069;
    const unsigned texture =
        gl_->make_texture(gl::RGBA8, WIDTH, HEIGHT, gl::RGBA, gl::UNSIGNED_BYTE, nullptr);
    const unsigned other = gl_->make_texture(gl::RGBA8, 4, 4, gl::RGBA, gl::UNSIGNED_BYTE, nullptr);
    const unsigned buffer = gl_->make_buffer(std::vector<float>(4));
    gl_->call<void(unsigned, int)>("glPixelStorei", pack_alignment, 8);
    gl_->call<void(unsigned, int)>("glPixelStorei", unpack_row_length, 5);
    gl_->call<void(unsigned, unsigned)>("glBindTexture", gl::TEXTURE_2D, other);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::PIXEL_PACK_BUFFER, buffer);
    const CUgraphicsResource resource = registered_image(texture, gl::TEXTURE_2D);
    ASSERT_TRUE(succeeds(map(resource)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    unregister(resource);
    EXPECT_EQ(gl_->integer(pack_alignment), 8);
    EXPECT_EQ(gl_->integer(unpack_row_length), 5);
    EXPECT_EQ(gl_->integer(texture_binding_2d), static_cast<int>(other));
    EXPECT_EQ(gl_->integer(0x88ED), static_cast<int>(buffer)); // GL_PIXEL_PACK_BUFFER_BINDING
    gl_->delete_texture(texture);
    gl_->delete_texture(other);
    gl_->delete_buffer(buffer);
}

TEST_F(GLImageTest, bad_images_are_refused) {
    CUgraphicsResource resource = nullptr;
    const auto try_register = [&](unsigned name, unsigned target, unsigned flags = 0) {
        return CU(cuGraphicsGLRegisterImage)(&resource, name, target, flags);
    };
    const unsigned texture =
        gl_->make_texture(gl::RGBA8, WIDTH, HEIGHT, gl::RGBA, gl::UNSIGNED_BYTE, nullptr);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, try_register(texture, gl::TEXTURE_1D)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, try_register(texture, gl::TEXTURE_3D)))
        << "the texture is two-dimensional";
    EXPECT_EQ(gl_->error(), 0U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, try_register(texture, gl::RENDERBUFFER)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, try_register(9999, gl::TEXTURE_2D)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, try_register(0, gl::TEXTURE_2D)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, try_register(texture, gl::TEXTURE_2D, 16)));
    // Formats that NVIDIA's driver refuses, too: R8_SNORM, DEPTH_COMPONENT24, RGB10_A2.
    for (const auto& [internal, layout, type] :
         {std::array{0x8F94U, gl::RED, 0x1400U}, std::array{0x81A6U, 0x1902U, gl::UNSIGNED_INT},
          std::array{0x8059U, gl::RGBA, 0x8368U}}) {
        const unsigned odd = gl_->make_texture(internal, 4, 4, layout, type, nullptr);
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, try_register(odd, gl::TEXTURE_2D)))
            << internal;
        gl_->delete_texture(odd);
    }
    resource = registered_image(texture, gl::TEXTURE_2D);
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    CUarray none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED,
                        CU(cuGraphicsSubResourceGetMappedArray)(&none, resource, 0, 0)));
    ASSERT_TRUE(succeeds(map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                        CU(cuGraphicsResourceGetMappedPointer)(&address, &bytes, resource)));
    EXPECT_TRUE(succeeds(CU(cuArrayDestroy)(array(resource))))
        << "as NVIDIA's driver, to no effect";
    ASSERT_TRUE(succeeds(unmap(resource)));
    gl_->call<void(unsigned, unsigned)>("glBindTexture", gl::TEXTURE_2D, texture);
    gl_->call<void(unsigned, int, int, int, int, int, unsigned, unsigned, const void*)>(
        "glTexImage2D", gl::TEXTURE_2D, 0, static_cast<int>(gl::RGBA8), 7, 7, 0, gl::RGBA,
        gl::UNSIGNED_BYTE, nullptr);
    EXPECT_TRUE(returns(CUDA_ERROR_MAP_FAILED, map(resource))) << "it has another size now";
    unregister(resource);
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphicsEGLRegisterImage)(&resource, &address, 0)));
    gl_->delete_texture(texture);
}

TEST_F(DriverTest, arrays_lie_in_external_memory) {
    constexpr std::size_t bytes = std::size_t{2} << 20;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle physical = 0;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&physical, bytes, &properties, 0)));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle{};
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    handle.size = bytes;
    ASSERT_TRUE(succeeds(CU(cuMemExportToShareableHandle)(
        &handle.handle.fd, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
    CUexternalMemory memory = nullptr;
    ASSERT_TRUE(succeeds(CU(cuImportExternalMemory)(&memory, &handle)));
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC request{};
    request.arrayDesc.Width = 64;
    request.arrayDesc.Height = 64;
    request.arrayDesc.Format = CU_AD_FORMAT_FLOAT;
    request.arrayDesc.NumChannels = 1;
    request.numLevels = 2;
    CUmipmappedArray first = nullptr;
    CUmipmappedArray second = nullptr;
    ASSERT_TRUE(succeeds(CU(cuExternalMemoryGetMappedMipmappedArray)(&first, memory, &request)));
    ASSERT_TRUE(succeeds(CU(cuExternalMemoryGetMappedMipmappedArray)(&second, memory, &request)));
    CUarray levels[2] = {};
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&levels[0], first, 1)));
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&levels[1], second, 1)));
    auto written = counting<float>(32);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoA)(levels[0], 0, written.data(), 128)));
    std::vector<float> seen(32);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoH)(seen.data(), levels[1], 0, 128)));
    EXPECT_EQ(seen, written) << "both lie in the same memory";
    request.offset = bytes - 64;
    CUmipmappedArray none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuExternalMemoryGetMappedMipmappedArray)(&none, memory, &request)));
    EXPECT_TRUE(succeeds(CU(cuMipmappedArrayDestroy)(first)));
    EXPECT_TRUE(succeeds(CU(cuMipmappedArrayDestroy)(second)));
    EXPECT_TRUE(succeeds(CU(cuDestroyExternalMemory)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(physical)));
}
