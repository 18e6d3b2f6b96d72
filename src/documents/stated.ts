import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import type { Problem } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import { limits } from './limits.ts';
import { type Position, pointerTo } from './position.ts';
import { truncate } from './truncate.ts';

/** One object as it is written in a file: its value, its first line, and a function that finds positions in it. */
export interface StatedObject {
  readonly value: Json;
  readonly file: string;
  readonly line: number;
  readonly index: number;
  /** JSON pointer of the object inside its YAML document. It is the prefix of the path of each problem. */
  readonly pointer: string;
  readonly locate: (pointer: string) => Position;
}

/** Items that were read from the values of a text, and their problems. */
export interface ItemsResult<Item> {
  readonly documents: readonly Item[];
  readonly problems: readonly Problem[];
}

/** Returns whether a value is a `kind: List`, in which kubectl writes several objects. */
export function isList(value: Json): boolean {
  return isJsonObject(value) && value['kind'] === 'List';
}

/** Adds a problem of an object. `pointer` is relative to the object. */
export type ReportProblem = (code: ProblemCode, pointer: string, message: string) => void;

/**
 * Maximum length of a path, kind or key in a problem, in characters. Enough for every real path; a key may have
 * megabytes.
 */
export const maxPathLength = 1000;

/** Returns a function that adds a problem of the object, with its position and, when known, its kind and key. */
export function createReporter(stated: StatedObject, problems: Problem[]): ReportProblem {
  const named = nameOf(stated.value);
  return (code, pointer, message) => {
    if (problems.length > limits.fileProblems) return;
    const path = stated.pointer + pointer;
    const { line, column } = stated.locate(path);
    problems.push({ code, message, ...named, path: truncate(path, maxPathLength), file: stated.file, line, column });
  };
}

function nameOf(value: Json): { kind?: string; key?: string } {
  if (!isJsonObject(value)) return {};
  const { kind, metadata } = value;
  const key = isObject(metadata) ? metadata['name'] : undefined;
  return {
    ...(typeof kind === 'string' && { kind: truncate(kind, maxPathLength) }),
    ...(typeof key === 'string' && { key: truncate(key, maxPathLength) }),
  };
}

/** Reports members that are neither in `known` nor in `ignored`, and suggests the member that was probably meant. */
export function checkMembers(
  value: JsonObject,
  known: readonly string[],
  pointer: string,
  report: ReportProblem,
  ignored: readonly string[] = [],
): void {
  for (const member of Object.keys(value)) {
    if (known.includes(member) || ignored.includes(member)) continue;
    const meant = nearest(member, known) ?? nearest(member, ignored);
    const empty = ['metadata', 'spec'].filter((name) => known.includes(name) && value[name] === null);
    const hint =
      empty.length > 0
        ? `if it belongs to \`${empty.join('` or `')}\`, indent it below that`
        : meant === undefined
          ? `known are ${known.join(', ')}`
          : `did you mean \`${meant}\`?`;
    report('member_unknown', pointerTo(pointer, member), `There is no member \`${truncate(member)}\` here; ${hint}`);
  }
}

/** Returns a hint on how to write as a string a value that YAML read as another type. */
export function quoteHint(stated: StatedObject, pointer: string): string {
  const { source } = stated.locate(stated.pointer + pointer);
  return source === undefined ? 'write a text' : `quote it: "${truncate(source)}"`;
}

/** Describes a value for people, such as `a list`. */
export function describeValue(value: Json): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? `the text \`${truncate(value)}\`` : `the ${typeof value} ${value}`;
}

/** Returns whether a JSON value is an object, as a type guard. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
