import { isObject, type JsonObject } from '../lib/json.ts';
import type { Fault } from '../model/declare/kind.ts';
import type { SourceFile } from '../model/document.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { normalizeText } from './digest.ts';
import { describeBytes, limits } from './limits.ts';
import type { StatedObject } from './stated.ts';
import { readYamlStream } from './yaml/yaml-text.ts';

/** Name of the settings file at the top of a directory of documents. */
export const settingsFileName = 'heddle.yaml';

/**
 * Returns whether a file contains the settings of its directory, and not documents. `relative` is the path of the file
 * in that directory.
 */
export function isDirectorySettings(relative: string, text: string): boolean {
  return relative === settingsFileName && !/^["']?apiVersion["']?\s*:/m.test(text);
}

/** Content of a settings file: one map, with the positions of its values. */
export interface SettingsFile {
  readonly value: JsonObject;
  /** Converts a fault to a problem. The path of the fault is a JSON pointer from the top of the file. */
  problemOf(fault: Fault): Problem;
}

/** Reads a settings file as strictly as documents. */
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
  return { value, problemOf: (fault) => toProblem(stated, file, fault) };
}

function toProblem(stated: StatedObject | undefined, file: string, { code, path, message }: Fault): Problem {
  const { line, column } = stated?.locate(path) ?? { line: 1, column: 1 };
  return { code, message, path, file, line, column };
}

/** Converts faults to problems, sorted by position. */
export function problemsOf(file: SettingsFile, faults: readonly Fault[]): readonly Problem[] {
  return sortProblems(faults.map((fault) => file.problemOf(fault)));
}
