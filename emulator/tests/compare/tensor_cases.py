# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The tensor copies to run: which instruction, on which tensor, at which coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from driver import TensorMap
from tensor_kernels import Form

# The numbers of cuda.h.
KINDS = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16"]
KINDS += ["f32_ftz", "tf32", "tf32_ftz", "u4", "u4_apart", "u6_apart"]
BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]
U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 = range(10)
FIRST_WITHOUT_BYTES = 13
SWIZZLES = ["none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"]
SPANS = [0, 32, 64, 128, 128, 128, 128]
NAN_FILL = 1
STRIDE_STEP = 16
FLOATS = {F16, F32, F64, BF16, 10, 11, 12}
SHAPE = (40, 9, 6, 5, 3)
BOX = (16, 5, 4, 3, 2)
APART = (576, 4032, 20160, 60480)  # strides of interleaved tensors


@dataclass(frozen=True)
class Copy:
    """One case. Words of `values` that are not given are 0; see tensor_kernels for their meaning.

    `content` selects the bytes of the tensor: random ones, or numbers that suit its type.
    """

    name: str
    form: Form
    tensor: TensorMap
    coordinates: tuple[int, ...]
    offsets: tuple[int, ...] = ()
    place: int = 0
    bytes_expected: int = -1
    blocks: int = 1
    mask: int = 1
    field_value: int | None = None
    content: str = "bytes"
    image_bytes: int = 0
    map_bytes: bytes = b""


