import * as kinds from '../../kinds/index.ts';

/** The kind as it is spelled, whatever case it was written in; what is not known here the server may know. */
export function kindNamed(text: string): string {
  const found = Object.values(kinds).find(({ name }) => name.toLowerCase() === text.toLowerCase());
  return found?.name ?? text;
}
