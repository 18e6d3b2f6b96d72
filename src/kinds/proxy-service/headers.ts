import { appendPointer } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';

/** Headers that apply to a single connection, or that the proxy sets. In lower case. */
const managedHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

const maxNameLength = 128;

/** Checks that added headers have valid names, and values without control characters. */
export function checkCustomHeaders(headers: Readonly<Record<string, string>>, path: string): readonly Fault[] {
  const names = Object.keys(headers);
  return [
    ...checkNames(names, (name) => appendPointer(path, name)),
    ...Object.entries(headers).flatMap(([name, value]): readonly Fault[] => {
      if (!/[^\t\P{Cc}]/u.test(value)) return [];
      const message = `the value of the header \`${name}\` contains control characters; remove them`;
      return [{ code: 'header_value_invalid', path: appendPointer(path, name), message }];
    }),
  ];
}

/** Checks that headers for sign-in have names that reach the proxy unchanged. */
export function checkHeaderNames(entries: readonly { readonly header: string }[]): readonly Fault[] {
  return checkNames(
    entries.map(({ header }) => header),
    (_, at) => `/auth/header_auths/${at}/header`,
  );
}

function checkNames(names: readonly string[], pathOf: (name: string, at: number) => string): readonly Fault[] {
  const seen = new Set<string>();
  return names.flatMap((name, at) => {
    const lower = name.toLowerCase();
    const fault = nameFault(name) ?? (seen.has(lower) ? repeatedNameFault(name) : undefined);
    seen.add(lower);
    return fault === undefined ? [] : [{ ...fault, path: pathOf(name, at) }];
  });
}

function nameFault(name: string): { readonly code: ProblemCode; readonly message: string } | undefined {
  if (name.length > maxNameLength)
    return {
      code: 'header_name_invalid',
      message: `a header name has at most ${maxNameLength} characters; shorten it`,
    };
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    return { code: 'header_name_invalid', message: `\`${name}\` is not a header name; write one such as X-Api-Key` };
  if (managedHeaders.has(name.toLowerCase()))
    return {
      code: 'header_name_managed',
      message: `the header \`${name}\` is reserved for the connection or the proxy; choose another one`,
    };
  return undefined;
}

function repeatedNameFault(name: string): { readonly code: ProblemCode; readonly message: string } {
  return {
    code: 'header_name_repeated',
    message: `the header \`${name}\` is given twice, and header names are case-insensitive; keep one`,
  };
}
