# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Serve formulas as kernels over HTTP, and compile each formula once for all processes.

Two servers share one folder of compiled code. The first request for a formula compiles it, which
takes a second. All later requests, to either server and after a restart, load it from the cache.

python web_service.py [PICTURE.svg]        start two servers, send requests, show the times
python web_service.py --serve FOLDER       start one server, and print its port
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

import numpy as np

import cuprum
from cuprum.utils import FileStreamProgramCache

SOURCE = """
#include <cuda/std/cmath>
extern "C" __global__ void evaluate(double* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const double x = i;
        values[i] = FORMULA;
    }
}
"""
# What clients send becomes code: accept formulas of x only.
FORMULA = re.compile(r"(?:[0-9.x+\-*/() ]|sin|cos|exp|sqrt){1,200}")
COUNT = re.compile(r"[0-9]{1,9}")
MOST_VALUES = 1 << 16


class Counted(FileStreamProgramCache):
    """A cache in a folder that counts what this process has added."""

    added = 0

    def __setitem__(self, key, value):
        Counted.added += 1
        super().__setitem__(key, value)


class Handler(BaseHTTPRequestHandler):
    """Answers ``/evaluate?formula=x*x&count=8`` with the values for x = 0, 1, 2, …"""

    cache: Counted

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        formula = query.get("formula", [""])[0]
        count = query.get("count", ["8"])[0]
        if not FORMULA.fullmatch(formula) or not COUNT.fullmatch(count):
            self.reply(400, {"error": "expected a formula of x, and a count"})
            return
        try:
            self.reply(200, self.evaluate(formula, min(int(count), MOST_VALUES)))
        except cuprum.NVRTCError as error:
            self.reply(400, {"error": error.log})

    def evaluate(self, formula, count):
        start = time.perf_counter()
        device = cuprum.Device(0)
        device.set_current()  # for this thread of the server
        options = cuprum.ProgramOptions(name="formula.cu", std="c++17")
        program = cuprum.Program(SOURCE.replace("FORMULA", f"({formula})"), "c++", options)
        kernel = program.compile("ptx", cache=self.cache).get_kernel("evaluate")
        prepared = time.perf_counter()
        values = np.empty(count)
        stream = device.create_stream()
        buffer = device.allocate(max(8, values.nbytes), stream=stream)
        config = cuprum.LaunchConfig(grid=(count + 255) // 256 or 1, block=256)
        cuprum.launch(stream, config, kernel, buffer, np.int32(count))
        buffer[: values.nbytes].copy_to_host(values, stream=stream)
        stream.sync()
        return {
            "values": values.tolist(),
            "preparing_ms": (prepared - start) * 1e3,
            "compiled_here": Counted.added,
        }

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


def serve(folder):
    Handler.cache = Counted(folder, max_size_bytes=64 << 20)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=end_with_parent, daemon=True).start()
    server.serve_forever()


def end_with_parent():
    """End this process when stdin is closed, as it is when the parent has ended in any way."""
    sys.stdin.read()
    os._exit(0)


class Server:
    """A server in a process of its own."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        port = self.process.stdout.readline()
        if not port:
            self.stop()
            raise RuntimeError(f"the server ended with status {self.process.returncode}")
        self.port = int(port)

    def get(self, formula, count=8):
        query = urlencode({"formula": formula, "count": count})
        opener = build_opener(ProxyHandler({}))  # this machine needs no proxy
        with opener.open(f"http://127.0.0.1:{self.port}/evaluate?{query}", timeout=300) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.stop()


def main():
    formula = "sin(x) * exp(-x / 10)"
    wanted = [math.sin(x) * math.exp(-x / 10) for x in range(8)]
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        with Server(folder) as first, Server(folder) as second:
            for name, server in (
                ("first request: compiled", first),
                ("second request, same server", first),
                ("other server, same folder", second),
            ):
                answer = server.get(formula)
                times[name] = answer["preparing_ms"]
                print(f"{name}: {times[name]:.2f} ms to get the kernel")
                assert np.allclose(answer["values"], wanted)
            assert first.get(formula)["compiled_here"] == 1
            assert second.get(formula)["compiled_here"] == 0

            first.get("x * x")
            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda _: first.get("x * x", 1000), range(32)))
            assert all(answer["values"] == [x * x for x in range(1000)] for answer in answers)
            print("32 requests at a time: all right")

        with Server(folder) as third:  # a restart
            answer = third.get(formula)
            times["after a restart"] = answer["preparing_ms"]
            assert answer["compiled_here"] == 0
            print(f"after a restart: {times['after a restart']:.2f} ms, nothing compiled")
    if len(sys.argv) > 1:
        draw(sys.argv[1], times)


def draw(path, times):
    """Draw the times as bars."""
    longest = max(times.values())
    rows = []
    for index, (name, time_ms) in enumerate(times.items()):
        y = 16 + index * 30
        length = max(1.5, 300 * time_ms / longest)
        rows.append(
            f'<text x="8" y="{y + 14}">{name}</text>'
            f'<rect x="200" y="{y}" width="{length:.1f}" height="20" fill="#2f7ed8"/>'
            f'<text x="{206 + length:.1f}" y="{y + 14}">{time_ms:.1f} ms</text>'
        )
    height = 16 + 30 * len(rows)
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 580 {height}" width="580" '
            f'height="{height}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(rows) + "\n</svg>\n"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
