import * as kinds from '../../src/kinds/index.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';

/** Registry of all kinds of the product. */
export const registry = createRegistry(Object.values(kinds));

/** Kinds that can be written as documents. */
export const documentKinds = registry.kinds.filter((kind) => kind.document.allowed);
