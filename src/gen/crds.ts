import { writeYaml } from '../documents/write.ts';
import type { Registry } from '../model/declare/registry.ts';
import { allDefinitions } from '../model/lower/crd/all.ts';
import { type Files, generatedNotice } from './files.ts';

/** The files of `crds/`: every CustomResourceDefinition of ours. */
export function crdFiles(registry: Registry): Files {
  const definitions = [...allDefinitions(registry)];
  return new Map(definitions.map(([plural, crd]) => [`crds/${plural}.yaml`, writeYaml(crd, generatedNotice)]));
}
