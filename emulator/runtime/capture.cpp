// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captures streams into graphs and runs those graphs. Graphs that are built node by node are
// refused; see refused.def.

#include "forward.hpp"
#include "runtime.hpp"

using namespace cuprum::runtime;

FORWARD(cudaStreamBeginCapture, cuStreamBeginCapture, IN_CONTEXT);
FORWARD(cudaStreamEndCapture, cuStreamEndCapture, IN_CONTEXT);
FORWARD(cudaStreamIsCapturing, cuStreamIsCapturing, IN_CONTEXT);
FORWARD(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, IN_CONTEXT);
FORWARD(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo, IN_CONTEXT);
FORWARD(cudaGraphCreate, cuGraphCreate, IN_CONTEXT);
FORWARD(cudaGraphDestroy, cuGraphDestroy, IN_CONTEXT);
FORWARD(cudaGraphInstantiate, cuGraphInstantiate, IN_CONTEXT);
ALIAS(cudaGraphInstantiateWithFlags, cudaGraphInstantiate);
FORWARD(cudaGraphLaunch, cuGraphLaunch, IN_CONTEXT);
FORWARD(cudaGraphUpload, cuGraphUpload, IN_CONTEXT);
FORWARD(cudaGraphExecDestroy, cuGraphExecDestroy, IN_CONTEXT);
FORWARD(cudaGraphGetNodes, cuGraphGetNodes, IN_CONTEXT);
FORWARD(cudaUserObjectCreate, cuUserObjectCreate, WITHOUT_CONTEXT);
FORWARD(cudaUserObjectRetain, cuUserObjectRetain, WITHOUT_CONTEXT);
FORWARD(cudaUserObjectRelease, cuUserObjectRelease, WITHOUT_CONTEXT);
