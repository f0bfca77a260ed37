// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies to and from arrays: which are allowed, and what they move.

#include "answers.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace answers {

namespace {

std::vector<std::uint8_t> numbers(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::size_t index = 0; index < count; ++index) {
        bytes[index] = static_cast<std::uint8_t>(index % 251 + 1);
    }
    return bytes;
}

std::string text_of(const std::vector<std::uint8_t>& bytes, std::size_t count) {
    std::string text;
    for (std::size_t index = 0; index < count; ++index) {
        text += (text.empty() ? "" : " ") + std::to_string(bytes[index]);
    }
    return text;
}

CUDA_MEMCPY3D to_array(CUarray array, const void* host, std::size_t width, std::size_t height,
                       std::size_t depth) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = width;
    copy.srcHeight = height;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = width;
    copy.Height = height;
    copy.Depth = depth;
    return copy;
}

CUDA_MEMCPY3D from_array(void* host, CUarray array, std::size_t width, std::size_t height,
                         std::size_t depth) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = width;
    copy.dstHeight = height;
    copy.WidthInBytes = width;
    copy.Height = height;
    copy.Depth = depth;
    return copy;
}

void ask_one_dimension() {
    begin();
    auto bytes = numbers(4096);
    CUarray array = make(shape(16, 0, 0)); // 64 bytes
    say("HtoA whole", cuMemcpyHtoA(array, 0, bytes.data(), 64));
    say("HtoA too long", cuMemcpyHtoA(array, 0, bytes.data(), 68));
    say("HtoA offset at the end", cuMemcpyHtoA(array, 64, bytes.data(), 4));
    say("HtoA over the end", cuMemcpyHtoA(array, 60, bytes.data(), 8));
    say("HtoA none", cuMemcpyHtoA(array, 0, bytes.data(), 0));
    say("HtoA none at the end", cuMemcpyHtoA(array, 64, bytes.data(), 0));
    say("HtoA none behind the end", cuMemcpyHtoA(array, 68, bytes.data(), 0));
    say("HtoA half an element", cuMemcpyHtoA(array, 0, bytes.data(), 2));
    say("HtoA at half an element", cuMemcpyHtoA(array, 2, bytes.data(), 4));
    say("HtoA NULL host", cuMemcpyHtoA(array, 0, nullptr, 4));
    say("HtoA NULL host none", cuMemcpyHtoA(array, 0, nullptr, 0));
    say("HtoA NULL array", cuMemcpyHtoA(nullptr, 0, bytes.data(), 4));
    std::vector<std::uint8_t> back(64);
    say("AtoH part", cuMemcpyAtoH(back.data(), array, 8, 16));
    say_value("AtoH part", text_of(back, 16));
    say("AtoH over the end", cuMemcpyAtoH(back.data(), array, 60, 8));
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 4096);
    say("AtoD", cuMemcpyAtoD(memory + 4, array, 4, 8));
    say("AtoD at an odd address", cuMemcpyAtoD(memory + 1, array, 4, 8));
    say("AtoD over the memory", cuMemcpyAtoD(memory + 4092, array, 0, 8));
    say("AtoD NULL", cuMemcpyAtoD(0, array, 0, 8));
    say("DtoA", cuMemcpyDtoA(array, 0, memory, 8));
    CUarray other = make(shape(16, 0, 0));
    say("AtoA", cuMemcpyAtoA(other, 8, array, 4, 16));
    say("AtoA itself", cuMemcpyAtoA(array, 8, array, 40, 8));
    say("AtoA over the end", cuMemcpyAtoA(other, 56, array, 0, 12));
    CUarray halves = make(shape(16, 0, 0, 0, CU_AD_FORMAT_HALF));
    say("AtoA other format", cuMemcpyAtoA(halves, 0, array, 0, 16));
    CUarray wide = make(shape(16, 0, 0, 0, CU_AD_FORMAT_FLOAT, 4));
    say("AtoA other channels", cuMemcpyAtoA(wide, 0, array, 0, 16));
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    say("HtoAAsync", cuMemcpyHtoAAsync(array, 0, bytes.data(), 64, stream));
    say("AtoHAsync", cuMemcpyAtoHAsync(back.data(), array, 0, 64, stream));
    say("HtoAAsync over the end", cuMemcpyHtoAAsync(array, 60, bytes.data(), 8, stream));
    say("sync", cuStreamSynchronize(stream));
    say_value("async", text_of(back, 8));
}

