import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { hashPassword, verifyPassword } from '../../src/features/auth/passwords.ts';
import { passwordFault } from '../../src/lib/new-password.ts';
import { defaultPasswordCost } from '../../src/model/password-cost.ts';
import { testDatabase } from '../setup/database.ts';

const costs = { passwordCost: defaultPasswordCost };

describe('a password', () => {
  it.each([
    ['seven c', 'must have at least 8 characters'],
    ['ééééééé', 'must have at least 8 characters'],
    ['x'.repeat(1025), 'must have at most 1024 characters'],
    [undefined, 'is required: a text of at least 8 characters'],
    [12_345_678, 'is required: a text of at least 8 characters'],
    ['PassWord', 'must not be a common one, because attackers try these first'],
    ['12345678', 'must not be a common one, because attackers try these first'],
    ['trustno1', 'must not be a common one, because attackers try these first'],
  ])('%j is refused', (password, fault) => {
    expect(passwordFault(password)).toBe(fault);
  });

  it.each(['aaaaaaaa', '        ', '🧵🧵🧵🧵🧵🧵🧵🧵', '🧵'.repeat(1024)])(
    'has no other rule: %j is accepted',
    (password) => {
      expect(passwordFault(password)).toBeUndefined();
    },
  );

  it('is stored as argon2id, with its cost and a separate salt', async () => {
    const [one, two] = await Promise.all([hashPassword(costs, 'correct horse'), hashPassword(costs, 'correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword(costs, one, 'correct horse')).toBe(true);
    expect(await verifyPassword(costs, one, 'correct horsf')).toBe(false);
  });

  it('is hashed at that cost by default on every server', async () => {
    await using made = await testDatabase('postgres');
    expect(createEngine({ database: made.database }).passwordCost).toEqual({
      memory: 19_456,
      passes: 2,
      parallelism: 1,
    });
  });

  it('is compared byte for byte: spellings that look alike differ', async () => {
    const stored = await hashPassword(costs, 'caf\u00e9 at ten');
    expect(await verifyPassword(costs, stored, 'cafe\u0301 at ten')).toBe(false);
    expect(await verifyPassword(costs, stored, 'caf\u00e9 at ten')).toBe(true);
  });

  it('hashed elsewhere at another cost is verified at that cost', async () => {
    const stored = '$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$8iVicxCnXgp2sHmYbAHOOg4MYhRYOxTOX3nmDyPeuKM';
    expect(await verifyPassword(costs, stored, 'not this one')).toBe(false);
  });

  it('is never right for an unknown user', async () => {
    expect(await verifyPassword(costs, undefined, '')).toBe(false);
    expect(await verifyPassword(costs, undefined, 'anything at all')).toBe(false);
  });

  it('is hashed without blocking the event loop', async () => {
    let turns = 0;
    const hashes = Promise.all(['a', 'b', 'c', 'd'].map((letter) => hashPassword(costs, letter.repeat(8))));
    let isDone = false;
    void hashes.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(turns).toBeGreaterThan(10);
  });
});
