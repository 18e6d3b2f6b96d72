import { isObject, type JsonObject } from '../lib/json.ts';
import type { Fault } from '../model/declare/kind.ts';
import type { SourceFile } from '../model/document.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { normalizeText } from './digest.ts';
import { describeBytes, limits } from './limits.ts';
import type { StatedObject } from './stated.ts';
import { readYamlStream } from './yaml/yaml-text.ts';

/** The file of settings at the top of a directory of documents. */
export const directorySettings = 'heddle.yaml';

/** Whether a file, by its path in a directory of documents, holds the settings of that directory, and not documents. */
export function isDirectorySettings(relative: string, text: string): boolean {
  return relative === directorySettings && !/^["']?apiVersion["']?\s*:/m.test(text);
}

/** A file of settings: one map, with the position of everything in it. */
export interface SettingsFile {
  readonly value: JsonObject;
  /** The problem of a fault; its path is a JSON pointer from the top of the file. */
  problemOf(fault: Fault): Problem;
}

/** Reads a file of settings as strictly as documents are read. */
export function readSettingsFile({
  path: file,
  text,
}: SourceFile): SettingsFile | { readonly problems: readonly Problem[] } {
  const at = { file, line: 1, column: 1 };
  if (Buffer.byteLength(text) > limits.fileBytes) {
    const message = `The file may have ${describeBytes(limits.fileBytes)} at the most.`;
    return { problems: [{ code: 'file_too_large', message, ...at }] };
  }
  const { documents, problems } = readYamlStream(normalizeText(text), file, (stated) => ({
    documents: [stated],
    problems: [],
  }));
  if (problems.length > 0) return { problems };
  const [stated, second] = documents;
  if (second !== undefined) {
    const message = 'A file of settings is one YAML document; remove the line `---` and what follows it.';
    return { problems: [{ code: 'settings_invalid', message, ...at, line: second.line }] };
  }
  const value = stated?.value ?? {};
  if (!isObject(value)) {
    const message = 'A file of settings is a map; write lines such as `log: json`.';
    return { problems: [{ code: 'settings_invalid', message, ...at }] };
  }
  // JSON that is an object.
  return { value: value, problemOf: (fault) => placed(stated, file, fault) };
}

function placed(stated: StatedObject | undefined, file: string, { code, path, message }: Fault): Problem {
  const { line, column } = stated?.where(path) ?? { line: 1, column: 1 };
  return { code, message, path, file, line, column };
}

/** The problems of faults, in the order of their places. */
export function problemsOf(file: SettingsFile, faults: readonly Fault[]): readonly Problem[] {
  return sortProblems(faults.map((fault) => file.problemOf(fault)));
}
