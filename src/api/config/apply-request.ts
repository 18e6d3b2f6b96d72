import type { FastifyReply } from 'fastify';
import type { Call } from '../../commit/engine.ts';
import { type DocumentInput, readInput } from '../../documents/input.ts';
import type { Reader } from '../../documents/reader.ts';
import type { ApplyRequest } from '../../features/config/plans/apply-request.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { PushedValues } from '../../model/schema/values.ts';
import { type FileRules, patternFaults } from '../../model/sources/file-rules.ts';
import type { DocumentsBody } from '../../operations/config/documents.ts';
import { type DocumentFilter, maxSelectorLength, parseSelector } from '../../plan/documents/filter.ts';

/** Caller who sends documents, and the reply to the caller. */
interface Sender {
  readonly call: Call;
  readonly reply: FastifyReply;
}

/** Reads the documents of a request, and the options for applying them. Throws `InvalidInput`. */
export async function readApplyRequest(
  reader: Reader,
  { call, reply }: Sender,
  body: DocumentsBody,
): Promise<{ readonly applyRequest: ApplyRequest; readonly input: DocumentInput }> {
  const { files, rules = [], values = {}, kinds, select, strictBase, ...options } = body;
  requirePatterns(rules);
  requireValueNames(values);
  const filter = filterOf(kinds, select);
  const input = await readInput(reader, files, { account: call.account, signal: disconnectSignal(reply) });
  const applyRequest: ApplyRequest = {
    ...options,
    ...{ rules, values, documents: input.documents, problems: input.problems, foreign: input.foreign },
    locate: input.locate,
    ...(filter === undefined ? {} : { filter }),
    ...(strictBase ? { expectBase: call.revision } : {}),
  };
  return { applyRequest, input };
}

/**
 * Returns a signal that aborts when the client disconnects before the answer, so that its documents are not read any
 * further.
 */
function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort(new Unavailable('the client disconnected before the answer'));
  });
  return gone.signal;
}

function filterOf(kinds: readonly string[] | undefined, select: string | undefined): DocumentFilter | undefined {
  if (kinds === undefined && select === undefined) return undefined;
  return {
    ...(kinds === undefined ? {} : { kinds: [...new Set(kinds)].sort() }),
    ...(select === undefined ? {} : { labels: labelTerms(select) }),
  };
}

function labelTerms(select: string) {
  const terms = parseSelector(select);
  if ('fault' in terms)
    throw new InvalidInput(
      `\`select\` cannot be read at \`${terms.fault.slice(0, 200)}\`; write terms like team=data, team!=data, team, !team, team in (a, b), with commas between them, of at most ${maxSelectorLength} characters`,
    );
  return terms;
}

/** Throws `InvalidInput` for patterns that cannot be parsed. */
function requirePatterns(rules: readonly FileRules[]): void {
  const problems = rules.flatMap(({ type, patterns }, index): Problem[] => {
    // Only the first fault of each rule is reported: a long list of similar patterns repeats the same fault.
    const [fault] = patternFaults(type, patterns);
    if (fault === undefined) return [];
    return [{ code: 'pattern_invalid', path: `/rules/${index}/patterns/${fault.at}`, message: fault.message }];
  });
  if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
}

/** Throws `InvalidInput` for value names that no document can refer to. The message never repeats a value. */
function requireValueNames(values: PushedValues): void {
  if (Object.keys(values).every((name) => /^(env|file):./.test(name))) return;
  throw new InvalidInput('every member of `values` must be a text named `env:HEDDLE_VALUE_…` or `file:…`');
}
