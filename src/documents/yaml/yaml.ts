import { LineCounter, type ParsedNode, parseAllDocuments, type Document as YamlDocument } from 'yaml';

/** The YAML documents of one text. The caller must check the errors and warnings inside them. */
export interface ParsedYaml {
  readonly text: string;
  readonly documents: readonly YamlDocument.Parsed[];
  readonly lines: LineCounter;
}

/** Options of the parser. Source tokens give more details of how a text is written, and need memory. */
export interface ParseOptions {
  readonly keepSourceTokens?: boolean;
}

/** Any node that the parser creates. */
export type YamlNode = ParsedNode;

/**
 * Parses with the only options under which YAML means the same to every reader. A `%YAML 1.1` line must not turn `NO`
 * into false (only `schema` prevents that, `version` does not), and tags must not change values. The library's own
 * check for duplicate keys is quadratic (a 4 MiB map ran past 100 s), so it is off, and `walk` checks keys instead.
 */
export function parseYaml(text: string, options: ParseOptions = {}): ParsedYaml {
  const lines = new LineCounter();
  const documents = withoutStacks(() => parseWith(text, lines, options.keepSourceTokens === true));
  return { text, documents, lines };
}

/**
 * Runs the parser without stack traces. Every error in a text is an `Error` of the library, and a text may contain a
 * million: without the unused stack, each takes a tenth of the time and memory.
 */
function withoutStacks<Result>(work: () => Result): Result {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

function parseWith(text: string, lineCounter: LineCounter, keepSourceTokens: boolean): readonly YamlDocument.Parsed[] {
  return parseAllDocuments(text, {
    schema: 'core',
    version: '1.2',
    uniqueKeys: false,
    stringKeys: true,
    strict: true,
    merge: false,
    resolveKnownTags: false,
    logLevel: 'silent',
    prettyErrors: false,
    lineCounter,
    keepSourceTokens,
  });
}
