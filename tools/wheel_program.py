# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Check an installed wheel: its files, and a kernel on the emulated device (tools/test-wheel)."""

import importlib.metadata
import sys
from array import array
from pathlib import Path

import cuprum

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 data) {
    .reg .b64 %address<3>;
    .reg .b32 %value<3>;
    ld.param.u64 %address0, [data];
    cvta.to.global.u64 %address0, %address0;
    mov.u32 %value0, %tid.x;
    mul.wide.u32 %address1, %value0, 4;
    add.s64 %address2, %address0, %address1;
    ld.global.u32 %value1, [%address2];
    add.s32 %value2, %value1, 1;
    st.global.u32 [%address2], %value2;
    ret;
}
"""
COUNT = 32
LICENSES = {"LICENSE", "nanobind.txt", "robin_map.txt", "zstd.txt"}


def main() -> int:
    """Run all checks; a failed assertion shows what is wrong."""
    package = Path(cuprum.__file__).parent
    assert Path(sys.prefix) in package.parents, f"{package} is not in {sys.prefix}"
    for name in ("py.typed", "_cuprum.pyi", "libcuprum.so", "_emulator/libcuda.so.1"):
        assert (package / name).exists(), f"{name} is not in the wheel"

    files = importlib.metadata.files("cuprum") or []
    licenses = {file.name for file in files if "licenses" in file.parts}
    assert licenses >= LICENSES, f"licences in the wheel: {sorted(licenses)}"
    assert importlib.metadata.version("cuprum") == cuprum.__version__

    device = cuprum.Device(0)
    assert device.is_emulated
    device.set_current()
    stream = device.create_stream()
    kernel = cuprum.ObjectCode.from_ptx(PTX).get_kernel("add_one")
    data = array("i", range(COUNT))
    with device.allocate(4 * COUNT, stream=stream) as buffer:
        buffer.copy_from_host(data, stream=stream)
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=COUNT), kernel, buffer)
        buffer.copy_to_host(data, stream=stream)
        stream.sync()
    assert list(data) == list(range(1, COUNT + 1)), data
    print(f"cuprum {cuprum.__version__} from {package}: a kernel ran on {device.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
