const maxNameLength = 253;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Returns what is wrong with a `metadata.name`, or `undefined` for a valid one. A name is a DNS-1123 subdomain, in
 * ASCII, so that no two spellings of one name can clash.
 */
export function nameFault(name: string): string | undefined {
  if (name.length > maxNameLength) {
    return `The name has ${name.length} characters and may have ${maxNameLength}; shorten it.`;
  }
  if (subdomain.test(name)) return undefined;
  const better = suggestion(name);
  const rule = `The name ${JSON.stringify(name)} may contain only lower-case letters a-z, digits, \`-\` and \`.\`, and must begin and end with a letter or digit`;
  return better === ''
    ? `${rule}; choose another one.`
    : `${rule}; write "${better}", and keep the readable name in \`spec.name\`.`;
}

function suggestion(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
  return ascii
    .split('.')
    .map((label) => label.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, ''))
    .filter((label) => label !== '')
    .join('.');
}
