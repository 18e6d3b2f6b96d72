import { stringify } from 'yaml';
import { lowerToCrd, pluralOf } from '../model/lower/crd.ts';
import type { Registry } from '../model/registry.ts';
import { type Files, generatedNotice } from './files.ts';

/** The files of `crds/`: one CustomResourceDefinition for every kind that has documents. */
export function crdFiles(registry: Registry): Files {
  const kinds = registry.kinds.filter((kind) => kind.document.allowed);
  return new Map(
    kinds.map((kind) => {
      // Quoted where YAML 1.1 would misread a word: kubectl reads these files.
      const text = stringify(lowerToCrd(registry, kind), {
        compat: 'yaml-1.1',
        aliasDuplicateObjects: false,
        lineWidth: 0,
      });
      return [`crds/${pluralOf(kind.name)}.yaml`, `# ${generatedNotice}\n${text}`];
    }),
  );
}
