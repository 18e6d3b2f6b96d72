import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** New state of the product: the number of devices, and the number of devices whose firewall is off. */
export interface ProductOrder {
  readonly devices: number;
  readonly off: number;
}

// Product of vendor A in a separate process, so that its cost is not measured. Its agent records are as long as real
// ones.
let order: ProductOrder = { devices: 0, off: 0 };
const seenAt = new Date().toISOString();
const others = JSON.stringify({ more: Array.from({ length: 60 }, (_, at) => ({ [`member${at}`]: `value of ${at}` })) });

process.on('message', (given: ProductOrder) => {
  order = given;
  process.send?.('done');
});

function agentOf(at: number): string {
  const own = { id: `${at}`, serialNumber: `SN-${at}`, computerName: `peer-${at}`, lastActiveDate: seenAt };
  return `${JSON.stringify({ ...own, firewallEnabled: at >= order.off }).slice(0, -1)},${others.slice(1)}`;
}

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://product');
  const limit = Number(searchParams.get('limit'));
  const from = Number(searchParams.get('cursor') ?? 0);
  const count = Math.min(limit, order.devices - from);
  const next = from + count < order.devices ? `"${from + count}"` : 'null';
  const agents = Array.from({ length: count }, (_, at) => agentOf(from + at));
  response.setHeader('content-type', 'application/json');
  response.end(`{"data":[${agents.join()}],"pagination":{"nextCursor":${next}}}`);
});

server.listen(0, '127.0.0.1', () => {
  // The address is an object, because the server listens on TCP.
  process.send?.((server.address() as AddressInfo).port);
});
