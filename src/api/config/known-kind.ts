import type { Registry } from '../../model/declare/registry.ts';
import { InvalidInput } from '../../model/errors.ts';

/** Throws `InvalidInput` when there is no kind of this name. */
export function requireKnownKind(registry: Registry, name: string | undefined): void {
  if (name !== undefined && registry.find(name) === undefined)
    throw new InvalidInput(`unknown kind ${name}; known are ${registry.names.join(', ')}`);
}
