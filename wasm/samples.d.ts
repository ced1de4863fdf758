// Samples from files, by the rules of the command line: the core says which files it wants and reads their bytes.

import type { Failure, Request, Sample } from './octet.js';

/** How pictures become tensors: value = (pixel * scale - mean) / std, for a pixel from 0 to 255. */
export interface ImageOptions {
  /** "WxH" or [W, H]: where the model leaves it open. Otherwise each picture's own. */
  image_size?: string | [number, number];
  /** By the axis of 1, 3 or 4 channels when absent. */
  image_layout?: 'nchw' | 'nhwc';
  /** One, or one for each channel in the order in which the model takes them. */
  image_mean?: string | number | number[];
  image_std?: string | number | number[];
  /** 1/255 when absent; integers take pixels as they are. */
  image_scale?: number;
  image_order?: 'rgb' | 'bgr';
  /** How a picture of another shape meets the size wanted; 'stretch' when absent. */
  image_fit?: 'stretch' | 'crop' | 'pad';
}

export interface SampleOptions {
  /** At most so many; 0 and absent: all. */
  limit?: number;
  /** Seed of another order than that of names, before the limit counts. */
  shuffle?: number;
  image?: ImageOptions;
}

export interface OpenSamplesRequest extends Pick<Request, 'name' | 'model' | 'open'> {
  /**
   * Paths with '/' between folders; the folder that all are in is the one that is looked at. .npz, .npy, .pb, folders
   * test_data_set_*, .png, .jpg, .bmp, and float32 without a header in .raw and .bin; others are passed over.
   */
  files: string[];
  options?: SampleOptions;
}

export interface OpenedSamples {
  samples: SampleFiles;
}

/** What the model takes of a picture, for showing its tensors as pictures. */
export interface PictureInput {
  layout: 'nchw' | 'nhwc';
  channels: number;
  /** Null: each picture's own. */
  width: number | null;
  height: number | null;
  order: 'rgb' | 'bgr';
  scale: number;
  /** None: 0; one, or one for each channel. */
  mean: number[];
  /** None: 1. */
  std: number[];
}

export interface SamplesDescription {
  /** Samples taken. */
  count: number;
  /** Samples there are. */
  total: number;
  /** "8 of 20 samples from calib", for reports. */
  description: string;
  /** Whether the files are pictures. */
  picture: boolean;
  /** Of a model with one input that pictures fit, whatever the files are. */
  image: PictureInput | null;
}

/** Where a sample stands. */
export interface SamplePlace {
  /** Of its file, or of its folder. */
  name: string;
  /** Places in the list that was given. */
  files: number[];
  /** Whether it is a .npz, whose entries read() takes. */
  archive: boolean;
}

export interface ReadSample {
  name: string;
  /** Among all, in the order of names, from 0; shuffling does not change it. */
  place: number;
  /** As the model takes it. */
  sample: Sample;
}

/** The samples among files, counted from 0. delete() gives all back. */
export interface SampleFiles {
  count(): number;
  describe(): SamplesDescription;
  files(index: number): SamplePlace | Failure;
  /** `contents`: of the files in the order of files(), or of a .npz what is in it, by the names of its entries. */
  read(index: number, contents: Uint8Array[] | Record<string, Uint8Array>): ReadSample | Failure;
  delete(): void;
}
