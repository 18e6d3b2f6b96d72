import type { ProblemCode } from '../../model/problem-codes.ts';
import { boolean, integer, ref, refs } from '../../model/schema/field.ts';
import type { MemberRule } from '../../model/schema/member-rules.ts';

/** The one peer by way of which something is reached. */
export const routingPeer = ref('Peer', { doc: 'The peer that routes. Give either this or `peer_groups`.' });

/** The peers by way of which something is reached. */
export const routingGroups = refs('Group', {
  doc: 'Groups whose peers route. Give either this or `peer`.',
  omitEmpty: 'always',
});

/** What is reached by way of one peer is not reached by way of groups. */
export function routedByOne(code: ProblemCode): MemberRule {
  return { rule: 'exactlyOne', members: ['peer', 'peer_groups'], code, at: 'peer_groups' };
}

/** Whether what is reached sees the routing peer in place of the sender. */
export const masqueradeField = boolean({
  doc: 'Whether the routing peer puts its own address in place of the sender.',
  required: true,
  documentDefault: true,
});

/** Which of several ways is taken. */
export function metricField(doc: string) {
  return integer({ doc, required: true, documentDefault: 9999, minimum: 1, maximum: 9999 });
}
