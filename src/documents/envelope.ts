import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { apiVersion, type Document, type Metadata } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import { longest } from '../model/schema/field.ts';
import { limits } from './limits.ts';
import { nameFault } from './name.ts';
import { type Position, pointerTo } from './position.ts';
import { truncate } from './truncate.ts';

/** One object as it stands in a file: its value, where it begins, and how to find a place in it. */
export interface StatedObject {
  readonly value: Json;
  readonly file: string;
  readonly line: number;
  readonly index: number;
  /** JSON pointer of the object inside its YAML document; problems carry it in front of their path. */
  readonly pointer: string;
  readonly where: (pointer: string) => Position;
}

type Report = (code: ProblemCode, pointer: string, message: string) => void;

const envelopeMembers = ['apiVersion', 'kind', 'metadata', 'spec'] as const;
const metadataMembers = ['name', 'previousNames', 'labels', 'annotations'] as const;

/** Checks the envelope and makes the document; whether the kind exists and what its spec may hold is for the model to say. */
export function readEnvelope(stated: StatedObject, problems: Problem[]): Document | undefined {
  const { value, file, line, index, pointer } = stated;
  const before = problems.length;
  const report = reporter(stated, problems);
  if (!isJsonObject(value)) {
    report(
      'document_invalid',
      '',
      `A document is a map with \`apiVersion\`, \`kind\`, \`metadata\` and \`spec\`, and this is ${describe(value)}; write a map.`,
    );
    return undefined;
  }
  checkMembers(value, envelopeMembers, '', report);
  checkApiVersion(value, report);
  const kind = readKind(value, report);
  const metadata = readMetadata(value, stated, report);
  const spec = readSpec(value, report);
  if (problems.length > before || kind === undefined || metadata === undefined || spec === undefined) return undefined;
  const entryLines = linesOfEntries(spec, stated);
  return {
    ...{ kind, metadata, spec, place: { file, line, index, pointer } },
    ...(entryLines === undefined ? {} : { entryLines }),
  };
}

/** Only lists of maps: nothing else can be an object of its own. */
function linesOfEntries(spec: JsonObject, { pointer, where }: StatedObject): Document['entryLines'] {
  const lists = Object.entries(spec).flatMap(([member, value]) =>
    Array.isArray(value) && value.length > 0 && value.every(isJsonObject) ? [[member, value.length] as const] : [],
  );
  if (lists.length === 0) return undefined;
  return Object.fromEntries(
    lists.map(([member, length]) => {
      const list = pointerTo(`${pointer}/spec`, member);
      return [member, Array.from({ length }, (_, at) => where(pointerTo(list, at)).line)];
    }),
  );
}

/** Enough for every real path; a key may have megabytes. */
export const longestPath = 1000;

/** A function that adds a problem of the object, with its position and, when they are known, its kind and key. */
export function reporter(stated: StatedObject, problems: Problem[]): Report {
  const named = nameOf(stated.value);
  return (code, pointer, message) => {
    if (problems.length > limits.fileProblems) return;
    const path = stated.pointer + pointer;
    const { line, column } = stated.where(path);
    problems.push({ code, message, ...named, path: truncate(path, longestPath), file: stated.file, line, column });
  };
}

function nameOf(value: Json): { kind?: string; key?: string } {
  if (!isJsonObject(value)) return {};
  const { kind, metadata } = value;
  const key = isObject(metadata) ? metadata['name'] : undefined;
  return {
    ...(typeof kind === 'string' && { kind: truncate(kind, longestPath) }),
    ...(typeof key === 'string' && { key: truncate(key, longestPath) }),
  };
}

