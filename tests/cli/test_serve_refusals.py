"""octet serve: strangers, bad requests, bodies that are too long or too short."""

import json
import random
import socket
from pathlib import Path

import pytest
from octet_server import BRIEF, TOKEN, serving, soon


def test_host_origin_and_token_are_checked(server):
    own, other = f"http://{server.host}", f"http://localhost:{server.port}"
    assert server.ask("GET", "/api/status", Host=f"localhost:{server.port}").status == 200
    assert server.ask("GET", "/api/status", Origin=own).status == 200
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "localhost:1", f"{server.host}.", ""):
        for path in ("/", "/api/status", "/open/x"):
            answer = server.ask("GET", path, Host=host)
            assert answer.status == 403 and answer.json["error"]["where"] == "Host"
    for origin in ("null", "http://evil.example", other, own.replace("http:", "https:"), own + "/"):
        for method, path in (("GET", "/"), ("GET", "/api/status"), ("PUT", "/api/files/x")):
            answer = server.ask(method, path, b"x" if method == "PUT" else None, Origin=origin)
            assert answer.status == 403 and answer.json["error"]["where"] == "Origin"
    for token in (None, "", server.token[:-1], server.token + "0", "0" * 32, server.token.upper() + "X"):
        for method, path in (("GET", "/api/status"), ("PUT", "/api/files/x"), ("POST", "/api/bench")):
            answer = server.ask(method, path, b"{}" if method != "GET" else None, **{TOKEN: token})
            assert answer.status == 401 and server.token not in answer.body.decode()
    twice = server.raw(server.head("GET", "/api/status", f"Host: {server.host}", "Connection: close"))
    assert b" 403 " in twice.splitlines()[0]
    assert b" 403 " in server.raw(b"GET / HTTP/1.0\r\n\r\n").splitlines()[0]
    # A page elsewhere may not even ask.
    answer = server.ask("OPTIONS", "/api/status", Origin="http://evil.example")
    assert answer.status == 403 and not any(name.startswith("Access-Control") for name in answer.headers)


def test_the_token_is_another_each_time(page, tmp_path):
    with serving(page, tmp_path / "one") as one, serving(page, tmp_path / "two") as two:
        assert one.token != two.token and one.port != two.port
        assert two.ask("GET", "/api/status", **{TOKEN: one.token}).status == 401


@pytest.mark.parametrize(
    "name", [".hidden", "a b", "a%2fb", "..", "../x", "a/b", "served", "x" * 129, "%00", "a%0ab", "ü", ""]
)
def test_names_are_checked(server, name):
    path = "/api/files/" + "".join(c if c.isascii() and c != " " else "%20" for c in name)
    assert server.ask("PUT", path, b"x").status == 400
    assert server.uploads() == (["digits.onnx"], [])


def test_bodies_are_bounded(page, tmp_path):
    with serving(page, tmp_path / "bounded", "--max-mb", "1") as server:
        million = bytes(1 << 20)
        answer = server.ask("PUT", "/api/files/a", million + b"x")
        assert answer.status == 413 and answer.json["error"]["code"] == "too_large"
        assert server.ask("PUT", "/api/files/a", million[1:]).status == 200
        assert server.ask("PUT", "/api/files/b", b"xx").status == 413
        assert server.ask("PUT", "/api/files/b", b"x").status == 200
        assert server.ask("DELETE", "/api/files/a").status == 200
        assert server.ask("PUT", "/api/files/b", b"twice").status == 200
        assert server.ask("PUT", "/api/files/a", million[5:-1]).status == 200
        assert server.uploads() == (["a", "b"], [])
        # What is refused by its length is not read.
        for length, status in (("99999999999999", 413), ("18446744073709551616", 400), ("-1", 400), ("1x", 400)):
            for path, method in (("/api/files/a", "PUT"), ("/api/bench", "POST")):
                said = server.raw(server.head(method, path, f"Content-Length: {length}"))
                assert f" {status} ".encode() in said.splitlines()[0], (length, said)
        assert b" 413 " in server.raw(server.head("POST", "/api/bench", f"Content-Length: {(16 << 20) + 1}"))
        expect = server.head("PUT", "/api/files/c", "Content-Length: 2000000", "Expect: 100-continue")
        assert server.raw(expect).startswith(b"HTTP/1.1 413 ")
        for more, status in (
            ("Transfer-Encoding: chunked", 411),
            ("Accept: */*", 411),
            ("Content-Length: 1\r\nContent-Length: 1", 400),
            ("Content-Length: 1\r\nContent-Encoding: gzip", 415),
            ("Content-Length: 1\r\nContent-Type: multipart/form-data; boundary=x", 415),
        ):
            said = server.raw(server.head("PUT", "/api/files/c", more) + b"x")
            assert f" {status} ".encode() in said.splitlines()[0], (more, said)
        deep = b'{"models":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        assert "nested" in server.ask("POST", "/api/bench", deep).json["error"]["what"]
        assert server.uploads() == (["a", "b"], [])


