import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DocumentInput, readInput } from '../../documents/input.ts';
import type { Reader } from '../../documents/reader.ts';
import type { ApplyRequest } from '../../features/config/plans/apply-request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { longestPath } from '../../lib/path.ts';
import type { SourceFile } from '../../model/document.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import type { PushedValues } from '../../model/schema/values.ts';
import { adoptModes, membershipModes } from '../../model/sources/settings.ts';
import { type DocumentFilter, longestSelector, parseSelector } from '../../plan/documents/filter.ts';
import type { RequestedOptions } from '../../plan/options.ts';
import { callOf } from '../authenticate.ts';
import { objectBody } from '../input/bodies.ts';
import { fileRulesIn } from './file-rules.ts';
import { flag, type Query, queryOf, textOf, wordOf } from './request.ts';

/**
 * What a plan request says: `{source, files, rules?, values?, prune?, allowEmpty?, adopt?, membership?, allowReplace?, force?, kinds?, select?, approve?,
 * expectDigest?, strictBase?, strictFiles?, override?}`, or one YAML body with these in the query.
 */
export async function readApplyRequest(
  reader: Reader,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly applyRequest: ApplyRequest; readonly input: DocumentInput }> {
  const query = queryOf(request);
  const body = objectBody(request.body);
  const { account } = callOf(request);
  const input = await readInput(reader, filesOf(body), { account, signal: goneSignal(reply) });
  const approve = textOf(body, 'approve') ?? query['approve'];
  const expectDigest = textOf(body, 'expectDigest') ?? query['expectDigest'];
  const override = overrideReason(textOf(body, 'override') ?? query['override']);
  const applyRequest: ApplyRequest = {
    source: sourceName(textOf(body, 'source') ?? query['source']),
    documents: input.documents,
    problems: input.problems,
    foreign: input.foreign,
    rules: fileRulesIn(body),
    strictFiles: flag(body, query, 'strictFiles', false),
    place: input.place,
    ...readOptions(body, query),
    values: valuesOf(body),
    ...(approve === undefined ? {} : { approve }),
    ...(override === undefined ? {} : { override }),
    ...(expectDigest === undefined ? {} : { expectDigest }),
    ...(flag(body, query, 'strictBase', false) ? { expectBase: callOf(request).revision } : {}),
  };
  return { applyRequest, input };
}

/** Says when the caller is gone before the answer: what was asked for is not worth reading then. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort(new Unavailable('the caller went before the answer'));
  });
  return gone.signal;
}

function readOptions(body: JsonObject, query: Query): RequestedOptions {
  const adopt = wordOf({ adopt: textOf(body, 'adopt') ?? query['adopt'] }, 'adopt', adoptModes);
  const membership = textOf(body, 'membership') ?? query['membership'];
  const mode = wordOf({ membership }, 'membership', membershipModes);
  const filter = readFilter(body, query);
  return {
    prune: flag(body, query, 'prune', true),
    allowEmpty: flag(body, query, 'allowEmpty', false),
    allowReplace: flag(body, query, 'allowReplace', false),
    force: flag(body, query, 'force', false),
    ...(adopt === undefined ? {} : { adopt }),
    ...(mode === undefined ? {} : { membership: mode }),
    ...(filter === undefined ? {} : { filter }),
  };
}

function readFilter(body: JsonObject, query: Query): DocumentFilter | undefined {
  const kinds = body['kinds'] ?? query['kinds']?.split(',');
  const select = textOf(body, 'select') ?? query['select'];
  if (kinds === undefined && select === undefined) return undefined;
  if (kinds !== undefined && !(Array.isArray(kinds) && kinds.every((kind) => typeof kind === 'string')))
    throw new InvalidInput('`kinds` must be a list of texts');
  return {
    // Checked just now.
    ...(kinds === undefined ? {} : { kinds: [...new Set(kinds)].sort() }),
    ...(select === undefined ? {} : { labels: labelTerms(select) }),
  };
}

function labelTerms(select: string) {
  const terms = parseSelector(select);
  if ('fault' in terms)
    throw new InvalidInput(
      `\`select\` cannot be read at \`${terms.fault.slice(0, 200)}\`; write terms like team=data, team!=data, team, !team, team in (a, b), with commas between them, of at most ${longestSelector} characters`,
    );
  return terms;
}

function filesOf(body: JsonObject): readonly SourceFile[] {
  const files = body['files'];
  if (!Array.isArray(files))
    throw new InvalidInput(
      '`files` is missing; send {"source": "name", "files": [{"path": "a.yaml", "text": "…"}]}, or YAML with `Content-Type: application/yaml`',
    );
  return files.map((file, at) => {
    if (!isObject(file) || typeof file['path'] !== 'string' || typeof file['text'] !== 'string')
      throw new InvalidInput(`files[${at}] must be an object with the texts \`path\` and \`text\``);
    if (file['path'].length > longestPath)
      throw new InvalidInput(`files[${at}].path has more than ${longestPath} characters; use a shorter one`);
    return { path: file['path'], text: file['text'] };
  });
}

/** Values that documents name with `valueFrom` and that are sent with a push. No fault repeats a value. */
function valuesOf(body: JsonObject): PushedValues {
  const values = body['values'] ?? {};
  if (!isObject(values))
    throw new InvalidInput('`values` must be an object such as {"env:HEDDLE_VALUE_TOKEN": "…", "file:dir/name": "…"}');
  const texts = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'string' && /^(env|file):./.test(name)) return [name, value] as const;
    throw new InvalidInput('every member of `values` must be a text named `env:HEDDLE_VALUE_…` or `file:…`');
  });
  return Object.fromEntries(texts);
}

/** Why something is applied by hand although a server runs its source. Throws `InvalidInput`. */
export function overrideReason(text: string | undefined): string | undefined {
  const reason = text?.trim();
  if (reason === undefined || (reason !== '' && reason.length <= longestReason)) return reason;
  throw new InvalidInput(`\`override\` must say why, in at most ${longestReason} characters`);
}

const longestReason = 500;

function sourceName(name: string | undefined): string {
  if (name === undefined)
    throw new InvalidInput(
      '`source` is missing: name the source that states the documents, as {"source": "name", "files": […]} or in the query as ?source=name; what it no longer states is deleted',
    );
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(name)) return name;
  throw new InvalidInput(
    `\`${name.slice(0, 100)}\` cannot name a source; use letters, digits, dots, dashes and slashes, at most 100`,
  );
}
