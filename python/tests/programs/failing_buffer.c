// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A buffer protocol that fails with the exception that `failure` is. test_argument_errors.py loads
// it.

struct Buffer {
    void* data;
    void* object;
};

void PyErr_SetString(void* type, const char* message);

void* failure = 0;

int get_buffer(void* self, struct Buffer* view, int flags) {
    (void)self;
    (void)flags;
    view->object = 0;
    PyErr_SetString(failure, "no buffer now");
    return -1;
}
