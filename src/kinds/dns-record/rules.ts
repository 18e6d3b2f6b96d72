import { isWithin } from '../../lib/net/domain.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Format } from '../../model/schema/format.ts';
import type { Stored } from '../../model/state/stored.ts';
import { ipv4, ipv6, recordTarget } from '../shared/formats.ts';

interface RecordSpec {
  readonly type: 'A' | 'AAAA' | 'CNAME';
  readonly content: string;
}

const contentFormats: Readonly<Record<RecordSpec['type'], Format>> = { A: ipv4, AAAA: ipv6, CNAME: recordTarget };

/**
 * Returns the spec with its content in canonical form, which depends on the type. Invalid content is kept:
 * `checkContent` reports it.
 */
export function canonicalContent<S extends Partial<RecordSpec>>(spec: S): S {
  if (spec.type === undefined || spec.content === undefined) return spec;
  const result = contentFormats[spec.type].canonical(spec.content);
  return 'value' in result ? { ...spec, content: result.value } : spec;
}

/** Checks that the content matches the type. */
export function checkContent(spec: RecordSpec): readonly Fault[] {
  const result = contentFormats[spec.type].canonical(spec.content);
  if ('value' in result) return [];
  return [
    {
      code: 'record_content_invalid',
      path: '/content',
      message: `the content of this ${spec.type} record is wrong: ${result.fault}`,
    },
  ];
}

/** Returns the id of the zone of a record. */
export function zoneIdOf(record: Stored<'DNSRecord'>): string {
  return record.parent ?? record.spec.zone ?? '';
}

/** Returns name, type and content as one text. It is unique in a zone. */
export function recordIdentity(record: Stored<'DNSRecord'>): string {
  return `${record.spec.name ?? ''}/${record.spec.type ?? ''}/${record.spec.content ?? ''}`;
}

/** Returns zone and name as one text, by which records of the same name are indexed. */
export function ownerNameOf(record: Stored<'DNSRecord'>): string {
  return `${zoneIdOf(record)}/${record.spec.name ?? ''}`;
}

/** Checks that the name of a record is inside its zone, and that a CNAME is the only record of its name. */
export function checkRecordName(record: Stored<'DNSRecord'>, state: State): readonly Fault[] {
  return [...checkZone(record, state), ...checkCname(record, state)];
}

function checkZone(record: Stored<'DNSRecord'>, state: State): readonly Fault[] {
  const zone = state.find('DNSZone', zoneIdOf(record));
  if (zone === undefined) return [];
  const name = record.spec.name ?? '';
  const domain = zone.spec.domain ?? '';
  if (isWithin(name, domain)) return [];
  const message = `\`${name}\` is not in the zone \`${domain}\`; write a name that ends in \`.${domain}\``;
  return [{ code: 'record_name_outside', path: '/name', message }];
}

function checkCname(record: Stored<'DNSRecord'>, state: State): readonly Fault[] {
  const others = state.lookUp('DNSRecord', 'owner-name', ownerNameOf(record)).filter(({ id }) => id !== record.id);
  const other = isCname(record) ? others[0] : others.find(isCname);
  if (other === undefined) return [];
  const message =
    `\`${record.spec.name ?? ''}\` cannot have this ${record.spec.type ?? ''} record beside its ${other.spec.type ?? ''} record: ` +
    'a CNAME cannot share its name with other records; remove one of them';
  return [{ code: 'record_cname_alone', path: '/type', message }];
}

function isCname(record: Stored<'DNSRecord'>): boolean {
  return record.spec.type === 'CNAME';
}
