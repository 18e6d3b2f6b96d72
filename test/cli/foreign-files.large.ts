import { describe, it } from 'vitest';
import { expectIgnored, renovate } from './foreign-directory.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

describe('foreign files beside documents', () => {
  it('are ignored with a note, including the output of `heddle schema`', async () => {
    const schema = (await server().heddle(['schema'])).out;
    await expectIgnored(server(), { 'heddle.json': schema, 'renovate.json': renovate });
  });
});