def test_a_body_that_ends_early_leaves_nothing(server):
    for method, path in (("PUT", "/api/files/cut"), ("POST", "/api/bench")):
        said = server.raw(server.head(method, path, "Content-Length: 1000") + b"x" * 999)
        assert b" 400 " in said.splitlines()[0]
        server.raw(server.head(method, path, "Content-Length: 1000000") + b"x" * 9999, read=False)
    assert soon(lambda: server.uploads() == (["digits.onnx"], []))


def bad_requests(server, seed, count):
    """(bytes, the statuses that may come back) of requests that must all be refused; None: nothing comes back."""
    chance = random.Random(seed)
    head = server.head

    def noise():
        return chance.randbytes(chance.choice((1, 10, 1000, 30_000)))

    def cut():
        whole = head("PUT", "/api/files/cut", "Content-Length: 5000") + bytes(5000)
        return whole[: chance.randrange(len(whole))], {400, None}

    def wrong_header(name):
        lines = head("GET", chance.choice(("/api/status", "/api/none")), "Accept: */*").split(b"\r\n")
        wrong = chance.choice((b"", b"x", b"0" * 32, b"http://evil.example", b"\xff\xfe", b"y" * 5000))
        kept = [line for line in lines if not line.startswith(name)]
        return b"\r\n".join([kept[0], name + b": " + wrong, *kept[1:]]), {400, 401, 403}

    def changed_byte():
        whole = bytearray(head("GET", "/api/none", "Accept: */*"))
        whole[chance.randrange(len(whole) - 4)] = chance.randrange(256)
        return bytes(whole), {400, 401, 403, 404, 405, None}

    def nothing_there():
        path = "/" + "".join(chance.choice("abc./%2e\\?&=;:~") for _ in range(chance.randrange(1, 200)))
        return head("GET", path), {400, 404, 200 if path.startswith("/?") else 404}

    kinds = [
        lambda: (noise(), {400, 414, None}),
        lambda: (noise() + b"\r\n\r\n", {400, 414, None}),
        cut,
        lambda: wrong_header(b"Host"),
        lambda: wrong_header(TOKEN.encode()),
        changed_byte,
        nothing_there,
        lambda: (head("GET", "/" + "a" * chance.choice((8000, 9000, 100_000))), {400, 404, 414, None}),
        lambda: (head("GET", "/none", "X: " + "a" * chance.choice((8000, 9000, 100_000))), {400, 404, None}),
        lambda: (head("GET", "/none", *(f"X{i}: y" for i in range(3000))), {400, 404, None}),
        lambda: (head("GET", "/none", "Range: bytes=" + "0-0," * chance.choice((1, 1000, 2000))), {400, 404, 416, None}),
        lambda: (head(chance.choice(("PATCH", "TRACE", "CONNECT", "PRI", "BREW", "OPTIONS")), "/api/status"), {400, 405}),
        lambda: (head("POST", "/api/bench", "Content-Length: 7") + b'{"a":1}', {400}),
        lambda: (head("POST", "/api/calibrate", "Content-Length: 2") + b"{}", {400}),
        lambda: (head("POST", "/api/bench", "Content-Length: 9") + b"\xff\x00[[[[{{{", {400}),
        lambda: (head("PUT", "/api/files/.x", "Content-Length: 1") + b"x", {400}),
        lambda: (head("PUT", "/api/files/x", "Content-Length: 999999999999") + b"x", {413}),
        lambda: (head("PUT", "/api/files/x", "Transfer-Encoding: chunked") + b"ffffffffffffffff\r\nx", {411}),
        lambda: (head("GET", "/api/status", "Content-Length: 5") + b"hello", {400}),
        lambda: (head("GET", "/../../etc/passwd"), {404}),
        lambda: (head("GET", "/") * 2 + b"\r\n" * 50, {200}),  # the second is never read
    ]
    for _ in range(count):
        yield chance.choice(kinds)()


def test_a_thousand_bad_requests_change_nothing(server):
    open_files = Path(f"/proc/{server.process.pid}/fd")
    before = len(list(open_files.iterdir()))
    seen = set()
    for data, allowed in bad_requests(server, 20261201, 1000):
        answer = server.raw(data)
        status = int(answer.split()[1]) if answer else None
        assert status in allowed, (status, data[:200], answer[:300])
        seen.add(status)
        if status not in (200, None):
            assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["what"], answer
    assert seen >= {400, 401, 403, 404, 405, 411, 413}
    # Clients that begin and never go on do not keep others out.
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    idle[0].sendall(b"GET / HT")
    answer = server.ask("POST", "/api/bench", json.dumps({"models": ["digits.onnx"], "memory": False, **BRIEF}))
    assert "report" in answer.lines[-1] and server.process.poll() is None
    for connection in idle:
        connection.close()
    assert soon(lambda: len(list(open_files.iterdir())) <= before + 2)
    assert server.uploads() == (["digits.onnx"], [])