/** Refuses members that are not in the list, with the one that was probably meant. */
export function checkMembers(value: JsonObject, known: readonly string[], pointer: string, report: Report): void {
  for (const member of Object.keys(value)) {
    if (known.includes(member)) continue;
    const meant = nearest(member, known);
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

/** Refuses every `apiVersion` but the one there is. */
export function checkApiVersion(value: JsonObject, report: Report): void {
  const stated = value['apiVersion'];
  if (stated === apiVersion) return;
  const found = stated === undefined ? 'is missing' : `is ${describe(stated)}`;
  report('api_version_unknown', '/apiVersion', `\`apiVersion\` ${found}; write \`apiVersion: ${apiVersion}\`.`);
}

function readKind(value: JsonObject, report: Report): string | undefined {
  const kind = value['kind'];
  if (typeof kind === 'string' && kind !== '') return kind;
  const found = kind === undefined ? 'is missing' : `is ${describe(kind)}`;
  report('kind_invalid', '/kind', `\`kind\` ${found}; write the name of a kind, such as \`kind: Group\`.`);
  return undefined;
}

function readSpec(value: JsonObject, report: Report): JsonObject | undefined {
  const spec = value['spec'];
  if (spec === undefined) return {};
  if (isJsonObject(spec)) return spec;
  report(
    'spec_invalid',
    '/spec',
    `\`spec\` must be a map and is ${describe(spec)}; write its fields, or leave \`spec\` out.`,
  );
  return undefined;
}

function readMetadata(value: JsonObject, stated: StatedObject, report: Report): Metadata | undefined {
  const metadata = value['metadata'];
  if (!isJsonObject(metadata)) {
    const found = metadata === undefined ? 'is missing' : `is ${describe(metadata)}`;
    report('metadata_invalid', '/metadata', `\`metadata\` ${found}; write a map with a \`name\`.`);
    return undefined;
  }
  checkMembers(metadata, metadataMembers, '/metadata', report);
  const name = readName(metadata['name'], '/metadata/name', stated, report);
  const previousNames = readPreviousNames(metadata['previousNames'], stated, report);
  const labels = readTextMap(metadata['labels'], '/metadata/labels', stated, report);
  const annotations = readTextMap(metadata['annotations'], '/metadata/annotations', stated, report);
  if (name === undefined) return undefined;
  return {
    name,
    ...(previousNames && { previousNames }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}

function readName(name: Json | undefined, pointer: string, stated: StatedObject, report: Report): string | undefined {
  if (name === undefined) {
    report('name_missing', pointer, '`metadata.name` is missing; write the stable name of the object.');
    return undefined;
  }
  if (typeof name !== 'string') {
    report('name_invalid', pointer, `A name must be a string and is ${describe(name)}; ${quoteHint(stated, pointer)}.`);
    return undefined;
  }
  const fault = nameFault(name);
  if (fault !== undefined) report('name_invalid', pointer, fault);
  return name;
}

function readPreviousNames(
  names: Json | undefined,
  stated: StatedObject,
  report: Report,
): readonly string[] | undefined {
  const pointer = '/metadata/previousNames';
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) {
    report(
      'metadata_invalid',
      pointer,
      `\`previousNames\` must be a list of names and is ${describe(names)}; write \`previousNames: [old-name]\`.`,
    );
    return undefined;
  }
  return names.flatMap((name: Json, index) => readName(name, pointerTo(pointer, index), stated, report) ?? []);
}

function readTextMap(
  map: Json | undefined,
  pointer: string,
  stated: StatedObject,
  report: Report,
): Readonly<Record<string, string>> | undefined {
  if (map === undefined) return undefined;
  if (!isJsonObject(map)) {
    report(
      'metadata_invalid',
      pointer,
      `This must be a map of texts and is ${describe(map)}; write \`name: "text"\` lines, or leave it out.`,
    );
    return undefined;
  }
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(map)) {
    const place = pointerTo(pointer, key);
    const isLong = key.length > longest.name || (typeof value === 'string' && value.length > longest.text);
    if (isLong)
      report(
        'value_too_long',
        place,
        `\`${truncate(key)}\` is too long; names may have ${longest.name} characters and values ${longest.text}.`,
      );
    else if (typeof value === 'string') texts[key] = value;
    else
      report(
        'metadata_invalid',
        place,
        `\`${truncate(key)}\` must be a string and is ${describe(value)}; ${quoteHint(stated, place)}.`,
      );
  }
  return texts;
}

function quoteHint(stated: StatedObject, pointer: string): string {
  const { source } = stated.where(stated.pointer + pointer);
  return source === undefined ? 'write a text' : `quote it: "${truncate(source)}"`;
}

function describe(value: Json): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? `the text \`${truncate(value)}\`` : `the ${typeof value} ${value}`;
}

/** Whether a JSON value is an object, for the type checker too. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
