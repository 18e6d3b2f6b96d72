import { isObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import type { Described } from '../described.ts';

/** The only value of secrets in the examples. Answers mask or omit it. */
const secret = 'c2VjcmV0';

/** Returns the path of the collection of the object that an operation writes. */
export function collectionOf({ path, method }: Described): string {
  return method === 'put' ? path.replace(/\/\{\w+\}$/, '') : path;
}

/**
 * Returns the operation that reads the object that an operation writes. Returns `undefined` for users' invites and
 * tokens, which are not objects.
 */
export function readOf(of: Described, all: readonly Described[]): Described | undefined {
  if (of.path.startsWith('/api/users/') || of.path.startsWith('/api/config/')) return undefined;
  const isItem = ({ path }: Described) => /^\/\{\w+\}$/.test(path.slice(collectionOf(of).length));
  const reads = all.filter(({ method, path }) => method === 'get' && path.startsWith(collectionOf(of)));
  const isSingle = !all.some((one) => isItem(one) && one.path.startsWith(collectionOf(of)));
  return reads.find(isItem) ?? (isSingle ? reads.find(({ path }) => path === of.path) : undefined);
}

/** Returns whether an operation replaces an object of the account. */
export function isReplace({ method, path }: Described): boolean {
  return method === 'put' && path.startsWith('/api/') && !path.startsWith('/api/config/');
}

/**
 * Returns the members that are read differently from how they were sent. A reference may be read as a summary, and
 * duplicates in a set may be removed.
 */
export function differencesIn(sent: Json, read: Json | undefined, path: string): readonly string[] {
  if (sent === secret) return read === undefined || read === '' || read === '****' ? [] : [path];
  if (Array.isArray(sent)) {
    const once = [...new Set(sent)] as readonly Json[];
    if (!Array.isArray(read) || read.length !== once.length) return [path];
    return once.flatMap((item, at) => differencesIn(item, read[at] as Json, `${path}/*`));
  }
  if (isObject(read) && typeof sent === 'string') return read['id'] === sent ? [] : [path];
  if (!isObject(sent)) return sent === read ? [] : [path];
  if (!isObject(read)) return [path];
  const members = Object.entries(sent as JsonObject);
  return members.flatMap(([name, value]) => differencesIn(value, (read as JsonObject)[name], `${path}/${name}`));
}
