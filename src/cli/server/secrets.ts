import { newKeyText } from '../../db/sealing/keys.ts';
import { describeSecret } from '../../db/sealing/unreadable.ts';
import { printable } from '../../lib/text/printable.ts';
import type { AnswerOf } from '../../model/operation/operation.ts';
import { status as operations } from '../../operations/config/status.ts';
import { call } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { connectAsOperator, operatorSettings } from '../operator/client.ts';
import { withProgress } from '../terminal/progress.ts';

export const secretsKey = defineCommand({
  name: 'secrets key',
  summary: 'Print a fresh key for secrets at rest.',
  details:
    'Works offline. Give the key to servers as HEDDLE_SECRET_KEY. Without the key, the secrets can no longer be read.',
  flags: {},
  settings: [],
  examples: [['heddle secrets key > secret.key && chmod 600 secret.key', 'Make a file for HEDDLE_SECRET_KEY_FILE']],
  async run({ terminal }) {
    terminal.out(`${newKeyText()}\n`);
    return exit.ok;
  },
});

export const secretsRotate = defineCommand({
  name: 'secrets rotate',
  summary: 'Seal all secrets again with the newest key, while the server runs.',
  details:
    'First give every server the new key before the old one (HEDDLE_SECRET_KEY=NEW,OLD) and restart it; then run this command; then remove the old key. After an update, when no server of the earlier release runs any more, the command also binds secrets that the earlier release sealed to their place, and from then on their form is rejected.',
  flags: {
    'accept-unbound': {
      doc: 'Accept secrets sealed in the form of an earlier release although that form is already rejected, because a server of that release ran too long.',
    },
  },
  settings: operatorSettings,
  examples: [['heddle secrets rotate', 'Finish a change of keys']],
  async run({ flags, config, terminal }) {
    const client = await connectAsOperator(config);
    const acceptUnbound = flags['accept-unbound'] === true;
    const answer = await withProgress(terminal, 'sealing secrets again', () =>
      call(client, operations.rotateSecrets, acceptUnbound ? { body: { acceptUnbound } } : {}),
    );
    terminal.out(renderRotation(answer));
    return exit.ok;
  },
});

type Rotation = AnswerOf<typeof operations.rotateSecrets>;

function renderRotation({ rows, unreadable, unreadableCount: count }: Rotation): string {
  const sealed =
    rows > 0
      ? `Sealed the secrets of ${rows} rows again.\n`
      : `Every secret${count === 0 ? '' : ' that opens'} is already sealed with the newest key.\n`;
  if (count === 0) return sealed;
  const lines = unreadable.map((secret) => `  ${printable(describeSecret(secret))}\n`);
  const more = count > unreadable.length ? `  and ${count - unreadable.length} more\n` : '';
  return `${sealed}\nStored secrets that no key of the server opens (left unchanged): ${count}. Write them again, or rotate again with the key that sealed them.\n${lines.join('')}${more}`;
}
