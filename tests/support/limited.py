"""Runs a program that may want too much: bounds its memory and its time."""

import resource
import subprocess


def run_limited(command, memory_bytes, seconds):
    """Why it failed, in its own last words; "" when it did not."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    command = [str(word) for word in command]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {seconds} s"
    if run.returncode == 0:
        return ""
    return (run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[-1]
