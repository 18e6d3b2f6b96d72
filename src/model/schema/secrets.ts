import { appendPointer, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { isLongerThan } from '../../lib/text/length.ts';
import type { Fault } from '../declare/kind.ts';
import type { PlanEnvironment } from '../declare/plan-environment.ts';
import { Internal } from '../errors.ts';
import { secretOrigin } from '../lower/shape.ts';
import { type AnyField, type Fields, maxLengths } from './field.ts';
import { entriesOf } from './field-search.ts';
import { isSealed, mask, type SealContext, type SealForm } from './sealing.ts';
import {
  anyItem,
  hasSecrets,
  isSealedIn,
  memberField,
  memberName,
  openSecret,
  type SecretField,
  type SecretPath,
  sealContextOf,
  secretPointer,
  toStoredSecret,
} from './secret-fields.ts';
import { clusterHint, nameInValueFrom } from './values.ts';

/** A spec with sealed secrets, and the faults found in them. */
export interface SealedSpec {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
  /** JSON pointers of the secrets whose value the spec gives, instead of keeping the stored one. */
  readonly given: readonly string[];
}

/** Object whose secrets are sealed. */
export interface SealTarget {
  readonly account: string;
  readonly object: string;
  readonly form: SealForm;
  /** Stored spec of the object. Absent for a new object. */
  readonly before?: JsonObject | undefined;
}

/**
 * Seals the secrets of a stated spec. A mask, or a text equal to the stored one, keeps the stored form, so that nothing
 * changes without a reason. `from`: a document, which names where its secrets come from, or a request.
 */
export function sealSecrets(
  fields: Fields,
  spec: JsonObject,
  target: SealTarget,
  planEnvironment: PlanEnvironment,
  from: 'document' | 'request',
): SealedSpec {
  if (!hasSecrets(fields)) return { spec, faults: [], given: [] };
  const run: SealRun = { target, planEnvironment, from, faults: [], given: [] };
  const sealed = sealFields(fields, spec, target.before, run, specRoot);
  return { spec: sealed, faults: run.faults, given: run.given };
}

interface SealRun {
  readonly target: SealTarget;
  readonly planEnvironment: PlanEnvironment;
  readonly from: 'document' | 'request';
  readonly faults: Fault[];
  readonly given: string[];
}

/**
 * Location of a value in its spec: as a JSON pointer for messages, and as the path, without positions, to which secrets
 * are bound.
 */
interface SpecLocation {
  readonly pointer: string;
  readonly path: SecretPath;
}

const specRoot: SpecLocation = { pointer: '', path: [] };

/** Returns the location of a member. `name`: its path element, when it differs from the member name. */
function memberLocation({ pointer, path }: SpecLocation, member: string, name: string = member): SpecLocation {
  return { pointer: appendPointer(pointer, member), path: [...path, name] };
}

function sealFields(
  fields: Fields,
  spec: JsonObject,
  before: JsonObject | undefined,
  run: SealRun,
  at: SpecLocation,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    const sealed = field === undefined ? value : sealValue(field, value, before?.[name], run, memberLocation(at, name));
    if (sealed !== undefined) result[name] = sealed;
    else if (field?.type === 'secret' && field.required === true) reportUnset(run, name, at.pointer);
    else reportMask(run, name, value, appendPointer(at.pointer, name));
  }
  return run.from === 'request' ? { ...keptSecrets(fields, spec, before), ...result } : result;
}

/**
 * Returns stored secrets that a request may leave out (`keptOnReplace`). Called at every depth, also for list entries.
 */
function keptSecrets(fields: Fields, spec: JsonObject, before: JsonObject | undefined): JsonObject {
  const kept = entriesOf(fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
    const stored = before?.[name];
    const isKept =
      field.type === 'secret' && field.keptOnReplace === true && spec[name] === undefined && isSealed(stored);
    return isKept ? [[name, stored]] : [];
  });
  return Object.fromEntries(kept);
}

function sealValue(
  field: AnyField,
  value: Json,
  before: Json | undefined,
  run: SealRun,
  at: SpecLocation,
): Json | undefined {
  switch (field.type) {
    case 'secret':
      return sealText(field, value, before, run, at);
    case 'map':
      return isObject(value) ? sealMap(field, value, objectIn(before), run, at) : value;
    case 'object':
      return isObject(value) ? sealFields(field.fields, value, objectIn(before), run, at) : value;
    case 'keyed':
      return Array.isArray(value)
        ? value.map((entry, index) =>
            sealEntry(field, entry, before, run, { ...at, pointer: `${at.pointer}/${index}` }),
          )
        : value;
    case 'list':
      return Array.isArray(value)
        ? value.map((item, index) =>
            sealItem(field, item, itemOf(before, index), run, memberLocation(at, String(index), anyItem)),
          )
        : value;
    default:
      return value;
  }
}

