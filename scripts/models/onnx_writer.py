"""What both model scripts share: an ONNX graph builder that names things the way PyTorch's exporter does,
a deterministic writer for models and samples, and the check of an exported model against its trainer."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

# XLA splits sums by the number of cores, which changes the last bits and so, after training, every weight.
# One thread for all; jax reads this when it first computes, so it is early enough here.
os.environ["NPROC"] = "1"

OPSET, IR_VERSION = 17, 8
DATA = Path(__file__).resolve().parents[2] / "tests" / "data"

# Both sides compute in float32 and sum in different orders: with logits up to 20 that rounds to some 3e-5 after the
# GPT's 17 matrix products. A wrong graph is off by 0.1 or more.
MAX_EXPORT_DIFF = 2e-4


class GraphBuilder:
    """Collects nodes and initializers. `scope` is the module path, e.g. `h.0/attn`."""

    def __init__(self):
        self.nodes, self.initializers, self.scope = [], [], ""
        self._uses, self._constants, self._anonymous = {}, {}, 0

    def op(self, kind, *inputs, outputs=1, module="", **attributes):
        """Appends a node and returns the name of its output (a list of names if there are several)."""
        path = "/".join(part for part in (self.scope, module, kind) if part)
        count = self._uses[path] = self._uses.get(path, -1) + 1
        name = f"/{path}" + (f"_{count}" if count else "")
        names = [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.float32):
        """A Constant node, as exporters write scalars and shapes; one per value and module."""
        array = np.array(value, dtype)
        key = (self.scope, array.dtype, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.op("Constant", value=numpy_helper.from_array(array))
        return self._constants[key]

    def weight(self, name, value):
        """A named parameter, stored as an initializer."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def transposed_weight(self, value):
        """The matrix of a linear layer: the exporter transposes it for MatMul and loses its name."""
        self._anonymous += 1
        return self.weight(f"onnx::MatMul_{400 + self._anonymous}", value)

    def model(self, name, inputs, outputs):
        """Finishes a checked model; `inputs` and `outputs` are lists of (name, element type, shape)."""
        # The last node's output takes the graph output's name, as an exporter does it.
        self.nodes[-1].output[0] = outputs[0][0]
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info(*i) for i in inputs],
                                  [helper.make_tensor_value_info(*o) for o in outputs], self.initializers)
        model = helper.make_model(graph, producer_name="octet", ir_version=IR_VERSION,
                                  opset_imports=[helper.make_opsetid("", OPSET)])
        onnx.checker.check_model(model, full_check=True)
        return model


def save_model(model, name):
    """Writes tests/data/NAME and returns an ONNX Runtime session on what was written."""
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / name).write_bytes(model.SerializeToString(deterministic=True))
    return onnxruntime.InferenceSession(DATA / name, providers=["CPUExecutionProvider"])


def save_samples(folder, input_name, batches, labels=None):
    """Writes one .npz per batch, and labels.json (what to expect of `logits`) if the truth is known."""
    target = DATA / folder
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    names = [f"{i:04d}.npz" for i in range(len(batches))]
    for name, batch in zip(names, batches):
        np.savez_compressed(target / name, **{input_name: batch})
    if labels is not None:
        lines = ",\n".join(f'  "{n}": {json.dumps(np.asarray(l).tolist(), separators=(",", ":"))}'
                           for n, l in zip(names, labels))
        (target / "labels.json").write_text('{"output": "logits", "labels": {\n' + lines + "\n}}\n")


def check_export(session, forward, input_name, batches):
    """Runs the written model on `batches`, fails where it differs from the trainer's `forward`; returns its logits."""
    logits = [session.run(["logits"], {input_name: batch})[0] for batch in batches]
    worst = max(float(np.abs(got - np.asarray(forward(batch))).max()) for got, batch in zip(logits, batches))
    print(f"export: largest difference to the trainer {worst:.1e} over {len(batches)} batches")
    require(worst <= MAX_EXPORT_DIFF, f"the exported model differs from the trainer by {worst}")
    return logits


def require(condition, message):
    if not condition:
        raise SystemExit(f"failed: {message}")


def size_of(*names):
    """Bytes of files and folders under tests/data together."""
    files = [f for n in names for f in ([DATA / n] if (DATA / n).is_file() else (DATA / n).rglob("*"))]
    return sum(f.stat().st_size for f in files if f.is_file())
