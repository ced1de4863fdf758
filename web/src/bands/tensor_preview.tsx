// A tensor as a person reads it: a picture, a waveform, or its first numbers.
import type { PictureInput, TensorValue } from 'octet-wasm';
import { useEffect, useMemo, useRef } from 'preact/hooks';

type Numbers = ArrayLike<number | bigint>;

const ARRAYS: Record<string, new (buffer: ArrayBuffer) => Numbers> = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};

function numbersOf({ type, data }: TensorValue): Numbers | null {
  const array = ARRAYS[type];
  return array ? new array(data.slice().buffer as ArrayBuffer) : null;
}

interface Planes {
  width: number;
  height: number;
  channels: number;
  /** Where pixel (x, y) of a channel is. */
  at(x: number, y: number, channel: number): number;
}

const SMALLEST = 4, LARGEST = 4096;

// The first picture of a tensor that looks like pictures: channels first or last, 1, 3 or 4 of them.
function planesOf(dims: number[], layout?: PictureInput['layout']): Planes | null {
  const [a, b, c] = dims.length === 4 ? dims.slice(1) : dims.length === 3 ? dims : [];
  const fits = (side: number) => side >= SMALLEST && side <= LARGEST;
  const channels = (count: number) => count === 1 || count === 3 || count === 4;
  if (a === undefined || b === undefined || c === undefined) return null;
  if (layout !== 'nhwc' && channels(a) && fits(b) && fits(c)) {
    return { width: c, height: b, channels: a, at: (x, y, channel) => (channel * b + y) * c + x };
  }
  if (layout !== 'nchw' && channels(c) && fits(a) && fits(b)) {
    return { width: b, height: a, channels: c, at: (x, y, channel) => (y * b + x) * c + channel };
  }
  return null;
}

function range(values: Numbers, count: number): [number, number] {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < count; ++i) {
    const value = Number(values[i]);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

type Shade = (value: number, channel: number) => number;

// What pictures became is undone; without knowing that, the least value is black and the largest white.
function shadeOf(values: Numbers, { width, height, channels }: Planes, image: PictureInput | null): Shade {
  if (image) {
    const part = (list: number[], channel: number, none: number) => list[list.length === 1 ? 0 : channel] ?? none;
    return (value, channel) =>
      (value * part(image.std, channel, 1) + part(image.mean, channel, 0)) / image.scale;
  }
  const [low, high] = range(values, width * height * channels);
  const scale = high > low ? 255 / (high - low) : 0;
  return (value) => (value - low) * scale;
}

function draw(canvas: HTMLCanvasElement, values: Numbers, planes: Planes, image: PictureInput | null) {
  const { width, height, channels, at } = planes;
  const shade = shadeOf(values, planes, image);
  const pixels = new ImageData(width, height);
  for (let y = 0, i = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, i += 4) {
      for (let color = 0; color < 3; ++color) {
        const channel = channels === 1 ? 0 : image?.order === 'bgr' ? 2 - color : color;
        pixels.data[i + color] = shade(Number(values[at(x, y, channel)]), channel);
      }
      pixels.data[i + 3] = 255;
    }
  }
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')!.putImageData(pixels, 0, 0);
}

interface PictureProps {
  values: Numbers;
  planes: Planes;
  image: PictureInput | null;
  label: string;
}

function Picture({ values, planes, image, label }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => draw(canvas.current!, values, planes, image), [values, planes, image]);
  return <canvas ref={canvas} class="picture" role="img" aria-label={label} />;
}

const WAVE_WIDTH = 240, WAVE_HEIGHT = 64;

function Waveform({ values, label }: { values: Numbers; label: string }) {
  const [low, high] = range(values, values.length);
  const y = (value: number) => WAVE_HEIGHT - 2 - ((value - low) / (high - low || 1)) * (WAVE_HEIGHT - 4);
  const columns = Math.min(WAVE_WIDTH, values.length);
  const lines = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
    let least = Infinity, most = -Infinity;
    for (let i = from; i < to; ++i) {
      least = Math.min(least, Number(values[i]));
      most = Math.max(most, Number(values[i]));
    }
    const x = ((column + 0.5) * WAVE_WIDTH) / columns;
    return `M${x} ${y(most) - 0.5}V${y(least) + 0.5}`;
  });
  return (
    <svg class="wave" viewBox={`0 0 ${WAVE_WIDTH} ${WAVE_HEIGHT}`} role="img" aria-label={label}>
      <path d={lines.join('')} />
    </svg>
  );
}

const SHOWN = 12, WAVE_FROM = 64;

function short(value: number | bigint | undefined): string {
  return typeof value === 'bigint' || Number.isInteger(value) ? String(value) : Number(value).toPrecision(3);
}

interface PreviewProps {
  name: string;
  tensor: TensorValue;
  /** What the model takes of a picture. */
  image: PictureInput | null;
}

export function TensorPreview({ name, tensor, image }: PreviewProps) {
  const { type, dims } = tensor;
  const [values, planes] = useMemo(() => [numbersOf(tensor), planesOf(dims, image?.layout)], [tensor, image]);
  const shape = `${type} [${dims.join(', ')}]`;
  const floats = type.startsWith('float');
  const longest = Math.max(0, ...dims);
  let picture = <p class="numbers">{type} numbers</p>;
  if (values && planes && (floats || type === 'uint8')) {
    picture = <Picture values={values} planes={planes} image={image} label={`${name} as the model sees it`} />;
  } else if (values && floats && longest === values.length && longest >= WAVE_FROM) {
    picture = <Waveform values={values} label={`${name} as a waveform`} />;
  } else if (values) {
    const first = Array.from({ length: Math.min(SHOWN, values.length) }, (_, i) => short(values[i]));
    picture = <p class="numbers">{first.join(' ')}{values.length > SHOWN && ' …'}</p>;
  }
  return (
    <div class="tensor">
      {picture}
      <small>{name}: {shape}</small>
    </div>
  );
}
