import { allow, document, office, planned, planOn } from './steps.ts';

// Runs as a separate process: plans documents and prints the digest of the plan. The argument `reversed` reverses their
// order.

const documents = [
  document('Group', 'devs', { name: 'Developers', peers: ['p1', 'p2'] }, { file: 'a.yaml' }),
  document('Group', 'ops', { peers: ['p3'] }, { file: 'b.yaml', line: 9 }),
  allow('web', ['devs', 'ops'], ['All'], { description: 'web' }),
  document('Network', 'lan', { resources: [{ name: 'db', address: '10.0.0.5/32', groups: ['ops'] }] }),
  document('DNSZone', 'home', {
    ...{ name: 'home', domain: 'home.example.com', distribution_groups: ['devs'] },
    records: [{ name: 'www.home.example.com', type: 'A', content: '10.0.0.7' }],
  }),
];

const turned = process.argv[2] === 'reversed' ? documents.toReversed() : documents;
process.stdout.write(planned(planOn(office, 'a', turned, { ids: process.argv[2] ?? 'x' })).plan.digest);
