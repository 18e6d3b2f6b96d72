import { printable } from '../../lib/text/printable.ts';
import { endpointSecurity as operations } from '../../operations/config/endpoint-security.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderEndpointSecurity } from '../render/endpoint-security.ts';

const argument = { placeholder: 'VENDOR', doc: 'the name of the product, such as vendor-a', most: 1 };

export const endpointSecurity = defineCommand({
  name: 'endpoint-security',
  summary: 'Show integrations with endpoint security products, and their problems.',
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle endpoint-security', 'One line per integration, with its problems']],
  async run({ flags, config, terminal }) {
    const found = await call(await connect(config), operations.list);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', endpointSecurity: found });
    else terminal.out(`${renderEndpointSecurity(found, terminal.paint).join('\n')}\n`);
    return exit.ok;
  },
});

export const endpointSecuritySync = defineCommand({
  name: 'endpoint-security sync',
  summary: 'Ask an endpoint security product about all its devices now.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle endpoint-security sync vendor-a', 'A device was fixed a moment ago']],
  async run({ flags, positionals: [vendor = ''], config, terminal }) {
    await call(await connect(config), operations.sync, { params: { vendor } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', vendor });
    else terminal.out(`Asking ${printable(vendor)} now: \`heddle endpoint-security\` shows the result.\n`);
    return exit.ok;
  },
});

export const endpointSecurityApprove = defineCommand({
  name: 'endpoint-security approve',
  summary: 'Approve that an endpoint security product lists far fewer devices than before.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle endpoint-security approve vendor-a', 'The missing devices are gone for good']],
  async run({ flags, positionals: [vendor = ''], config, terminal }) {
    const { devices } = await call(await connect(config), operations.approve, { params: { vendor } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', vendor, devices });
    else
      terminal.out(
        `Approved: ${devices} devices are accepted as correct, and ${printable(vendor)} is asked again now.\n`,
      );
    return exit.ok;
  },
});
