import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DnsLookups } from '../../src/lib/net/dns-lookups.ts';
import { createDnsLookups } from '../../src/outbound/dns.ts';
import { type NameServer, openNameServer } from '../setup/name-server.ts';

let server: NameServer;
let dns: DnsLookups;

beforeAll(async () => {
  server = await openNameServer();
  dns = createDnsLookups({ servers: [server.address] });
  const { records } = server;
  records.set('one.example.com', { txt: [['heddle-challenge=abc']] });
  records.set('pieces.example.com', {
    txt: [
      ['v=spf1 ', '-all'],
      ['heddle-', 'challenge=abc'],
    ],
  });
  records.set('empty.example.com', {});
  records.set('failing.example.com', { code: 2 });
  records.set('silent.example.com', { silent: true });
  records.set('many.example.com', { txt: Array.from({ length: 300 }, (_, at) => [`${at}`]) });
  records.set('www.example.com', { cname: ['proxy.example.com'] });
});
afterAll(() => server[Symbol.asyncDispose]());

it.each([
  ['one', ['heddle-challenge=abc']],
  ['pieces', ['v=spf1 -all', 'heddle-challenge=abc']],
  ['empty', []],
  ['missing', []],
])('the TXT records of %s are resolved to %j', async (name, texts) => {
  expect(await dns.resolveTxt(`${name}.example.com`)).toEqual(texts);
});

it.each([
  ['www', ['proxy.example.com']],
  ['one', []],
  ['missing', []],
])('the CNAME records of %s are resolved to %j', async (name, targets) => {
  expect(await dns.resolveCname(`${name}.example.com`)).toEqual(targets);
});

it('a failing name server causes an error, not an empty answer', async () => {
  await expect(dns.resolveTxt('failing.example.com')).rejects.toThrow('ESERVFAIL');
  await expect(dns.resolveCname('failing.example.com')).rejects.toThrow('ESERVFAIL');
});

it('a silent name server is waited for no longer than the deadline', async () => {
  const impatient = createDnsLookups({ servers: [server.address], deadlineMs: 300 });
  await expect(impatient.resolveTxt('silent.example.com')).rejects.toThrow('ECANCELLED');
});

it('of many TXT records, which arrive over TCP, the first hundred are returned', async () => {
  expect(await dns.resolveTxt('many.example.com')).toEqual(Array.from({ length: 100 }, (_, at) => `${at}`));
});
