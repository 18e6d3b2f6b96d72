import type { FastifyRequest } from 'fastify';
import { shouldYield } from '../../lib/steps.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { storedId, wireId } from '../../model/declare/wire-id.ts';
import { InvalidInput } from '../../model/errors.ts';
import { optional } from '../../model/operation/fields.ts';
import { integer } from '../../model/schema/field.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { queryOf } from '../input/address.ts';
import { readParameters } from '../operations/input.ts';

/** The requested part of a list. */
export interface Page {
  readonly limit?: number;
  /** Id of the last object before the page. */
  readonly after?: string;
}

const fields = { limit: optional(integer({ doc: '', minimum: 1, maximum: 1000 })) };

/** Returns the page that a request asks for, `undefined` for the whole list. Throws `InvalidInput`. */
export function pageOf(request: FastifyRequest): Page | undefined {
  const { after } = queryOf(request);
  const { limit } = readParameters(fields, request);
  if (limit === undefined && after === undefined) return undefined;
  return { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
}

/**
 * Returns the stored id after which a page begins, `undefined` when it begins with the first object. Throws
 * `InvalidInput`.
 */
export function startOf(kind: Kind, page: Page | undefined): string | undefined {
  if (page?.after === undefined) return undefined;
  const behind = storedId(kind, page.after);
  if (behind === undefined) throw noId(page.after);
  return behind;
}

/** Maximum number of objects to show, and which of them. */
interface PageFilter {
  readonly limit: number | undefined;
  readonly matches: (object: StoredObject) => boolean;
}

/**
 * Returns the first matching objects, and the id after which the next page begins, if there is one. Objects after the
 * page are not examined. Yields regularly.
 */
export function* takePage(
  kind: Kind,
  candidates: Iterable<StoredObject>,
  { limit = Number.POSITIVE_INFINITY, matches }: PageFilter,
): Generator<undefined, { readonly objects: readonly StoredObject[]; readonly next?: string }> {
  const objects: StoredObject[] = [];
  let at = 0;
  for (const object of candidates) {
    if (shouldYield(at++)) yield undefined;
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

/** Returns the `Link` header (RFC 8288) to the page after an id. All other query parameters stay the same. */
export function nextLink({ url }: FastifyRequest, after: string): string {
  const [path = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('after', after);
  return `<${path}?${parameters}>; rel="next"`;
}
