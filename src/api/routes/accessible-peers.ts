import { readAccessiblePeers } from '../../features/peers/accessible-peers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import { accessiblePeerFields, accessiblePeers as operations } from '../../operations/accessible-peers.ts';
import { sendLong } from '../answers/answers.ts';
import { implement } from '../operations/implement.ts';

/** The peers to which a peer may open a connection. */
export const accessiblePeers = implement(operations, (engine) => ({
  async list({ call, params, request, reply }) {
    const { peers, state } = await readAccessiblePeers(engine, call, params.peerId);
    const body = peers.map((peer) => selectFields(lowerToResponse(engine.registry, peer, state)));
    const version = peers.reduce((newest, { updatedRevision }) => Math.max(newest, updatedRevision), 0);
    return sendLong(request, reply, { version, body });
  },
}));

function selectFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in accessiblePeerFields));
}
