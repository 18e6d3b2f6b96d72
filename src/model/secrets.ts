import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { type AnyField, entriesOf, type Fields } from './field.ts';
import type { Fault } from './kind.ts';
import { isSealed, type Means, mask } from './means.ts';
import { pointerTo } from './pointer.ts';

/** A spec whose secrets are sealed, and what was wrong with them. */
export interface SealedSpec {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
}

/** Whether any field of the kind is kept sealed. */
export function hasSecrets(fields: Fields): boolean {
  return entriesOf(fields).some(([, field]) => holdsSecrets(field));
}

function holdsSecrets(field: AnyField): boolean {
  if (field.type === 'secret') return true;
  if (field.type === 'map') return field.secretKeys !== undefined || holdsSecrets(field.of);
  if (field.type === 'object' || field.type === 'keyed') return hasSecrets(field.fields);
  return field.type === 'list' && holdsSecrets(field.of);
}

/**
 * Seals the secrets of a stated spec. A mask, or the text that is stored already, keeps the stored form, so that nothing
 * changes without a reason. `from` says whether the spec came in a document, where secrets are named, or in a request.
 */
export function sealSecrets(
  fields: Fields,
  spec: JsonObject,
  before: JsonObject | undefined,
  means: Means,
  from: 'document' | 'request',
): SealedSpec {
  if (!hasSecrets(fields)) return { spec, faults: [] };
  const run: Run = { means, from, faults: [] };
  return { spec: sealFields(fields, spec, before, run, ''), faults: run.faults };
}

interface Run {
  readonly means: Means;
  readonly from: 'document' | 'request';
  readonly faults: Fault[];
}

function sealFields(
  fields: Fields,
  spec: JsonObject,
  before: JsonObject | undefined,
  run: Run,
  pointer: string,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    const sealed = field === undefined ? value : sealValue(field, value, before?.[name], run, `${pointer}/${name}`);
    if (sealed !== undefined) result[name] = sealed;
    else if (field?.type === 'secret' && field.required === true) reportUnset(run, name, pointer);
  }
  return run.from === 'request' ? { ...keptSecrets(fields, spec, before), ...result } : result;
}

/** Stored secrets that a request may leave out, wherever they are: in entries of lists, too. */
function keptSecrets(fields: Fields, spec: JsonObject, before: JsonObject | undefined): JsonObject {
  const kept = entriesOf(fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
    const stored = before?.[name];
    const isKept = field.type === 'secret' && field.keep === true && spec[name] === undefined && isSealed(stored);
    return isKept ? [[name, stored]] : [];
  });
  return Object.fromEntries(kept);
}

function sealValue(
  field: AnyField,
  value: Json,
  before: Json | undefined,
  run: Run,
  pointer: string,
): Json | undefined {
  switch (field.type) {
    case 'secret':
      return sealText(field, value, before, run, pointer);
    case 'map':
      return isObject(value) ? sealMap(field, value as JsonObject, asObject(before), run, pointer) : value;
    case 'object':
      return isObject(value) ? sealFields(field.fields, value as JsonObject, asObject(before), run, pointer) : value;
    case 'keyed':
      return Array.isArray(value)
        ? value.map((entry, at) => sealEntry(field, entry, before, run, `${pointer}/${at}`))
        : value;
    case 'list':
      return Array.isArray(value)
        ? value.map((item, at) => sealValue(field.of, item, itemOf(before, at), run, `${pointer}/${at}`) ?? null)
        : value;
    default:
      return value;
  }
}

function sealEntry(
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  entry: Json,
  before: Json | undefined,
  run: Run,
  pointer: string,
): Json {
  if (!isObject(entry)) return entry;
  const stored = Array.isArray(before)
    ? before.find((item) => asObject(item)?.[field.key] === entry[field.key])
    : undefined;
  return sealFields(field.fields, entry as JsonObject, asObject(stored), run, pointer);
}

function sealMap(
  field: Extract<AnyField, { readonly type: 'map' }>,
  value: JsonObject,
  before: JsonObject | undefined,
  run: Run,
  pointer: string,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value)) {
    const place = pointerTo(pointer, name);
    const isSecret = field.of.type === 'secret' || field.secretKeys?.includes(name) === true;
    // `null` takes a member out, whatever it holds.
    const sealed = isSecret && item !== null ? sealText(field.of, item, before?.[name], run, place) : item;
    if (sealed !== undefined) result[name] = sealed;
  }
  return result;
}

function sealText(field: AnyField, value: Json, before: Json | undefined, run: Run, pointer: string): Json | undefined {
  const stored = isSealed(before) ? before : undefined;
  // An export carries what is stored. Whatever else looks sealed may be somebody else's.
  if (run.from === 'document' && stored !== undefined && value === stored) return stored;
  const text = textOf(value, run, pointer);
  // A fault says already why there is none.
  if (text === undefined) return '';
  if (run.from === 'request' && (text === '' || isMask(text))) return stored;
  if (stored !== undefined && opens(run.means, stored, text)) return stored;
  return run.means.vault.seal(spelled(field, text, run, pointer));
}

/** The text as its format spells it. No fault repeats it. */
function spelled(field: AnyField, text: string, run: Run, pointer: string): string {
  const { format } = field.type === 'secret' || field.type === 'string' ? field : {};
  const result = format?.canonical(text);
  if (result === undefined) return text;
  if ('value' in result) return result.value;
  run.faults.push({ code: `${format?.name}_invalid`, path: pointer, message: result.fault });
  return text;
}

/** A mask stands for a stored value, and there is none. */
function reportUnset(run: Run, name: string, pointer: string): void {
  const message = `\`${name}\` is required, and no value of it is kept yet; add it`;
  run.faults.push({ code: 'field_required', path: pointer, message });
}

/** A mask that a client read and sends back. */
function isMask(text: string): boolean {
  return text.endsWith(mask);
}

function opens(means: Means, sealed: string, text: string): boolean {
  return means.vault.open(sealed) === text;
}

function textOf(value: Json, run: Run, pointer: string): string | undefined {
  if (typeof value === 'string') {
    if (run.from === 'request' || run.means.literalSecrets) return value;
    run.faults.push({
      code: 'secret_literal',
      path: pointer,
      message:
        'a secret must not stand in a document; name where it comes from: `valueFrom: {envRef: HEDDLE_VALUE_…}` or `valueFrom: {fileRef: …}`',
    });
    return undefined;
  }
  const [origin, name] = Object.entries(asObject(asObject(value)?.['valueFrom']) ?? {})[0] ?? [];
  const { means } = run;
  const found = origin === undefined ? undefined : means.valueFrom(origin, String(name));
  if (found === undefined) {
    const hint = means.unsetHint?.(origin ?? '', String(name)) ?? serverHint;
    const message = `${origin} \`${name}\` is not set, or not allowed: ${hint}`;
    run.faults.push({ code: 'secret_unset', path: `${pointer}/valueFrom`, message });
  }
  return found;
}

const serverHint = 'variables of the server must begin with HEDDLE_VALUE_, files must lie in its directory of values';

function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}

function itemOf(value: Json | undefined, at: number): Json | undefined {
  return Array.isArray(value) ? value[at] : undefined;
}
