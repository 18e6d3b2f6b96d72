import type { Json } from '../../src/lib/json.ts';
import type { Answer } from '../api/setup.ts';
import { withValue } from '../kinds/declared-fields.ts';
import { faultsOfAnswer } from './check-answer.ts';
import type { PathParameters, Row, Sample } from './row.ts';
import type { Member } from './shape.ts';
import { type BodyField, fieldsIn, pathsOf, valueAt, wrongTypes } from './variants.ts';
import type { World } from './world.ts';

/** An operation during its test. */
export interface Trial {
  readonly world: World;
  readonly operation: string;
  readonly row: Row;
  /** Whether to also send requests that are wrong in one field. */
  readonly refusals: boolean;
  /** Answer members that were present at least once. */
  readonly seen: Set<Member>;
  /** Paths of the request fields that were sent. */
  readonly tried: Set<string>;
}

/** Tests everything that the table states about an operation. Returns the deviations. */
export async function tryOperation(of: Omit<Trial, 'tried'>): Promise<readonly string[]> {
  const trial = { ...of, tried: new Set<string>() };
  const { row, world, tried } = trial;
  const found: string[] = [];
  await row.given?.(world);
  for (const sample of row.request?.samples ?? [undefined]) found.push(...(await trySample(trial, sample)));
  const untried = pathsOf(row.request?.fields ?? {}).filter((path) => !tried.has(path));
  return [...found, ...untried.map((path) => `the samples do not have ${path}`)];
}

async function trySample(trial: Trial, sample: Sample | undefined): Promise<readonly string[]> {
  const { row, world, operation, refusals } = trial;
  const parameters = (await (sample?.at ?? row.at)?.(world)) ?? {};
  if (sample === undefined)
    return [...(await tryWhole(trial, parameters, undefined)), ...(await tryQueries(trial, parameters))];
  const unknown = await tryUnknown(trial, parameters, sample);
  const wrong = refusals
    ? [...(await tryWithout(trial, parameters, sample, true)), ...(await tryTypes(trial, parameters, sample))]
    : [];
  const whole = await tryWhole(trial, parameters, sample);
  const consumed = operation.startsWith('POST') && operation.includes('/unlink');
  return [...unknown, ...wrong, ...whole, ...(consumed ? [] : await tryWithout(trial, parameters, sample, false))];
}

/** Sends the valid request: the answer must match the table, and a second DELETE must return 404. */
async function tryWhole(
  trial: Trial,
  parameters: PathParameters,
  sample: Sample | undefined,
): Promise<readonly string[]> {
  const { row, seen, operation } = trial;
  const body = await sample?.body(trial.world, parameters);
  for (const { pointer } of fieldsIn(row.request?.fields ?? {}, body ?? {}))
    trial.tried.add(pointer.replace(/\/\d+(?=\/|$)/g, ''));
  const answer = await send(trial, parameters, body);
  if (answer.status !== 200)
    return [`answers ${answer.status} ${JSON.stringify(answer.body)} to ${JSON.stringify(body)}`];
  const found = [...faultsOfAnswer(row.answer, answer, seen)];
  const isList = typeof row.answer === 'object' && row.answer.is === 'list';
  if (isList && answer.body.length === 0 && row.mayBeEmpty === undefined) found.push('answers an empty list');
  if (sample === undefined && row.at !== undefined) found.push(...(await tryUnknown(trial, parameters, undefined)));
  if (!operation.startsWith('DELETE')) return found;
  const again = await trial.world.api.call('DELETE', pathOf(operation, parameters));
  return again.status === 404 ? found : [...found, `answers ${again.status} when there is nothing left to delete`];
}

async function tryQueries(trial: Trial, parameters: PathParameters): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, value] of Object.entries(trial.row.query ?? {})) {
    const answer = await send(trial, parameters, undefined, `?${name}=${encodeURIComponent(value)}`);
    if (answer.status !== 200) found.push(`answers ${answer.status} to ?${name}=${value}`);
    else found.push(...faultsOfAnswer(trial.row.answer, answer, trial.seen));
    if (Array.isArray(answer.body) && answer.body.length === 0) found.push(`finds nothing by ?${name}=${value}`);
  }
  return found;
}

