import { isScalar, Document as NewDocument, Scalar, visit, type Document as YamlDocument } from 'yaml';
import type { Json, JsonObject } from '../lib/json.ts';
import { runToEnd } from '../lib/steps.ts';
import { apiVersion, type Metadata } from '../model/document.ts';

/** One object to export. The comment is written above it. */
export interface WritableDocument {
  readonly kind: string;
  readonly metadata: Metadata & {
    /** Only for a Kubernetes resource. */
    readonly namespace?: string;
  };
  readonly spec: Readonly<Record<string, Json>>;
  readonly comment?: string;
}

/** Writes documents as YAML that the strict reader reads back to the same values. */
export function writeDocuments(documents: readonly WritableDocument[]): string {
  return runToEnd(writeDocumentsInSteps(documents));
}

/** Like `writeDocuments`, in steps: yields between documents. */
export function* writeDocumentsInSteps(documents: readonly WritableDocument[]): Generator<undefined, string> {
  let text = '';
  for (const [at, document] of documents.entries()) {
    if (at > 0) yield undefined;
    text += `${at === 0 ? '' : '---\n'}${writeDocument(document)}`;
  }
  return text;
}

function writeDocument({ kind, metadata, spec, comment }: WritableDocument): string {
  return writeYaml({ apiVersion, kind, metadata: { ...metadata }, spec }, comment);
}

/** Writes any value as one YAML document that every reader, kubectl included, reads back the same. */
export function writeYaml(value: JsonObject, comment?: string): string {
  const document = new NewDocument(value, {
    schema: 'core',
    version: '1.2',
    // Quotes strings that YAML 1.1 would misread (`NO`, `22:22`), because the files may pass through kubectl.
    compat: 'yaml-1.1',
    // Repeated values are written out: the reader refuses aliases.
    aliasDuplicateObjects: false,
    // A key `<<` is an ordinary key.
    merge: false,
  });
  quoteWhereNeeded(document);
  const body = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  // U+FEFF occurs only inside double quotes here, see `needsQuotes`. The library does not escape it, and the reader
  // refuses it unescaped.
  return commentLines(comment) + body.replaceAll('\ufeff', '\\uFEFF');
}

/**
 * Matches strings that the library would write plain or as a block, and that the reader would then misread or refuse.
 * One line break at the end is harmless.
 */
const needsQuotes =
  /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|^<<$|^[\s*&!]|[^\S\n]$|\s\n$/u;

function quoteWhereNeeded(document: YamlDocument): void {
  visit(document, (key, node) => {
    if (!isScalar(node) || typeof node.value !== 'string') return;
    const oneLine = key === 'key' && node.value.includes('\n');
    if (oneLine || needsQuotes.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
  });
}

function commentLines(comment: string | undefined): string {
  if (comment === undefined) return '';
  const lines = comment.replaceAll('\ufeff', '').split(/\r\n|[\r\n]/);
  return lines
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}
