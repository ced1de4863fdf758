"""octet serve as a client sees it."""

import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from octet_cli import BINARY

PATIENCE = 20  # seconds for what takes a moment
TOKEN = "X-Octet-Token"


def heed_signals():
    """What the tests' own caller ignores, nohup for one, would be ignored by the server too, and rightly so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Server:
    def __init__(self, page, temporary, *options, program=BINARY):
        """`page` None: the program's own."""
        command = [program, "serve", "--port", "0", "--no-open", *(("--page", page) if page else ()), *options]
        self.temporary = temporary
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary)},
            text=True,
            preexec_fn=heed_signals,
        )
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})\n", line)
        assert match, line
        self.port, self.token = int(match[1]), match[2]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, **headers):
        """With the token, unless headers say otherwise; a header of None is left out."""
        given = {TOKEN: self.token, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            headers = {name: value for name, value in given.items() if value is not None}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def raw(self, data, read=True):
        """What comes back for these bytes, sent as they are; b"" when nothing does."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(data)
                if not read:
                    return b""
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                while piece := connection.recv(65536):
                    answer += piece
                return answer
            except OSError:  # reset, or too slow
                return b""

    def head(self, method, path, *more):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", f"{TOKEN}: {self.token}", *more]
        return "\r\n".join([*lines, "", ""]).encode()

    def put(self, path, name=None):
        return self.ask("PUT", f"/api/files/{name or path.name}", path.read_bytes())

    def begin(self, path, question):
        """A job whose answer is read by the caller: the connection, and the first line."""
        body = json.dumps(question).encode()
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(self.head("POST", path, f"Content-Length: {len(body)}") + body)
        stream = connection.makefile("rb")
        assert b" 200 " in stream.readline()
        while stream.readline().strip():
            pass
        stream.readline()  # the length of the first piece
        return connection, stream, json.loads(stream.readline())

    def children(self):
        return [process for process, parent in processes() if parent == self.process.pid]

    def uploads(self):
        [folder] = self.temporary.iterdir()
        return sorted(path.name for path in (folder / "files").iterdir()), list((folder / "incoming").iterdir())

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return status


def processes():
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(entry.name), int(fields[1])


def soon(condition):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def serving(page, temporary, *options, **more):
    temporary.mkdir(exist_ok=True)
    server = Server(page, temporary, *options, **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            assert server.end() == 0
    assert not list(temporary.iterdir())


# Jobs on a model that was sent as "digits.onnx".
LONG = {"models": ["digits.onnx"], "runs": 100000, "seconds": 600, "threads": [1], "memory": False}
BRIEF = {"runs": 7, "warmup": 1, "threads": [1]}
