import { describe, expect, it } from 'vitest';
import { rowsOf } from '../commit/office.ts';
import { backUp, furnished, restore, sendBack } from './archive-setup.ts';

describe('an archive with a row beyond the limits of uploads', () => {
  it('is restored for the operator, and refused with the name of that command for an owner', async () => {
    await using api = await furnished();
    await api.engine.database.asOwner([
      "update audit_events set meta = jsonb_build_object('text', repeat('x', 5000000)) where id = 1",
    ]);
    const archive = await backUp(api);
    const owner = await sendBack(api, archive, `?replace=${api.account}`);
    expect([owner.status, owner.body['message']]).toEqual([
      422,
      expect.stringMatching(/too large for an owner .* `heddle operator restore`, which has no limits/),
    ]);
    expect(await restore(api, archive, { replace: api.account })).toMatchObject({ status: 200 });
    const rows = await rowsOf(
      api.engine.database,
      `select length(meta ->> 'text') as length from audit_events where id = 1`,
    );
    expect(rows).toEqual([{ length: 5_000_000 }]);
  });
});