function sealItem(
  field: Extract<AnyField, { readonly type: 'list' }>,
  item: Json,
  before: Json | undefined,
  run: SealRun,
  at: SpecLocation,
): Json {
  return sealValue(field.of, item, before, run, at) ?? null;
}

function sealEntry(
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  entry: Json,
  before: Json | undefined,
  run: SealRun,
  at: SpecLocation,
): Json {
  if (!isObject(entry)) return entry;
  const stored = Array.isArray(before)
    ? before.find((item) => objectIn(item)?.[field.key] === entry[field.key])
    : undefined;
  const path = [...at.path, String(entry[field.key])];
  return sealFields(field.fields, entry, objectIn(stored), run, { ...at, path });
}

function sealMap(
  field: Extract<AnyField, { readonly type: 'map' }>,
  value: JsonObject,
  before: JsonObject | undefined,
  run: SealRun,
  at: SpecLocation,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value)) {
    const kept = memberName(field, name);
    const inner = memberLocation(at, name, kept);
    const member = memberField(field, name);
    const isKept = keepsStored(member, item, before?.[kept], run.from);
    if (isKept && isGivenByOtherName(field, value, name, before?.[kept], run.from)) continue;
    // `null` removes a member of any type.
    const sealed =
      member.type === 'secret' && item !== null ? sealText(member, item, before?.[kept], run, inner) : item;
    if (sealed !== undefined) result[name] = sealed;
    else reportMask(run, name, item, inner.pointer);
  }
  return result;
}

/**
 * Whether a map contains a value under another name of a member. A client that repeats an answer and adds a new value
 * under the other name sends the mask beside it.
 */
function isGivenByOtherName(
  field: Extract<AnyField, { readonly type: 'map' }>,
  value: JsonObject,
  name: string,
  before: Json | undefined,
  from: SealRun['from'],
): boolean {
  return Object.entries(value).some(
    ([other, item]) =>
      other !== name &&
      item !== null &&
      memberName(field, other) === memberName(field, name) &&
      !keepsStored(memberField(field, other), item, before, from),
  );
}

/**
 * Whether a value stands for the stored secret. In a request: a mask, or an empty text that is no value of its own. In a
 * document: `stored: true`, or the stored text, which an export of an earlier release contains.
 */
function keepsStored(field: AnyField, value: Json, before: Json | undefined, from: SealRun['from']): boolean {
  if (field.type !== 'secret') return false;
  if (from === 'document') return isStoredMark(value) || value === storedText(field, before);
  return typeof value === 'string' && (isMask(field, value) || (value === '' && field.read !== 'shown'));
}

function sealText(
  field: SecretField,
  value: Json,
  before: Json | undefined,
  run: SealRun,
  at: SpecLocation,
): Json | undefined {
  const stored = storedText(field, before);
  const isKept = keepsStored(field, value, before, run.from);
  // Any other text that looks sealed may be copied from elsewhere.
  if (run.from === 'document' && isKept && stored !== undefined) return stored;
  const text = textOf(field, value, run, at.pointer);
  // A fault already explains why there is no text.
  if (text === undefined) return '';
  if (field.read === 'shown' && text === '') return text;
  if (run.from === 'request' && isKept) return stored;
  run.given.push(secretPointer(at.path));
  const { vault } = run.planEnvironment;
  const { account, object, form } = run.target;
  const context = sealContextOf(account, object, at.path);
  const spelling = canonicalText(field, text, run, at.pointer);
  if (stored !== undefined && isStoredAs(field, stored, context, spelling, run)) return stored;
  return toStoredSecret(field, spelling, context, { vault, form });
}

function storedText(field: SecretField, before: Json | undefined): string | undefined {
  if (typeof before !== 'string' || before === '') return undefined;
  return field.read === 'shown' || isSealedIn(field, before) ? before : undefined;
}

/**
 * Whether a stored secret has this text. Returns false when it cannot be opened, so that writing it again repairs it.
 */
function isStoredAs(
  field: SecretField,
  stored: string,
  context: SealContext,
  text: string,
  { planEnvironment }: SealRun,
): boolean {
  try {
    return openSecret(field, stored, context, planEnvironment.vault) === text;
  } catch (error) {
    if (error instanceof Internal) return false;
    throw error;
  }
}

