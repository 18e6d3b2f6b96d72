import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sendSourceHint } from '../../features/sources/scheduled-sources.ts';
import { Unauthenticated } from '../../model/errors.ts';
import { webhook as operations } from '../../operations/config/webhook.ts';
import { implement } from '../operations/implement.ts';

/** Maximum size of a webhook body, in bytes. Git hosts send the pushed commits one by one. */
const bodyLimit = 5 * 1024 * 1024;

/** Minimum time between two hints to the same source, in milliseconds. */
const minHintIntervalMs = 1000;

/**
 * Webhook by which the host of a repository announces a new commit. Its content is not trusted: a hint with a valid
 * signature only makes the source poll sooner, and a replayed hint does no more than that.
 */
export const webhook = implement(operations, (engine, { sources }, app) => {
  const pass = throttleHints((account, name) => {
    // A lost hint does no harm: the next poll finds the commit.
    sendSourceHint(engine, account, name).catch(() => undefined);
  });
  app.addHook('onClose', async () => pass.close());
  return {
    hint: {
      bodyLimit,
      async handle({ params: { name }, query, request }) {
        const account = query.account ?? sources.account;
        const secret = account === undefined ? undefined : await sources.webhookSecret(account, name);
        // The answer is the same whether or not the source exists.
        if (account === undefined || secret === undefined || !isGenuine(request, secret))
          throw new Unauthenticated('the webhook request is not signed with the secret of this source');
        pass.hint(account, name);
        return {};
      },
    },
  };
});

/**
 * Whether the sender knows the secret: it has signed the body with it (GitHub, Gitea and others), or has sent it in a
 * header (GitLab).
 */
function isGenuine(request: FastifyRequest, secret: string): boolean {
  const given = header(request, 'x-gitlab-token');
  if (given !== undefined) return equalInConstantTime(given, secret);
  const signature =
    header(request, 'x-hub-signature-256') ??
    header(request, 'x-hub-signature') ??
    header(request, 'x-gitea-signature');
  if (signature === undefined) return false;
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return equalInConstantTime(
    signature.replace(/^sha256=/, ''),
    createHmac('sha256', secret).update(body).digest('hex'),
  );
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Compares two texts in a time that does not depend on where they differ. */
function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Returns functions that pass hints on. The first hint is passed on immediately; all hints of the following
 * `minHintIntervalMs` become one hint at the end of that time.
 */
function throttleHints(pass: (account: string, name: string) => void) {
  const waiting = new Map<string, { readonly timer: NodeJS.Timeout; again: boolean }>();
  const hint = (account: string, name: string): void => {
    const key = `${account}/${name}`;
    const present = waiting.get(key);
    if (present !== undefined) {
      present.again = true;
      return;
    }
    pass(account, name);
    const timer = setTimeout(() => {
      const { again } = waiting.get(key) ?? { again: false };
      waiting.delete(key);
      if (again) hint(account, name);
    }, minHintIntervalMs);
    waiting.set(key, { timer, again: false });
  };
  return {
    hint,
    close(): void {
      for (const { timer } of waiting.values()) clearTimeout(timer);
    },
  };
}
