import { parseDuration } from '../../lib/duration.ts';
import { printable } from '../../lib/text/printable.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import type { AnswerOf } from '../../model/operation/operation.ts';
import { proxyTokens } from '../../operations/proxy-tokens.ts';
import { guessHint } from '../arguments.ts';
import { type Client, call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { cell } from '../terminal/cell.ts';
import { autoApproveFlag, isConfirmed, requireConfirmable } from '../terminal/confirm.ts';
import { renderTable } from '../terminal/table.ts';

export const proxyTokenCreate = defineCommand({
  name: 'proxy token create',
  summary: 'Make a token with which reverse proxies of one cluster register.',
  details:
    'Writes the value to standard output, only this once, and everything else to standard error. The first proxy that uses the token determines its cluster; the token becomes invalid when that cluster is deleted.',
  argument: { placeholder: 'NAME', doc: 'a name by which you recognise the token', most: 1 },
  flags: {
    'expires-in': {
      placeholder: 'DURATION',
      doc: 'How long it is valid, such as 720h (default: until it is revoked).',
    },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [['heddle proxy token create bern > proxy.token', 'Make a token for the proxies in Bern']],
  async run({ flags, positionals: [name = ''], config, terminal }) {
    const expires_in = parseLifetime(flags);
    const made = await createToken(await connect(config), { name, expires_in });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', token: made });
    else {
      terminal.out(`${made.plain_token}\n`);
      const ends = made.expires_at === undefined ? 'until it is revoked' : `until ${printable(made.expires_at)}`;
      terminal.note(`The token ${printable(name)} (${made.id}) is valid ${ends}. Its value is shown only this once.\n`);
    }
    return exit.ok;
  },
});

export const proxyTokenList = defineCommand({
  name: 'proxy token list',
  summary: 'List the tokens of reverse proxies, oldest first; never their values.',
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle proxy token list', 'One line per token, with the time when a proxy last registered with it']],
  async run({ flags, config, terminal }) {
    const tokens = await call(await connect(config), proxyTokens.list);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', tokens });
    else if (tokens.length === 0)
      terminal.out('No tokens of reverse proxies; create one with `heddle proxy token create`.\n');
    else {
      const rows = tokens.map((token) => ({ cells: columns.map((name) => cell(token[name])) }));
      terminal.out(`${renderTable(headings, rows, terminal.paint).join('\n')}\n`);
    }
    return exit.ok;
  },
});

export const proxyTokenRevoke = defineCommand({
  name: 'proxy token revoke',
  summary: 'Revoke a token of reverse proxies; the proxies that use it are rejected.',
  details:
    'Asks for confirmation first. The services of the proxies stay configured, and proxies with another token can serve them.',
  argument: {
    placeholder: 'TOKEN',
    doc: 'the id of the token, or its name when no other token has that name',
    most: 1,
  },
  flags: { ...autoApproveFlag, ...jsonFlag },
  settings: clientSettings,
  examples: [['heddle proxy token revoke bern', 'Reject the proxies that use the token bern']],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    requireConfirmable(invocation, 'revoke', 'the token');
    const client = await connect(config);
    const token = await requireToken(client, positionals[0] ?? '');
    const subject = `the token ${printable(token.name)} (${token.id})`;
    if (!(await isConfirmed(invocation, `Revoke ${subject}?`)))
      return printFailure(invocation, exit.error, 'Nothing was revoked.');
    await revokeToken(client, token.id);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', revoked: token });
    else terminal.out(`Revoked ${subject}; its proxies are rejected.\n`);
    return exit.ok;
  },
});

const headings = ['TOKEN', 'NAME', 'MADE AT', 'ENDS AT', 'LAST USED'];
const columns = ['id', 'name', 'created_at', 'expires_at', 'last_used'] as const;

type Token = AnswerOf<typeof proxyTokens.list>[number];

/** Creates a token that expires after `expires_in` seconds, or never with 0. Only this answer contains its value. */
export function createToken(
  client: Client,
  body: { readonly name: string; readonly expires_in: number },
): Promise<AnswerOf<typeof proxyTokens.create>> {
  return call(client, proxyTokens.create, { body });
}

/** Revokes a token. */
export async function revokeToken(client: Client, tokenId: string): Promise<void> {
  await call(client, proxyTokens.delete, { params: { tokenId } });
}

async function requireToken(client: Client, word: string): Promise<Token> {
  const tokens = await call(client, proxyTokens.list);
  const named = tokens.filter(({ name }) => name === word);
  const found = tokens.find(({ id }) => id === word) ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return found;
  if (named.length > 1)
    throw new InvalidInput(
      `${named.length} tokens are named ${printable(word)}; write the id of the one you mean: ${named.map(({ id }) => id).join(', ')}.`,
    );
  const hint = guessHint(
    word,
    tokens.map(({ name }) => name),
  );
  throw new NotFound(
    `proxy token ${printable(word)} not found${hint === '' ? '; `heddle proxy token list` shows all.' : hint}`,
  );
}

function parseLifetime({ 'expires-in': text }: Invocation['flags']): number {
  if (typeof text !== 'string') return 0;
  const seconds = parseDuration(text);
  if (seconds !== undefined && Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new InvalidInput(`--expires-in cannot be ${printable(text)}; write a duration such as 24h or 90m.`);
}
