import type { ForeignContent, SourceFile } from '../model/document.ts';
import { shortenProblem, sortProblems } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import { normalizeText } from './digest.ts';
import { describeForeignText, summariseForeignObjects } from './foreign.ts';
import { describeBytes, limits } from './limits.ts';
import { type ReadResult, readItems, separateItems } from './objects.ts';
import { readJsonText } from './yaml/json-text.ts';
import { readYamlText } from './yaml/yaml-text.ts';

/**
 * Result of reading a text. `foreign` describes its foreign objects; their problems as documents are not part of
 * `problems`.
 */
export interface ReadText extends Omit<ReadResult, 'foreignObjects'> {
  readonly foreign?: ForeignContent;
}

/**
 * Reads the documents of one file strictly. Returns all problems, and all documents without a problem. A caller that
 * applies documents must refuse the whole revision when there is any problem; otherwise it would take a part of the
 * documents for all of them.
 */
export function readFile(file: SourceFile): ReadText {
  const text = normalizeText(file.text);
  const { documents, problems, foreignObjects } = readText(text, file.path);
  const ofForeign = foreignObjects.flatMap((other) => other.problems.map(shortenProblem));
  const all = sortProblems([...problems, ...ofForeign]);
  const whole = documents.length === 0 ? describeForeignText(text, all) : undefined;
  if (whole !== undefined) return { documents, problems: [], foreign: whole };
  const foreign = summariseForeignObjects(foreignObjects);
  return { documents, problems, ...(foreign === undefined ? {} : { foreign }) };
}

/**
 * Reads a text that is JSON without problems. Returns `undefined` when only the YAML parser can read the text or locate
 * its problems.
 */
export function readPlainJson(text: string): ReadText | undefined {
  const result = readCleanJson(normalizeText(text), '');
  return result === undefined || result.documents.length === 0 ? undefined : { ...result, problems: [] };
}

function readText(text: string, file: string): ReadResult {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.fileBytes) {
    const message = `The file has ${describeBytes(bytes)} and may have ${describeBytes(limits.fileBytes)}; split it.`;
    return refusal('file_too_large', message, file);
  }
  const result = readCleanJson(text, file) ?? readYamlText(text, file);
  if (result.documents.length <= limits.revisionDocuments) return result;
  const message = `The file contains ${result.documents.length} documents and a source may contain ${limits.revisionDocuments}; use several sources.`;
  return refusal('revision_too_many_documents', message, file);
}

/**
 * Reads JSON without problems. Returns `undefined` when there is a problem, because the YAML parser knows its position.
 */
function readCleanJson(text: string, file: string): ReadResult | undefined {
  const clean = readJsonText(text);
  if (clean === undefined) return undefined;
  const { value, line, itemLines } = clean;
  const where = (pointer: string) => {
    const [, item] = /^\/items\/(\d+)$/.exec(pointer) ?? [];
    return { line: itemLines[Number(item)] ?? line, column: 1 };
  };
  const result = separateItems(readItems({ value, file, line, index: 0, pointer: '', locate: where }));
  return result.problems.length + result.foreignObjects.length === 0 ? result : undefined;
}

function refusal(code: ProblemCode, message: string, file: string): ReadResult {
  return { documents: [], problems: [{ code, message, file, line: 1, column: 1 }], foreignObjects: [] };
}
