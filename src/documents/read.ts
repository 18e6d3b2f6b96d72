import type { Document, SourceFile } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import { normalizeText } from './digest.ts';
import { type Foreign, foreignIn } from './foreign.ts';
import { describeBytes, limits } from './limits.ts';
import { type ReadResult, readObjects } from './objects.ts';
import { readJsonText } from './yaml/json-text.ts';
import { readYamlText } from './yaml/yaml-text.ts';

/**
 * Reads the documents of one file strictly. It returns all problems and all documents without one; who applies documents
 * must refuse the whole revision when there is any problem, or half of what was meant would be taken for all of it.
 */
export function readFile(file: SourceFile): { documents: Document[]; problems: Problem[]; foreign?: Foreign } {
  const text = normalizeText(file.text);
  const { documents, problems } = readText(text, file.path);
  const foreign = documents.length === 0 ? foreignIn(text, problems) : undefined;
  return { documents: [...documents], problems: [...problems], ...(foreign === undefined ? {} : { foreign }) };
}

function readText(text: string, file: string): ReadResult {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.fileBytes) {
    const message = `The file has ${describeBytes(bytes)} and may have ${describeBytes(limits.fileBytes)}; split it.`;
    return refusal('file_too_large', message, file);
  }
  const result = readCleanJson(text, file) ?? readYamlText(text, file);
  if (result.documents.length <= limits.revisionDocuments) return result;
  const message = `The file holds ${result.documents.length} documents and a source may hold ${limits.revisionDocuments}; use several sources.`;
  return refusal('revision_too_many_documents', message, file);
}

/** JSON without any fault; a problem is left to the YAML parser, which knows where it is. */
function readCleanJson(text: string, file: string): ReadResult | undefined {
  const clean = readJsonText(text);
  if (clean === undefined) return undefined;
  const { value, line, itemLines } = clean;
  const where = (pointer: string) => {
    const [, item] = /^\/items\/(\d+)$/.exec(pointer) ?? [];
    return { line: itemLines[Number(item)] ?? line, column: 1 };
  };
  const result = readObjects({ value, file, line, index: 0, pointer: '', where });
  return result.problems.length === 0 ? result : undefined;
}

function refusal(code: ProblemCode, message: string, file: string): ReadResult {
  return { documents: [], problems: [{ code, message, file, line: 1, column: 1 }] };
}
