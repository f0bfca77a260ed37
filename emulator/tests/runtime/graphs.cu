// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A graph built node by node, which the runtime library refuses by name.

#include "check.hpp"

int main() {
    cudaGraphNode_t node = nullptr;
    RETURNS(cudaErrorNotSupported, cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0));
    RETURNS(cudaErrorNotSupported, cudaGetLastError());
    return EXIT_SUCCESS;
}
