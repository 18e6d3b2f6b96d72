import { readFileSync } from 'node:fs';

/** The version in package.json. */
export function programVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version: number } = JSON.parse(text) as { readonly version: string };
  return number;
}
