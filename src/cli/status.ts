import { isObject } from '../lib/json.ts';
import { Internal } from '../model/errors.ts';
import { accept, clientSettings, connect } from './client.ts';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';
import { writeJson } from './failure.ts';
import { jsonFlag } from './flags.ts';
import { renderStatus } from './render-status.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'Show the account, its objects and its sources.',
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle status --json', 'Read the state of the sources in a program']],
  async run({ flags, config, terminal }) {
    const { body } = accept(await (await connect(config)).get('/api/config/status'));
    if (!isObject(body))
      throw new Internal(
        'The server answered with a status that this program cannot read; use the heddle that belongs to the server.',
      );
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...body });
    else terminal.out(renderStatus(body, config.server, terminal.paint));
    return exit.ok;
  },
});
