import type { Json } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { checkApiVersion, readEnvelope } from './envelope.ts';
import { pointerTo } from './position.ts';
import { checkMembers, isJsonObject, reporter, type StatedObject } from './stated.ts';

/** What was read from a text. */
export interface ReadResult {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
}

/** The documents of one YAML document or JSON text: itself, or the elements of a `kind: List`. */
export function readObjects(stated: StatedObject): ReadResult {
  const problems: Problem[] = [];
  const objects = isList(stated.value) ? expandList(stated, problems) : [stated];
  const documents = objects.flatMap((object) => readEnvelope(object, problems) ?? []);
  return { documents, problems };
}

/** Whether a value is the list in which kubectl writes several objects. */
export function isList(value: Json): boolean {
  return isJsonObject(value) && value['kind'] === 'List';
}

function expandList(stated: StatedObject, problems: Problem[]): readonly StatedObject[] {
  const report = reporter(stated, problems);
  const value = isJsonObject(stated.value) ? stated.value : {};
  checkMembers(value, ['apiVersion', 'kind', 'metadata', 'items'], '', report);
  // kubectl writes lists of any group as `apiVersion: v1`; the elements carry ours.
  if (value['apiVersion'] !== 'v1') checkApiVersion(value, report);
  const items = value['items'];
  if (!Array.isArray(items)) {
    report('list_invalid', '/items', 'A `kind: List` must have a list `items`; write the documents under `items`.');
    return [];
  }
  return items.flatMap((item: Json, index) => {
    const pointer = pointerTo('/items', index);
    if (!isList(item)) return [{ ...stated, value: item, pointer, line: stated.where(pointer).line }];
    report('list_invalid', pointer, 'A `kind: List` may not hold another one; write its documents here directly.');
    return [];
  });
}