void ask_two_dimensions() {
    begin();
    auto bytes = numbers(4096);
    CUarray array = make(shape(8, 4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    auto copy = to_array(array, bytes.data(), 8, 4, 1);
    say("fill", cuMemcpy3D(&copy));
    std::vector<std::uint8_t> back(64);
    // Offsets of one-dimensional copies in an array of rows.
    for (const std::size_t offset : {0, 4, 8, 12, 31, 32}) {
        for (const std::size_t count : {1, 4, 8, 9, 16, 32}) {
            std::memset(back.data(), 0, back.size());
            const CUresult code = cuMemcpyAtoH(back.data(), array, offset, count);
            say("AtoH 2d " + list(offset, count), code,
                code == CUDA_SUCCESS ? text_of(back, count) : "");
        }
    }
    CUDA_MEMCPY2D flat{};
    flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    flat.srcArray = array;
    flat.dstMemoryType = CU_MEMORYTYPE_HOST;
    flat.dstHost = back.data();
    flat.dstPitch = 8;
    flat.WidthInBytes = 4;
    flat.Height = 2;
    flat.srcXInBytes = 3;
    flat.srcY = 1;
    std::memset(back.data(), 0, back.size());
    say("2D part", cuMemcpy2D(&flat));
    say_value("2D part", text_of(back, 16));
    say("2DUnaligned part", cuMemcpy2DUnaligned(&flat));
    flat.srcXInBytes = 5;
    say("2D x over", cuMemcpy2D(&flat));
    flat.srcXInBytes = 8;
    say("2D x at the end", cuMemcpy2D(&flat));
    flat.srcXInBytes = 0;
    flat.srcY = 3;
    say("2D y over", cuMemcpy2D(&flat));
    flat.srcY = 4;
    say("2D y at the end", cuMemcpy2D(&flat));
    flat.srcY = 0;
    flat.WidthInBytes = 0;
    say("2D no width", cuMemcpy2D(&flat));
    flat.WidthInBytes = 4;
    flat.Height = 0;
    say("2D no height", cuMemcpy2D(&flat));
    flat.Height = 2;
    flat.dstPitch = 3;
    say("2D small pitch", cuMemcpy2D(&flat));
    flat.dstPitch = 8;
    flat.srcPitch = 1;
    say("2D pitch of an array", cuMemcpy2D(&flat));
    flat.srcPitch = 0;
    flat.srcArray = nullptr;
    say("2D NULL array", cuMemcpy2D(&flat));
    flat.srcMemoryType = static_cast<CUmemorytype>(9);
    say("2D memory type 9", cuMemcpy2D(&flat));
    CUarray floats = make(shape(8, 4, 0));
    auto odd = to_array(floats, bytes.data(), 6, 1, 1);
    say("2D width of 1.5 elements", cuMemcpy3D(&odd));
    odd.WidthInBytes = 4;
    odd.dstXInBytes = 2;
    say("2D x of half an element", cuMemcpy3D(&odd));
    CUDA_MEMCPY2D between{};
    between.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    between.srcArray = array;
    between.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    between.dstArray = floats;
    between.WidthInBytes = 8;
    between.Height = 4;
    say("2D array of bytes to array of floats", cuMemcpy2D(&between));
    between.dstArray = array;
    between.WidthInBytes = 4;
    between.Height = 2;
    between.dstXInBytes = 4;
    say("2D within one array", cuMemcpy2D(&between));
    between.dstXInBytes = 1;
    say("2D within one array overlapping", cuMemcpy2D(&between));
}

void ask_three_dimensions() {
    begin();
    auto bytes = numbers(1 << 16);
    std::vector<std::uint8_t> back(4096);
    CUarray array = make(shape(8, 4, 3, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    auto copy = to_array(array, bytes.data(), 8, 4, 3);
    say("3D fill", cuMemcpy3D(&copy));
    auto part = from_array(back.data(), array, 4, 2, 2);
    part.srcXInBytes = 3;
    part.srcY = 1;
    part.srcZ = 1;
    say("3D part", cuMemcpy3D(&part));
    say_value("3D part", text_of(back, 16));
    part.srcZ = 2;
    say("3D z over", cuMemcpy3D(&part));
    part.srcZ = 0;
    part.Depth = 0;
    say("3D no depth", cuMemcpy3D(&part));
    part.Depth = 1;
    part.srcLOD = 1;
    say("3D source level 1", cuMemcpy3D(&part));
    part.srcLOD = 0;
    part.dstLOD = 1;
    say("3D destination level 1", cuMemcpy3D(&part));
    part.dstLOD = 0;
    part.reserved0 = &part;
    say("3D reserved", cuMemcpy3D(&part));
    part.reserved0 = nullptr;
    part.srcHeight = 1;
    say("3D height of an array", cuMemcpy3D(&part));
    CUDA_MEMCPY2D flat{};
    flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    flat.srcArray = array;
    flat.dstMemoryType = CU_MEMORYTYPE_HOST;
    flat.dstHost = back.data();
    flat.WidthInBytes = 8;
    flat.Height = 4;
    say("2D copy of a 3D array", cuMemcpy2D(&flat));
    say_value("2D copy of a 3D array", text_of(back, 8));
    flat.Height = 8;
    say("2D copy of a 3D array too high", cuMemcpy2D(&flat));
    CUDA_MEMCPY3D_PEER peer{};
    peer.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    peer.srcArray = array;
    peer.dstMemoryType = CU_MEMORYTYPE_HOST;
    peer.dstHost = back.data();
    peer.WidthInBytes = 8;
    peer.Height = 4;
    peer.Depth = 1;
    say("3DPeer", cuMemcpy3DPeer(&peer));

    // Layers are slices. Is this so for layers of one dimension too?
    CUarray lines = make(shape(8, 0, 3, CUDA_ARRAY3D_LAYERED, CU_AD_FORMAT_UNSIGNED_INT8));
    auto layers = to_array(lines, bytes.data(), 8, 1, 3);
    say("1D layers as depth", cuMemcpy3D(&layers));
    auto rows = to_array(lines, bytes.data() + 100, 8, 3, 1);
    say("1D layers as height", cuMemcpy3D(&rows));
    auto out = from_array(back.data(), lines, 8, 1, 3);
    say("1D layers back as depth", cuMemcpy3D(&out));
    say_value("1D layers", text_of(back, 24));
    out.srcZ = 1;
    out.Depth = 2;
    say("1D layers from 1", cuMemcpy3D(&out));
    say_value("1D layers from 1", text_of(back, 8));
    CUarray faces = make(shape(4, 4, 6, CUDA_ARRAY3D_CUBEMAP, CU_AD_FORMAT_UNSIGNED_INT8));
    auto cube = to_array(faces, bytes.data(), 4, 4, 6);
    say("cube", cuMemcpy3D(&cube));
    cube.Depth = 7;
    say("cube too deep", cuMemcpy3D(&cube));
    CUarray line = make(shape(8, 0, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    auto single = to_array(line, bytes.data(), 8, 1, 1);
    say("1D array, height 1", cuMemcpy3D(&single));
    single.Height = 2;
    say("1D array, height 2", cuMemcpy3D(&single));
    single.Height = 0;
    say("1D array, height 0", cuMemcpy3D(&single));
    single.Height = 1;
    single.Depth = 0;
    say("1D array, depth 0", cuMemcpy3D(&single));
}

void ask_compressed() {
    begin();
    auto bytes = numbers(1 << 16);
    for (const std::size_t block : {8, 16}) {
        const std::string name = block == 8 ? "BC1" : "BC7";
        CUarray array = make(
            shape(32, 16, 0, 0, block == 8 ? CU_AD_FORMAT_BC1_UNORM : CU_AD_FORMAT_BC7_UNORM, 4));
        for (const std::size_t width : {block * 8, block * 9, block * 16, block * 32}) {
            for (const std::size_t height : {4, 5, 8, 16, 17}) {
                auto copy = to_array(array, bytes.data(), width, height, 1);
                say(name + " " + list(width, height), cuMemcpy3D(&copy));
            }
        }
        auto whole = to_array(array, bytes.data(), block * 8, 4, 1);
        say(name + " whole", cuMemcpy3D(&whole));
        std::vector<std::uint8_t> back(4096);
        auto part = from_array(back.data(), array, block, 1, 1);
        part.srcXInBytes = block;
        part.srcY = 1;
        say(name + " block at x 1, y 1", cuMemcpy3D(&part));
        say_value(name + " block at x 1, y 1", text_of(back, 8));
        part.srcY = 4;
        say(name + " block at y 4", cuMemcpy3D(&part));
    }
}

void ask_planar() {
    begin();
    auto bytes = numbers(1 << 16);
    CUarray array = make(shape(16, 8, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
    for (const std::size_t height : {4, 8, 12, 16}) {
        auto copy = to_array(array, bytes.data(), 16, height, 1);
        say("NV12 whole, height " + std::to_string(height), cuMemcpy3D(&copy));
    }
    CUarray luma = nullptr;
    CUarray chroma = nullptr;
    say("plane 0", cuArrayGetPlane(&luma, array, 0));
    say("plane 1", cuArrayGetPlane(&chroma, array, 1));
    auto first = to_array(luma, bytes.data(), 16, 8, 1);
    say("fill plane 0", cuMemcpy3D(&first));
    auto second = to_array(chroma, bytes.data() + 128, 16, 4, 1);
    say("fill plane 1", cuMemcpy3D(&second));
    second.Height = 5;
    say("fill plane 1 too high", cuMemcpy3D(&second));
    std::vector<std::uint8_t> back(512);
    auto out = from_array(back.data(), chroma, 16, 4, 1);
    say("read plane 1", cuMemcpy3D(&out));
    say_value("read plane 1", text_of(back, 4));
}

void ask_levels() {
    begin();
    auto bytes = numbers(1 << 12);
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8);
    cuMipmappedArrayCreate(&whole, &descriptor, 3);
    CUarray level = nullptr;
    cuMipmappedArrayGetLevel(&level, whole, 1);
    auto copy = to_array(level, bytes.data(), 8, 4, 1);
    say("fill level 1", cuMemcpy3D(&copy));
    copy.WidthInBytes = 16;
    copy.srcPitch = 16;
    say("fill level 1 too wide", cuMemcpy3D(&copy));
    CUarray base = nullptr;
    cuMipmappedArrayGetLevel(&base, whole, 0);
    auto with_level = to_array(base, bytes.data(), 8, 4, 1);
    with_level.dstLOD = 1;
    say("fill with a level of detail", cuMemcpy3D(&with_level));
}

void ask_batch() {
    begin();
    auto bytes = numbers(4096);
    CUarray array = make(shape(8, 4, 3)); // floats
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUDA_MEMCPY3D_BATCH_OP operation{};
    operation.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(bytes.data());
    operation.src.op.ptr.locHint.type = CU_MEM_LOCATION_TYPE_HOST;
    operation.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    operation.dst.op.array.array = array;
    operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    operation.extent = {8, 4, 3};
    say("batch in elements", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    operation.extent = {32, 4, 3};
    say("batch in bytes", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    operation.extent = {4, 2, 1};
    operation.dst.op.array.offset = {2, 1, 1};
    operation.src.op.ptr.rowLength = 8;
    operation.src.op.ptr.layerHeight = 4;
    say("batch part", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    operation.dst.op.array.offset = {5, 1, 1};
    say("batch over the end", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    operation.dst.op.array.offset = {4, 3, 1};
    say("batch over the height", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    operation.dst.op.array.offset = {0, 0, 3};
    say("batch over the depth", cuMemcpy3DBatchAsync(1, &operation, 0, stream));
    say("sync", cuStreamSynchronize(stream));
    std::vector<std::uint8_t> back(512);
    auto out = from_array(back.data(), array, 32, 4, 3);
    say("read", cuMemcpy3D(&out));
    say_value("row 1 of slice 1", text_of({back.begin() + 160, back.begin() + 192}, 32));
}

void ask_graphs() {
    const CUcontext context = begin();
    auto bytes = numbers(4096);
    CUarray array = make(shape(8, 4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    CUgraphNode node = nullptr;
    auto copy = to_array(array, bytes.data(), 8, 4, 1);
    say("memcpy node", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
    CUDA_MEMCPY3D found{};
    say("get", cuGraphMemcpyNodeGetParams(node, &found), [&] {
        return list(static_cast<int>(found.dstMemoryType), found.dstArray == array ? 1 : 0,
                    found.WidthInBytes, found.Height, found.Depth, found.srcPitch, found.srcHeight,
                    found.dstPitch, found.dstHeight);
    });
    copy.WidthInBytes = 9;
    copy.srcPitch = 9;
    CUgraphNode bad = nullptr;
    say("memcpy node too wide", cuGraphAddMemcpyNode(&bad, graph, nullptr, 0, &copy, context));
    copy.dstArray = nullptr;
    say("memcpy node NULL array", cuGraphAddMemcpyNode(&bad, graph, nullptr, 0, &copy, context));
    CUgraphExec executable = nullptr;
    say("instantiate", cuGraphInstantiate(&executable, graph, 0));
    say("launch", cuGraphLaunch(executable, nullptr));
    say("sync", cuCtxSynchronize());
    CUarray other = make(shape(8, 4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    auto changed = to_array(other, bytes.data(), 8, 4, 1);
    say("exec set to another array",
        cuGraphExecMemcpyNodeSetParams(executable, node, &changed, context));
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 4096);
    changed.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    changed.dstDevice = memory;
    say("exec set to linear memory",
        cuGraphExecMemcpyNodeSetParams(executable, node, &changed, context));
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    say("capture", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    say("captured HtoAAsync", cuMemcpyHtoAAsync(array, 4, bytes.data(), 4, stream));
    auto captured = to_array(array, bytes.data(), 8, 2, 1);
    captured.dstY = 1;
    say("captured 3DAsync", cuMemcpy3DAsync(&captured, stream));
    CUgraph recorded = nullptr;
    say("end", cuStreamEndCapture(stream, &recorded));
    std::size_t count = 2;
    CUgraphNode nodes[2]{};
    say("nodes", cuGraphGetNodes(recorded, nodes, &count), [&] { return std::to_string(count); });
    for (std::size_t index = 0; index < count; ++index) {
        found = {};
        say("captured node", cuGraphMemcpyNodeGetParams(nodes[index], &found), [&] {
            return list(static_cast<int>(found.dstMemoryType), found.dstArray == array ? 1 : 0,
                        found.dstXInBytes, found.dstY, found.dstZ, found.WidthInBytes, found.Height,
                        found.Depth, found.srcPitch, found.srcHeight, found.dstPitch,
                        found.dstHeight);
        });
    }
}

void ask_destroyed_copied() {
    begin();
    CUarray array = make(shape(8, 0, 0));
    cuArrayDestroy(array);
    float values[8]{};
    say("copy from a destroyed array", cuMemcpyAtoH(values, array, 0, 16));
}

void ask_destroyed_in_graph() {
    const CUcontext context = begin();
    auto bytes = numbers(64);
    CUarray array = make(shape(8, 4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    CUgraphNode node = nullptr;
    auto copy = to_array(array, bytes.data(), 8, 4, 1);
    cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context);
    CUgraphExec executable = nullptr;
    cuGraphInstantiate(&executable, graph, 0);
    say("destroy the array", cuArrayDestroy(array));
    say("launch", cuGraphLaunch(executable, nullptr));
    say("sync", cuCtxSynchronize());
}

} // namespace

const std::initializer_list<Group> COPIES{
    {"copies in one dimension", ask_one_dimension},
    {"copies in two dimensions", ask_two_dimensions},
    {"copies in three dimensions", ask_three_dimensions},
    {"copies of compressed formats", ask_compressed},
    {"copies of planar formats", ask_planar},
    {"copies of levels", ask_levels},
    {"batches", ask_batch},
    {"graphs", ask_graphs},
    {"copy of a destroyed array", ask_destroyed_copied},
    {"graph of a destroyed array", ask_destroyed_in_graph},
};

} // namespace answers
