// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libcuda.so has no code: a program that opens it finds the functions of libcuda.so.1, which it
// loads.