/** Returns the text in the canonical spelling of its format. The fault does not repeat the text. */
function canonicalText(
  { format, maxLength = maxLengths.secret }: SecretField,
  text: string,
  run: SealRun,
  pointer: string,
): string {
  if (format === undefined || text === run.planEnvironment.placeholderValue) return text;
  // The length has a fault of its own.
  if (isLongerThan(text, maxLength)) return text;
  const result = format.canonical(text);
  if ('value' in result) return result.value;
  run.faults.push({ code: `${format.name}_invalid`, path: pointer, message: result.fault });
  return text;
}

/** Reports a required secret whose mask refers to a stored value that does not exist. */
function reportUnset(run: SealRun, name: string, pointer: string): void {
  const message = `\`${name}\` is required, and no value is stored yet; add it`;
  run.faults.push({ code: 'field_required', path: pointer, message });
}

/** Reports a mask for which no value is stored. An empty text stands for no value, so it is no fault. */
function reportMask(run: SealRun, name: string, value: Json, pointer: string): void {
  if (value === '') return;
  const message = `\`${name}\` is masked, and no value is stored for it; send its value, or leave it out`;
  run.faults.push({ code: 'secret_unset', path: pointer, message });
}

/**
 * Whether a text is a mask that a client read and sends back. A `shown` secret is masked only when it cannot be opened.
 */
function isMask({ read }: SecretField, text: string): boolean {
  return read === 'shown' ? text === mask : text.endsWith(mask);
}

function textOf(
  { read, maxLength = maxLengths.secret, acceptsObject }: SecretField,
  value: Json,
  run: SealRun,
  pointer: string,
): string | undefined {
  if (acceptsObject === true && run.from === 'request' && isObject(value)) return JSON.stringify(value);
  if (typeof value === 'string') {
    if (run.from === 'request' || run.planEnvironment.literalSecrets || read === 'shown') return value;
    run.faults.push({
      code: 'secret_literal',
      path: pointer,
      message: isSealed(value) ? sealedHint : literalHint,
    });
    return undefined;
  }
  const [origin, named] = Object.entries(objectIn(objectIn(value)?.['valueFrom']) ?? {})[0] ?? [];
  const name = nameInValueFrom(named) ?? String(named);
  const { planEnvironment } = run;
  if (origin === 'stored') {
    // Without a server, the document is assumed to describe an object that has a stored value.
    if (planEnvironment.placeholderValue !== undefined) return planEnvironment.placeholderValue;
    run.faults.push({ code: 'secret_unset', path: `${pointer}/valueFrom`, message: storedHint });
    return undefined;
  }
  const found = origin === undefined ? undefined : planEnvironment.valueFrom(origin, name);
  if (found !== undefined && found.length > maxLength) {
    const message = `the value of ${origin} \`${name}\` must have at most ${maxLength} characters; it has ${found.length}`;
    run.faults.push({ code: 'value_too_long', path: `${pointer}/valueFrom`, message });
    return undefined;
  }
  if (found === undefined) {
    const hint =
      planEnvironment.unsetHint?.(origin ?? '', name) ?? (origin === secretOrigin ? clusterHint : serverHint);
    const lack = origin === secretOrigin ? 'cannot be used' : 'is not set, or not allowed';
    const message = `${origin} \`${name}\` ${lack}: ${hint}`;
    run.faults.push({ code: 'secret_unset', path: `${pointer}/valueFrom`, message });
  }
  return found;
}

/** Whether a document keeps the stored value (`valueFrom: {stored: true}`), as exports do. */
function isStoredMark(value: Json): boolean {
  return objectIn(objectIn(value)?.['valueFrom'])?.['stored'] === true;
}

const originExamples = '`valueFrom: {envRef: HEDDLE_VALUE_…}` or `valueFrom: {fileRef: …}`';
const literalHint = `a secret must not be written in a document; name its origin: ${originExamples}`;
const sealedHint = `a sealed secret must not be written in a document, and another one is stored here; write \`valueFrom: {stored: true}\` to keep the stored secret, or name the origin of a new one: ${originExamples}`;
const storedHint = `\`stored\` keeps the stored value of the object, which has none here; name the origin of the value: ${originExamples}`;

const serverHint = 'variables of the server must begin with HEDDLE_VALUE_, files must be in its directory of values';

function objectIn(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function itemOf(value: Json | undefined, at: number): Json | undefined {
  return Array.isArray(value) ? value[at] : undefined;
}
