/** Headers that the connection sets. */
const connectionHeaders = /^(host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive)$/i;

/**
 * Returns why requests cannot carry a header, or `undefined` when they can. `own` matches headers that the server sets
 * itself.
 */
export function headerNameFault(name: string, own?: RegExp): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'this is not a header name; use letters, digits and hyphens';
  if (connectionHeaders.test(name) || own?.test(name) === true)
    return `the server sets the header \`${name}\` itself; remove it`;
  return undefined;
}
