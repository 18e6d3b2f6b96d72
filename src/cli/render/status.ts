import { printable } from '../../lib/text/printable.ts';
import type { AccountStatus } from '../../operations/config/status.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderSourceTable } from './sources.ts';

/** Returns the state of the account as text: the server, the number of objects by kind, and a table of sources. */
export function renderStatus(status: AccountStatus, server: string, paint: Paint): string {
  const held = Object.entries(status.objects)
    .filter(([, number]) => number !== 0)
    .map(([kind, number]) => `${number} ${printable(kind)}`);
  const facts: readonly (readonly [string, string])[] = [
    ['server', `${server}, Heddle ${cell(status.version)}`],
    ['database', cell(status.database)],
    ['account', `${cell(status.account)}, revision ${status.revision}`],
    ['objects', held.length === 0 ? 'none' : held.join(', ')],
    ...testFacts(status.accessTests),
  ];
  return [
    ...facts.map(([name, text]) => `${paint('faint', name.padEnd(8))}  ${text}`),
    '',
    ...renderSourceTable(status.sources, paint),
    ...deliveryLines(status.deliveries, paint),
    ...endpointSecurityLines(status.endpointSecurity, paint),
    ...provisioningLines(status.provisioning, paint),
    ...ingressLines(status.ingress, paint),
    ...domainLines(status.domains, paint),
    '',
  ].join('\n');
}

function testFacts(tests: AccountStatus['accessTests']): readonly (readonly [string, string])[] {
  if (tests === undefined) return [];
  const { passed, failed, conditional } = tests;
  const open = conditional === 0 ? '' : `, ${conditional} depending on posture checks`;
  return [['tests', `${passed} passed, ${failed} failed${open}`]];
}

/** Returns one line for each delivery that needs attention. */
function deliveryLines(deliveries: AccountStatus['deliveries'], paint: Paint): readonly string[] {
  if (deliveries === undefined) return [];
  const lines = deliveries.map(
    ({ key, id, type, message }) => `    ${cell(key ?? id)} (${cell(type)}): ${printable(message)}`,
  );
  return ['', `${paint('warning', 'Deliveries')}, as \`heddle deliveries\` says:`, ...lines];
}

/** Returns one line for each endpoint-security integration that needs attention. */
function endpointSecurityLines(found: AccountStatus['endpointSecurity'], paint: Paint): readonly string[] {
  if (found === undefined) return [];
  const lines = found.map(({ vendor, message }) => `    ${cell(vendor)}: ${printable(message)}`);
  return ['', `${paint('warning', 'Endpoint security')}, as \`heddle endpoint-security\` says:`, ...lines];
}

/** Returns one line for each ingress peer that is offline. */
function ingressLines(found: AccountStatus['ingress'], paint: Paint): readonly string[] {
  if (found === undefined) return [];
  const lines = found.map(({ key, id, message }) => `    ${cell(key ?? id)}: ${printable(message)}`);
  return ['', `${paint('warning', 'Ingress peers')}:`, ...lines];
}

/** Returns one line for each custom domain whose DNS record was not found. */
function domainLines(found: AccountStatus['domains'], paint: Paint): readonly string[] {
  if (found === undefined) return [];
  const lines = found.map(({ domain, message }) => `    ${cell(domain)}: ${printable(message)}`);
  return ['', `${paint('warning', 'Custom domains')}:`, ...lines];
}

/** Returns one line for each integration that provides users and groups and has a problem. */
function provisioningLines(found: AccountStatus['provisioning'], paint: Paint): readonly string[] {
  if (found === undefined) return [];
  const lines = found.map(
    ({ key, id, kind, message }) => `    ${cell(key ?? id)} (${cell(kind)}): ${printable(message)}`,
  );
  return ['', `${paint('warning', 'Users and groups of identity providers')}:`, ...lines];
}
