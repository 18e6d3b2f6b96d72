import { addProxyToken, readProxyTokens, removeProxyToken } from '../../features/proxy/tokens.ts';
import { proxyTokens as operations } from '../../operations/proxy-tokens.ts';
import { implement } from '../operations/implement.ts';

/** Tokens with which the account's own reverse proxies authenticate. */
export const proxyTokens = implement(operations, (engine) => ({
  list: ({ call }) => readProxyTokens(engine, call),
  create: ({ call, body }) => addProxyToken(engine, call, body),
  delete: ({ call, params }) => removeProxyToken(engine, call, params.tokenId),
}));
