import type { JsonObject } from '../lib/json.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { list, maxLengths, object, string } from '../model/schema/field.ts';
import type { Format } from '../model/schema/format.ts';
import { tunnelKey } from './tunnel-key.ts';

/** The traffic that one rule allows. */
type Traffic = Readonly<Record<'protocol', string>> & JsonObject;

/**
 * Parses a rule: `all`, `icmp`, `tcp/22`, `udp/1000-2000` or `ssh/22`. Returns what is wrong with the text when it is
 * not a rule.
 */
export function parseTemporaryRule(text: string): Traffic | string {
  if (text === 'all' || text === 'icmp') return { protocol: text };
  const [, protocol = '', from = '', to = from] = /^(tcp|udp|ssh)\/(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [start, end] = [Number(from), Number(to)];
  if (protocol === '')
    return `\`${text}\` is not a rule; write \`all\`, \`icmp\`, or a protocol with a port or a range, such as \`tcp/22\` or \`udp/1000-2000\``;
  if (start < 1 || end > 65535 || start > end)
    return `\`${text}\` has invalid ports; write ports from 1 to 65535, the lower one first`;
  return start === end ? { protocol, ports: [String(start)] } : { protocol, port_ranges: [{ start, end }] };
}

/** Format of a rule of temporary access. A rule has only one spelling. */
const temporaryRule: Format = {
  name: 'rule',
  canonical(text) {
    const rule = parseTemporaryRule(text);
    return typeof rule === 'string' ? { fault: rule } : { value: text };
  },
};

const grammar = 'Each is `all`, `icmp`, or a protocol (`tcp`, `udp`, `ssh`) with a port or a range, such as `tcp/22`.';

/** Operation that grants temporary access to a peer. */
export const temporaryAccess = {
  grant: defineOperation({
    id: 'grantTemporaryAccess',
    method: 'POST',
    path: '/api/peers/{peerId}/temporary-access',
    access: { module: 'peers', operation: 'create' },
    summary: 'Grant temporary access to a peer',
    doc: 'Reserves a peer with this key, which can reach only this peer, by these rules. The reserved peer becomes usable when the caller enrols with the key (`POST /agent/enrol`), which proves that the key is theirs; until then, any other holder of the key can still enrol with it. The peer and its policies are deleted 30 s after it disconnects, or after 10 minutes when it never connects.',
    params: { peerId: string({ doc: 'The id of the peer.' }) },
    body: {
      name: string({ doc: 'The host name of the new peer.', minLength: 1, maxLength: maxLengths.name }),
      wg_pub_key: string({ doc: 'The public X25519 key of its tunnel, base64.', format: tunnelKey }),
      rules: list(string({ doc: '', format: temporaryRule }), {
        doc: `Traffic that the new peer may send. ${grammar}`,
        minItems: 1,
        maxItems: 100,
      }),
    },
    answer: object(
      {
        name: string({ doc: 'Its name.' }),
        id: string({ doc: 'Its id.' }),
        rules: list(string({ doc: '' }), { doc: 'Traffic that the new peer may send.' }),
      },
      { doc: 'A temporary peer that may reach another peer.', schema: 'TemporaryAccess' },
    ),
    errors: ['conflict'],
    example: {
      body: { name: 'browser', wg_pub_key: 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=', rules: ['tcp/22'] },
      answer: { name: 'browser', id: 'ch8i4ug6lnn4g9hqv7n0', rules: ['tcp/22'] },
    },
  }),
};
