import { printable } from '../../lib/text/printable.ts';
import type { ListedObject } from '../../operations/config/objects.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { count, positionText } from '../terminal/problems.ts';
import { renderTable } from '../terminal/table.ts';

const headings = ['STATUS', 'KIND', 'NAME', 'OWNER', 'REVISION', 'STATED AT'];

const styles: Readonly<Record<ListedObject['status'], Style>> = {
  ...{ InSync: 'faint', Unmanaged: 'faint' },
  ...{ Drifted: 'warning', Overridden: 'warning', Blocked: 'warning', Conflicted: 'error' },
};

/** Returns a table of objects, and the number of objects by status. */
export function renderObjects(objects: readonly ListedObject[], paint: Paint): string {
  if (objects.length === 0) return 'No matching objects.\n';
  const rows = objects.map((object) => ({ cells: cellsOf(object) }));
  const [heading = '', ...lines] = renderTable(headings, rows, paint);
  const painted = lines.map((line, at) => {
    const status = objects[at]?.status ?? 'InSync';
    return `${paint(styles[status], status)}${line.slice(status.length)}`;
  });
  return [heading, ...painted, '', paint('strong', summary(objects)), ''].join('\n');
}

function cellsOf({ status, kind, key, name, id, owner, revision, declared }: ListedObject): readonly string[] {
  const positions = declared.map(({ source, file, line }) =>
    source === owner ? positionText({ file, line }) : `${positionText({ file, line })} (${printable(source)})`,
  );
  return [status, kind, key ?? (name === '' ? `id:${id}` : name), owner, revision, positions.join(', ')].map(cell);
}

function summary(objects: readonly ListedObject[]): string {
  const numbers = new Map<string, number>();
  for (const { status } of objects) numbers.set(status, (numbers.get(status) ?? 0) + 1);
  const parts = [...numbers].sort().map(([status, number]) => `${number} ${status}`);
  return `${count(objects.length, 'object')}: ${parts.join(', ')}.`;
}
