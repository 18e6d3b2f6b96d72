import { describe, expect, it } from 'vitest';
import { matchesGlob, parseGlob, splitPath } from '../../src/lib/glob.ts';

function matches(pattern: string, path: string): boolean {
  const glob = parseGlob(pattern);
  if (glob === undefined || 'fault' in glob) throw new Error(`${pattern} is no pattern`);
  return matchesGlob(glob, splitPath(path), () => undefined);
}

describe('a path pattern', () => {
  it.each([
    ['a.yaml', ['a.yaml', 'deep/a.yaml'], ['b.yaml', 'a.yaml.bak', 'ba.yaml']],
    ['/a.yaml', ['a.yaml'], ['deep/a.yaml']],
    ['deep/a.yaml', ['deep/a.yaml'], ['a.yaml', 'very/deep/a.yaml']],
    ['*.yaml', ['a.yaml', 'deep/b.yaml', '.yaml'], ['a.yml']],
    ['a*b*c', ['abc', 'axbxbxc', 'abbc'], ['ab', 'acb', 'abcx']],
    ['deep/*', ['deep/a'], ['deep', 'deep/er/a']],
    ['**/a', ['a', 'x/a', 'x/y/a'], ['x/ab']],
    ['deep/**', ['deep/a', 'deep/x/a'], ['deep']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/b/b'], ['a/bb', 'b']],
    ['**', ['a', 'x/a'], []],
    ['a*', ['a', 'ab'], ['ba']],
    ['*a*b', ['ab', 'xaxb', 'aabab'], ['ba', 'b', 'abx']],
    ['a*a', ['aa', 'aba'], ['a']],
    ['a/**/a', ['a/a'], ['a']],
    ['x/**/a/*', ['x/a/b', 'x/y/a/b'], ['x/a', 'x/b']],
    ['a?c', ['abc', 'a😀c'], ['ac', 'abbc']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[]x]y', [']y', 'xy'], ['y']],
    ['[a-]y', ['ay', '-y'], ['by']],
    ['\\*x', ['*x'], ['ax']],
    ['\\#x', ['#x'], ['x']],
    ['a\\ ', ['a '], ['a']],
    ['a   ', ['a'], ['a ']],
  ] as const)('%s matches %j and not %j', (pattern, yes, no) => {
    expect(yes.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(no.filter((path) => matches(pattern, path))).toEqual([]);
  });

  it('is absent in a blank line and in a comment', () => {
    expect(['', '  ', '# text', '\r'].map(parseGlob)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it.each([
    ['[a', 'without a closing `]`'],
    ['a\\', 'backslash'],
    ['a//b', 'the segment ``'],
    ['../a', 'the segment `..`'],
    ['/', 'names nothing'],
    ['!', 'names nothing'],
    ['[[:alpha:]]', 'character class'],
    ['x'.repeat(501), 'more than 500 characters'],
  ])('is refused as invalid: %s', (pattern, fault) => {
    expect(parseGlob(pattern)).toEqual({ fault: expect.stringContaining(fault) });
  });

  it.each([
    ['*a'.repeat(200), 'a'.repeat(4000)],
    ['**/a/'.repeat(90), 'a/'.repeat(2000).slice(0, -1)],
    ['[a-z]*'.repeat(80), `${'a'.repeat(4000)}!`],
  ])('needs fewer comparisons than twice the product of the lengths of pattern and path', (pattern, path) => {
    let comparisons = 0;
    const glob = parseGlob(`${pattern}b*`);
    if (glob === undefined || 'fault' in glob) throw new Error('no pattern');
    const found = matchesGlob(glob, splitPath(path), (number) => {
      comparisons += number;
    });
    expect(found).toBe(false);
    expect(comparisons).toBeLessThan(2 * pattern.length * path.length);
  });
});
