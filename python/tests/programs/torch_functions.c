// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A library with PyTorch's C functions for tensors, over our own tensors. A Python object has, at
// offset `tensor_at`, a pointer to bytes that contain the fields below. test_torch_tensors.py loads
// it.

#include <stdint.h>
#include <string.h>

enum { MAX_DIMENSIONS = 8, BYTES_HEAD = 32 };

struct Fields {
    int64_t dimensions;
    int64_t sizes[MAX_DIMENSIONS];
    int64_t strides[MAX_DIMENSIONS];
    void* data;
    int32_t type; // PyTorch's number of the type
    int32_t device_type;
    int32_t device_index;
    int32_t layout;
    uint8_t code; // DLPack's code of the type
    uint8_t bits;
    uint16_t lanes;
};

struct Tensor {
    void* data;
    int32_t device_type;
    int32_t device_id;
    int32_t dimensions;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};

extern void* PyExc_RuntimeError;
void PyErr_SetString(void* type, const char* message);

int64_t tensor_at = 16;
int64_t lent_count = 0;  // calls of DLPack's function
int64_t read_count = 0;  // calls for a data pointer
int64_t moved_bytes = 0; // error that is added to the data pointer

static struct Fields* fields_of(void* const* tensor) {
    return (struct Fields*)((char*)*tensor + BYTES_HEAD);
}

int tensor_from_object(void* object, struct Tensor* out) {
    struct Fields* const fields = fields_of((void**)((char*)object + tensor_at));
    ++lent_count;
    if (fields->layout != 0) {
        PyErr_SetString(PyExc_RuntimeError, "there is no storage");
        return -1;
    }
    out->data = fields->data;
    out->device_type = fields->device_type + 1; // 1 is the CPU, 2 is CUDA
    out->device_id = fields->device_type == 0 ? 0 : fields->device_index;
    out->dimensions = (int32_t)fields->dimensions;
    out->code = fields->code;
    out->bits = fields->bits;
    out->lanes = fields->lanes;
    out->shape = fields->sizes;
    out->strides = fields->strides;
    out->byte_offset = 0;
    return 0;
}

int managed_from_object(void* object, void** out) {
    (void)object;
    (void)out;
    PyErr_SetString(PyExc_RuntimeError, "what is lent is enough");
    return -1;
}

int current_work_stream(int32_t type, int32_t id, void** out) {
    (void)type;
    (void)id;
    *out = 0;
    return 0;
}

#ifndef WITHOUT_FUNCTIONS

int32_t aoti_torch_get_layout(void* tensor, int32_t* out) {
    *out = fields_of(tensor)->layout;
    return 0;
}

int32_t aoti_torch_get_device_type(void* tensor, int32_t* out) {
    *out = fields_of(tensor)->device_type;
    return 0;
}

int32_t aoti_torch_get_dtype(void* tensor, int32_t* out) {
    *out = fields_of(tensor)->type;
    return 0;
}

int32_t aoti_torch_get_device_index(void* tensor, int32_t* out) {
    *out = fields_of(tensor)->device_index;
    return 0;
}

int32_t aoti_torch_get_dim(void* tensor, int64_t* out) {
    *out = fields_of(tensor)->dimensions;
    return 0;
}

int32_t aoti_torch_get_sizes(void* tensor, int64_t** out) {
    *out = fields_of(tensor)->sizes;
    return 0;
}

int32_t aoti_torch_get_strides(void* tensor, int64_t** out) {
    *out = fields_of(tensor)->strides;
    return 0;
}

int32_t aoti_torch_get_data_ptr(void* tensor, void** out) {
    ++read_count;
    *out = (char*)fields_of(tensor)->data + moved_bytes;
    return 0;
}

#endif