/** Checks that each unknown value of a path parameter returns 404 with the message `not found`. */
async function tryUnknown(
  trial: Trial,
  parameters: PathParameters,
  sample: Sample | undefined,
): Promise<readonly string[]> {
  const names = Object.keys(parameters).filter((name) => trial.operation.includes(`{${name}}`));
  const found: string[] = [];
  const body = names.length === 0 ? undefined : await sample?.body(trial.world, parameters);
  for (const name of names) {
    const answer = await send(trial, parameters, body, '', { ...parameters, [name]: 'nobody' });
    if (answer.status !== 404 || !String(answer.body.message).includes('not found'))
      found.push(`answers ${answer.status} for an unknown ${name}: ${JSON.stringify(answer.body)}`);
  }
  return found;
}

/**
 * Sends the body without each field. Without a required field it must be refused, and the message must name the field.
 * Without an optional field it must be accepted, also with `null`, which ruling 4 treats as absent.
 */
async function tryWithout(
  trial: Trial,
  parameters: PathParameters,
  sample: Sample,
  required: boolean,
): Promise<readonly string[]> {
  const found: string[] = [];
  const fields = trial.row.request?.fields ?? {};
  const first = await sample.body(trial.world, parameters);
  for (const field of fieldsIn(fields, first)) {
    const needed = field.member.required || sample.refusedWithout?.[field.pointer] !== undefined;
    if (needed !== required) continue;
    for (const gone of field.member.required ? [undefined] : [undefined, null]) {
      const body = withValue(await sample.body(trial.world, parameters), field.pointer, gone);
      const answer = await send(trial, parameters, body);
      const faults = needed ? faultsOfRefusal(field, answer) : faultsWithout(trial, field, answer);
      found.push(...faults.map((fault) => (gone === null ? `${fault} (null)` : fault)));
    }
  }
  return found;
}

function faultsOfRefusal({ pointer, name, member }: BodyField, answer: Answer): readonly string[] {
  if (answer.status !== 422) return [`answers ${answer.status} without ${pointer}`];
  return !member.required || names(answer, pointer, name) ? [] : [`does not name ${pointer}: ${answer.body.message}`];
}

function faultsWithout({ row, seen }: Trial, { pointer }: BodyField, answer: Answer): readonly string[] {
  if (answer.status === 200) return faultsOfAnswer(row.answer, answer, seen);
  return [`needs ${pointer}: ${answer.status} ${JSON.stringify(answer.body)}`];
}

async function tryTypes(trial: Trial, parameters: PathParameters, sample: Sample): Promise<readonly string[]> {
  const found: string[] = [];
  const first = await sample.body(trial.world, parameters);
  const fields = fieldsIn(trial.row.request?.fields ?? {}, first).filter(({ member }) => member.reason === undefined);
  for (const field of fields) {
    for (const [pointer, value] of wrongTypes(field, valueAt(first, field.pointer))) {
      const answer = await send(trial, parameters, withValue(first, pointer, value));
      if (answer.status !== 422) found.push(`answers ${answer.status} to ${JSON.stringify(value)} at ${pointer}`);
      else if (!names(answer, pointer, field.name)) found.push(`does not name ${pointer}: ${answer.body.message}`);
    }
  }
  return found;
}

/** Returns whether a refusal names the field that it is about. */
function names({ body }: Answer, pointer: string, name: string): boolean {
  const problems: readonly { readonly path?: string }[] = body.problems ?? [];
  return problems.some(({ path }) => path === pointer) || String(body.message).includes(`\`${name}\``);
}

async function send(
  trial: Trial,
  parameters: PathParameters,
  body: Json | undefined,
  query = '',
  at = parameters,
): Promise<Answer> {
  const { world, row, operation } = trial;
  await row.before?.(world, parameters);
  const headers = (await row.as?.(world, parameters)) ?? {};
  const [method = ''] = operation.split(' ');
  return world.api.call(method, pathOf(operation, at) + query, body, headers);
}

/** Returns the path of an operation, with values instead of its parameters. */
export function pathOf(operation: string, parameters: PathParameters): string {
  return (operation.split(' ')[1] ?? '').replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(parameters[name] ?? 'nobody'),
  );
}
