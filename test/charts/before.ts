import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An installation of an earlier version of the chart, from one of the files in test/charts/before. */
export interface Installation {
  /** Values that the user set. */
  readonly values: object;
  /** Objects that the chart rendered, in the namespace `mesh`. */
  readonly objects: string;
}

/** Names of the installations. */
export const installations = ['postgres', 'embedded', 'everything'] as const;

/** Reads an installation by its name. */
export function installation(name: string): Installation {
  const read = (what: string) => readFileSync(`test/charts/before/${name}.${what}.yaml`, 'utf8');
  return { values: parse(read('values')), objects: read('objects') };
}
