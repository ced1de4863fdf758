// A tensor as a person reads it: a picture, a waveform, or its first numbers.
import type { TensorValue } from 'octet-wasm';
import { useEffect, useRef } from 'preact/hooks';

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

// The first picture of a tensor that looks like pictures: channels first or last, 1 or 3 of them.
function planesOf(dims: number[]): Planes | null {
  const [a, b, c] = dims.length === 4 ? dims.slice(1) : dims.length === 3 ? dims : [];
  const fits = (side: number) => side >= SMALLEST && side <= LARGEST;
  if (a === undefined || b === undefined || c === undefined) return null;
  if ((a === 1 || a === 3) && fits(b) && fits(c)) {
    return { width: c, height: b, channels: a, at: (x, y, channel) => (channel * b + y) * c + x };
  }
  if ((c === 1 || c === 3) && fits(a) && fits(b)) {
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

function draw(canvas: HTMLCanvasElement, values: Numbers, planes: Planes) {
  const { width, height, channels, at } = planes;
  const [low, high] = range(values, width * height * channels);
  const scale = high > low ? 255 / (high - low) : 0;
  const pixels = new ImageData(width, height);
  for (let y = 0, i = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, i += 4) {
      for (let c = 0; c < 3; ++c) {
        pixels.data[i + c] = (Number(values[at(x, y, channels === 1 ? 0 : c)]) - low) * scale;
      }
      pixels.data[i + 3] = 255;
    }
  }
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')!.putImageData(pixels, 0, 0);
}

function Picture({ values, planes, label }: { values: Numbers; planes: Planes; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => draw(canvas.current!, values, planes), [values, planes]);
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

export function TensorPreview({ name, tensor }: { name: string; tensor: TensorValue }) {
  const { type, dims } = tensor;
  const values = numbersOf(tensor);
  const shape = `${type} [${dims.join(', ')}]`;
  const planes = planesOf(dims);
  const floats = type.startsWith('float');
  const longest = Math.max(0, ...dims);
  let picture = <p class="numbers">{type} numbers</p>;
  if (values && planes && (floats || type === 'uint8')) {
    picture = <Picture values={values} planes={planes} label={`${name} as the model sees it`} />;
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
