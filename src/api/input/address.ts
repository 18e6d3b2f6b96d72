import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { isStorable } from '../../model/storable-text.ts';
import { addIgnoredHeader, isStrict } from '../headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route parses its query itself. */
    ownQuery?: true;
  }
}

/** Returns the query parameters that an operation accepts, `undefined` for a route that is not described. */
export type KnownParameters = (method: string, route: string) => Promise<ReadonlySet<string> | undefined>;

/**
 * Checks path and query of a request before anything is looked up by them: the database is never queried for a text
 * that it cannot store, and no parameter is silently ignored. Runs before authentication. `notFound` answers an id that
 * cannot exist.
 */
export function guardUrls(
  app: FastifyInstance,
  known: KnownParameters,
  notFound: (request: FastifyRequest, reply: Parameters<typeof addIgnoredHeader>[0]) => unknown,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions;
    if (request.refused !== undefined || config.ownQuery === true) return undefined;
    if (!Object.values(request.params as Readonly<Record<string, string>>).every(isStorable))
      return notFound(request, reply);
    const given = pairsOf(request.url);
    if (given.length === 0) return undefined;
    const names = await known(request.method, request.routeOptions.url ?? '');
    const ignored = names === undefined ? [] : [...new Set(given.map(([name]) => name))].filter((it) => !names.has(it));
    const problems = [...faultsOf(given), ...(isStrict(request) ? ignored.map(unknownParameter) : [])];
    if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
    addIgnoredHeader(
      reply,
      ignored.map((name) => `?${name}`),
    );
    return undefined;
  });
}

/** Decoded name and value. The value is `undefined` when its escapes are not UTF-8. */
type Pair = readonly [name: string, value: string | undefined];

/** Returns the query parameters of a URL in their order. */
function pairsOf(url: string): readonly Pair[] {
  // The router also parses a fragment as a query, although no client should send one.
  const start = url.search(/[?#]/);
  const query = start < 0 ? '' : url.slice(start + 1);
  return query.split('&').flatMap((pair): Pair[] => {
    if (pair === '' || pair === '=') return [];
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    return [[decoded(name) ?? name, decoded(value)]];
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // There is no other way to test whether the escapes are UTF-8.
    return undefined;
  }
}

function faultsOf(pairs: readonly Pair[]): readonly Problem[] {
  const seen = new Set<string>();
  const reported = new Set<string>();
  const problems: Problem[] = [];
  for (const [name, value] of pairs) {
    const fault = faultOf(name, value) ?? (seen.has(name) ? 'is given more than once; give it once' : undefined);
    seen.add(name);
    if (fault === undefined || reported.has(name)) continue;
    reported.add(name);
    problems.push(problem('filter_invalid', name, fault));
  }
  return problems;
}

function faultOf(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return 'has percent escapes that are not UTF-8; write them as `encodeURIComponent` does';
  return !isStorable(name) || !isStorable(value)
    ? 'contains NUL, which no stored value contains; remove it'
    : undefined;
}

function unknownParameter(name: string): Problem {
  return problem('parameter_unknown', name, 'is not a parameter of this operation; remove it, or look it up in /docs');
}

function problem(code: ProblemCode, parameter: string, fault: string): Problem {
  const name = parameter.slice(0, 100).replaceAll('\0', '\ufffd');
  return { code, path: `/${name}`, message: `\`${name}\` ${fault}` };
}

/** Returns the query parameters that are non-empty texts. All others are `undefined`. */
export function queryOf({ query }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(query as Readonly<Record<string, unknown>>).map(([name, value]) => [
      name,
      typeof value === 'string' && value !== '' ? value : undefined,
    ]),
  );
}
