import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An installation of the chart as it was, by the values of one of the files in test/charts/before. */
export interface Installation {
  /** What its owner wrote into the values. */
  readonly values: object;
  /** What the chart made of it, in the namespace `mesh`. */
  readonly objects: string;
}

/** The names of these installations. */
export const installations = ['postgres', 'embedded', 'everything'] as const;

/** Reads one of them. */
export function installation(name: string): Installation {
  const read = (what: string) => readFileSync(`test/charts/before/${name}.${what}.yaml`, 'utf8');
  return { values: parse(read('values')), objects: read('objects') };
}
