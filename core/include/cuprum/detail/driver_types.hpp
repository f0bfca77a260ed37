// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The driver's opaque handles, declared just as cuda.h declares them, so that public headers need
// not include it. Including both is fine: the declarations are the same.

#pragma once

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmemPoolHandle_st;
struct CUlib_st;
struct CUkern_st;
struct CUmod_st;
struct CUfunc_st;

using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUmemoryPool = CUmemPoolHandle_st*;
using CUlibrary = CUlib_st*;
using CUkernel = CUkern_st*;
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;
using CUdeviceptr = unsigned long long;
