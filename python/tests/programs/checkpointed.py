# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""A process to checkpoint: does one thing per line of its input and prints one line each."""

import sys
import threading

import numpy

import cuprum

WORDS = 1024


def main() -> None:
    device = cuprum.Device(int(sys.argv[1]))
    device.set_current()
    stream = device.create_stream()
    buffer = device.allocate(WORDS * 4, stream=stream)
    gate = threading.Event()
    stream.sync()
    print("ready", flush=True)
    for line in sys.stdin:
        command, _, value = line.strip().partition(" ")
        answer: object = "done"
        if command == "fill":
            buffer.fill(numpy.uint32(int(value)), stream=stream)
            stream.sync()
        elif command == "read":
            words = numpy.zeros(WORDS, numpy.uint32)
            buffer.copy_to_host(words, stream=stream)
            stream.sync()
            answer = int(words[-1]) if (words == words[0]).all() else "mixed"
        elif command == "block":
            gate.clear()
            stream.launch_host(gate.wait)
        elif command == "unblock":
            gate.set()
            stream.sync()
        elif command == "identity":
            answer = f"{cuprum.Device().uuid} {device.uuid} {device.pci_bus_id}"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
