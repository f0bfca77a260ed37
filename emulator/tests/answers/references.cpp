// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface references, which CUDA deprecates but its driver still has.

#include "answers.hpp"

#include <cstdint>

namespace answers {

namespace {

constexpr const char* MODULE = R"(.version 6.0
.target sm_50
.address_size 64
.visible .global .texref picture;
.visible .global .surfref canvas;
.visible .global .u64 number;
.visible .entry touch(.param .u64 out)
{
    .reg .u64 %rd<3>;
    .reg .f32 %f<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.f32 %f0, 0f00000000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f0, %f0}];
    st.global.f32 [%rd2], %f1;
    ret;
}
)";

void describe(const std::string& name, CUtexref reference) {
    CUaddress_mode modes[3]{};
    CUfilter_mode filter{};
    CUfilter_mode levels{};
    unsigned flags = 0;
    int anisotropy = 0;
    float bias = 0;
    float least = 0;
    float most = 0;
    float border[4]{};
    CUarray_format format{};
    int channels = 0;
    for (int dimension = 0; dimension < 3; ++dimension) {
        say(name + " address mode " + std::to_string(dimension),
            cuTexRefGetAddressMode(&modes[dimension], reference, dimension),
            [&] { return list(static_cast<int>(modes[dimension])); });
    }
    CUresult code = cuTexRefGetFilterMode(&filter, reference);
    say(name + " filter", code, list(static_cast<int>(filter)));
    code = cuTexRefGetMipmapFilterMode(&levels, reference);
    say(name + " mipmap filter", code, list(static_cast<int>(levels)));
    code = cuTexRefGetFlags(&flags, reference);
    say(name + " flags", code, list(flags));
    code = cuTexRefGetMaxAnisotropy(&anisotropy, reference);
    say(name + " anisotropy", code, list(anisotropy));
    code = cuTexRefGetMipmapLevelBias(&bias, reference);
    say(name + " bias", code, std::to_string(bias));
    code = cuTexRefGetMipmapLevelClamp(&least, &most, reference);
    say(name + " clamp", code, std::to_string(least) + " " + std::to_string(most));
    code = cuTexRefGetBorderColor(border, reference);
    say(name + " border", code, std::to_string(border[0]) + " " + std::to_string(border[3]));
    code = cuTexRefGetFormat(&format, &channels, reference);
    say(name + " format", code, list(static_cast<int>(format), channels));
    CUarray array = nullptr;
    say(name + " array", cuTexRefGetArray(&array, reference));
    CUmipmappedArray mipmap = nullptr;
    say(name + " mipmap", cuTexRefGetMipmappedArray(&mipmap, reference));
    CUdeviceptr address = 0;
    say(name + " address", cuTexRefGetAddress(&address, reference));
}

void ask_settings(const std::string& name, CUtexref reference) {
    for (int mode = -1; mode < 5; ++mode) {
        say(name + " set address mode " + std::to_string(mode),
            cuTexRefSetAddressMode(reference, 0, static_cast<CUaddress_mode>(mode)));
    }
    for (const int dimension : {-1, 2, 3}) {
        say(name + " set address mode of dimension " + std::to_string(dimension),
            cuTexRefSetAddressMode(reference, dimension, CU_TR_ADDRESS_MODE_CLAMP));
        CUaddress_mode mode{};
        say(name + " get address mode of dimension " + std::to_string(dimension),
            cuTexRefGetAddressMode(&mode, reference, dimension));
    }
    for (int mode = -1; mode < 3; ++mode) {
        say(name + " set filter " + std::to_string(mode),
            cuTexRefSetFilterMode(reference, static_cast<CUfilter_mode>(mode)));
        say(name + " set mipmap filter " + std::to_string(mode),
            cuTexRefSetMipmapFilterMode(reference, static_cast<CUfilter_mode>(mode)));
    }
    for (unsigned bit = 0; bit < 9; ++bit) {
        say(name + " set flag " + std::to_string(1U << bit),
            cuTexRefSetFlags(reference, 1U << bit));
    }
    for (const unsigned value : {0U, 1U, 16U, 17U, 1000U}) {
        int found = 0;
        say(name + " set anisotropy " + std::to_string(value),
            cuTexRefSetMaxAnisotropy(reference, value));
        const CUresult code = cuTexRefGetMaxAnisotropy(&found, reference);
        say(name + " anisotropy", code, list(found));
    }
    say(name + " set bias", cuTexRefSetMipmapLevelBias(reference, 100));
    say(name + " set clamp", cuTexRefSetMipmapLevelClamp(reference, 3, 1));
    float border[4]{0.5F, 1, 2, 3};
    say(name + " set border", cuTexRefSetBorderColor(reference, border));
    for (const int channels : {0, 1, 2, 3, 4}) {
        say(name + " set format, channels " + std::to_string(channels),
            cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, channels));
    }
    say(name + " set format 0x77",
        cuTexRefSetFormat(reference, static_cast<CUarray_format>(0x77), 1));
    say(name + " set format BC1", cuTexRefSetFormat(reference, CU_AD_FORMAT_BC1_UNORM, 4));
    say(name + " set format back", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
}

