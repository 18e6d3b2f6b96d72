import { newKeyText } from '../../db/sealing/keys.ts';
import { describeSecret } from '../../db/sealing/unreadable.ts';
import type { AnswerOf } from '../../model/operation/operation.ts';
import { status as operations } from '../../operations/config/status.ts';
import { call } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { connectAsOperator, operatorSettings } from '../operator/client.ts';
import { printable } from '../terminal/paint.ts';
import { withProgress } from '../terminal/progress.ts';

export const secretsKey = defineCommand({
  name: 'secrets key',
  summary: 'Print a fresh key for secrets at rest.',
  details: 'Works offline. Give it to servers as HEDDLE_SECRET_KEY; without it nobody can read the secrets any more.',
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
  summary: 'Seal all secrets again under the newest key, while the server serves.',
  details:
    'First give every server the new key in front of the old one (HEDDLE_SECRET_KEY=NEW,OLD) and restart it; then rotate; then the old key may go. After an update, when no server of the earlier release runs any more, it binds what they sealed to its place, and their form is refused from then on.',
  flags: {
    'accept-unbound': {
      doc: 'Take what is sealed in the form of an earlier release although that is refused by now: one of its servers ran too long.',
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
      : `Every secret${count === 0 ? '' : ' that opens'} is sealed under the newest key already.\n`;
  if (count === 0) return sealed;
  const lines = unreadable.map((secret) => `  ${printable(describeSecret(secret))}\n`);
  const more = count > unreadable.length ? `  and ${count - unreadable.length} more\n` : '';
  return `${sealed}\nStored secrets that do not open with any key of the server, and stay as they are: ${count}. Write them again, or rotate once more with the key under which they were sealed.\n${lines.join('')}${more}`;
}
