import type { Registry } from '../model/declare/registry.ts';
import type { Format } from '../model/schema/format.ts';

/** An e-mail address in its canonical form, or the reason why a text is none. */
export type CanonicalEmail =
  | { readonly value: string; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string };

/** Returns an e-mail address as users have it. An empty text is no address and no fault. */
export function canonicalEmail(registry: Registry, text: string): CanonicalEmail {
  if (text.trim() === '') return { value: '' };
  const field = registry.get('User').spec['email'];
  const format: Format | undefined = field?.type === 'string' ? field.format : undefined;
  const canonical = format?.canonical(text) ?? { value: text };
  return 'fault' in canonical ? { fault: canonical.fault } : { value: String(canonical.value) };
}