void ask_bindings(const std::string& name, CUtexref reference) {
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 1 << 20);
    std::size_t offset = 99;
    CUresult code = cuTexRefSetAddress(&offset, reference, memory, 4096);
    say(name + " set address", code, list(offset));
    CUdeviceptr found = 0;
    code = cuTexRefGetAddress(&found, reference);
    say(name + " address", code, found == memory ? "same" : "other");
    for (const unsigned by : {4, 16, 32, 100, 256}) {
        code = cuTexRefSetAddress(&offset, reference, memory + by, 4096);
        say(name + " set address at " + std::to_string(by), code, list(offset));
        cuTexRefGetAddress(&found, reference);
        say_value(name + " address", std::to_string(found - memory));
    }
    say(name + " set address unaligned, NULL offset",
        cuTexRefSetAddress(nullptr, reference, memory + 4, 4096));
    say(name + " set address NULL offset", cuTexRefSetAddress(nullptr, reference, memory, 4096));
    say(name + " set address no bytes", cuTexRefSetAddress(&offset, reference, memory, 0));
    say(name + " set address too large",
        cuTexRefSetAddress(&offset, reference, memory, std::size_t{1} << 34));
    say(name + " set address 0", cuTexRefSetAddress(&offset, reference, 0, 4096));
    say(name + " set address 0, no bytes", cuTexRefSetAddress(&offset, reference, 0, 0));
    CUDA_ARRAY_DESCRIPTOR plane{16, 16, CU_AD_FORMAT_FLOAT, 1};
    say(name + " set address 2d", cuTexRefSetAddress2D(reference, &plane, memory, 512));
    say(name + " set address 2d unaligned",
        cuTexRefSetAddress2D(reference, &plane, memory + 4, 512));
    say(name + " set address 2d odd pitch", cuTexRefSetAddress2D(reference, &plane, memory, 100));
    plane.Height = 0;
    say(name + " set address 2d no height", cuTexRefSetAddress2D(reference, &plane, memory, 512));
    say(name + " set address 2d NULL", cuTexRefSetAddress2D(reference, nullptr, memory, 512));
    CUarray array = make(shape(16, 16, 0));
    say(name + " set array, flags 0", cuTexRefSetArray(reference, array, 0));
    say(name + " set array, flags 2", cuTexRefSetArray(reference, array, 2));
    say(name + " set array", cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    CUarray bound = nullptr;
    code = cuTexRefGetArray(&bound, reference);
    say(name + " array", code, bound == array ? "same" : "other");
    say(name + " address of an array", cuTexRefGetAddress(&found, reference));
    CUmipmappedArray mipmap = nullptr;
    say(name + " mipmap of an array", cuTexRefGetMipmappedArray(&mipmap, reference));
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 3);
    say(name + " set mipmap", cuTexRefSetMipmappedArray(reference, whole, CU_TRSA_OVERRIDE_FORMAT));
    code = cuTexRefGetMipmappedArray(&mipmap, reference);
    say(name + " mipmap", code, mipmap == whole ? "same" : "other");
    say(name + " array of a mipmap", cuTexRefGetArray(&bound, reference));
    say(name + " set NULL array", cuTexRefSetArray(reference, nullptr, CU_TRSA_OVERRIDE_FORMAT));
}

void ask_created() {
    begin();
    CUtexref reference = nullptr;
    if (say("create", cuTexRefCreate(&reference)) != CUDA_SUCCESS) {
        return;
    }
    describe("created", reference);
    ask_settings("created", reference);
    describe("changed", reference);
    say("destroy", cuTexRefDestroy(reference));
    say("create NULL", cuTexRefCreate(nullptr));
}

void ask_created_bindings() {
    begin();
    CUtexref reference = nullptr;
    cuTexRefCreate(&reference);
    ask_bindings("created", reference);
}

