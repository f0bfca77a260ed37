// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The driver's handle types, declared as cuda.h declares them, so that public headers need not
// include it. Including both is fine: the declarations are the same.
//
// `handle()` returns the type that the C interface takes for the object: one of these, or a `void*`
// for the compilers' objects, whose type depends on the backend.

#pragma once

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmemPoolHandle_st;
struct CUlib_st;
struct CUkern_st;
struct CUmod_st;
struct CUfunc_st;
struct CUdevResource_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUarray_st;
struct CUmipmappedArray_st;
struct CUtensorMap_st;
struct CUgraphicsResource_st;
struct CUextMemory_st;
struct CUextSemaphore_st;

using CUdevice = int;
using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUmemoryPool = CUmemPoolHandle_st*;
using CUlibrary = CUlib_st*;
using CUkernel = CUkern_st*;
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;
using CUgraph = CUgraph_st*;
using CUgraphNode = CUgraphNode_st*;
using CUgraphExec = CUgraphExec_st*;
using CUarray = CUarray_st*;
using CUmipmappedArray = CUmipmappedArray_st*;
using CUtensorMap = CUtensorMap_st;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUgraphicsResource = CUgraphicsResource_st*;
using CUexternalMemory = CUextMemory_st*;
using CUexternalSemaphore = CUextSemaphore_st*;
using CUdeviceptr = unsigned long long;
