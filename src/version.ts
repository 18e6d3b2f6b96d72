// Written by `npm run gen` from package.json; do not edit.

/** The version of this program. */
export function programVersion(): string {
  return '0.2.0';
}
