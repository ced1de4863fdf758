"""Comparing an example with a run: what the speed of a machine decides may differ, everything else may not."""

import pytest
from readme_blocks import difference

RUN = """\
fast.onnx for x64
0.86 MB → 0.26 MB (69.5 % less)
logits  36.1 dB  0.99988  0.872 of 18.2          100.0 %
latency 0.357 ms → 0.217 ms (median of 100, one thread, interleaved): 1.65× [1.63×, 1.67×]
the runtime computes 5 of 5 products in integers: 2 QGemm, 3 QLinearConv; 1 conversions between
speed 1.65×: all 5 products run in integers
verified in 0.1 s with 44.68 MB in a process of its own
Ship it: 2.9× smaller, 1.6× faster here, 36 dB.
  Static INT8: Ship it: 2.9× smaller, as fast as before here, 36 dB.
Some Processor, 2 cores, AVX2, AVX-512, load 0.4, governor unknown
Octet 0.1.0; 5 warm-up and 50 timed runs each, interleaved
model      threads     size    memory    median  outliers    per second               speedup    drift
a.onnx           1  0.86 MB  44.72 MB  1.330 ms  11 of 50  1925 samples                     -        -
fast.onnx        1  0.26 MB  45.04 MB  1.072 ms   1 of 50  2388 samples  1.34× [1.19×, 1.37×]  31.6 dB
memory: peak of a process
"""

MAY_DIFFER = [
    ("latency 0.357 ms → 0.217 ms (median of 100,", "latency 12.4 ms → 8.100 ms (median of 7,"),
    ("1.65× [1.63×, 1.67×]", "0.70× [0.4×, 1.1×]"),
    ("speed 1.65×", "speed 1.56×"),
    (
        "speed 1.65×: all 5 products run in integers",
        "speed 1.42×: a float run takes only 0.357 ms, and the work around each operator does not shrink",
    ),
    (
        "speed 1.65×: all 5 products run in integers",
        "speed 1.42×: 1 of 5 products stay in float (1 Gemm); 3 conversions lie between integers and float",
    ),
    ("0.1 s with 44.68 MB", "2.3 s with 51.00 MB"),
    ("for x64", "for arm64"),
    ("Some Processor, 2 cores, AVX2, AVX-512, load 0.4, governor", "Another, 64 cores, NEON, load 8, governor"),
    ("45.04 MB  1.072 ms   1 of 50  2388 samples", "90.10 MB  9.1 ms  21 of 50  101 tokens"),
    ("Ship it: 2.9× smaller, 1.6× faster here, 36 dB.", "Ship it: 2.9× smaller, as fast as before here, 35 dB."),
    (
        "Ship it: 2.9× smaller, 1.6× faster here, 36 dB.",
        "Smaller but slower: 2.9× smaller, 1.2× slower here, 36 dB. Ship it only where size matters more than time.",
    ),
    (
        "Static INT8: Ship it: 2.9× smaller, as fast as before here, 36 dB.",
        "Static INT8: Smaller, but time it again: 2.9× smaller, speed lost in noise (0.6× to 1.3×), 36 dB. "
        "A quiet machine tells.",
    ),
]
MAY_NOT = [
    ("(69.5 % less)", "(61.5 % less)"),
    ("36.1 dB", "30.1 dB"),
    ("interleaved", "in turns"),
    ("latency", "time"),
    ("5 of 5 products in", "4 of 5 products in"),
    ("all 5 products", "all 6 products"),
    ("speed 1.65×: all 5 products run in integers", "speed 1.65×: all 5 products are fast"),
    ("speed 1.65×: all 5 products run in integers", "speed 1.42×: it is what it is"),
    ("all 5 products run in integers", "nothing in it computes in integers"),
    ("speed 1.65×: all 5 products run in integers\n", ""),
    ("in a process of its own", "in another process"),
    ("Ship it: 2.9× smaller, 1.6× faster", "Ship it: 1.9× smaller, 1.6× faster"),
    ("1.6× faster here, 36 dB", "1.6× faster here, 26 dB"),
    ("1.6× faster here", "1.6× quicker here"),
    ("Ship it: 2.9× smaller, 1.6× faster here", "Don't ship it: 2.9× smaller, 1.6× faster here"),
    ("Ship it: 2.9× smaller, 1.6× faster here", "Ship it: 2.9× smaller, 1.6× slower here"),
    ("Static INT8: Ship it", "Dynamic INT8: Ship it"),
    ("fast.onnx        1  0.26 MB", "fast.onnx        1  0.46 MB"),
    ("fast.onnx        1", "fast.onnx        2"),
    ("1.37×]  31.6 dB", "1.37×]  21.6 dB"),
    ("outliers    per second", "outliers    per minute"),
    ("50 timed runs", "some timed runs"),
]
SLOW = """\
speed 1.10×: 2 of 9 products stay in float (2 Gemm); a float run takes only 0.1 ms, and the work around each operator \
does not shrink
"""


@pytest.mark.parametrize(("shown", "said"), MAY_DIFFER)
def test_what_speed_decides_may_differ(shown, said):
    other = RUN.replace(shown, said)
    assert other != RUN
    assert not difference(RUN, other)
    assert not difference(other, RUN)


@pytest.mark.parametrize(("shown", "said"), MAY_NOT)
def test_what_it_does_not_decide_may_not(shown, said):
    other = RUN.replace(shown, said)
    assert other != RUN
    assert difference(RUN, other)
    assert difference(other, RUN)


def test_reasons_of_slow_models():
    assert not difference(SLOW, SLOW.split("; a float run")[0])
    assert difference(SLOW, SLOW.replace("2 of 9", "3 of 9"))
    assert difference(SLOW, SLOW.replace("(2 Gemm)", "(2 Conv)"))
