"""Samples for the models that listen: speech, music and brain waves, all synthesized, and the features made of them."""

import numpy as np

from inputs import SAMPLES, feeds_for, session
from material import magnitudes, mel_filters, pink, rng

WAKE_WORDS = [
    "hey jarvis",
    "hey mycroft",
    "alexa",
    "hey jarvis what time is it",
    "hey mycroft turn on the light",
    "good morning everybody",
    "hey marvin",
]
WAKE_VOICES = ["en-us", "en-gb", "en-us+f3", "en-us+m3"]


@feeds_for("silero_v4", "silero_v6")
def voice_activity(zoo, name):
    """Windows of five clips with the state that the model itself had reached there."""
    run, r, width = session(zoo.model_path(name)), rng("vad"), 512
    context = 64 if name == "silero_v6" else 0
    samples = []
    for _ in range(5):
        sound, speaking = zoo.material.clip(r, 8.0)
        state = (
            {"h": np.zeros((2, 1, 64), np.float32), "c": np.zeros((2, 1, 64), np.float32)}
            if name == "silero_v4"
            else {"state": np.zeros((2, 1, 128), np.float32)}
        )
        chosen = {int(v) for v in r.choice(np.arange(8, 240), SAMPLES // 5, replace=False)}
        for i in range(240):
            end = i * width + width
            window = sound[max(i * width - context, 0) : end]
            window = np.pad(window, (width + context - len(window), 0))[None].astype(np.float32)
            feeds = {"input": window, **state, "sr": np.array(16000, np.int64)}
            if i in chosen:
                samples.append((feeds, int(speaking[i * width : end].mean() > 0.5)))
            state = dict(zip(state, run.run(None, feeds)[1:]))
    r.shuffle(samples)
    return samples[:SAMPLES]


@feeds_for("basic_pitch")
def music(zoo, _name):
    r, n = rng("pitch"), 43844
    t = np.arange(n) / 22050
    for i in range(SAMPLES):
        x = np.zeros(n)
        for _ in range(int(r.integers(3, 9))):
            x += note(r, t)
        if i % 5 == 0:
            x[:] = zoo.material.clip(r, 2.2, 22050, noise=False)[0][:n]
        x = (x / (np.abs(x).max() + 1e-6) * r.uniform(0.3, 0.9) + r.normal(0, 1e-3, n)).astype(np.float32)
        yield {"serving_default_input_2:0": x[None, :, None]}, None


def note(r, t):
    """A decaying tone of six harmonics."""
    pitch = 440 * 2 ** ((int(r.integers(40, 85)) - 69) / 12)
    start, length = r.uniform(0, 1.4), r.uniform(0.2, 0.9)
    decay = np.minimum((t - start) / 0.01, 1) * np.exp(-(t - start) * r.uniform(1, 4))
    envelope = np.where((t > start) & (t < start + length), decay, 0)
    return envelope * sum(
        np.sin(2 * np.pi * pitch * h * t) * r.uniform(0.5, 1) / h ** r.uniform(1, 2) for h in range(1, 7)
    )


# Wake words: the sound, its mel spectrogram (by a model of the zoo), and the embedding of that (by another)


def wake_sound(zoo, r, i):
    said = zoo.material.speech(
        WAKE_WORDS[i % len(WAKE_WORDS)],
        WAKE_VOICES[int(r.integers(0, 4))],
        int(r.integers(140, 185)),
        int(r.integers(30, 70)),
    )
    n = 16000 * 3
    sound, k = np.zeros(n, np.float32), min(len(said), n)
    sound[n - k :] = said[:k] * r.uniform(0.4, 0.9)
    return sound + pink(r, n) * 10 ** r.uniform(-3, -2)


def wake_mel(zoo, mel, sound):
    return np.squeeze(mel.run(None, {"input": (sound * 32767).astype(np.float32)[None]})[0]) / 10 + 2


@feeds_for("oww_mel")
def wake_audio(zoo, _name):
    r = rng("owm")
    for i in range(SAMPLES):
        sound = wake_sound(zoo, r, i)[: int(16000 * r.uniform(1, 3))]
        yield {"input": (sound * 32767).astype(np.float32)[None]}, None


@feeds_for("oww_embedding")
def wake_spectrogram(zoo, _name):
    r, mel = rng("owe"), session(zoo.model_path("oww_mel"))
    for i in range(SAMPLES):
        m = wake_mel(zoo, mel, wake_sound(zoo, r, i))
        j = int(r.integers(0, len(m) - 76))
        yield {"input_1": m[None, j : j + 76, :, None].astype(np.float32)}, None


@feeds_for("oww_jarvis", "oww_mycroft")
def wake_embedding(zoo, name):
    r, mel, embed = rng("owj"), session(zoo.model_path("oww_mel")), session(zoo.model_path("oww_embedding"))
    key = session(zoo.model_path(name)).get_inputs()[0].name
    for i in range(SAMPLES):
        m = wake_mel(zoo, mel, wake_sound(zoo, r, i))
        n = (len(m) - 76) // 8
        windows = np.stack([m[j * 8 : j * 8 + 76] for j in range(n - 16, n)])[..., None].astype(np.float32)
        yield {key: embed.run(None, {"input_1": windows})[0].reshape(1, 16, 96)}, None


@feeds_for("aecmos")
def echo_quality(zoo, _name):
    r, window, mel = rng("aec"), np.hanning(513).astype(np.float32)[:512], mel_filters(160, 512, 16000)

    def features(sound):
        power = magnitudes(sound, window, 256, 512) ** 2 @ mel.T
        decibels = 10 * np.log10(np.maximum(power, 1e-10))
        x = (np.maximum(decibels - decibels.max(), -80) + 40) / 40
        return np.concatenate([x, np.ones((20, 160)), np.zeros((20, 160))])

    for _ in range(SAMPLES):
        far, near = zoo.material.clip(r, 6.0)[0], zoo.material.clip(r, 6.0)[0]
        x = np.stack([features(far), features(near + 0.3 * far), features(near + 0.02 * far)])
        yield {"input": x[None].astype(np.float32), "h0": np.zeros((4, 1, 96), np.float32)}, None


@feeds_for("nsnet2")
def noisy_speech(zoo, _name):
    r, window = rng("ns2"), np.sqrt(np.hanning(321)[:320])
    for _ in range(SAMPLES):
        power = magnitudes(zoo.material.clip(r, 3.0)[0], window, 160, 320) ** 2
        yield {"input": np.log10(np.maximum(power, 1e-12)).astype(np.float32)[None]}, None


@feeds_for("ewn_resnet50")
def wake_log_mel(zoo, _name):
    r, window, mel = rng("ewn"), np.hanning(400), mel_filters(64, 512, 16000)
    for i in range(SAMPLES):
        sound = wake_sound(zoo, r, i)[-24000:]
        f = np.log(magnitudes(sound, window, 160, 512) ** 2 @ mel.T + 1e-6)[:149]
        f = np.pad(f, ((0, 149 - len(f)), (0, 0)), mode="edge")
        yield {"input": f.astype(np.float32)[None, None]}, None


@feeds_for("eeg_seizure")
def brain_waves(_zoo, _name):
    r, rate = rng("seiz"), 256
    for _ in range(SAMPLES):
        x = brain_wave(r, rate * 60, rate)
        spectrum = (magnitudes((x - x.mean()) / x.std(), np.hanning(rate), rate // 2, rate) ** 2).T[:100]
        x = (spectrum - spectrum.mean(1, keepdims=True)) / spectrum.std(1, keepdims=True)
        yield {"x": x.astype(np.float32)[None]}, None


def brain_wave(r, n, rate):
    x, t = pink(r, n), np.arange(n) / rate
    for _ in range(int(r.integers(2, 8))):
        pitch, at, width, gain = r.uniform(2, 30), r.uniform(0, n / rate), r.uniform(0.5, 6), r.uniform(0.5, 5)
        x = x + gain * np.exp(-(((t - at) / width) ** 2)) * np.sin(2 * np.pi * pitch * t + r.uniform(0, 6))
    return x.astype(np.float32)
