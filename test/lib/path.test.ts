import { expect, it } from 'vitest';
import { normalizePath, pathBelow } from '../../src/lib/path.ts';

it.each([
  ['config/a.yaml', 'config/a.yaml'],
  ['./config//drafts/./a.yaml', 'config/drafts/a.yaml'],
  ['config/', 'config'],
  ['.', ''],
  ['', ''],
  ['config/../a.yaml', 'a.yaml'],
  ['../../a/..', '../..'],
  ['/srv/config/', '/srv/config'],
  ['/', '/'],
])('the path `%s` is normalised to `%s`', (given, normal) => {
  expect(normalizePath(given)).toBe(normal);
});

it.each([
  ['config', 'config/a.yaml', 'a.yaml'],
  ['config', 'configuration/a.yaml', undefined],
  ['', 'a.yaml', 'a.yaml'],
  ['', '../a.yaml', undefined],
  ['', '/a.yaml', undefined],
  ['/', '/a.yaml', 'a.yaml'],
])('below the directory `%s`, the path `%s` is `%s`', (directory, path, below) => {
  expect(pathBelow(directory, path)).toBe(below);
});
