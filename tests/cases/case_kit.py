"""What the cases are made of: short ways to write nodes, and the registry of cases with what each must hold.

A case is a function that makes a model and samples; its docstring says what is special about it, `source` names the
public report it was made from. Variations of a kind carry the number of the kind and a letter.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


@dataclasses.dataclass(frozen=True)
class Expect:
    """What the output must hold, judged on its file and in ONNX Runtime with the case's samples."""

    sqnr: tuple = ()  # least SQNR of each output in dB; None: not judged
    most_floats: int | None = None  # float elements that may stay in the file
    least_floats: int = 0  # and that must
    most_size: float | None = None  # of the output, as a share of the input
    integer_nodes: int = 0  # operators in integers at least
    excused_by: str = ""  # floats may stay when Octet says this word
    runs: bool = True  # False: the runtime cannot run even the float model
    fails: tuple = ()  # a clear error must name these, and leave no output
    may_refuse: str = ""  # or it may fail, naming this
    says: str = ""  # the report must contain it
    most_latency: float | None = None  # as a share of the float model's


@dataclasses.dataclass(frozen=True)
class Built:
    model: object
    samples: list
    external: dict = dataclasses.field(default_factory=dict)  # file name -> tensor names to keep there
    lost: tuple = ()  # external files to delete after writing
    checked: bool = True  # the model passes onnx's checker


@dataclasses.dataclass(frozen=True)
class Case:
    number: str
    build: Callable
    expect: Expect
    options: tuple
    source: str


CASES = {}


def case(number, expect, *options, source=""):
    def register(build):
        assert number not in CASES, number
        CASES[number] = Case(number, build, expect, options, source)
        return build

    return register


def rng(seed):
    return np.random.default_rng(seed)


def normal(r, *shape, scale=1.0, dtype=np.float32):
    return (r.standard_normal(shape) * scale).astype(dtype)


def batches(r, count, dtype=np.float32, **shapes):
    return [{name: normal(r, *shape, dtype=dtype) for name, shape in shapes.items()} for _ in range(count)]


def weight(name, array):
    return numpy_helper.from_array(np.asarray(array, order="C"), name)


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def node(kind, inputs, outputs, name=None, domain="", **attributes):
    """Inputs and outputs as words in one string; "-" is an input left out."""
    inputs = ["" if word == "-" else word for word in inputs.split()]
    outputs = ["" if word == "-" else word for word in outputs.split()]
    return helper.make_node(
        kind, inputs, outputs, name=f"{kind}_{outputs[0]}" if name is None else name, domain=domain, **attributes
    )


def constant(name, array):
    return node("Constant", "", name, value=weight(name + "_value", array))


def graph(nodes, outputs, weights=(), inputs=(), name="body"):
    return helper.make_graph(list(nodes), name, list(inputs), list(outputs), list(weights))


def model(nodes, inputs, outputs, weights=(), opset=17, ir=8, shapes=(), domains=(), functions=()):
    body = helper.make_graph(list(nodes), "case", list(inputs), list(outputs), list(weights), value_info=list(shapes))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, version) for domain, version in domains]
    return helper.make_model(
        body, opset_imports=imports, ir_version=ir, functions=list(functions), producer_name="octet-case"
    )
