/** Returns a document as YAML text. */
export function doc(kind: string, name: string, spec: string): string {
  return `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec:\n${spec.replace(/^/gm, '  ')}\n`;
}
