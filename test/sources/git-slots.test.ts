import { expect, it } from 'vitest';
import { createGitSlots } from '../../src/features/sources/git/git-slots.ts';

const signal = new AbortController().signal;

/** Returns functions that start work and end it. Work begins when it gets a slot, and is then listed in `begun`. */
function work(turns: ReturnType<typeof createGitSlots>, begun: string[]) {
  const ends = new Map<string, () => void>();
  const start = (name: string, on: AbortSignal = signal) =>
    turns.run(name.slice(0, 1), on, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { start, end };
}

it('Git work runs in a limited number of slots, one is left to other accounts, and accounts take turns', async () => {
  const begun: string[] = [];
  const { start, end } = work(createGitSlots(3), begun);
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => start(name));
  await new Promise(setImmediate);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('b1');
  expect(begun.at(-1)).toBe('b2');
  await end('a1');
  expect(begun.at(-1)).toBe('c1');
  for (const name of ['a2', 'b2', 'c1']) await end(name);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'a3', 'a4']);
  for (const name of ['a3', 'a4']) await end(name);
  await Promise.all(all);
});

it('Git work that is aborted while waiting takes no slot, and failed work releases its slot', async () => {
  const begun: string[] = [];
  const turns = createGitSlots(2);
  const { start, end } = work(turns, begun);
  const first = start('a1');
  const gone = new AbortController();
  const second = start('a2', gone.signal);
  gone.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  await end('a1');
  await first;
  await expect(turns.run('a', signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  const third = start('a3');
  await new Promise(setImmediate);
  expect(begun).toEqual(['a1', 'a3']);
  await end('a3');
  await third;
});
