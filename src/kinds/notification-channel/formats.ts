import { nearest } from '../../lib/nearest.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import { activities, isActivityCode } from '../../model/declare/activities.ts';
import type { Format } from '../../model/schema/field.ts';

/** The code of an activity that the program knows. */
export const activityCode: Format = {
  name: 'event_type',
  pattern: '[0-9a-z._-]+',
  canonical(text) {
    if (isActivityCode(text)) return { value: text };
    const guess = nearest(text, Object.keys(activities));
    const hint =
      guess === undefined ? 'GET /api/integrations/notifications/types lists them' : `did you mean \`${guess}\`?`;
    return { fault: `there is no event of the type \`${text}\`; ${hint}` };
  },
};

const longestLocal = 64;

/** One e-mail address without a name beside it; the domain in its one spelling. */
export const emailAddress: Format = {
  name: 'email',
  pattern: '[^@]+@[^@]+',
  canonical(text) {
    const at = text.lastIndexOf('@');
    const local = text.slice(0, Math.max(at, 0));
    const domain = canonicalDomain(text.slice(at + 1));
    const isLocal = /^[^\s@"(),:;<>[\\\]]+$/.test(local) && local.length <= longestLocal && !/^\.|\.\.|\.$/.test(local);
    if (isLocal && domain !== undefined) return { value: `${local}@${domain}` };
    return { fault: `\`${text}\` is not an e-mail address; write one such as ana@example.com` };
  },
};
