import { isObject, type JsonObject } from '../../lib/json.ts';
import { measureJson } from '../../lib/json-size.ts';
import { damagedArchiveError } from './format.ts';

/**
 * Maximum number of values in one line, and how deep they may nest. A line with the most values is parsed in a fifth of
 * a second. A group of 300,000 members has about 600,000, and documents nest 64 levels deep.
 */
const limits = { values: 1_000_000, depth: 500 };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A parsed line, and the number of values in it, counted as `measureJson` counts. */
export interface ParsedLine {
  readonly value: JsonObject;
  readonly values: number;
}

/** Parses a line of an archive. Throws `InvalidInput` for anything but an object of moderate size. */
export function parseLine(line: Uint8Array): ParsedLine {
  const { values, depth } = measureJson(line, limits);
  if (values > limits.values) throw damagedArchiveError(`one of its lines has more than ${limits.values} values`);
  if (depth > limits.depth) throw damagedArchiveError(`one of its lines nests more than ${limits.depth} levels deep`);
  try {
    const value: unknown = JSON.parse(decoder.decode(line));
    // A JSON object has only members that are JSON values.
    if (isObject(value)) return { value: value as JsonObject, values };
  } catch {
    // Refused below, like a line that is valid JSON but not an object.
  }
  throw damagedArchiveError('one of its lines is not a JSON object');
}
