"""What a model is for, as a number: text read, file types named, faces boxed. Each rates the outputs of one model, alone
against its labels or against those of the float model; 1 is perfect."""

import json

import numpy as np


def greedy_text(logits, characters):
    """Connectionist temporal classification, read greedily: repeats and blanks (index 0) fall away."""
    best = logits.argmax(-1).ravel()
    kept = [i for at, i in enumerate(best) if i != 0 and (at == 0 or i != best[at - 1])]
    return "".join(characters[i - 1] if i <= len(characters) else " " for i in kept)


def edit_distance(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one):
        above, row[0] = row[0], i + 1
        for j, b in enumerate(other):
            above, row[j + 1] = row[j + 1], min(row[j] + 1, row[j + 1] + 1, above + (a != b))
    return row[-1]


def first(outputs):
    return [next(iter(sample.values())) for sample in outputs]


def label_share(reference, outputs, labels, _model):
    return np.mean([int(o.argmax()) == label for o, label in zip(first(outputs), labels)])


def digit_share(reference, outputs, labels, _model):
    """Batches of pictures, with a list of digits for each file in the order of names."""
    truth = np.concatenate([np.ravel(batch) for _, batch in sorted(labels["labels"].items())])
    return np.mean(np.concatenate([o.argmax(-1).ravel() for o in first(outputs)]) == truth)


def character_share(reference, outputs, labels, model):
    """1 - edits per character of the text printed in the picture."""
    properties = {p.key: p.value for p in model.metadata_props}
    characters = properties["character"].split("\n")
    texts = [greedy_text(o[0], characters) for o in first(outputs)]
    return 1 - sum(map(edit_distance, texts, labels)) / sum(map(len, labels))


def same_text(reference, outputs, _labels, _model):
    pairs = list(zip(first(reference), first(outputs)))

    def text(o):
        return o.argmax(-1).ravel() if o.shape[-1] > 1000 else np.rint(o).ravel()

    return np.mean([np.array_equal(text(a), text(b)) for a, b in pairs])


def same_choice(reference, outputs, _labels, _model):
    return np.mean(np.concatenate([(a.argmax(-1) == b.argmax(-1)).ravel() for a, b in zip(first(reference), first(outputs))]))


def same_sign(reference, outputs, _labels, _model):
    def on(o):
        return o.argmax(-1) if o.shape[-1] == 2 else o > 0

    return np.mean(np.concatenate([(on(a) == on(b)).ravel() for a, b in zip(first(reference), first(outputs))]))


def mask_overlap(reference, outputs, _labels, _model):
    """Intersection over union of what exceeds 0.3."""
    pairs = [(a > 0.3, b > 0.3) for a, b in zip(first(reference), first(outputs))]
    union = sum((a | b).sum() for a, b in pairs)
    return sum((a & b).sum() for a, b in pairs) / union if union else 1.0


def best_box(output):
    scores = output[0][4:].max(0)
    x, y, width, height = output[0][:4, scores.argmax()]
    return (x - width / 2, y - height / 2, x + width / 2, y + height / 2), scores.max()


def box_overlap(reference, outputs, _labels, _model):
    """Mean intersection over union of the best box, where the float model sees something (score above 0.25)."""
    overlaps = []
    for a, b in zip(first(reference), first(outputs)):
        (one, score), (other, _) = best_box(a), best_box(b)
        if score <= 0.25:
            continue
        width = max(0.0, min(one[2], other[2]) - max(one[0], other[0]))
        height = max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
        area = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
        overlaps.append(width * height / (sum(area) - width * height))
    return np.mean(overlaps) if overlaps else np.nan


def speech_share(reference, outputs, labels, _model):
    return np.mean([(float(o.ravel()[0]) > 0.5) == label for o, label in zip(first(outputs), labels)])


def embeddings(outputs):
    """The first output that is a matrix, or the first there is."""
    first_name = next(iter(outputs[0]))
    name = next((n for n, o in outputs[0].items() if o.dtype.kind == "f" and o.ndim == 2), first_name)
    rows = [sample[name].ravel() for sample in outputs]
    return np.stack([row / (np.linalg.norm(row) + 1e-12) for row in rows])


def mean_cosine(reference, outputs, _labels, _model):
    return (embeddings(reference) * embeddings(outputs)).sum(1).mean()


def similarity_order(reference, outputs, _labels, _model):
    """Spearman's rank correlation between the similarities of all pairs of sentences."""
    above = np.triu_indices(len(outputs), 1)
    ranks = [(e @ e.T)[above].argsort().argsort() for e in (embeddings(reference), embeddings(outputs))]
    return np.corrcoef(*ranks)[0, 1]


METRICS = {
    "top1_label": label_share,
    "digits": digit_share,
    "ctc_text": character_share,
    "argmax_text": same_text,
    "top1_agree": same_choice,
    "sign_agree": same_sign,
    "mask_iou": mask_overlap,
    "det_iou": box_overlap,
    "vad": speech_share,
    "cosine": mean_cosine,
    "embed": similarity_order,
    "next_char": same_choice,
}


def rate(kind, reference, outputs, samples, model):
    """The metric `kind` of zoo.json, nothing where a model has none. `samples`: their folder, with labels.json or not.
    `model`: the float model, for what its metadata says."""
    if kind not in METRICS:
        return None
    labels = samples / "labels.json"
    return float(METRICS[kind](reference, outputs, json.loads(labels.read_text()) if labels.exists() else None, model))