void ask_module() {
    begin();
    CUmodule module = nullptr;
    say("load", cuModuleLoadData(&module, MODULE));
    CUtexref picture = nullptr;
    say("texture reference", cuModuleGetTexRef(&picture, module, "picture"));
    CUtexref again = nullptr;
    cuModuleGetTexRef(&again, module, "picture");
    say_value("the same handle again", again == picture ? "yes" : "no");
    say("texture reference of an unknown name", cuModuleGetTexRef(&again, module, "nothing"));
    say("texture reference of a surface", cuModuleGetTexRef(&again, module, "canvas"));
    say("texture reference of a variable", cuModuleGetTexRef(&again, module, "number"));
    say("texture reference NULL name", cuModuleGetTexRef(&again, module, nullptr));
    say("texture reference NULL output", cuModuleGetTexRef(nullptr, module, "picture"));
    CUsurfref canvas = nullptr;
    say("surface reference", cuModuleGetSurfRef(&canvas, module, "canvas"));
    say("surface reference of an unknown name", cuModuleGetSurfRef(&canvas, module, "nothing"));
    say("surface reference of a texture", cuModuleGetSurfRef(&canvas, module, "picture"));
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult code = cuModuleGetGlobal(&address, &bytes, module, "picture");
    say("global of a texture reference", code, list(bytes));
    if (picture != nullptr) {
        describe("of a module", picture);
        say("set array flags", cuTexRefSetFlags(picture, 0));
    }
    if (cuModuleGetSurfRef(&canvas, module, "canvas") == CUDA_SUCCESS) {
        CUarray found = nullptr;
        say("array of a surface reference", cuSurfRefGetArray(&found, canvas));
        CUarray plain = make(shape(16, 16, 0));
        CUarray surface = make(shape(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST));
        say("surface set plain array", cuSurfRefSetArray(canvas, plain, 0));
        say("surface set array, flags 1", cuSurfRefSetArray(canvas, surface, 1));
        say("surface set array", cuSurfRefSetArray(canvas, surface, 0));
        const CUresult after = cuSurfRefGetArray(&found, canvas);
        say("array of the surface", after, found == surface ? "same" : "other");
    }
}

void ask_module_bindings() {
    begin();
    CUmodule module = nullptr;
    say("load", cuModuleLoadData(&module, MODULE));
    CUtexref picture = nullptr;
    say("texture reference", cuModuleGetTexRef(&picture, module, "picture"));
    ask_bindings("of a module", picture);
}

void ask_launch() {
    begin();
    CUmodule module = nullptr;
    say("load", cuModuleLoadData(&module, MODULE));
    CUfunction touch = nullptr;
    say("function", cuModuleGetFunction(&touch, module, "touch"));
    CUtexref picture = nullptr;
    cuModuleGetTexRef(&picture, module, "picture");
    CUarray array = make(shape(16, 16, 0));
    float value = 7;
    cuMemcpyHtoA(array, 0, &value, 4);
    say("bind", cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    say("param", cuParamSetTexRef(touch, CU_PARAM_TR_DEFAULT, picture));
    say("param unit 0", cuParamSetTexRef(touch, 0, picture));
    CUdeviceptr out = 0;
    cuMemAlloc(&out, 4);
    void* arguments[] = {&out};
    say("launch", cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    float found = 0;
    const CUresult code = cuMemcpyDtoH(&found, out, 4);
    say("result", code, std::to_string(found));
    value = 9;
    CUarray other = make(shape(16, 16, 0));
    cuMemcpyHtoA(other, 0, &value, 4);
    cuTexRefSetArray(picture, other, CU_TRSA_OVERRIDE_FORMAT);
    say("launch after binding again",
        cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    cuMemcpyDtoH(&found, out, 4);
    say_value("result after binding again", std::to_string(found));
}

void ask_launch_unbound() {
    begin();
    CUmodule module = nullptr;
    say("load", cuModuleLoadData(&module, MODULE));
    CUfunction touch = nullptr;
    say("function", cuModuleGetFunction(&touch, module, "touch"));
    CUdeviceptr out = 0;
    cuMemAlloc(&out, 4);
    void* arguments[] = {&out};
    say("launch unbound", cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    say("sync", cuCtxSynchronize());
}

void ask_null() {
    begin();
    say("flags of NULL", cuTexRefSetFlags(nullptr, 0));
}

void ask_destroy_of_module() {
    begin();
    CUmodule module = nullptr;
    cuModuleLoadData(&module, MODULE);
    CUtexref picture = nullptr;
    cuModuleGetTexRef(&picture, module, "picture");
    say("destroy the reference of a module", cuTexRefDestroy(picture));
}

} // namespace

const std::initializer_list<Group> REFERENCES{
    {"references created", ask_created},
    {"bindings of created references", ask_created_bindings},
    {"references of a module", ask_module},
    {"bindings of references of a module", ask_module_bindings},
    {"launch with references", ask_launch},
    {"launch with unbound references", ask_launch_unbound},
    {"NULL reference", ask_null},
    {"destroyed reference of a module", ask_destroy_of_module},
};

} // namespace answers
