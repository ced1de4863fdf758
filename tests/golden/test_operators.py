"""Every operator that the Python tool quantizes statically has a row in Octet's table, or a reason to have none."""

import re

import pytest
from octet_cli import PROJECT
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

ELSEWHERE = {
    "EmbedLayerNormalization": "holds tables alone: stored in 8 bits in every mode",
}


def rows():
    source = (PROJECT / "core/src/quantize/static_rules.cc").read_text(encoding="utf8")
    return set(re.findall(r'\{"(\w+)", StaticKind::', source))


@pytest.mark.parametrize("registry", [QDQRegistry, QLinearOpsRegistry], ids=["qdq", "qoperator"])
def test_no_operator_is_missing(registry):
    missing = set(registry) - rows() - set(ELSEWHERE)
    assert not missing


def test_what_stands_elsewhere_has_a_rule_there():
    source = (PROJECT / "core/src/quantize/rules.cc").read_text(encoding="utf8")
    for operator in ELSEWHERE:
        assert f'{{"{operator}", ' in source
