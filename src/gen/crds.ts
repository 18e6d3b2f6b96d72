import { writeYaml } from '../documents/write.ts';
import type { Kind } from '../model/declare/kind.ts';
import type { Registry } from '../model/declare/registry.ts';
import { lowerToCrd } from '../model/lower/crd/crd.ts';
import { pluralOf } from '../model/lower/crd/names.ts';
import { type Files, generatedNotice } from './files.ts';

/** The files of `crds/`: one CustomResourceDefinition for every kind that has documents. */
export function crdFiles(registry: Registry): Files {
  const kinds = registry.kinds.filter((kind) => kind.document.allowed);
  const textOf = (kind: Kind) => writeYaml(lowerToCrd(registry, kind), generatedNotice);
  return new Map(kinds.map((kind) => [`crds/${pluralOf(kind.name)}.yaml`, textOf(kind)]));
}
