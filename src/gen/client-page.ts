import { type Row, rows, type StatusRow } from '../api/profile/table.ts';
import { page, table } from './markdown.ts';

const introduction = `
Differences between the API as specified and the profile \`compatible\`. [Clients](../clients.md) says how to turn
it on. Each row has a test with its name in the file of the last column, in
\`test/api/profile/\`; operations without a row are the same in both, which \`alike.large.ts\` there shows.`;

/** Returns the reference page of the client profile, with every difference from the specification. */
export function clientPage(): string {
  const cells = rows.map((row) => {
    const [ours, theirs] = describeBothSides(row);
    return [row.name, ours, theirs, row.clients, formatCode(testOf(row))];
  });
  const differences = table(['What', 'Specification', 'Profile `compatible`', 'Needed by', 'Test'], cells);
  return page('Client profile', 'src/api/profile/table.ts', introduction, differences);
}

/** Returns the name of the file with the test of a row. `rows.test.ts` runs it and checks that the test exists. */
function testOf({ differs }: Row): string {
  switch (differs) {
    case 'member':
    case 'word':
    case 'text':
      return 'names.ts';
    case 'path':
    case 'default':
      return 'paths.ts';
    case 'limit':
    case 'status':
    case 'guard':
      return 'requests.ts';
    case 'operation':
      return 'reads.ts';
    default:
      return differs satisfies never;
  }
}

/** Returns a difference as two texts: in the specification, and in the profile. */
function describeBothSides(row: Row): readonly [string, string] {
  switch (row.differs) {
    case 'member':
    case 'path':
      return [formatCode(row.ours), formatCode(row.theirs)];
    case 'word':
      return row.prefix === true
        ? [`${formatCode(row.member)}: ${formatCode(`${row.ours}…`)}`, formatCode(`${row.theirs}…`)]
        : [`${formatCode(row.member)}: ${formatCode(row.ours)}`, formatCode(row.theirs)];
    case 'text':
      return [`${formatCode(row.member)} is a number`, 'a text of digits'];
    case 'default':
      return [`${formatCode(row.member)} is required`, `absent or \`null\`: ${describeMissingMember(row.operations)}`];
    case 'limit':
      return [`${formatCode(row.member)} within its limits`, `from ${row.min} to ${row.max}; ${row.doc}`];
    case 'status':
      return describeStatuses(row);
    case 'operation':
      return ['not there', `${formatCode(row.operation)}: ${row.doc}`];
    case 'guard':
      return [
        `a replace drops the ${row.list} that it leaves out`,
        `409 for a replace with fewer ${row.list} than are stored, unless \`If-Match\` is current`,
      ];
    default:
      return row satisfies never;
  }
}

function describeStatuses({ from, to, body, none }: StatusRow): readonly [string, string] {
  if (none !== undefined) return [`${from} with \`[]\``, `${to}`];
  return [`${from}`, body === undefined ? `${to}` : `${to} with ${formatCode(JSON.stringify(body))}`];
}

/** Returns what a missing member means: a replace keeps the stored value; a creation uses 0. */
function describeMissingMember(operations: readonly string[]): string {
  return operations.every((name) => name.startsWith('PUT ')) ? 'the stored value stays' : '0';
}

function formatCode(text: string): string {
  return `\`${text}\``;
}
