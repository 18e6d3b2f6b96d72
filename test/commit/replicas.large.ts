import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { createObject } from '../../src/objects/objects.ts';
import { manyDocuments } from '../db/accounts.ts';
import { applyRequest, newOffice } from './office.ts';

const lenient = { strict: false };

describe('two servers on one database', () => {
  it('complete a large apply on one while the other keeps writing', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const other = await office.another();
    let done = false;
    const busy = async () => {
      for (let at = 0; !done; at++)
        await createObject(other, call, other.registry.get('Group'), { name: `by hand ${at}` }, lenient);
    };
    const applying = applyDocuments(engine, call, applyRequest('a', manyDocuments(2_000))).finally(() => {
      done = true;
    });
    const [applied] = await Promise.all([applying, busy()]);
    expect(applied.state).toBe('applied');
  });

  it('E95 refuse to write to an account that is locked, and write once it is unlocked', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const holder = new pg.Client({ connectionString: office.made.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select revision from accounts for no key update');
      const kind = engine.registry.get('Group');
      await expect(createObject(engine, call, kind, { name: 'devs' }, lenient)).rejects.toThrow(
        /the account is held by .*try again/,
      );
      await holder.query('rollback');
      expect((await createObject(engine, call, kind, { name: 'devs' }, lenient)).object.name).toBe('devs');
    } finally {
      await holder.end();
    }
    expect(office.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
