import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { feeds } from '../../src/db/logs/feeds.ts';
import { activities } from '../../src/model/declare/activities.ts';

/** Codes that clients may subscribe to because the specification names them, but that this server never emits. */
const neverEmitted = {
  'switches of its dashboard, partly for what has another code here': [
    ...['peer.add', 'routing.peer.disconnect', 'routing.peer.delete', 'user.pending.approval'],
  ],
  'activities that it has as never recorded': [
    ...['setupkey.overuse', 'rule.add', 'rule.update', 'rule.delete'],
    ...['integrated-validator.peer.compliance-bypassed', 'integrated-validator.peer.compliance-bypass-revoked'],
  ],
  'settings that have one value here': [
    ...['account.setting.metrics.push.enable', 'account.setting.metrics.push.disable'],
    ...['account.setting.auto.update.always.enable', 'account.setting.auto.update.always.disable'],
  ],
  'parts of the service that are not here': [
    ...['user.peer.session.extend', 'peer.job.create'],
    ...['identityprovider.create', 'identityprovider.update', 'identityprovider.delete'],
  ],
};

const codes = Object.keys(activities);
const program = globSync('src/**/*.ts')
  .filter((path) => !path.endsWith('declare/activities.ts') && !path.startsWith('src/gen'))
  .map((path) => readFileSync(path, 'utf8'));
const found = (pattern: RegExp) =>
  new Set(program.flatMap((text) => [...text.matchAll(pattern)].map(([, code = '']) => code)));

/** String literals of the program that may be codes, or stems to which a last word is added. */
const texts = found(/'([a-z-]+(?:\.[0-9a-z_-]+)+)'/g);

/** Templates of codes, such as `ingress.peer.${change}`. */
const templates = [...found(/\bcode(?:: | = )`([a-z-]+(?:\.[a-z_-]+)*\.\$\{[^`]+\})`/g)];

const partsOf = (template: string) => {
  const [before = ''] = template.split('${');
  return new RegExp(`^${before.replaceAll('.', '\\.')}[a-z]+$`);
};

/** Whether a code consists of a stem in the program and a last word that the types allow. */
const isStemmed = (code: string) =>
  /\.(enable|disable|add|delete)$/.test(code) && texts.has(code.replace(/\.[a-z]+$/, ''));

it('every activity code in the catalogue is emitted, or is listed as never emitted', () => {
  const emitted = (code: string) =>
    texts.has(code) || isStemmed(code) || templates.some((template) => partsOf(template).test(code));
  expect(codes.filter((code) => !emitted(code)).sort()).toEqual(Object.values(neverEmitted).flat().sort());
});

it('every activity code that is emitted is in the catalogue', () => {
  // The compiler checks codes that are written as an event. It cannot check codes in SQL, or codes built from parts.
  const written = [...found(/\b(?:code|eventCode|activity_code): '([a-z-]+(?:\.[a-z_-]+)+)'/g)];
  expect(written.length).toBeGreaterThan(30);
  // Records of traffic and of proxies are sent to event streams only. They are not activities.
  const records = feeds.map(({ eventCode }) => eventCode as string);
  expect(written.filter((code) => !codes.includes(code)).sort()).toEqual(records.sort());
  expect(templates.length).toBeGreaterThan(3);
  expect(templates.filter((template) => !codes.some((code) => partsOf(template).test(code)))).toEqual([]);
});
