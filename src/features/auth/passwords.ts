import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Engine } from '../../commit/engine.ts';
import { Unavailable } from '../../model/errors.ts';
import type { PasswordCost } from '../../model/password-cost.ts';

/** Cost of password hashes. */
type Costs = Pick<Engine, 'passwordCost'>;

const saltBytes = 16;
const tagBytes = 32;

/**
 * Returns the text by which a password is stored: argon2id with a random salt. The bytes of the password are hashed
 * unchanged.
 */
export async function hashPassword({ passwordCost }: Costs, password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return format(passwordCost, salt, await derive(password, salt, passwordCost, tagBytes));
}

/**
 * Returns whether the password is the stored one. Takes the same time when none is stored, so that the time of the
 * answer does not show whether the person exists.
 */
export async function verifyPassword(
  { passwordCost }: Costs,
  stored: string | undefined,
  password: string,
): Promise<boolean> {
  const known = stored === undefined ? undefined : parse(stored);
  const { salt, tag, ...used } = known ?? {
    ...passwordCost,
    salt: Buffer.alloc(saltBytes),
    tag: Buffer.alloc(tagBytes),
  };
  const isSame = timingSafeEqual(await derive(password, salt, used, tag.length), tag);
  return isSame && known !== undefined;
}

interface Stored extends PasswordCost {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function format({ memory, passes, parallelism }: PasswordCost, salt: Buffer, tag: Buffer): string {
  const bare = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${bare(salt)}$${bare(tag)}`;
}

const hashPattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;

function parse(stored: string): Stored {
  const [, memory, passes, parallelism, salt = '', tag = ''] = hashPattern.exec(stored) ?? [];
  if (memory === undefined) throw new Error('a stored password is no argon2id text');
  return {
    ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    ...{ salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') },
  };
}

const argon2Of = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);

async function derive(password: string, salt: Buffer, { memory, passes, parallelism }: PasswordCost, length: number) {
  const parameters = { message: password, nonce: salt, parallelism, tagLength: length, memory, passes };
  return await runLimited(() => argon2Of('argon2id', parameters));
}

/**
 * Maximum number of concurrent and of waiting hashes. Hashing uses the thread pool of the process, which file access
 * and name resolution need too.
 */
const maxRunning = 2;
const maxWaiting = 200;
let running = 0;
const waiting: (() => void)[] = [];

async function runLimited<Value>(work: () => Promise<Value>): Promise<Value> {
  if (running >= maxRunning) {
    if (waiting.length >= maxWaiting) throw new Unavailable('too many people sign in at once; try again in a moment');
    // Work that ends passes its slot to the next one.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
