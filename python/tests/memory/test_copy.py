# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import pytest

import cuprum
from cuprum import LEGACY_DEFAULT_STREAM, Host, LegacyPinnedMemoryResource
from cuprum.utils import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder, copy_batch

BYTES = 4096


@pytest.fixture
def pairs(device, stream):
    sources = [device.allocate(BYTES << i, stream=stream) for i in range(3)]
    targets = [device.allocate(BYTES << i, stream=stream) for i in range(3)]
    for number, buffer in enumerate(sources):
        buffer.fill(number + 1, stream=stream)
    yield sources, targets
    for buffer in sources + targets:
        buffer.close()


def read(buffer, stream):
    back = bytearray(buffer.size)
    buffer.copy_to_host(back, stream=stream)
    stream.sync()
    return bytes(back)


OPTIONS = [
    None,
    CopyOptions(src_access_order="any"),
    [CopyOptions(), CopyOptions(MemcpySrcAccessOrder.ANY), CopyOptions()],
    CopyOptions(src_location_hint=Host(), overlap_mode="prefer_overlap_with_compute"),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_copy_arrives(pairs, stream, options):
    sources, targets = pairs
    try:
        copy_batch(stream, sources, targets, options=options)
    except cuprum.NotSupportedError:
        assert cuprum.driver_version() < 13000
        return
    for number, target in enumerate(targets):
        assert read(target, stream) == bytes([number + 1]) * target.size


def test_batches_are_checked(pairs, stream):
    sources, targets = pairs
    for arguments, error, text in (
        ((sources[0], targets), TypeError, "srcs must be a sequence of Buffers"),
        ((sources, 3), TypeError, "dsts must be a sequence of Buffers"),
        ((sources, [None, *targets[1:]]), TypeError, "expected Buffer, got NoneType"),
        (([], []), ValueError, "empty buffers sequence"),
        ((sources[:2], targets), ValueError, "does not match dsts length"),
        ((sources, targets[::-1]), ValueError, "size mismatch at index 0"),
        ((sources, sources), ValueError, "overlap at index 0"),
    ):
        with pytest.raises(error, match=text):
            copy_batch(stream, *arguments)
    with pytest.raises(ValueError, match="options length"):
        copy_batch(stream, sources, targets, options=[CopyOptions()])
    with pytest.raises(TypeError, match="options must be CopyOptions"):
        copy_batch(stream, sources, targets, options=4)
    with pytest.raises(TypeError, match="each options element"):
        copy_batch(stream, sources, targets, options=[CopyOptions(), CopyOptions(), {}])
    with pytest.raises(TypeError, match="LEGACY_DEFAULT_STREAM"):
        copy_batch(LEGACY_DEFAULT_STREAM, sources, targets)
    with pytest.raises(TypeError, match="Argument 'stream' has incorrect type"):
        copy_batch(None, sources, targets)


def test_options_are_checked_when_they_are_made():
    with pytest.raises(ValueError, match="invalid src_access_order 'later'"):
        CopyOptions("later")
    with pytest.raises(ValueError, match="invalid overlap_mode"):
        CopyOptions(overlap_mode=3)
    for name in ("src_location_hint", "dst_location_hint"):
        for value in (0, "host", Host):
            with pytest.raises(TypeError, match=f"{name} must be a Device, Host, or None, got"):
                CopyOptions(**{name: value})
    assert CopyOptions("any").src_access_order is MemcpySrcAccessOrder.ANY
    assert CopyOptions().overlap_mode is MemcpyOverlapMode.DEFAULT
    with pytest.raises(AttributeError):
        CopyOptions().overlap_mode = "default"


def test_one_buffer_is_copied_with_options(pairs, stream):
    sources, targets = pairs
    sources[0].copy_to(targets[0], stream=stream, options=CopyOptions("any"))
    targets[1].copy_from(sources[1], stream=stream, options=CopyOptions())
    assert read(targets[0], stream) == b"\1" * BYTES
    assert read(targets[1], stream) == b"\2" * BYTES * 2
    with pytest.raises(TypeError, match="options must be CopyOptions"):
        sources[0].copy_to(targets[0], stream=stream, options={})
    with pytest.raises(TypeError, match="LEGACY_DEFAULT_STREAM"):
        sources[0].copy_to(targets[0], stream=LEGACY_DEFAULT_STREAM, options=CopyOptions())


def test_a_source_may_change_after_the_call_if_that_was_asked_for(device, stream):
    if cuprum.driver_version() < 13000:
        pytest.skip("the driver is too old")
    import ctypes

    with (
        LegacyPinnedMemoryResource().allocate(BYTES) as host,
        device.allocate(BYTES, stream=stream) as target,
    ):
        ctypes.memset(host.handle, 1, BYTES)
        options = CopyOptions(MemcpySrcAccessOrder.DURING_API_CALL)
        host.copy_to(target, stream=stream, options=options)
        ctypes.memset(host.handle, 2, BYTES)
        assert read(target, stream) == b"\1" * BYTES
