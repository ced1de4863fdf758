"""The core in its three places: the command line, the module under Node, the module in Chromium. What one writes or
refuses, the others must."""

from node_jobs import NodeJobs
from octet_cli import PROJECT, octet

PROGRAMS = {
    "node": (PROJECT / "tests/wasm/quantize_cli.mjs", "-"),
    "chromium": (PROJECT / "tests/web/quantize_in_chromium.mjs",),
}


def flags(options):
    """The command line's way to say what a page or a program gives as an object."""
    for key, value in options.items():
        if key == "per_channel":
            yield "--per-channel" if value else "--per-tensor"
        elif value is True:
            yield f"--{key.replace('_', '-')}"
        else:
            yield from (f"--{key.replace('_', '-')}", value)


class Places:
    def __init__(self):
        self.jobs = {place: NodeJobs(*program) for place, program in PROGRAMS.items()}

    def agree(self, model, folder, options, ranges=None, plan=None):
        """Asserts that all give the same bytes, or the same refusal; gives what the command line said."""
        output = folder / "native" / "out.onnx"
        output.parent.mkdir(exist_ok=True)
        given = [*flags({"target": "wasm", **options}), *(("--ranges", ranges) if ranges else ())]
        given += ("--plan", plan) if plan else ()
        said = octet("quantize", model, "-o", output, "--no-verify", "--force", *given)
        written = files(output.parent)
        for place, jobs in self.jobs.items():
            there = folder / place / "out.onnx"
            there.parent.mkdir(exist_ok=True)
            answer = jobs.ask({
                "model": str(model), "options": options, "output": str(there), "ranges": ranges and str(ranges),
                "plan": plan and str(plan),
            })
            error = answer.get("error", {})
            assert error.get("exit_status", 0) == said.exit, (place, options, answer.get("error"), said.stderr)
            # Why a file cannot be read is told by the system, natively alone; what to do about it is said by all.
            same = not error or error["problem"] in said.stderr or (error["next"] and error["next"] in said.stderr)
            assert same, (place, error, said.stderr)
            assert {name: there.parent.joinpath(name).read_bytes() for name in written} == written, (place, options)
            assert len(files(there.parent)) == len(written)
            clear(there.parent)
        clear(output.parent)
        return said

    def close(self):
        for jobs in self.jobs.values():
            jobs.close()


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def clear(folder):
    for path in folder.iterdir():
        path.unlink()
