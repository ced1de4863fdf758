"""Samples for the models that look at pictures: crops of photographs, rendered text, portraits."""

import numpy as np
from PIL import Image

from inputs import SAMPLES, feeds_for
from material import rng

MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)  # ImageNet's


def planes(picture):
    """[height, width, 3] to [1, 3, height, width]."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1))[None].astype(np.float32)


def normalized(picture):
    return (picture.astype(np.float32) / 255 - MEAN) / DEVIATION


def text_strip(picture, width, height=48):
    """A line of text at the left of a dark strip, blue-green-red, from -1 to 1."""
    shown = min(width, picture.size[0])
    strip = np.zeros((height, width, 3), np.float32)
    pixels = np.asarray(picture.resize((shown, height), Image.BILINEAR)).astype(np.float32)
    strip[:, :shown] = (pixels[:, :, ::-1] / 255 - 0.5) / 0.5
    return planes(strip)


@feeds_for("ppocr4_rec")
def recognizer(zoo, _name):
    r = rng("rec")
    for text in zoo.material.sentences(SAMPLES, "rec", 2, 6):
        text = text[:26].strip()
        yield {"x": text_strip(Image.fromarray(zoo.material.line(text, 48, r)), 320)}, text


@feeds_for("ppocr_cls")
def direction(zoo, _name):
    r = rng("cls")
    for i, text in enumerate(zoo.material.sentences(SAMPLES, "cls", 2, 5)):
        upside_down = i % 2
        line = Image.fromarray(zoo.material.line(text[:22], 48, r))
        yield {"x": text_strip(line.rotate(180) if upside_down else line, 192)}, upside_down


@feeds_for("ppocr4_det", "ppocr6_det")
def text_detector(zoo, name):
    r, photos = rng("det"), zoo.material.photos(SAMPLES, "det", (320, 320))
    for i in range(SAMPLES):
        picture = np.asarray(zoo.material.page(r, (320, 320))) if i % 3 else photos[i]
        x = picture.astype(np.float32)[:, :, ::-1] / 255
        yield {"x": planes((x - 0.5) / 0.5 if name == "ppocr4_det" else (x - MEAN) / DEVIATION)}, None


@feeds_for("dddd_ocr", "dddd_old_int8")
def captcha_reader(zoo, _name):
    r = rng("dddd")
    for _ in range(SAMPLES):
        picture, text = zoo.material.captcha(r, (160, 60), int(r.integers(4, 6)))
        grey = picture.convert("L").resize((int(160 * 64 / 60), 64), Image.BILINEAR)
        yield {"input1": ((np.asarray(grey).astype(np.float32) / 255 - 0.5) / 0.5)[None, None]}, text


@feeds_for("nudenet")
def person_detector(zoo, name):
    """Every other sample is a portrait, so that there is something to detect."""
    size = 320, 320
    photos, r = zoo.material.photos(SAMPLES, name, size), rng(name)
    pictures = dict(zoo.material.images())
    portraits = pictures["astronaut.png"], pictures["grace_hopper"]
    for i in range(0, SAMPLES, 2):
        portrait = portraits[(i // 2) % 2]
        (w, h), share = portrait.size, r.uniform(0.7, 1)
        x, y = int(r.uniform(0, 1 - share) * w), int(r.uniform(0, 1 - share) * h * 0.3)
        crop = portrait.crop((x, y, int(x + share * w), int(y + share * w)))
        photos[i] = np.asarray(crop.resize(size, Image.BILINEAR))
    for photo in photos:
        yield {"images": planes(photo.astype(np.float32) / 255)}, None


@feeds_for("dddd_det")
def text_finder(zoo, name):
    size = 416, 416
    r = rng(name)
    for i, picture in enumerate(zoo.material.photos(SAMPLES, name, size)):
        if i % 2:
            picture = np.asarray(zoo.material.captcha(r, size, 5)[0])
        yield {"images": planes(picture.astype(np.float32)[:, :, ::-1])}, None


@feeds_for("vit_focus")
def saliency(zoo, name):
    for photo in zoo.material.photos(SAMPLES, name, (224, 224)):
        yield {"input_image": planes(normalized(photo))}, None


@feeds_for("mtcnn_pnet")
def face_proposals(zoo, _name):
    sizes = [(120, 90), (160, 120), (96, 96), (200, 150)]
    for i in range(SAMPLES):
        photo = zoo.material.photos(SAMPLES, "pn", sizes[i % 4])[i]
        x = (photo.astype(np.float32) - 127.5) / 128
        yield {"input_1": x.transpose(1, 0, 2)[None].copy()}, None  # MTCNN wants x and y swapped


def light_photos(zoo):
    """The inputs that all light_* models share, keyed "x" whatever their input is called."""
    return [{"x": planes(normalized(photo))} for photo in zoo.material.photos(8, "light", (224, 224))]
