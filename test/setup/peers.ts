import { storedObject } from '../../src/commit/bootstrap.ts';
import type { Engine } from '../../src/commit/engine.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from './objects.ts';

/** Creates a peer for each label, as one revision, without enrolment. Returns their ids in the same order. */
export async function addPeers(
  engine: Engine,
  account: string,
  labels: readonly string[],
  given: JsonObject = {},
): Promise<readonly string[]> {
  const kind = engine.registry.get('Peer');
  const now = engine.now();
  const ids = labels.map(() => engine.newId());
  await putObjects(engine, account, (state) => {
    const first = state.countOf(kind.name);
    return labels.map((label, at) => {
      const spec = canonicalSpec(kind, { ...peerSpec(label, first + at), ...given }).spec;
      return storedObject(engine, { id: ids[at] ?? '', kind: kind.name, key: label, spec, derived: {} }, now);
    });
  });
  return ids;
}

function peerSpec(label: string, at: number) {
  return {
    name: `Peer ${label}`,
    hostname: label,
    dns_label: label,
    ip: `100.${64 + Math.floor(at / 62_500)}.${Math.floor(at / 250) % 250}.${(at % 250) + 1}`,
    ssh_enabled: false,
    login_expiration_enabled: false,
    inactivity_expiration_enabled: false,
  };
}
