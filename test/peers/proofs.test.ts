import { randomBytes, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeMachineKeys, proofFor, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import { certificateText } from '../../src/features/peers/enrolment/proof-text.ts';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { type Answer, sharedApi } from '../api/setup.ts';
import { certificate, privateKey } from '../sources/https-certificate.ts';
import { type Machine, newMachine, setupKey } from './machine.ts';

const api = sharedApi();
const reported = ({ status, body }: Answer) => [status, body.message];
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** Returns copies of `whole`, each with one of its parts, or the whole itself, replaced by `value`. */
function withEach(whole: Json, value: Json): readonly Json[] {
  if (Array.isArray(whole))
    return [value, ...whole.flatMap((item: Json, at) => withEach(item, value).map((part) => whole.with(at, part)))];
  if (!isObject(whole)) return [value];
  const members = Object.entries(whole as JsonObject);
  return [
    value,
    ...members.flatMap(([name, item]) => withEach(item, value).map((part) => ({ ...whole, [name]: part }))),
  ];
}

/** Enrols a peer, and returns it with its session. */
async function peer(): Promise<{ readonly machine: Machine; readonly session: string; readonly id: string }> {
  const machine = newMachine(api());
  const { body } = await machine.enrol({ setup_key: (await setupKey(api()))['key'] ?? '' });
  return { machine, session: `Peer ${body.session.token}`, id: body.peer.id };
}

describe('the proof of a request', () => {
  it('is required, and refused when it is malformed, signed by another key or for another body', async () => {
    const { machine } = await peer();
    const body = JSON.stringify({ wg_pub_key: tunnelKeyOf(machine.keys) });
    const log = (proof: string | undefined, text = body) =>
      api().call('POST', '/agent/login', text, {
        authorization: '',
        ...(proof === undefined ? {} : { 'heddle-proof': proof }),
      });
    const good = { method: 'POST', path: '/agent/login', body };
    expect(reported(await log(undefined))).toEqual([
      401,
      'no proof: sign the request with the key of the peer and send it as `Heddle-Proof`',
    ]);
    expect(reported(await log('key=x'))[1]).toMatch(/^the proof is malformed/);
    expect(reported(await log(proofFor(machine.keys, good), `${body} `))[1]).toMatch(/^the proof does not match/);
    expect(reported(await log(proofFor(machine.keys, { ...good, path: '/agent/facts' })))[1]).toMatch(
      /^the proof does not match/,
    );
    const forged = { ...makeMachineKeys(), tunnel: machine.keys.tunnel };
    expect(reported(await log(proofFor(forged, good)))).toEqual([
      401,
      'the proof was not signed with the key of the peer',
    ]);
    const mixed = proofFor(forged, good).replace(forged.signing.publicKey, machine.keys.signing.publicKey);
    expect(reported(await log(mixed))[1]).toMatch(/^the proof does not match/);
    expect((await log(proofFor(machine.keys, good))).status).toBe(200);
  });

  it('is accepted once, even when it is sent many times at once', async () => {
    const { machine } = await peer();
    const at = { nonce: randomBytes(16).toString('base64url') };
    const body = { wg_pub_key: tunnelKeyOf(machine.keys) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => machine.send('/agent/login', body, undefined, at)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(reported(await machine.send('/agent/login', body, undefined, at))).toEqual([
      401,
      'the proof was used before; sign every request with a new nonce',
    ]);
  });

  it('may be off by a minute, and beyond that is refused with the time of the server', async () => {
    const { machine } = await peer();
    const body = { wg_pub_key: tunnelKeyOf(machine.keys) };
    const log = (time: string) => machine.send('/agent/login', body, undefined, { time });
    expect((await log(ago(50))).status).toBe(200);
    expect((await log(ago(-50))).status).toBe(200);
    const [status, message] = reported(await log(ago(90)));
    expect([status, message]).toEqual([
      401,
      expect.stringMatching(
        /^the proof is from .*, (89|90|91) s behind the clock of the server \(\d{4}-.*Z\); set the clock of the machine$/,
      ),
    ]);
    expect(reported(await log(ago(-3600)))[1]).toContain('3600 s ahead of the clock of the server');
    expect(reported(await log('yesterday'))[1]).toContain('ISO 8601');
  });
});

describe('the key of a tunnel', () => {
  it('can be registered only by the machine that has its private key', async () => {
    const key = (await setupKey(api()))['key'] ?? '';
    const [thief, victim] = [newMachine(api()), newMachine(api())];
    const stolen = await thief.enrol({ setup_key: key, wg_pub_key: tunnelKeyOf(victim.keys) });
    expect(reported(stolen)).toEqual([401, 'the answer to the challenge does not match the tunnel key']);
    const madeUp = await thief.enrol({ setup_key: key, tunnel_proof: { challenge: 'nbc_x', mac: 'x' } });
    expect(reported(madeUp)).toEqual([401, 'the challenge was not issued by this server; request a new one']);
    const zero = Buffer.alloc(32).toString('base64');
    expect((await thief.enrol({ setup_key: key, wg_pub_key: zero })).status).toBe(401);
    expect((await thief.enrol({ setup_key: key, wg_pub_key: 'short' })).status).toBe(422);
    expect((await victim.enrol({ setup_key: key })).status).toBe(200);
  });
});

describe('a session', () => {
  it('is refused without its key, when it is made up, or after its peer was deleted', async () => {
    const { machine, session, id } = await peer();
    const facts = { version: '1.4.2' };
    const report = (authorization: string, from = machine) => from.send('/agent/facts', facts, { authorization });
    expect(reported(await report(''))).toEqual([401, 'no session: log in, and send `Authorization: Peer <token>`']);
    expect(reported(await report('Peer nba_madeup'))[1]).toMatch(/^the session was not issued by this server/);
    expect(reported(await report(session, newMachine(api())))).toEqual([401, 'the session belongs to another key']);
    expect((await report(session)).status).toBe(200);
    expect((await api().call('GET', `/api/peers/${id}`)).body.version).toBe('1.4.2');
    await api().call('DELETE', `/api/peers/${id}`);
    expect(reported(await report(session))).toEqual([401, 'the peer was deleted; enrol again with a new key pair']);
    const again = await machine.enrol({ setup_key: (await setupKey(api()))['key'] ?? '' });
    expect(again.status).toBe(200);
  });
});

describe('the facts of a machine', () => {
  it('change no revision, and change nothing when they are invalid or too large', async () => {
    const { machine, session, id } = await peer();
    const report = (facts: never) => machine.send('/agent/facts', facts, { authorization: session });
    const before = await api().revision();
    const first = await api().call('GET', `/api/peers/${id}`);
    expect((await report({ os: 'Debian 13', local_flags: { disable_dns: true } } as never)).status).toBe(200);
    const shown = await api().call('GET', `/api/peers/${id}`);
    expect(shown.body).toMatchObject({ os: 'Debian 13', local_flags: { disable_dns: true } });
    expect(shown.headers['etag']).not.toBe(first.headers['etag']);
    const wrong = {
      ...{
        os: 'Plan 9',
        version: 4,
        unknown: 1,
        system: 'Linux',
        toString: 1,
        network_addresses: [
          { net_ip: '10.0.0.300', mac: 'x' },
          { net_ip: '10.0.0.7/24/8', mac: '02:42:0a:14:00:07' },
        ],
      },
      ...{ local_flags: { disable_dns: 'yes' }, processes: 'all' },
    };
    const refused = await report(wrong as never);
    expect([refused.status, refused.body.problems.map(({ path }: { path: string }) => path).sort()]).toEqual([
      422,
      [
        ...['/local_flags/disable_dns', '/network_addresses/0/mac', '/network_addresses/0/net_ip'],
        ...['/network_addresses/1/net_ip', '/processes', '/system', '/toString', '/unknown', '/version'],
      ],
    ]);
    expect((await report({ processes: Array.from({ length: 300 }, () => 'x'.repeat(1000)) } as never)).status).toBe(
      413,
    );
    expect((await report('[]' as never)).status).toBe(400);
    expect((await report('{' as never)).status).toBe(400);
    expect((await api().call('GET', `/api/peers/${id}`)).body).toEqual(shown.body);
    expect(await api().revision()).toBe(before);
  });

  it('are accepted, or refused with 400 or 422, for any value of any member, without a server error', async () => {
    const { machine, session } = await peer();
    const facts: JsonObject = {
      ...{
        system: 'linux',
        system_version: '13',
        os: 'Debian',
        kernel_version: '6.1',
        version: '1.0',
        ui_version: '1',
      },
      ...{ serial_number: 'x', network_addresses: [{ net_ip: '10.0.0.7/24', mac: '02:42:0a:14:00:07' }] },
      ...{ local_flags: { disable_dns: true }, processes: ['/bin/sh'] },
      certificates: [{ chain: [certificate], signature: 'x' }],
    };
    const odd: readonly Json[] = [null, 0, '', [], {}, [null], [{}], { chain: null, signature: null }];
    for (const body of odd.flatMap((value) => withEach(facts, value))) {
      const { status } = await machine.send('/agent/facts', body, { authorization: session });
      expect([status === 200 || status === 400 || status === 422, status, body]).toEqual([true, status, body]);
    }
    expect(api().defects).toEqual([]);
  });

  it('contain certificates only with a signature by their keys', async () => {
    const { machine, session, id } = await peer();
    const report = (text: string) => {
      const signature = sign('sha256', Buffer.from(text), privateKey).toString('base64');
      return machine.send(
        '/agent/facts',
        { certificates: [{ chain: [certificate], signature }] },
        { authorization: session },
      );
    };
    const refused = await report('something else');
    expect(reported(refused)[1]).toBe('`certificates/0`: the signature was not made with the key of the certificate');
    expect((await report(certificateText(machine.keys.signing.publicKey))).status).toBe(200);
    const { engine, account } = api();
    expect((await engine.presence.read(account)).peers.get(id)?.facts).toEqual({ certificates: [[certificate]] });
  });
});
