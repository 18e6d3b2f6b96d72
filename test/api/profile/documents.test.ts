import { describe, expect, it } from 'vitest';
import { type MemberRow, rows, type WordRow } from '../../../src/api/profile/table.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { Kind } from '../../../src/model/declare/kind.ts';
import { documentFields } from '../../../src/model/lower/shape.ts';
import type { AnyField, Fields } from '../../../src/model/schema/field.ts';
import { entriesOf } from '../../../src/model/schema/field-search.ts';
import { createValidator } from '../../../src/model/schema/validation/validate.ts';
import { registry } from '../../model/product.ts';

/** A field of documents: its kind, its name and its declaration. */
interface DocumentField {
  readonly kind: string;
  readonly name: string;
  readonly field: AnyField;
}

function fieldsWithin(kind: string, fields: Fields): readonly DocumentField[] {
  return entriesOf(fields).flatMap(([name, field]) => [{ kind, name, field }, ...fieldsInside(kind, field)]);
}

function fieldsInside(kind: string, field: AnyField): readonly DocumentField[] {
  if (field.type === 'object' || field.type === 'keyed') return fieldsWithin(kind, field.fields);
  return field.type === 'list' ? fieldsInside(kind, field.of) : [];
}

/** Returns the fields of documents to which a row of the table applies, with the declarations of the kinds. */
function fieldsOf(row: MemberRow | WordRow): readonly DocumentField[] {
  const isMeant = ({ path }: Kind) => row.at.some((at) => at.replace(/\/\*$/, '') === path);
  const kinds = registry.kinds.filter((kind) => kind.document.allowed && isMeant(kind));
  const fields = kinds.flatMap((kind) => fieldsWithin(kind.name, documentFields(registry, kind)));
  return row.differs === 'member'
    ? fields.filter(({ name }) => name === row.ours)
    : fields.filter(({ name, field }) => name === row.member && field.type === 'enum');
}

const translated = rows.filter((row) => row.differs === 'member' || row.differs === 'word');

describe('documents with a name that clients of the profile use', () => {
  it('are recognized by the kinds for every name of the table that is a field or value of documents', () => {
    const found = translated.flatMap((row) =>
      fieldsOf(row).map(({ kind, name, field }) => {
        const known =
          row.differs === 'member'
            ? (field.foreignNames ?? []).includes(row.theirs)
            : field.type === 'enum' && field.foreignValues?.[row.theirs] === row.ours;
        return `${kind}.${name}: ${row.theirs} ${known ? 'is' : 'is not'} known`;
      }),
    );
    expect(found).toEqual([
      'PostureCheck.client_version_check: nb_version_check is known',
      'ProxyService.reputation_mode: crowdsec_mode is known',
      'Policy.protocol: netbird-ssh is known',
    ]);
  });

  const rule = { name: 'r', action: 'accept', protocol: 'netbird-ssh', sources: ['a'], destinations: ['b'] };
  it.each<[string, JsonObject, string, string, string]>([
    [
      'PostureCheck',
      { checks: { nb_version_check: { min_version: '1.2.3' } } },
      'field_renamed /checks/nb_version_check',
      'nb_version_check',
      'client_version_check',
    ],
    [
      'ProxyService',
      { domain: 'a.example.com', access_restrictions: { crowdsec_mode: 'observe' } },
      'field_renamed /access_restrictions/crowdsec_mode',
      'crowdsec_mode',
      'reputation_mode',
    ],
    ['Policy', { rules: [rule] }, 'value_not_allowed /rules/0/protocol', 'netbird-ssh', 'ssh'],
  ])('of the kind %s are refused with the right name', (kind, spec, fault, theirs, ours) => {
    const found = createValidator(registry).check(kind, 'document', spec);
    expect(found.map(({ code, path, message }) => [`${code} ${path}`, message])).toEqual([
      [fault, `\`${theirs}\` is called \`${ours}\` here; write \`${ours}\``],
    ]);
  });
});
