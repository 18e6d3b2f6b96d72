import { describe, it } from 'vitest';
import { checkKilledConnections } from './killed-connections.ts';

describe('a commit on a killed connection', () => {
  it('E96 is written exactly once if acknowledged and not at all if refused, with two servers writing', () =>
    checkKilledConnections(300, 60));
});
