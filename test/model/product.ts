import * as kinds from '../../src/kinds/index.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';

/** Every kind of the product. */
export const registry = createRegistry(Object.values(kinds));

/** The kinds that have documents. */
export const documentKinds = registry.kinds.filter((kind) => kind.document.allowed);
