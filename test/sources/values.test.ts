import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createValueLookup } from '../../src/features/sources/values.ts';
import { temporaryDirectory } from './mount.ts';

describe('the values that documents may refer to', () => {
  it('are the listed environment variables and no others', () => {
    const valueFrom = createValueLookup({
      values: { HEDDLE_VALUE_A: 'x', HEDDLE_VALUE_EMPTY: '' },
      valuesDir: undefined,
    });
    expect(valueFrom('envRef', 'HEDDLE_VALUE_A')).toBe('x');
    expect(valueFrom('envRef', 'PATH')).toBeUndefined();
    expect(valueFrom('envRef', 'constructor')).toBeUndefined();
    // E121: an empty variable counts as a missing value, never as an empty text.
    expect(valueFrom('envRef', 'HEDDLE_VALUE_EMPTY')).toBeUndefined();
    expect(valueFrom('fileRef', 'anything')).toBeUndefined();
    expect(valueFrom('secretKeyRef', 'HEDDLE_VALUE_A')).toBeUndefined();
  });

  it('are files inside the values directory, without their last line end', async () => {
    const root = await temporaryDirectory();
    const directory = join(root, 'values');
    await mkdir(join(directory, 'deep'), { recursive: true });
    await writeFile(join(directory, 'deep', 'token'), 'secret\n');
    await writeFile(join(root, 'outside'), 'no');
    await symlink(join(root, 'outside'), join(directory, 'link'));
    const valueFrom = createValueLookup({ values: {}, valuesDir: directory });
    expect(valueFrom('fileRef', 'deep/token')).toBe('secret');
    for (const name of ['../outside', 'link', 'missing', 'deep', '/etc/hostname'])
      expect(valueFrom('fileRef', name)).toBeUndefined();
  });
});
