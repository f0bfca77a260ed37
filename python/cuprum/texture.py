# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays, textures and surfaces: images and volumes that kernels read with filtering.

An `OpaqueArray` holds the data. A `TextureObject` reads it, a `SurfaceObject` reads and writes it;
both are arguments of kernels.
"""

from __future__ import annotations

from cuprum._cuprum import (
    MipmappedArray,
    OpaqueArray,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
)
from cuprum._public_names import public_names
from cuprum._texture_options import (
    ArrayMemoryRequirements,
    ArraySparseProperties,
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceView,
    TextureObjectOptions,
)

__all__ = [
    "ArrayMemoryRequirements",
    "ArraySparseProperties",
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "ResourceView",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]

__dir__ = public_names(globals())
