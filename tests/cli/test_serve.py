"""octet serve: what it shows, what it runs, and that nothing of it stays."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest
from octet_cli import BINARY, EXIT, PROJECT, octet, quantize
from octet_server import BRIEF, LONG, PATIENCE, TOKEN, Server, processes, serving, soon

MODEL = PROJECT / "tests/data/digits_cnn.onnx"
EVAL = PROJECT / "tests/data/digits_cnn/eval"
CALIB = PROJECT / "tests/data/digits_cnn/calib"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/octet.wasm", "application/wasm"),
        ("/assets/main.js", "text/javascript; charset=utf-8"),
        ("/assets/w.mjs", "text/javascript; charset=utf-8"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/icon.svg", "image/svg+xml"),
        ("/empty.css", "text/css; charset=utf-8"),
        ("/large.bin", "application/octet-stream"),
    ],
)
def test_files_of_the_page_are_shown_isolated(server, page, path, kind):
    answer = server.ask("GET", path, **{TOKEN: None, "Range": "bytes=0-0,0-0,1-9"})
    assert answer.status == 200
    assert answer.body == (page / (path[1:] or "index.html")).read_bytes()
    expected = {
        "Content-Type": kind,
        "Content-Length": str(len(answer.body)),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    assert answer.headers.items() >= expected.items()
    head = server.ask("HEAD", path)
    assert (head.status, head.body) == (200, b"") and head.headers.items() >= expected.items()


def test_the_policy_is_that_of_the_page(server):
    policy = re.search(r'Content-Security-Policy"\s+content="([^"]+)"', (PROJECT / "web/index.html").read_text())[1]
    assert server.ask("GET", "/").headers["Content-Security-Policy"] == f"{policy}; frame-ancestors 'none'"


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/assets", "/assets/", "/.hidden", "/out.txt", "/out/secret.txt", "//index.html", "/%00"),
        *("/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/index.html%00.js"),
        *("/assets/..%5c..%5csecret.txt", "//etc/passwd", "/%2fetc/passwd", "/open/", "/open/1234", "/index.html/"),
    ],
)
def test_nothing_else_is_shown(server, path):
    answer = server.ask("GET", path)
    assert answer.status == 404 and b"not to be shown" not in answer.body
    assert answer.json["error"]["code"] == "not_found"


def test_status_tells_what_is_here(server):
    status = server.ask("GET", "/api/status")
    assert status.status == 200 and status.headers["Cache-Control"] == "no-store"
    told = status.json
    assert told["octet"] == octet("--version").succeeded().stdout.split()[1]
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["runtime"]) and told["environment"]["cpu"]
    assert told["threads"] >= 1 and told["max_bytes"] == 4096 << 20 and told["busy"] is False
    assert told["calib"] == {"description": "calib"} and told["data"] == {"description": "eval"}


def test_models_are_timed_natively(server, tmp_path):
    """The model and a quantized one, on the served samples, on sent ones, and on made-up ones."""
    plan = tmp_path / "plan.json"
    quantize(MODEL, tmp_path / "small.onnx", "--mode", "weights", "--no-verify", "--save-plan", plan)
    server.put(tmp_path / "small.onnx")
    models = ["digits.onnx", "small.onnx"]
    question = {"models": models, "data": "served", "plan": json.loads(plan.read_text()), "calibrated_on": 8, **BRIEF}
    answer = server.ask("POST", "/api/bench", json.dumps(question))
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/x-ndjson"
    *news, last = answer.lines
    assert {line["progress"]["stage"] for line in news} == {"open", "memory", "load", "compare", "time"}
    assert all(0 <= line["progress"]["done"] <= line["progress"]["total"] for line in news)
    report = last["report"]
    assert [row["model"] for row in report["rows"]] == models and report["octet"]
    first, second = report["rows"]
    assert len(first["milliseconds"]) == len(second["milliseconds"]) == 7
    assert first["peak_memory_bytes"] > 0 and second["speedup"]["ratio"] > 0
    assert second["worst_sqnr_db"] > 30 and second["verdict"]["sentence"]
    assert [row["name"] for row in report["rows"]] == models and second["verdict"].keys() >= {"why", "next"}
    assert report["octet_report"] == "bench" and report["created"].endswith("Z")
    assert not report["synthetic"] and report["samples"] == 8
    assert str(server.temporary) not in answer.body.decode()

    samples = sorted(EVAL.glob("*.npz"))[:3]
    for path in samples:
        assert server.put(path).status == 200
    question = {"models": models, "data": [path.name for path in samples], "memory": False, **BRIEF}
    answer = server.ask("POST", "/api/bench", json.dumps(question))
    report = answer.lines[-1]["report"]
    assert report["samples"] >= 3 and not report["synthetic"] and str(server.temporary) not in answer.body.decode()
    question |= {"data": samples[0].name, "samples": {"limit": 1}}
    one = server.ask("POST", "/api/bench", json.dumps(question))
    assert one.lines[-1]["report"]["samples"] == 1

    synthetic = {"models": models, "synthetic": {"count": 3, "seed": 5}, "memory": False, **BRIEF}
    report = server.ask("POST", "/api/bench", json.dumps(synthetic)).lines[-1]["report"]
    assert report["synthetic"] and report["samples"] == 3
    for path in (*samples, tmp_path / "small.onnx"):
        assert server.ask("DELETE", f"/api/files/{path.name}").json == {}
        assert server.ask("DELETE", f"/api/files/{path.name}").status == 404
    assert server.uploads() == (["digits.onnx"], [])


def test_ranges_are_those_of_the_command_line(server, tmp_path):
    answer = server.ask("POST", "/api/calibrate", json.dumps({"model": "digits.onnx", "calib": "served"}))
    *news, last = answer.lines
    assert {line["progress"]["stage"] for line in news} == {"prepare", "calibrate"}
    octet("calibrate", MODEL, "--calib", CALIB, "-o", tmp_path / "ranges.json").succeeded()
    assert json.loads(last["ranges"]) == json.loads((tmp_path / "ranges.json").read_text())
    assert last["samples"] == json.loads(last["ranges"])["samples"] and "samples" in last["description"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"models": []}, "models"),
        ({"models": ["../x.onnx"]}, "models"),
        ({"models": ["no.onnx"]}, "no.onnx"),
        ({"data": "no.npz"}, "no.npz"),
        ({"data": ["digits.onnx", 7]}, "data"),
        ({"runs": 0}, "runs"),
        ({"runs": -1}, "runs"),
        ({"runs": "many"}, "runs"),
        ({"seconds": 1e9}, "seconds"),
        ({"threads": [0]}, "threads"),
        ({"threads": []}, "threads"),
        ({"memory": 1}, "memory"),
        ({"plan": {"nodes": 1}}, "plan"),
        ({"calibrated_on": -1}, "calibrated_on"),
        ({"thresholds": {"slower": 2}}, "thresholds.slower"),
        ({"thresholds": {"x": 2}}, "thresholds.x"),
        ({"dims": {"batch": -1}}, "dims.batch"),
        ({"synthetic": []}, "synthetic"),
        ({"thread": [1]}, "thread"),
    ],
)
def test_a_question_that_means_nothing_is_refused(server, change, where):
    answer = server.ask("POST", "/api/bench", json.dumps({"models": ["digits.onnx"], **BRIEF, **change}))
    assert answer.status == 400 and answer.json["error"]["where"] == where
    assert answer.json["error"]["code"] in ("usage", "read", "malformed")


def test_what_goes_wrong_in_a_job_is_its_last_line(server):
    assert server.ask("PUT", "/api/files/broken.onnx", b"no model").status == 200
    for path, question in (
        ("/api/bench", {"models": ["broken.onnx"]}),
        ("/api/calibrate", {"model": "broken.onnx", "calib": "served"}),
    ):
        answer = server.ask("POST", path, json.dumps(question))
        assert answer.status == 200
        error = answer.lines[-1]["error"]
        assert error["code"] == "malformed" and error["where"].startswith("broken.onnx")
        assert str(server.temporary) not in answer.body.decode()
    assert server.ask("DELETE", "/api/files/broken.onnx").status == 200


def test_one_job_at_a_time_and_none_for_a_client_that_is_gone(server):
    connection, stream, first = server.begin("/api/bench", LONG)
    assert first["progress"]["stage"] == "open"
    assert server.ask("GET", "/api/status").json["busy"] is True
    assert len(server.children()) == 1
    for path, question in (("/api/bench", LONG), ("/api/calibrate", {"model": "digits.onnx", "calib": "served"})):
        second = server.ask("POST", path, json.dumps(question))
        assert second.status == 409 and second.json["error"]["code"] == "busy"
    stream.close()
    connection.close()
    assert soon(lambda: not server.children())
    assert soon(lambda: server.ask("GET", "/api/status").json["busy"] is False)
    answer = server.ask("POST", "/api/bench", json.dumps({"models": ["digits.onnx"], "memory": False, **BRIEF}))
    assert "report" in answer.lines[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_its_job(page, tmp_path, number):
    with serving(page, tmp_path / "ends") as server:
        server.put(MODEL, "digits.onnx")
        [folder] = server.temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        connection, stream, _ = server.begin("/api/bench", LONG)
        [child] = server.children()
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall(server.head("PUT", "/api/files/half", "Content-Length: 1000"))
        start = time.monotonic()
        assert server.end(number) == 0
        assert time.monotonic() - start < 10
        assert child not in dict(processes())
        for open_end in (stream, connection, half):
            open_end.close()


def test_what_a_killed_one_left_is_removed_by_the_next(page, tmp_path):
    server = Server(page, tmp_path)
    server.put(MODEL, "digits.onnx")
    connection, stream, _ = server.begin("/api/bench", LONG)
    [child] = server.children()
    server.process.kill()
    server.process.wait()
    server.process.stdout.close()
    stream.close()
    connection.close()
    assert soon(lambda: child not in dict(processes()))
    [left] = tmp_path.iterdir()
    (tmp_path / "octet-serve-else").write_text("a file of somebody else")
    another = Server(page, tmp_path)
    assert another.ask("GET", "/").status == 200 and not left.exists()
    assert another.end() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["octet-serve-else"]


def test_the_browser_gets_an_address_that_works_once(page, tmp_path):
    """Whoever may list processes sees it; what is seen then is no token."""
    opened = tmp_path / "opened"
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    opener.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DISPLAY": ":99", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--page", page], stdout=subprocess.PIPE, env=environment, text=True
    )
    address, token = process.stdout.readline().strip().split("#token=")
    assert soon(opened.exists)
    once = opened.read_text().strip()
    assert once.startswith(f"{address}open/") and token not in once
    statuses = []
    for _ in range(2):
        connection = http.client.HTTPConnection(address.split("/")[2])
        connection.request("GET", once.removeprefix(address.rstrip("/")))
        answer = connection.getresponse()
        statuses.append((answer.status, answer.getheader("Location")))
        connection.close()
    assert statuses == [(303, f"/#token={token}"), (404, None)]
    process.terminate()
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


def test_the_page_of_a_package_is_found(tmp_path):
    """bin/octet and share/octet/page, as scripts/package lays them out; and what is said where there is none."""
    (tmp_path / "bin").mkdir()
    program = Path(shutil.copy2(BINARY, tmp_path / "bin/octet"))
    refused = subprocess.run([program, "serve", "--no-open"], capture_output=True, text=True, check=False)
    assert refused.returncode == EXIT["read"] and "npm --prefix web run build" in refused.stderr
    (tmp_path / "share/octet/page").mkdir(parents=True)
    (tmp_path / "share/octet/page/index.html").write_text("the package's page")
    with serving(None, tmp_path / "temporary", program=program) as server:
        assert server.ask("GET", "/").body == b"the package's page"


def test_what_it_cannot_begin_with_is_said(page, tmp_path):
    for options, code, said in (
        (("--page", tmp_path), "read", "npm --prefix web run build"),
        (("--page", page, "--calib", tmp_path / "no"), "read", "no"),
        (("--page", page, "--data", tmp_path / "no"), "read", "no"),
        (("--page", page, "--port", "65536"), "usage", "--port"),
        (("--page", page, "--max-mb", "0"), "usage", "--max-mb"),
    ):
        refused = octet("serve", "--no-open", *options)
        assert refused.exit == EXIT[code] and said in refused.stderr, refused.said
    with serving(page, tmp_path / "first") as server:
        refused = octet("serve", "--no-open", "--page", page, "--port", server.port)
        assert refused.exit == EXIT["usage"] and "taken" in refused.stderr