def tensor(
    kind: int, dims: tuple[int, ...], box: tuple[int, ...] = (), **more: object
) -> TensorMap:
    """Describe a tensor whose rows are packed, up to the alignment that strides need."""
    size = BYTES[kind] if kind < FIRST_WITHOUT_BYTES else 1
    strides = []
    for dim in dims[:-1]:
        size = -(-size * dim // STRIDE_STEP) * STRIDE_STEP
        strides.append(size)
    return TensorMap(kind, dims, tuple(strides), box, **more)


def size_of(about: TensorMap) -> int:
    """Return how many bytes of shared memory a box has."""
    unit = BYTES[about.kind] if about.kind < FIRST_WITHOUT_BYTES else 1
    if about.channels:
        return about.pixels * (16 * about.interleave or about.channels * unit)
    count = 1
    steps = about.element_strides or (1,) * len(about.box)
    for index, (extent, step) in enumerate(zip(about.box, steps)):
        if about.interleave and index == len(about.box) - 2:
            continue  # the slices of channels, of which a box has one
        first = index == 0 and about.interleave == 0
        count *= extent if first else -(-extent // max(step, 1))
    return count * (16 * about.interleave or unit)


def copies() -> Iterator[Copy]:
    """Yield every case; those that a kernel cannot survive come last."""
    seen = set()
    groups = (ranks, kinds, swizzles, strided, im2col, reductions, clusters, replaced, counts)
    for group in (*groups, refused, interleaved, interleaved_im2col, broken):
        for copy in group():
            # The offsets of fewer dimensions repeat themselves.
            if copy.name not in seen and (group is broken or is_possible(copy)):
                seen.add(copy.name)
                yield copy


def is_possible(copy: Copy) -> bool:
    """Return whether a GPU accepts the coordinates of a copy.

    A row must start at a multiple of 16 bytes. What is stored must not start before the tensor. The
    first pixel must be in the box of pixels, which for stores must not start before the tensor.
    """
    about = copy.tensor
    first = 0 if about.interleave else 1  # the width
    starts, sizes = copy.coordinates[first:], about.dims[first:]
    for at, low, high, dim in zip(starts, about.lower, about.upper, sizes):
        if not low <= at < dim + high or (low < 0 and copy.form.action not in ("load", "prefetch")):
            return False
    if copy.form.action not in ("load", "prefetch") and min(copy.coordinates) < 0:
        return False
    unit = BYTES[about.kind] if about.kind < FIRST_WITHOUT_BYTES else 1
    return about.interleave != 0 or copy.coordinates[0] * unit % STRIDE_STEP == 0


def places(rank: int) -> dict[str, tuple[int, ...]]:
    """Return coordinates inside of SHAPE, across each of its borders, and far away."""
    far = 1 << 30
    return {
        "inside": (12, 3, 1, 1, 1)[:rank],
        "first": (0,) * rank,
        "below": (-4, -2, -1, -1, -1)[:rank],
        "above": (32, 6, 4, 3, 2)[:rank],
        "outside": (64, 0, 0, 0, 0)[:rank],
        "one_below": (8, -1, 2, 1, 0)[:rank],
        "all_below": (0,) * (rank - 1) + (-8 if rank > 1 else -16,),
        "far": (far,) * rank,
        "far_below": (-far,) * rank,
        "last": (36, 8, 5, 4, 2)[:rank],
    }


def ranks() -> Iterator[Copy]:
    """Yield tiles of one to five dimensions, inside and across the borders of the tensor."""
    for rank in range(1, 6):
        about = tensor(F32, SHAPE[:rank], BOX[:rank])
        for where, coordinates in places(rank).items():
            for action in ("load", "store", "prefetch"):
                if action == "prefetch" and where not in ("inside", "below"):
                    continue
                form = Form(action, rank)
                yield Copy(f"{action} {rank}d {where}", form, about, coordinates)
        for action in ("load", "store", "prefetch", "add"):
            form = Form(action, rank, has_hint=True)
            yield Copy(f"{action} {rank}d hint", form, about, places(rank)["below"])
    for promotion in range(1, 4):
        about = tensor(F32, SHAPE[:2], BOX[:2], promotion=promotion)
        yield Copy(f"load promotion {promotion}", Form("load", 2), about, (8, 2))
    # A box of one row, the widest box, and a box that is larger than its tensor.
    for dims, box in (
        ((512, 3), (256, 1)),
        ((300,), (256,)),
        ((8, 3), (16, 8)),
        ((4, 300), (4, 256)),
    ):
        about = tensor(U32, dims, box)
        for coordinates in ((0,) * len(dims), (4,) * len(dims), (-4,) * len(dims)):
            for action in ("load", "store"):
                name = f"{action} {box} of {dims} at {coordinates}"
                yield Copy(name, Form(action, len(dims)), about, coordinates)


def kinds() -> Iterator[Copy]:
    """Yield all element types, with both kinds of fill, where they take it."""
    for kind in range(len(BYTES)):
        unit = BYTES[kind]
        about = tensor(kind, (128 // unit + 3, 7), (64 // unit, 4))
        for fill in (0, NAN_FILL):
            chosen = replace(about, fill=fill)
            for coordinates in ((16 // unit, 1), (-32 // unit, -2), (96 // unit, 5)):
                for content in ("bytes", "numbers"):
                    name = f"{KINDS[kind]} fill {fill} {content} at {coordinates}"
                    form = Form("load", 2)
                    yield Copy(f"load {name}", form, chosen, coordinates, content=content)
            if fill == 0:
                for content in ("bytes", "numbers"):
                    form = Form("store", 2)
                    name = f"store {KINDS[kind]} {content}"
                    yield Copy(name, form, chosen, (96 // unit, 4), content=content)
    for kind in (10, 11, 12):
        about = tensor(kind, (32, 7), (16, 4))
        for content in ("tiny", "halfway"):
            name = f"load {KINDS[kind]} {content}"
            yield Copy(name, Form("load", 2), about, (0, 0), content=content)
    for kind in range(FIRST_WITHOUT_BYTES, len(KINDS)):
        about = TensorMap(kind, (256, 8), (256,), (128, 4))
        yield Copy(f"load {KINDS[kind]}", Form("load", 2), about, (0, 0), bytes_expected=256)


def swizzles() -> Iterator[Copy]:
    """Yield all swizzles, with rows as wide as the span and narrower, at several places."""
    for swizzle in range(1, len(SWIZZLES)):
        span = SPANS[swizzle]
        for kind in (U8, F16, F32, F64):
            unit = BYTES[kind]
            about = tensor(kind, (256 // unit, 40), (span // unit, 20), swizzle=swizzle)
            for action in ("load", "store"):
                name = f"{action} {SWIZZLES[swizzle]} {KINDS[kind]}"
                yield Copy(name, Form(action, 2), about, (16 // unit, 3))
        for place in (128, 256, 512, 896):
            about = tensor(F16, (128, 40), (span // 2, 20), swizzle=swizzle)
            for action in ("load", "store"):
                name = f"{action} {SWIZZLES[swizzle]} at byte {place}"
                start = (-8, -5) if action == "load" else (96, 30)
                yield Copy(name, Form(action, 2), about, start, place=place)
        for width in (16, 32, 48, 64, 80, 96, 112):
            if width < span:
                about = tensor(F16, (128, 40), (width // 2, 20), swizzle=swizzle)
                for action in ("load", "store"):
                    name = f"{action} {SWIZZLES[swizzle]} rows of {width} bytes"
                    yield Copy(name, Form(action, 2), about, (8, 30), image_bytes=4096)
        about = tensor(F32, (40, 9, 6, 5), (span // 4, 3, 5, 2), swizzle=swizzle)
        for action in ("load", "store"):
            start = (12, -1 if action == "load" else 7, 2, 1)
            yield Copy(f"{action} {SWIZZLES[swizzle]} 4d", Form(action, 4), about, start)
        about = tensor(F16, (100,), (span // 2,), swizzle=swizzle)
        for action in ("load", "store"):
            yield Copy(f"{action} {SWIZZLES[swizzle]} 1d", Form(action, 1), about, (72,))


def interleaved() -> Iterator[Copy]:
    """Yield interleaved tensors: rows are slices of 16 or 32 bytes."""
    for interleave, slice_bytes in ((1, 16), (2, 32)):
        for kind in (F16, F32):
            inner = 16 // BYTES[kind]
            for swizzle in (0, 1) if interleave == 1 else (1,):
                for rank in (3, 4, 5):
                    dims = (2 * inner + 1, 7, 5, 3, 2)[:rank]
                    box = (inner, 3, 2, 2, 2)[:rank]
                    about = TensorMap(kind, dims, APART[: rank - 1], box)
                    about = replace(about, interleave=interleave, swizzle=swizzle)
                    for where, coordinates in {
                        "inside": (0, 1, 1, 1, 0),
                        "next": (1, 2, 1, 0, 0),
                        "across": (-1, 5, -1, 1, -1),
                        "above": (inner + 3, 5, 4, 2, 1),
                        "outside": (2, 7, 5, 3, 2),
                    }.items():
                        for action in ("load", "store"):
                            name = f"{action} {KINDS[kind]} interleave {slice_bytes}B"
                            name += f" swizzle {SWIZZLES[swizzle]} {rank}d {where}"
                            form = Form(action, rank)
                            copy = Copy(name, form, about, coordinates[:rank], image_bytes=8192)
                            yield copy
    for fill in (0, NAN_FILL):
        about = TensorMap(F32, (9, 7, 5), APART[:2], (12, 3, 3), interleave=1, fill=fill)
        yield Copy(f"load interleave 16B fill {fill}", Form("load", 3), about, (-2, 1, -1))
    for steps in ((2, 1, 1, 1), (3, 2, 1, 2), (1, 2, 2, 1), (1, 1, 3, 1)):
        about = TensorMap(F16, (17, 7, 5, 3), APART[:3], (8, 5, 3, 2), steps, interleave=1)
        for coordinates in ((1, 0, 1, 0), (-3, -1, 0, 0), (13, 4, 4, 2)):
            for action in ("load", "store"):
                name = f"{action} interleave 16B steps {steps} at {coordinates}"
                yield Copy(name, Form(action, 4), about, coordinates, image_bytes=8192)


def strided() -> Iterator[Copy]:
    """Yield steps of more than one element."""
    for steps, box in {
        (2, 1): (16, 5),
        (1, 2): (16, 8),
        (1, 3): (16, 8),
        (1, 8): (16, 9),
        (4, 2): (16, 7),
        (1, 2, 3): (16, 5, 4),
        (1, 1, 2): (16, 5, 6),
        (1, 2, 1, 2): (16, 6, 3, 4),
        (1, 2, 2, 2, 2): (16, 5, 4, 3, 2),
    }.items():
        rank = len(box)
        about = tensor(F32, SHAPE[:rank], box, element_strides=steps)
        for where in ("inside", "below", "above"):
            for action in ("load", "store"):
                name = f"{action} steps {steps} box {box} {where}"
                yield Copy(name, Form(action, rank), about, places(rank)[where], image_bytes=8192)
    about = tensor(F16, (128, 40), (64, 15), element_strides=(1, 2), swizzle=3)
    yield Copy("load steps and swizzle", Form("load", 2), about, (8, 3))


def im2col() -> Iterator[Copy]:
    """Yield columns of pixels; the tensors are WC, HWC and DHWC for each image."""
    variants = {
        "plain": ((0, 0, 0), (0, 0, 0), (1, 1, 1)),
        "padded": ((-1, -1, -1), (-1, -1, -1), (1, 1, 1)),
        "padded_more": ((-2, -1, -2), (0, 1, -1), (1, 1, 1)),
        "cropped": ((1, 1, 0), (-2, -1, -1), (1, 1, 1)),
        "steps": ((-1, -1, 0), (0, -1, 0), (2, 2, 2)),
        "steps_apart": ((0, -1, -1), (-1, 0, 1), (3, 1, 2)),
    }
    dims = (24, 7, 6, 4, 3)
    for rank in (3, 4, 5):
        spatial = rank - 2
        shape = (*dims[: rank - 1], 3)
        for label, (lower, upper, steps) in variants.items():
            about = tensor(
                F16, shape, element_strides=(1, *steps[:spatial], 1), channels=16, pixels=20
            )
            about = replace(about, lower=lower[:spatial], upper=upper[:spatial])
            start = tuple(lower[:spatial])
            for offsets in ((0, 0, 0), (1, 2, 1), (2, 0, 1), (0, 1, 2)):
                for moved in ((0, 0, 0), (1, 1, 1), (2, 3, 1)):
                    at = tuple(a + b for a, b in zip(start, moved))
                    for channel, image in ((0, 0), (8, 1), (16, 2)):
                        if (channel, image) != (0, 0) and moved != (1, 1, 1):
                            continue
                        coordinates = (channel, *at, image)
                        name = f"load im2col {rank}d {label} at {coordinates} + {offsets[:spatial]}"
                        form = Form("load", rank, "im2col")
                        yield Copy(name, form, about, coordinates, offsets[:spatial])
            for at in ((0, 0, 0)[:spatial], (2, 1, 1)[:spatial]):
                for action in ("store", "add"):
                    form = Form(action, rank, "im2col_no_offs")
                    name = f"{action} im2col {rank}d {label} at {(8, *at, 1)}"
                    yield Copy(name, form, about, (8, *at, 1), content="numbers")
        about = tensor(
            F16, shape, channels=32, pixels=24, lower=(-1,) * spatial, upper=(-1,) * spatial
        )
        for swizzle in (0, 2, 3):
            chosen = replace(about, swizzle=swizzle, fill=NAN_FILL)
            for hint in (False, True):
                form = Form("load", rank, "im2col", has_hint=hint)
                name = f"load im2col {rank}d {SWIZZLES[swizzle]} hint {hint}"
                coordinates = (8, *(-1,) * spatial, 1)
                offsets = (1, 2, 1)[:spatial]
                yield Copy(name, form, chosen, coordinates, offsets, image_bytes=8192)
        for start in (-4, -3, 5, 6, 9):  # where a column starts outside of the pixel box
            form = Form("load", rank, "im2col")
            coordinates = (0, start, *(0,) * (spatial - 1), 0)
            name = f"load im2col {rank}d starts at {start}"
            yield Copy(name, form, about, coordinates, (1, 1, 1)[:spatial])
        for start in (-2, 2, 3):
            form = Form("load", rank, "im2col")
            coordinates = (0, *(0,) * spatial, start)
            name = f"load im2col {rank}d image {start}"
            yield Copy(name, form, about, coordinates, (1, 1, 1)[:spatial])
        form = Form("prefetch", rank, "im2col")
        yield Copy(f"prefetch im2col {rank}d", form, about, (0,) * rank, (1, 1, 1)[:spatial])


def interleaved_im2col() -> Iterator[Copy]:
    """Yield columns of pixels of interleaved tensors: WC, HWC and DHWC, where C counts slices."""
    variants = {
        "plain": ((0, 0, 0), (0, 0, 0), (1, 1, 1)),
        "padded": ((-1, -1, -1), (-1, -1, -1), (1, 1, 1)),
        "cropped": ((1, 1, 0), (-2, -1, -1), (1, 1, 1)),
        "steps": ((-1, -1, 0), (0, -1, 0), (2, 2, 2)),
        "steps_apart": ((0, -1, -1), (-1, 0, 1), (3, 1, 2)),
    }
    for rank in (3, 4, 5):
        spatial = rank - 2
        shape = (*(7, 6, 4)[:spatial], 3, 2)
        for interleave, kind, channels in (
            (1, F16, 8),
            (1, F16, 16),
            (1, F32, 8),
            (1, U8, 4),
            (2, F16, 16),
            (2, F32, 16),
        ):
            for label, (lower, upper, steps) in variants.items():
                if (kind, channels) != (F16, 8 * interleave) and label != "padded":
                    continue
                about = TensorMap(
                    kind,
                    shape,
                    APART[: rank - 1],
                    element_strides=(*steps[:spatial], 1, 1),
                    channels=channels,
                    pixels=20,
                    lower=lower[:spatial],
                    upper=upper[:spatial],
                    interleave=interleave,
                    swizzle=interleave - 1,
                    fill=NAN_FILL if kind == F32 else 0,
                )
                about_text = f"im2col {KINDS[kind]} x{channels} interleave {16 * interleave}B"
                for moved, slices, image, offsets in (
                    ((0, 0, 0), 0, 0, (0, 0, 0)),
                    ((1, 1, 1), 1, 0, (1, 2, 1)),
                    ((2, 3, 1), 2, 1, (2, 0, 1)),
                    ((1, 0, 0), 3, 0, (0, 1, 2)),
                    ((0, 1, 1), -1, 1, (1, 1, 1)),
                    ((0, 1, 0), 1, 2, (0, 0, 0)),
                ):
                    at = tuple(a + b for a, b in zip(lower[:spatial], moved))
                    coordinates = (*at, slices, image)
                    name = f"{about_text} load {rank}d {label} at {coordinates}"
                    form = Form("load", rank, "im2col")
                    yield Copy(name, form, about, coordinates, offsets[:spatial], image_bytes=8192)
                for at in ((0, 0, 0)[:spatial], (2, 1, 1)[:spatial]):
                    for action in ("store", "add"):
                        form = Form(action, rank, "im2col_no_offs")
                        coordinates = (*at, 1, 0)
                        name = f"{about_text} {action} {rank}d {label} at {coordinates}"
                        yield Copy(
                            name,
                            form,
                            about,
                            coordinates,
                            content="numbers",
                            image_bytes=8192,
                        )


def reductions() -> Iterator[Copy]:
    """Yield every reduction on every element type that takes it."""
    takes = {
        "add": (U32, S32, U64, F16, F32, F64, BF16, 10, 11, 12),
        "min": (U32, S32, U64, S64, F16, BF16),
        "max": (U32, S32, U64, S64, F16, BF16),
        "inc": (U32,),
        "dec": (U32,),
        "and": (U32, S32, U64),
        "or": (U32, U64),
        "xor": (U32, U64),
    }
    for action, those in takes.items():
        for kind in those:
            unit = BYTES[kind]
            about = tensor(kind, (128 // unit + 3, 7), (64 // unit, 4))
            for content in ("bytes", "numbers"):
                for coordinates in ((16 // unit, 1), (96 // unit, 5)):
                    name = f"{action} {KINDS[kind]} {content} at {coordinates}"
                    yield Copy(name, Form(action, 2), about, coordinates, content=content)
    for kind in (F16, F32, F64, BF16, 10, 11, 12):
        unit = BYTES[kind]
        about = tensor(kind, (128 // unit, 7), (64 // unit, 4))
        for action in ("add", "min", "max") if unit == 2 else ("add",):
            name = f"{action} {KINDS[kind]} tiny"
            yield Copy(name, Form(action, 2), about, (0, 1), content="tiny")
    for rank in range(1, 6):
        about = tensor(U32, SHAPE[:rank], BOX[:rank])
        for where in ("inside", "below", "above"):
            yield Copy(f"add {rank}d {where}", Form("add", rank), about, places(rank)[where])
    about = tensor(F16, (128, 40), (64, 20), swizzle=3)
    yield Copy("add 128B f16", Form("add", 2), about, (8, 30), content="numbers")
    about = tensor(U32, SHAPE[:2], (16, 8), element_strides=(1, 2))
    yield Copy("max steps", Form("max", 2), about, (4, 2))


def clusters() -> Iterator[Copy]:
    """Yield loads for several blocks of a cluster."""
    about = tensor(F16, (128, 40), (64, 16), swizzle=3)
    for blocks, masks in ((2, (1, 2, 3)), (4, (1, 6, 9, 15)), (8, (255, 165))):
        for mask in masks:
            for hint in (False, True):
                form = Form("load", 2, is_multicast=True, has_hint=hint)
                name = f"load to {mask:#x} of {blocks} hint {hint}"
                yield Copy(name, form, about, (8, 30), blocks=blocks, mask=mask)
    for rank in range(1, 6):
        about = tensor(F32, SHAPE[:rank], BOX[:rank])
        form = Form("load", rank, is_multicast=True)
        yield Copy(f"load {rank}d to 2", form, about, places(rank)["below"], blocks=2, mask=3)
    about = tensor(F16, (24, 7, 6, 3), channels=16, pixels=20, lower=(-1, -1), upper=(-1, -1))
    form = Form("load", 4, "im2col", is_multicast=True)
    yield Copy("load im2col 4d to 2", form, about, (0, -1, 2, 0), (1, 2), blocks=2, mask=3)


def replaced() -> Iterator[Copy]:
    """Yield loads through maps with one field replaced."""
    about = tensor(F32, (40, 9, 6), (16, 5, 2))
    numbers: dict[str, list[int | None]] = {
        "global_address": [None],
        "rank": [0, 1, 2],
        "box_dim.0": [4, 8, 16],
        "box_dim.1": [1, 2, 3, 4],
        "box_dim.2": [1, 2],
        "global_dim.0": [17, 20, 39],
        "global_dim.1": [4, 5, 8],
        "global_dim.2": [1, 2],
        "global_stride.0": [160, 320, 176],
        "global_stride.1": [160, 1440],
        "element_stride.1": [0, 1, 2, 3],
        "element_stride.2": [0, 1, 2],
    }
    enumerated = {
        "elemtype": range(13),
        "interleave_layout": range(1),
        "swizzle_mode": (0, 2, 3),
        "fill_mode": range(2),
    }
    for in_global in (False, True):
        where = "global" if in_global else "shared"
        for field, values in numbers.items():
            for value in values:
                for coordinates in ((4, 1, 1), (-4, 6, 4)):
                    form = Form("load", 3, field=field, in_global=in_global)
                    name = f"replace {field} {value} in {where} at {coordinates}"
                    copy = Copy(name, form, about, coordinates, field_value=value, image_bytes=2048)
                    yield copy
        for field, codes in enumerated.items():
            for code in codes:
                for coordinates in ((16, 1, 1), (-16, 6, 4)):
                    form = Form("load", 3, field=field, immediate=code, in_global=in_global)
                    name = f"replace {field} {code} in {where} at {coordinates}"
                    copy = Copy(name, form, about, coordinates, image_bytes=2048)
                    if field == "elemtype":
                        kind = (*range(8), 10, 8, 9, 11, 12)[code]  # in another order than cuda.h
                        copy = replace(copy, bytes_expected=size_of(replace(about, kind=kind)))
                    yield copy
    for code in range(4):
        wide = tensor(F16, (128, 40), (16, 20))
        form = Form("load", 2, field="swizzle_mode", immediate=code)
        yield Copy(
            f"replace swizzle_mode {code} of rows of 32 bytes", form, wide, (8, 3), image_bytes=4096
        )
    form = Form("store", 3, field="global_dim.1")
    yield Copy("store with global_dim.1 replaced", form, about, (4, 1, 1), field_value=3)


def counts() -> Iterator[Copy]:
    """Yield loads whose barrier expects another number of bytes than the box has."""
    about = tensor(F32, SHAPE[:2], BOX[:2])
    size = size_of(about) + 16
    for where in ("inside", "below"):
        name = f"load with 16 bytes {where}"
        yield Copy(name, Form("load", 2), about, places(2)[where], bytes_expected=size)


def refused() -> Iterator[Copy]:
    """Yield maps that compute capability 9.0, or every one, refuses."""
    form = Form("load", 2)
    about = tensor(F16, (128, 40), (64, 8))
    for name, other in {
        "box beyond 256": replace(about, box=(264, 8)),
        "box row of 24 bytes": replace(about, box=(12, 8)),
        "row beyond the span": replace(about, swizzle=2),
        "stride of 24": replace(about, strides=(24,)),
        "step of 9": replace(about, element_strides=(1, 9)),
        "step of 0": replace(about, element_strides=(1, 0)),
        "box of 0": replace(about, box=(64, 0)),
        "nan fill for integers": replace(about, kind=U16, fill=NAN_FILL),
        "interleave of two dimensions": replace(about, interleave=1),
        "dimension of 0": replace(about, dims=(128, 0)),
    }.items():
        yield Copy(f"refused {name}", form, other, (0, 0), bytes_expected=0)


def broken() -> Iterator[Copy]:
    """Yield copies that end the kernel with an error."""
    about = tensor(F32, SHAPE[:2], BOX[:2])
    form = Form("load", 2)
    yield Copy("broken map of zeros", form, about, (0, 0), map_bytes=bytes(128))
    yield Copy("broken map of ones", form, about, (0, 0), map_bytes=b"\xff" * 128)
    yield Copy("broken place 16", form, about, (0, 0), place=16)
    yield Copy("broken place 64", form, about, (0, 0), place=64)
    yield Copy("broken place 8", form, about, (0, 0), place=8)
    yield Copy("broken store place 16", Form("store", 2), about, (0, 0), place=16)
    yield Copy("broken store place 64", Form("store", 2), about, (0, 0), place=64)
    yield Copy("broken row at 4 bytes", form, about, (1, 0))
    yield Copy("broken row at 8 bytes", form, about, (2, 0))
    yield Copy("broken store at -1, 0", Form("store", 2), about, (-4, 0))
    yield Copy("broken store at 0, -1", Form("store", 2), about, (0, -1))
    yield Copy("broken add at 0, -1", Form("add", 2), about, (0, -1))
    yield Copy("broken prefetch at 4 bytes", Form("prefetch", 2), about, (1, 0))
    yield Copy("broken rank of copy", Form("load", 3), about, (0, 0, 0))
    yield Copy("broken rank of copy below", Form("load", 1), about, (0,), bytes_expected=64)
    column = tensor(F16, (24, 7, 6, 3), channels=16, pixels=20, lower=(-1, -1), upper=(-1, -1))
    yield Copy("broken tile of im2col", Form("load", 4), column, (0, 0, 0, 0))
    tile = tensor(F16, (24, 7, 6, 3), (16, 5, 2, 1))
    yield Copy("broken im2col of tile", Form("load", 4, "im2col"), tile, (0, 0, 0, 0), (0, 0))
    yield Copy("broken prefetch of zeros", Form("prefetch", 2), about, (0, 0), map_bytes=bytes(128))
    for action, kind in (
        ("add", U8),
        ("add", U16),
        ("min", F32),
        ("max", F64),
        ("inc", S32),
        ("min", U8),
    ):
        other = tensor(kind, (160 // BYTES[kind], 9), (64 // BYTES[kind], 4))
        name = f"broken {action} {KINDS[kind]}"
        yield Copy(name, Form(action, 2), other, (16 // BYTES[kind], 1), content="numbers")
    for action, kind in (
        ("dec", S32),
        ("and", F32),
        ("xor", F16),
        ("or", F64),
        ("add", S64),
        ("and", S64),
    ):
        other = tensor(kind, (160 // BYTES[kind], 9), (64 // BYTES[kind], 4))
        name = f"broken {action} {KINDS[kind]}"
        yield Copy(name, Form(action, 2), other, (16 // BYTES[kind], 1), content="numbers")
