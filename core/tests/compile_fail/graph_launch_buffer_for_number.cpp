// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: a Buffer was passed for a parameter that is not a pointer

#include <cuprum/graph/graph_definition.hpp>

void wrong(const cuprum::GraphDefinition& graph,
           const cuprum::TypedKernel<void(float*, int)>& kernel, const cuprum::Buffer& buffer) {
    graph.launch({}, kernel, buffer, buffer); // a buffer for an int
}
