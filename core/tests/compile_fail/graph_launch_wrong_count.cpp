// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: the number of arguments is not that of the kernel's parameters

#include <cuprum/graph/graph_definition.hpp>

void wrong(const cuprum::GraphDefinition& graph,
           const cuprum::TypedKernel<void(float*, int)>& kernel, const cuprum::Buffer& buffer) {
    graph.launch({}, kernel, buffer); // one argument is missing
}
