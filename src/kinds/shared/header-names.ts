/** Headers that the connection sets. */
const connectionHeaders = /^(host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive)$/i;

/** Maximum length of the name of a header, in characters. Many servers refuse longer ones. */
const maxHeaderNameLength = 128;

/**
 * Returns why requests cannot carry a header, or `undefined` when they can. `own` matches headers that the server sets
 * itself.
 */
export function headerNameFault(name: string, own?: RegExp): string | undefined {
  if (name.length > maxHeaderNameLength)
    return `a header name must have at most ${maxHeaderNameLength} characters; one has ${name.length}`;
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'this is not a header name; use letters, digits and hyphens';
  if (connectionHeaders.test(name) || own?.test(name) === true)
    return `the server sets the header \`${name}\` itself; remove it`;
  return undefined;
}
