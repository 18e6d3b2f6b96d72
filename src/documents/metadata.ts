import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import { ignoredMetadata, isOwnAnnotation, type Metadata, previousNamesAnnotation } from '../model/document.ts';
import { maxLengths } from '../model/schema/field.ts';
import { nameFault } from './name.ts';
import { pointerTo } from './position.ts';
import {
  checkMembers,
  describeValue,
  isJsonObject,
  quoteHint,
  type ReportProblem,
  type StatedObject,
} from './stated.ts';
import { truncate } from './truncate.ts';

const metadataMembers = ['name', 'previousNames', 'labels', 'annotations'] as const;

/** Maximum length of a Kubernetes label name: a prefix of 253 characters, a slash, and a name of 63 characters. */
const maxLabelNameLength = 317;

type TextMap = Readonly<Record<string, string>>;

/** Reads the metadata of a document and reports its problems. Returns `undefined` when it has no name. */
export function readMetadata(value: JsonObject, stated: StatedObject, report: ReportProblem): Metadata | undefined {
  const metadata = value['metadata'];
  if (!isJsonObject(metadata)) {
    const found = metadata === undefined ? 'is missing' : `is ${describeValue(metadata)}`;
    report('metadata_invalid', '/metadata', `\`metadata\` ${found}; write a map with a \`name\`.`);
    return undefined;
  }
  checkMembers(metadata, metadataMembers, '/metadata', report, ignoredMetadata);
  const name = readName(metadata['name'], '/metadata/name', stated, report);
  const labels = readTextMap(metadata['labels'], '/metadata/labels', stated, report);
  const all = readTextMap(metadata['annotations'], annotationsPointer, stated, report, isOwnAnnotation);
  const annotations = all && withoutForeign(all);
  const previousNames = readPreviousNames(metadata['previousNames'], annotations, stated, report);
  if (name === undefined) return undefined;
  return {
    name,
    ...(previousNames && { previousNames }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}

const annotationsPointer = '/metadata/annotations';

/**
 * Removes the annotations of other programs. Heddle does not use them, and they may be as long as the resource itself.
 */
function withoutForeign(annotations: TextMap): TextMap | undefined {
  const own = Object.entries(annotations).filter(([name]) => isOwnAnnotation(name));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

function readName(
  name: Json | undefined,
  pointer: string,
  stated: StatedObject,
  report: ReportProblem,
): string | undefined {
  if (name === undefined) {
    report('name_missing', pointer, '`metadata.name` is missing; write the stable name of the object.');
    return undefined;
  }
  if (typeof name !== 'string') {
    report(
      'name_invalid',
      pointer,
      `A name must be a string and is ${describeValue(name)}; ${quoteHint(stated, pointer)}.`,
    );
    return undefined;
  }
  const fault = nameFault(name);
  if (fault !== undefined) report('name_invalid', pointer, fault);
  return name;
}

/**
 * Reads the previous names from `previousNames` and from the annotation. The annotation exists because Kubernetes drops
 * unknown members of `metadata` and keeps annotations.
 */
function readPreviousNames(
  names: Json | undefined,
  annotations: TextMap | undefined,
  stated: StatedObject,
  report: ReportProblem,
): readonly string[] | undefined {
  const listed = readListedNames(names, stated, report);
  const annotated = readAnnotatedNames(annotations?.[previousNamesAnnotation], report);
  if (listed === undefined || annotated === undefined) return listed ?? annotated;
  if (!equalJson(listed.toSorted(), annotated.toSorted()))
    report(
      'metadata_invalid',
      pointerTo(annotationsPointer, previousNamesAnnotation),
      `\`${previousNamesAnnotation}\` and \`previousNames\` name different keys; write the same keys in both, or leave one of them out.`,
    );
  return listed;
}

function readListedNames(
  names: Json | undefined,
  stated: StatedObject,
  report: ReportProblem,
): readonly string[] | undefined {
  const pointer = '/metadata/previousNames';
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) {
    report(
      'metadata_invalid',
      pointer,
      `\`previousNames\` must be a list of names and is ${describeValue(names)}; write \`previousNames: [old-name]\`.`,
    );
    return undefined;
  }
  const distinct = new Set<Json>(names);
  if (isTooLong(distinct, pointer, report)) return undefined;
  return [...distinct].flatMap((name) => readName(name, pointerTo(pointer, names.indexOf(name)), stated, report) ?? []);
}

/** Maximum number of different previous names. Each is looked up among all objects of the kind. */
const maxPreviousNames = 100;

function isTooLong(names: ReadonlySet<Json>, pointer: string, report: ReportProblem): boolean {
  if (names.size <= maxPreviousNames) return false;
  const message = `There are ${names.size} previous names and may be ${maxPreviousNames}; remove those that no document refers to any more.`;
  report('list_too_long', pointer, message);
  return true;
}

/** Parses keys that are separated by commas. Spaces around a key are ignored. */
function readAnnotatedNames(text: string | undefined, report: ReportProblem): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const names = new Set(text.trim() === '' ? [] : text.split(',').map((name) => name.trim()));
  const pointer = pointerTo(annotationsPointer, previousNamesAnnotation);
  if (isTooLong(names, pointer, report)) return undefined;
  for (const name of names) {
    const fault = nameFault(name);
    if (fault === undefined) continue;
    report('name_invalid', pointer, `${fault} Separate several names with commas: "old-name,older-name".`);
  }
  return [...names];
}

/** Reads a map of strings. `isBounded` returns whether the length of a member's value is limited. */
function readTextMap(
  map: Json | undefined,
  pointer: string,
  stated: StatedObject,
  report: ReportProblem,
  isBounded: (name: string) => boolean = () => true,
): TextMap | undefined {
  if (map === undefined) return undefined;
  if (!isJsonObject(map)) {
    report(
      'metadata_invalid',
      pointer,
      `This must be a map of strings and is ${describeValue(map)}; write \`name: "text"\` lines, or leave it out.`,
    );
    return undefined;
  }
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(map)) {
    const memberPointer = pointerTo(pointer, key);
    const isLong =
      key.length > maxLabelNameLength ||
      (typeof value === 'string' && value.length > maxLengths.text && isBounded(key));
    if (isLong)
      report(
        'value_too_long',
        memberPointer,
        `\`${truncate(key)}\` is too long; names may have ${maxLabelNameLength} characters and values ${maxLengths.text}.`,
      );
    else if (typeof value === 'string') texts[key] = value;
    else
      report(
        'metadata_invalid',
        memberPointer,
        `\`${truncate(key)}\` must be a string and is ${describeValue(value)}; ${quoteHint(stated, memberPointer)}.`,
      );
  }
  return texts;
}
