// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The parameters of copies, in the words of both APIs.

#pragma once

#include "runtime.hpp"

namespace cuprum::runtime {

/// Returns whether a value is a direction of copies.
bool is_direction(cudaMemcpyKind kind) noexcept;

/// Returns the type of memory that a direction says its ends have.
CUmemorytype type_of_source(cudaMemcpyKind kind) noexcept;
CUmemorytype type_of_destination(cudaMemcpyKind kind) noexcept;

/// Describes a three-dimensional copy as the driver does. Fails for what is no direction or array.
cudaError_t to_driver(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D& to) noexcept;

/// The same for a copy between devices, whose contexts the caller has filled in.
cudaError_t to_driver(const cudaMemcpy3DPeerParms& from, CUDA_MEMCPY3D_PEER& to) noexcept;

/// Describes a copy of the driver as the runtime API does. Fails for an array that is destroyed.
cudaError_t from_driver(const CUDA_MEMCPY3D& from, cudaMemcpy3DParms& to) noexcept;

/// Describes a copy of one dimension. Fails for what is no direction.
cudaError_t linear_copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                        CUDA_MEMCPY3D& result) noexcept;

/// Finds `count` bytes of a variable, `offset` bytes into it.
cudaError_t find_part(const void* symbol, std::size_t offset, std::size_t count,
                      CUdeviceptr* result);

} // namespace cuprum::runtime
