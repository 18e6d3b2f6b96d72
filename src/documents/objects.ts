import { asObject, type Json } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { describeServerResource } from '../model/sources/own-resources.ts';
import { checkApiVersion, readEnvelope } from './envelope.ts';
import { describeForeignObject, type ForeignValue } from './foreign-value.ts';
import { pointerTo } from './position.ts';
import { checkMembers, createReporter, type ItemsResult, isJsonObject, isList, type StatedObject } from './stated.ts';

/** Result of reading a text. */
export interface ReadResult {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
  /** Foreign objects in the text. Their problems as documents are not part of `problems`. */
  readonly foreignObjects: readonly ForeignObject[];
}

/** An object that is not a Heddle document, such as a resource of another Kubernetes API group. */
export interface ForeignObject extends ForeignValue {
  readonly kind: string;
  readonly name: string;
  readonly line: number;
  readonly problems: readonly Problem[];
}

/** One object of a text: a document or a foreign object. */
export type Item = { readonly document: Document } | { readonly other: ForeignObject };

/** Reads the objects of one YAML document or JSON text: the object itself, or the elements of a `kind: List`. */
export function readItems(stated: StatedObject): ItemsResult<Item> {
  const problems: Problem[] = [];
  const objects = isList(stated.value) ? expandList(stated, problems) : [stated];
  const documents = objects.flatMap((object) => readItem(object, problems) ?? []);
  return { documents, problems };
}

/** Separates the documents from the foreign objects. */
export function separateItems({ documents: items, problems }: ItemsResult<Item>): ReadResult {
  return {
    documents: items.flatMap((item) => ('document' in item ? [item.document] : [])),
    problems,
    foreignObjects: items.flatMap((item) => ('other' in item ? [item.other] : [])),
  };
}

function readItem(object: StatedObject, problems: Problem[]): Item | undefined {
  const foreign = describeForeignObject(object.value);
  if (foreign === undefined) {
    const document = readEnvelope(object, problems);
    return document === undefined ? undefined : { document };
  }
  const own: Problem[] = [];
  const document = readEnvelope(object, own);
  const what = document === undefined ? undefined : describeServerResource(document.kind);
  if (document !== undefined && what !== undefined)
    createReporter(object, own)(
      'kind_not_declarable',
      '/kind',
      `${document.kind} cannot be a document: it is the resource ${what}; keep it out of the files that are documents`,
    );
  const { kind, metadata } = asObject(object.value);
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return { other: { ...foreign, kind: String(kind), name: String(name), line: object.line, problems: own } };
}

function expandList(stated: StatedObject, problems: Problem[]): readonly StatedObject[] {
  const report = createReporter(stated, problems);
  const value = isJsonObject(stated.value) ? stated.value : {};
  checkMembers(value, ['apiVersion', 'kind', 'metadata', 'items'], '', report);
  // kubectl writes lists of any API group as `apiVersion: v1`; the elements carry Heddle's `apiVersion`.
  if (value['apiVersion'] !== 'v1') checkApiVersion(value, report);
  const items = value['items'];
  if (!Array.isArray(items)) {
    report('list_invalid', '/items', 'A `kind: List` must have a list `items`; write the documents under `items`.');
    return [];
  }
  return items.flatMap((item: Json, index) => {
    const pointer = pointerTo('/items', index);
    if (!isList(item)) return [{ ...stated, value: item, pointer, line: stated.locate(pointer).line }];
    report('list_invalid', pointer, 'A `kind: List` may not hold another one; write its documents here directly.');
    return [];
  });
}
