import type { FastifyRequest } from 'fastify';
import type { Kind } from '../../model/declare/kind.ts';
import { storedId, wireId } from '../../model/declare/wire-id.ts';
import { InvalidInput } from '../../model/errors.ts';
import { optional } from '../../model/operation/fields.ts';
import { integer } from '../../model/schema/field.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { queryOf } from '../input/address.ts';
import { readParameters } from '../operations/input.ts';

/** Which part of a list is asked for. */
interface Page {
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

/** The objects of a page, of a list in the order of stored ids, and the id behind which the next one begins, when there is more. */
export function cutPage(
  kind: Kind,
  all: readonly StoredObject[],
  page: Page | undefined,
): { readonly objects: readonly StoredObject[]; readonly next?: string } {
  if (page === undefined) return { objects: all };
  const { limit = all.length, after } = page;
  const behind = after === undefined ? undefined : storedId(kind, after);
  if (after !== undefined && behind === undefined) throw noId(after);
  const rest = behind === undefined ? all : all.filter(({ id }) => id > behind);
  const objects = rest.slice(0, limit);
  const last = objects.at(-1);
  return last === undefined || rest.length <= limit ? { objects } : { objects, next: String(wireId(kind, last.id)) };
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
