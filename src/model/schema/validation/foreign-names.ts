import type { Fault } from '../../declare/kind.ts';
import type { AnyField, Fields } from '../field.ts';
import { entriesOf } from '../field-search.ts';

const namesCache = new WeakMap<Fields, ReadonlyMap<string, string>>();

/** Returns the alternative names of fields (`foreignNames`), each with the current name. */
export function foreignFieldNames(fields: Fields): ReadonlyMap<string, string> {
  const present = namesCache.get(fields);
  if (present !== undefined) return present;
  const names = entriesOf(fields).flatMap(([name, { foreignNames = [] }]) =>
    foreignNames.map((old) => [old, name] as const),
  );
  const made = new Map(names);
  namesCache.set(fields, made);
  return made;
}

/**
 * Adds the right name to the fault of an unknown field or value that other systems use. `value`: the refused value.
 */
export function withForeignNameHint(fields: Fields, fault: Fault, value: unknown): Fault {
  const steps = fault.path.split('/').slice(1);
  if (fault.code === 'field_unknown') {
    const name = steps.at(-1) ?? '';
    const current = foreignFieldNames(membersOf(fieldAt(fields, steps.slice(0, -1)))).get(name);
    if (current === undefined) return fault;
    const message = `\`${name}\` is called \`${current}\` here; write \`${current}\``;
    return { ...fault, code: 'field_renamed', message };
  }
  const field = fault.code === 'value_not_allowed' ? fieldAt(fields, steps) : undefined;
  const current = field?.type === 'enum' ? foreignValue(field.foreignValues, value) : undefined;
  if (current === undefined) return fault;
  return { ...fault, message: `\`${value}\` is called \`${current}\` here; write \`${current}\`` };
}

/** Returns the value that another system calls `value`. Returns `undefined` when there is none. */
export function foreignValue(values: Readonly<Record<string, string>> = {}, value: unknown): string | undefined {
  return typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : undefined;
}

/** Returns the field at a path that may contain positions in lists and keys of maps. */
function fieldAt(fields: Fields, steps: readonly string[]): AnyField | undefined {
  const whole: AnyField = { type: 'object', fields, doc: '' };
  return steps.reduce<AnyField | undefined>(stepInto, whole);
}

function stepInto(field: AnyField | undefined, step: string): AnyField | undefined {
  switch (field?.type) {
    case 'object':
      return Object.hasOwn(field.fields, step) ? field.fields[step] : undefined;
    case 'keyed':
      return { type: 'object', fields: field.fields, doc: field.doc };
    case 'list':
    case 'map':
    case 'refMap':
      return field.of;
    default:
      return undefined;
  }
}

function membersOf(field: AnyField | undefined): Fields {
  return field?.type === 'object' ? field.fields : {};
}
