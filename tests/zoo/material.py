"""Raw material for samples: photographs, rendered text and synthesized speech, all from fetched packages and seeds."""

import ctypes
import hashlib
import os
import re

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SEED = 20261201
PHOTOS = """astronaut.png grace_hopper chelsea.png coffee.png rocket.jpg motorcycle_left.png motorcycle_right.png
hubble_deep_field.jpg retina.jpg ihc.png camera.png coins.png brick.png grass.png gravel.png moon.png page.png text.png
clock_motion.png horse.png color.png""".split()
FONTS = ("Sans", "Serif", "SansMono", "Sans-Bold", "Serif-Italic", "Sans-Oblique", "Serif-Bold")
CHARACTERS = set("\n !\"'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
CAPTCHA_CHARACTERS = list("0123456789ABCDEFGHJKLMNPQRSTUVWXYZ")
VOICES = ("en-us", "en-gb", "de", "fr", "en-us+f3", "en-us+m3")


def rng(tag):
    """A generator of its own for every purpose, so that no sample depends on which others were made."""
    return np.random.default_rng([SEED, int(hashlib.md5(tag.encode()).hexdigest()[:8], 16)])


def corpus():
    """English prose that every Python carries: its own language reference."""
    from pydoc_data.topics import topics

    text = re.sub(r"[*=~`_+-]{3,}", " ", "\n".join(topics[k] for k in sorted(topics)))
    text = "".join(c if c in CHARACTERS else " " for c in text)
    return re.sub(r" {2,}", " ", re.sub(r"\n\s*\n+", "\n", text))


def integers(r, low, high, count):
    return tuple(int(v) for v in r.integers(low, high, count))


class Material:
    def __init__(self, packages):
        self.packages = packages
        self._images, self._photos, self._words, self._speech, self._espeak = None, {}, None, {}, None

    # Photographs

    def images(self):
        """Name and RGB picture of each sample photograph."""
        if self._images is None:
            skimage = self.packages.folder("skimage") / "skimage/data"
            hopper = self.packages.folder("mpl") / "matplotlib/mpl-data/sample_data/grace_hopper.jpg"
            paths = [(name, hopper if name == "grace_hopper" else skimage / name) for name in PHOTOS]
            self._images = [(name, Image.open(path).convert("RGB")) for name, path in paths if path.exists()]
        return self._images

    def photos(self, n, tag, size):
        """n crops (random scale, flip, light) of the photographs, [height, width, 3] uint8."""
        key = n, tag, size
        if key not in self._photos:
            r, images = rng("photo" + tag), self.images()
            self._photos[key] = [self._crop(r, images[i % len(images)][1], i >= len(images), size) for i in range(n)]
        return [p.copy() for p in self._photos[key]]

    @staticmethod
    def _crop(r, picture, zoom, size):
        w, h = picture.size
        scale = r.uniform(0.55, 1.0) if zoom else 1.0
        cw, ch = int(w * scale), int(h * scale)
        x, y = int(r.integers(0, w - cw + 1)), int(r.integers(0, h - ch + 1))
        part = picture.crop((x, y, x + cw, y + ch))
        if r.random() < 0.5:
            part = part.transpose(Image.FLIP_LEFT_RIGHT)
        lit = np.asarray(part.resize(size, Image.BILINEAR)).astype(np.float32) * r.uniform(0.8, 1.15)
        return np.clip(lit, 0, 255).astype(np.uint8)

    # Text, plain and rendered

    def sentences(self, n, tag, shortest=4, longest=12):
        if self._words is None:
            prose = re.findall(r"[A-Za-z][A-Za-z ,'-]{20,}", corpus().replace("\n", " "))
            self._words = " ".join(prose).split()
        words, r = self._words, rng("sent" + tag)
        return [
            " ".join(words[j : j + int(r.integers(shortest, longest))]) for j in r.integers(0, len(words) - longest, n)
        ]

    def font(self, r, size=None):
        """A random face; `size` may be a function, called after the face is drawn."""
        folder = self.packages.folder("mpl") / "matplotlib/mpl-data/fonts/ttf"
        path = folder / f"DejaVu{FONTS[int(r.integers(0, len(FONTS)))]}.ttf"
        return ImageFont.truetype(str(path), size() if callable(size) else size)

    def line(self, text, height, r, pad=4):
        """One line of dark text on a light, slightly noisy ground, `height` pixels high."""
        font = self.font(r, lambda: int(height * r.uniform(0.55, 0.72)))
        x0, y0, x1, y1 = font.getbbox(text)
        ground, ink = int(r.integers(190, 256)), integers(r, 0, 90, 3)
        blue = int(min(255, ground + r.integers(-20, 20)))
        picture = Image.new("RGB", (x1 - x0 + 2 * pad, height), (ground, ground, blue))
        ImageDraw.Draw(picture).text((pad - x0, (height - (y1 - y0)) // 2 - y0), text, font=font, fill=ink)
        soft = np.asarray(picture.filter(ImageFilter.GaussianBlur(r.uniform(0, 0.7)))).astype(np.float32)
        noisy = soft + r.normal(0, r.uniform(0, 8), (height, picture.size[0], 1))
        return np.clip(noisy, 0, 255).astype(np.uint8)

    def page(self, r, size):
        """A page of lines in changing faces and sizes."""
        picture = Image.new("RGB", size, (250, 250, 245))
        draw, y = ImageDraw.Draw(picture), int(r.integers(5, 30))
        text, i = self.sentences(30, f"page{r.integers(1 << 30)}", 3, 9), 0
        while y < size[1] - 14:
            points = int(r.integers(11, 20))
            font = self.font(r, points)
            draw.text((int(r.integers(4, 16)), y), text[i % 30], font=font, fill=(20, 20, 30))
            y += int(points * r.uniform(1.3, 2.2))
            i += 1
        return picture

    def captcha(self, r, size, length):
        """Rotated letters crossed by two lines; the picture and its text."""
        w, h = size
        picture = Image.new("RGB", size, integers(r, 200, 256, 3))
        text, x = "".join(r.choice(CAPTCHA_CHARACTERS, length)), w * 0.06
        for letter in text:
            font = self.font(r, lambda: int(h * r.uniform(0.55, 0.7)))
            glyph = Image.new("RGBA", (h, h), (0, 0, 0, 0))
            ImageDraw.Draw(glyph).text((h * 0.2, h * 0.08), letter, font=font, fill=integers(r, 0, 120, 3) + (255,))
            glyph = glyph.rotate(r.uniform(-12, 12))
            picture.paste(glyph, (int(x), 0), glyph)
            x += w * 0.88 / length
        draw = ImageDraw.Draw(picture)
        for _ in range(2):
            start, end = (tuple(int(r.integers(0, limit)) for limit in (w, h, w, h)) for _ in range(2))
            draw.line([start[:2], end[2:]], fill=(120, 120, 140), width=1)
        return picture, text

    # Sound

    def speech(self, text, voice="en-us", speed=165, pitch=50, rate=16000):
        key = text, voice, speed, pitch, rate
        if key not in self._speech:
            self._espeak = self._espeak or _Espeak(self.packages.folder("espeak") / "espeakng_loader")
            self._speech[key] = resample(self._espeak.say(text, voice, speed, pitch), self._espeak.rate, rate)
        return self._speech[key]

    def clip(self, r, seconds, rate=16000, noise=True):
        """Utterances with pauses and pink noise; the sound and, per sample, whether somebody speaks."""
        n = int(seconds * rate)
        sound, speaking = np.zeros(n, np.float32), np.zeros(n, bool)
        at, texts = int(r.uniform(0, 0.8) * rate), self.sentences(40, "speech", 3, 8)
        while at < n:
            text, voice = texts[int(r.integers(0, 40))], VOICES[int(r.integers(0, 6))]
            said = self.speech(text, voice, int(r.integers(140, 190)), int(r.integers(30, 70)), rate)
            k = min(len(said), n - at)
            sound[at : at + k] += said[:k] * r.uniform(0.3, 0.9)
            envelope = np.convolve(np.pad(np.abs(said[:k]), 400), np.ones(801) / 801, "valid")[:k]
            speaking[at : at + k] |= envelope > 0.01
            at += k + int(r.uniform(0.4, 1.5) * rate)
        if noise:
            sound += pink(r, n) * 10 ** r.uniform(-3.2, -1.6)
        return np.clip(sound, -1, 1).astype(np.float32), speaking


class _Espeak:
    """The few calls of espeak-ng's C interface that turn text into samples."""

    SYNCHRONOUS, RATE, PITCH = 2, 1, 3

    def __init__(self, folder):
        self.library = ctypes.CDLL(str(next(folder.glob("libespeak-ng.so*"))))
        self.pieces = []
        callback_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
        self._callback = callback_type(self._receive)  # kept: the library holds a bare pointer to it
        self.rate = self.library.espeak_Initialize(self.SYNCHRONOUS, 500, str(folder).encode(), 0)
        if self.rate <= 0:
            raise RuntimeError("espeak-ng did not start")
        self.library.espeak_SetSynthCallback(self._callback)

    def _receive(self, wave, count, _events):
        if wave and count > 0:
            self.pieces.append(ctypes.string_at(wave, count * ctypes.sizeof(ctypes.c_short)))
        return 0

    def say(self, text, voice, speed, pitch):
        """Samples from -1 to 1. Each text is said in a process of its own: the library remembers what it said before,
        and then no sample could be made again alone."""
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with open(sink, "wb") as file:
                    file.write(self._synthesize(text, voice, speed, pitch))
            finally:
                os._exit(0)
        os.close(sink)
        with open(source, "rb") as file:
            wave = file.read()
        os.waitpid(child, 0)
        if not wave:
            raise RuntimeError(f"espeak-ng said nothing for {text!r}")
        return np.frombuffer(wave, np.int16).astype(np.float32) / 32768

    def _synthesize(self, text, voice, speed, pitch):
        self.library.espeak_ng_SetRandSeed(ctypes.c_long(SEED))  # breathy voices draw on a clock's seed else
        self.library.espeak_SetVoiceByName(voice.encode())
        self.library.espeak_SetParameter(self.RATE, speed, 0)
        self.library.espeak_SetParameter(self.PITCH, pitch, 0)
        data = text.encode() + b"\0"
        self.library.espeak_Synth(data, ctypes.c_size_t(len(data)), 0, 0, 0, 1, None, None)
        self.library.espeak_Synchronize()
        return b"".join(self.pieces)


def resample(sound, old_rate, new_rate):
    if old_rate == new_rate:
        return sound
    n = int(round(len(sound) * new_rate / old_rate))
    spectrum, cut = np.fft.rfft(sound), np.zeros(n // 2 + 1, complex)
    k = min(len(spectrum), len(cut))
    cut[:k] = spectrum[:k]
    return (np.fft.irfft(cut, n) * (n / len(sound))).astype(np.float32)


def pink(r, n):
    spectrum = np.fft.rfft(r.normal(size=n))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    noise = np.fft.irfft(spectrum, n)
    return (noise / noise.std()).astype(np.float32)


def magnitudes(sound, window, hop, size):
    """Short-time Fourier magnitudes, [frames, size / 2 + 1]."""
    n = 1 + (len(sound) - len(window)) // hop
    frames = sound[np.arange(len(window))[None] + hop * np.arange(n)[:, None]] * window
    return np.abs(np.fft.rfft(frames, size))


def mel_filters(bands, size, rate):
    def mel(f):
        return 2595 * np.log10(1 + f / 700)

    edges = 700 * (10 ** (np.linspace(0, mel(rate / 2), bands + 2) / 2595) - 1)
    f = np.linspace(0, rate / 2, size // 2 + 1)
    rising = (f - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - f) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rising, falling))
