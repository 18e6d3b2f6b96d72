import { asObjectOrEmpty, asObjects, asTexts, type Json, type JsonObject } from '../../lib/json.ts';
import { printable } from '../../lib/text/printable.ts';
import type { StreamMessage } from '../proxy/edge.ts';

/**
 * Returns a function that reads the messages of a machine's stream. For each message it returns one line for each
 * ingress port that the machine now forwards, that now leads to the machine, or that ended.
 */
export function followForwards(): (message: StreamMessage) => readonly string[] {
  let self = '';
  const names = new Map<string, string>();
  const known = new Map<string, JsonObject>();
  return ({ type, data }) => {
    const own = asObjectOrEmpty(data['self']);
    self = String(own['id'] ?? self);
    for (const peer of [own, ...putEntriesIn(data['peers'])]) names.set(String(peer['id']), String(peer['name']));
    const put = new Map(putEntriesIn(data['forwards']).map((entry) => [String(entry['id']), entry]));
    const isGone = (id: string): boolean => !put.has(id);
    const gone = type === 'map' ? [...known.keys()].filter(isGone) : removedIdsIn(data['forwards']);
    const lines = [
      ...gone.map((id) => `${titleOf(known.get(id))} ended`),
      ...[...put]
        .filter(([id, entry]) => JSON.stringify(entry) !== JSON.stringify(known.get(id)))
        .flatMap(([, entry]) => linesOf(entry, self, names)),
    ];
    for (const id of gone) known.delete(id);
    for (const [id, entry] of put) known.set(id, entry);
    return lines;
  };
}

/** Returns the entries of a list: all of them from a complete map, the added and changed ones from an update. */
function putEntriesIn(list: Json | undefined): readonly JsonObject[] {
  return asObjects(Array.isArray(list) ? list : (asObjectOrEmpty(list)['put'] ?? []));
}

function removedIdsIn(list: Json | undefined): readonly string[] {
  return asTexts(asObjectOrEmpty(list)['remove'] ?? []);
}

function linesOf(entry: JsonObject, self: string, names: ReadonlyMap<string, string>): readonly string[] {
  const { gateway, peer, mappings = [] } = entry;
  const nameOf = (id: Json | undefined): string => printable(names.get(String(id)) ?? String(id));
  return asObjects(mappings).map((mapping) => {
    const [outside, inside] = [rangeOf(mapping, 'ingress'), rangeOf(mapping, 'translated')];
    const ports = `${String(mapping['protocol'])} ${outside}`;
    return gateway === self
      ? `${titleOf(entry)} forwards ${ports} to ${inside} of ${nameOf(peer)}`
      : `${titleOf(entry)} leads here: ${ports} of ${nameOf(gateway)} to ${inside}`;
  });
}

function titleOf(entry: JsonObject | undefined): string {
  return `ingress port ${printable(String(entry?.['name'] ?? ''))}`;
}

function rangeOf(mapping: JsonObject, side: 'ingress' | 'translated'): string {
  const [start, end] = [String(mapping[`${side}_start`]), String(mapping[`${side}_end`])];
  return start === end ? start : `${start}-${end}`;
}
