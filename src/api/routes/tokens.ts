import type { Call, Engine } from '../../commit/engine.ts';
import {
  addToken,
  type NewToken,
  readToken,
  readTokens,
  removeToken,
  requireTokenRight,
} from '../../features/accounts/tokens.ts';
import { hashToken, tokenPrefix } from '../../features/auth/authenticate.ts';
import { requireRecentSignIn } from '../../features/auth/recent-sign-in.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { tokens as operations } from '../../operations/tokens.ts';
import { implement } from '../operations/implement.ts';

/** Personal access tokens of the callers themselves and of service users. */
export const tokens = implement(operations, (engine) => {
  const signedIn = (call: Call) => requireRecentSignIn(call, Date.parse(engine.now()));
  return {
    list: ({ call, params }) => readTokens(engine, call, params.userId),
    create: {
      handle({ call, params, body }) {
        signedIn(call);
        return addToken(engine, call, params.userId, body, () => newToken(engine));
      },
      mayRepeat: ({ call, params }) => requireTokenRight(engine, call, params.userId),
    },
    read: ({ call, params }) => readToken(engine, call, params.userId, params.tokenId),
    delete({ call, params }) {
      signedIn(call);
      return removeToken(engine, call, params.userId, params.tokenId);
    },
  };
});

function newToken({ planEnvironment }: Engine): NewToken {
  const value = makeToken(tokenPrefix, planEnvironment.random(tokenRandomBytes));
  return { value, hash: hashToken(value) };
}
