import type { FastifyRequest } from 'fastify';
import { isTurn } from '../../lib/steps.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { storedId, wireId } from '../../model/declare/wire-id.ts';
import { InvalidInput } from '../../model/errors.ts';
import { optional } from '../../model/operation/fields.ts';
import { integer } from '../../model/schema/field.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { queryOf } from '../input/address.ts';
import { readParameters } from '../operations/input.ts';

/** Which part of a list is asked for. */
export interface Page {
  readonly limit?: number;
  /** The id behind which it begins. */
  readonly after?: string;
}

const fields = { limit: optional(integer({ doc: '', minimum: 1, maximum: 1000 })) };

/** The page that a request asks for, `undefined` for the whole list. Throws `InvalidInput`. */
export function pageOf(request: FastifyRequest): Page | undefined {
  const { after } = queryOf(request);
  const { limit } = readParameters(fields, request);
  if (limit === undefined && after === undefined) return undefined;
  return { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
}

/** The stored id behind which a page begins, `undefined` when it begins with the first object. Throws `InvalidInput`. */
export function startOf(kind: Kind, page: Page | undefined): string | undefined {
  if (page?.after === undefined) return undefined;
  const behind = storedId(kind, page.after);
  if (behind === undefined) throw noId(page.after);
  return behind;
}

/** Which objects of a list are shown, and how many. */
interface Choice {
  readonly limit: number | undefined;
  readonly matches: (object: StoredObject) => boolean;
}

/**
 * The first of some objects that match, and the id behind which the next page begins, when there is one. What stands behind
 * the page is not looked at. Yields now and then.
 */
export function* takePage(
  kind: Kind,
  candidates: Iterable<StoredObject>,
  { limit = Number.POSITIVE_INFINITY, matches }: Choice,
): Generator<undefined, { readonly objects: readonly StoredObject[]; readonly next?: string }> {
  const objects: StoredObject[] = [];
  let at = 0;
  for (const object of candidates) {
    if (isTurn(at++)) yield undefined;
    if (!matches(object)) continue;
    if (objects.length === limit) return { objects, next: String(wireId(kind, objects.at(-1)?.id ?? '')) };
    objects.push(object);
  }
  return { objects };
}

function noId(after: string): InvalidInput {
  const message = `\`after\` must be an id of the list, not \`${after.slice(0, 100)}\``;
  return new InvalidInput(message, { problems: [{ code: 'filter_invalid', path: '/after', message }] });
}

/** The `Link` header (RFC 8288) to the page behind an id, with everything else as it was asked for. */
export function nextLink({ url }: FastifyRequest, after: string): string {
  const [path = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('after', after);
  return `<${path}?${parameters}>; rel="next"`;
}
