import type { ProblemCode } from '../../model/problem-codes.ts';
import { boolean, integer, ref, refs } from '../../model/schema/field.ts';
import type { MemberRule } from '../../model/schema/member-rules.ts';

/** Field with the single peer that routes to a destination. */
export const routingPeer = ref('Peer', { doc: 'The peer that routes. Give either this or `peer_groups`.' });

/** Field with the groups whose peers route to a destination. */
export const routingGroups = refs('Group', {
  doc: 'Groups of peers that route. Give either this or `peer`.',
  omitEmpty: 'always',
});

/** Returns the rule that exactly one of `peer` and `peer_groups` is given. */
export function exactlyOneRouter(code: ProblemCode): MemberRule {
  return { rule: 'exactlyOne', members: ['peer', 'peer_groups'], code, at: 'peer_groups' };
}

/** Field: whether the destination sees the address of the routing peer instead of the sender's. */
export const masqueradeField = boolean({
  doc: 'Whether the routing peer replaces the source address of forwarded traffic with its own (source NAT).',
  required: true,
  documentDefault: true,
});

/** Returns the field with the priority of a route or router. The lowest number wins. */
export function metricField(doc: string) {
  return integer({ doc, required: true, documentDefault: 9999, minimum: 1, maximum: 9999 });
}
