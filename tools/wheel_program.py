# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run a PTX kernel on the emulated device of the installed wheels (tools/test-wheel)."""

import importlib.metadata
import os
import sys
from array import array
from pathlib import Path

os.environ["CUPRUM_DRIVER"] = "emulated"

import cuprum
import cuprum_emulator
import libcuprum

# Without CUDA's compilers a kernel must be PTX.
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


def main() -> int:
    """Run all checks; a failed assertion shows what is wrong."""
    for module in (cuprum, libcuprum, cuprum_emulator):
        folder = Path(str(module.__file__)).parent
        assert Path(sys.prefix) in folder.parents, f"{folder} is not in {sys.prefix}"
    for name in ("cuprum", "libcuprum", "cuprum-emulator"):
        assert importlib.metadata.version(name) == cuprum.__version__, name

    device = cuprum.Device(0)
    assert device.is_emulated
    assert cuprum_emulator.LIBRARY in cuprum.driver_description(), cuprum.driver_description()
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
    print(f"cuprum {cuprum.__version__}: a kernel ran on {cuprum.driver_description()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
