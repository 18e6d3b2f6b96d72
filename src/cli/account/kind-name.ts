import * as kinds from '../../kinds/index.ts';

/** Returns the kind's name in its correct case. Returns an unknown name unchanged, because the server may know it. */
export function kindNamed(text: string): string {
  const found = Object.values(kinds).find(({ name }) => name.toLowerCase() === text.toLowerCase());
  return found?.name ?? text;
}
