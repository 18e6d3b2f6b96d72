import { readFile, stat, writeFile } from 'node:fs/promises';
import { isObject } from '../../lib/json.ts';
import { InvalidInput } from '../../model/errors.ts';
import { toWriteError } from '../write-file.ts';
import type { StoredPlan } from './planning.ts';

/** File that `heddle plan --out` writes: the plan, its digest and its server. Contains no secret. */
export interface PlanFile {
  readonly formatVersion: '1.0';
  readonly type: 'heddle-plan';
  readonly plan: string;
  readonly digest: string;
  readonly server: string;
  readonly source?: string;
  readonly expiresAt?: string;
}

/**
 * Writes the plan file, from which the plan can be applied later. Throws `InvalidInput` when the file cannot be
 * written.
 */
export async function writePlanFile(path: string, plan: StoredPlan, server: string): Promise<void> {
  const { id, digest, source, expiresAt } = plan;
  const file: PlanFile = {
    ...{ formatVersion: '1.0', type: 'heddle-plan', plan: id, digest, server },
    ...(source === undefined ? {} : { source }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  try {
    await writeFile(path, `${JSON.stringify(file, null, 2)}\n`);
  } catch (error) {
    const made = `The plan was made; \`heddle apply ${id}\` applies it without its file.`;
    throw toWriteError(path, error, made);
  }
}

/** Maximum size of a plan file. Larger files, such as most documents, are not parsed as plan files. */
const maxPlanFileBytes = 10_000;

/**
 * Returns the plan file at a path. Returns `undefined` when there is no file, or another kind of file. Throws
 * `InvalidInput` for a plan file of an unknown format.
 */
export async function readPlanFile(path: string): Promise<PlanFile | undefined> {
  const text = await readSmall(path);
  return text === undefined ? undefined : parsePlanFile(path, text);
}

/**
 * Returns the plan file with this text; `undefined` when it is not a plan file. Throws `InvalidInput` for an unknown
 * format.
 */
export function parsePlanFile(path: string, text: string): PlanFile | undefined {
  if (text.length > maxPlanFileBytes || !text.includes('"heddle-plan"')) return undefined;
  const content = parse(text);
  if (!isObject(content) || content['type'] !== 'heddle-plan') return undefined;
  const { formatVersion, plan, digest, server } = content;
  const isKnown = typeof formatVersion === 'string' && formatVersion.startsWith('1.');
  if (isKnown && [plan, digest, server].every((member) => typeof member === 'string'))
    // The cast is safe: the members were checked above, and versions `1.x` only add members.
    return content as unknown as PlanFile;
  throw new InvalidInput(
    `${path} contains a plan that this program cannot read; make it again with \`heddle plan --out\`.`,
  );
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const status = await stat(path);
    return status.isFile() && status.size <= maxPlanFileBytes ? await readFile(path, 'utf8') : undefined;
  } catch {
    // Reading the path as documents reports what is wrong with it.
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not a plan file: documents may also contain the text "heddle-plan".
    return undefined;
  }
}
