import { isObject, type JsonObject } from '../../lib/json.ts';
import { measureJson } from '../../lib/json-size.ts';
import { damagedArchiveError } from './format.ts';
import { maxArchiveDepth, maxArchiveValues, type OnExcess } from './limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A parsed line, and the number of values in it, counted as `measureJson` counts. */
export interface ParsedLine {
  readonly value: JsonObject;
  readonly values: number;
}

/** Returns the number of values in a line, counted up to the limit, without parsing it. */
export function measureLine(line: Uint8Array, onExcess: OnExcess): number {
  const limits = { values: maxArchiveValues.line, depth: maxArchiveDepth };
  const { values, depth } = measureJson(line, limits);
  if (values > limits.values) onExcess(`one of its lines has more than ${limits.values} values`);
  if (depth > limits.depth) onExcess(`one of its lines nests more than ${limits.depth} levels deep`);
  return values;
}

/** Parses a line of an archive. Throws `InvalidInput` for anything but an object. */
export function parseLine(line: Uint8Array, onExcess: OnExcess): ParsedLine {
  const values = measureLine(line, onExcess);
  try {
    const value: unknown = JSON.parse(decoder.decode(line));
    // A JSON object has only members that are JSON values.
    if (isObject(value)) return { value: value as JsonObject, values };
  } catch {
    // Refused below, like a line that is valid JSON but not an object.
  }
  throw damagedArchiveError('one of its lines is not a JSON object');
}
