import { describe, expect, it } from 'vitest';
import { duration } from '../../src/kinds/proxy-service/formats.ts';
import { domain } from '../../src/kinds/shared/formats.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { list, object, setOf, string } from '../../src/model/schema/field.ts';
import { normalize } from '../../src/model/schema/normalize.ts';
import { inWrittenSpelling } from '../../src/model/schema/spelling.ts';
import { withWrittenForm, writtenFormOf } from '../../src/model/schema/written-form.ts';
import { type StoredObject, uncommittedMembers } from '../../src/model/state/object.ts';

const timeout = string({ doc: 'A timeout.', format: duration });
const note = string({ doc: 'A note.', default: '', omitUnlessGiven: true });
const fields = {
  limits: object({ short: timeout, long: timeout, note }, { doc: 'Limits.' }),
  targets: list(object({ timeout, note }, { doc: 'A target.' }), { doc: 'Targets.', maxItems: 5 }),
  domains: setOf(string({ doc: 'A domain.', format: domain }), { doc: 'Domains.', maxItems: 5 }),
};

/** Writes a spec over an object, or as a new one. */
function write(spec: JsonObject, before?: StoredObject): StoredObject {
  const normalized = normalize(fields, spec);
  const base = { id: 'a', kind: 'Thing', name: 'a', derived: before?.derived ?? {}, ...uncommittedMembers('') };
  return withWrittenForm(fields, before, { ...base, spec: normalized.spec }, normalized, () => true);
}

function shown(object: StoredObject): JsonObject {
  return inWrittenSpelling(fields, object.spec, writtenFormOf(object).spellings);
}

describe('the written form of an object', () => {
  it('keeps the spelling of every text that a change repeats, and takes the new spelling of the others', () => {
    const first = write({
      ...{ limits: { short: '60s', long: '120s' }, domains: ['Books.example', 'Shelf.example'] },
      targets: [{ timeout: '90s' }, { timeout: '600s' }],
    });
    const second = write(
      {
        ...{ limits: { short: '1m', long: '3600s' }, domains: ['books.example', 'Desk.example'] },
        targets: [{ timeout: '1m30s' }, { timeout: '7200s' }],
      },
      first,
    );
    expect(shown(second)).toMatchObject({
      ...{ limits: { short: '60s', long: '3600s' }, domains: ['Books.example', 'Desk.example'] },
      targets: [{ timeout: '90s' }, { timeout: '7200s' }],
    });
  });

  it('drops the spelling of a text that the object does not have any more', () => {
    const first = write({ domains: ['Books.example', 'Shelf.example'] });
    const second = write({ domains: ['Shelf.example'] }, first);
    expect(writtenFormOf(second).spellings).toEqual({ domains: [['shelf.example', 'Shelf.example']] });
    expect(shown(write({ domains: ['books.example', 'shelf.example'] }, second))).toMatchObject({
      domains: ['books.example', 'Shelf.example'],
    });
  });

  it('keeps given defaults of members and list items that a change repeats, and takes those of the others', () => {
    const first = write({
      ...{ limits: { short: '60s', note: '' } },
      targets: [{ note: '' }, { note: '' }],
    });
    expect(writtenFormOf(first).given).toEqual(['limits.note', 'targets[0].note', 'targets[1].note']);
    const second = write({ limits: { short: '2m' }, targets: [{}, { timeout: '1m' }, { note: '' }] }, first);
    expect(writtenFormOf(second).given).toEqual(['limits.note', 'targets[0].note', 'targets[2].note']);
  });
});
