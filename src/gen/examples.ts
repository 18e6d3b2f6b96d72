import { formatFile } from '../documents/format/format.ts';
import { nameFault } from '../documents/name.ts';
import { writeDocuments } from '../documents/write.ts';
import type { Kind } from '../model/declare/kind.ts';
import type { Registry } from '../model/declare/registry.ts';
import { fieldsOn } from '../model/lower/shape.ts';
import { commentFields, wrap } from './comments.ts';
import { type Files, generatedNotice } from './files.ts';

/** Returns the files of `examples/kinds/`: a commented document for every kind that has documents. */
export function exampleFiles(registry: Registry): Files {
  const kinds = registry.kinds.filter((kind) => kind.document.allowed);
  return new Map(kinds.map((kind) => [`examples/kinds/${kebab(kind.name)}.yaml`, exampleText(registry, kind)]));
}

function exampleText(registry: Registry, kind: Kind): string {
  const comment = [generatedNotice, '', ...wrap(kind.doc, 0), ...wrap(namingNote(kind), 0)].join('\n');
  const name = exampleName(kind);
  const text = commentFields(
    writeDocuments([{ kind: kind.name, metadata: { name }, spec: kind.example, comment }]),
    fieldsOn(kind, 'document'),
  );
  const formatted = formatFile({ path: `${name}.yaml`, text }, { registry });
  if (formatted.type !== 'formatted') throw new Error(`the example of ${kind.name} cannot be formatted`);
  return formatted.text;
}

function namingNote(kind: Kind): string {
  return kind.singleton === undefined
    ? 'Other documents name this one by `metadata.name`. A field that is left out keeps its default.'
    : 'A field that is left out keeps its default.';
}

/** Returns the key of the example document, derived from its display name. Throws when that is not a valid key. */
function exampleName(kind: Kind): string {
  if (kind.singleton !== undefined) return kind.singleton;
  const name = kebab(String(kind.example[kind.nameField] ?? kind.name));
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(`the example of ${kind.name} needs another display name: ${fault}`);
  return name;
}

/** Returns a text in kebab case: `DNSRecord` as `dns-record`, `Internal services` as `internal-services`. */
function kebab(text: string): string {
  const parted = text.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replace(/([A-Z])([A-Z][a-z])/g, '$1-$2');
  return parted
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
}
