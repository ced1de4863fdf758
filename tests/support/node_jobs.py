"""A Node program that takes jobs as lines of JSON and answers each with one: started once, it serves many."""

import json
import os
import shlex
import subprocess

from octet_cli import PROJECT


def node_modules():
    """Where scripts/setup put the npm packages."""
    if "OCTET_NODE_MODULES" in os.environ:
        return os.environ["OCTET_NODE_MODULES"]
    lines = (PROJECT / "build/deps/env.sh").read_text().splitlines()
    settings = dict(word.split("=", 1) for line in lines for word in shlex.split(line) if "=" in word)
    return settings["OCTET_NODE_MODULES"]


class NodeJobs:
    def __init__(self, program, *arguments):
        self.command, self.process = ["node", str(program), *arguments], None

    def ask(self, job):
        """The answer, or {"error": …} when the program ended; the next job then starts it again."""
        if self.process is None or self.process.poll() is not None:
            environment = {**os.environ, "OCTET_NODE_MODULES": node_modules()}
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        return json.loads(answer) if answer else {"error": f"Node ended with status {self.process.wait()}"}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
