import { storedObject } from '../../src/engine/bootstrap.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { canonicalSpec } from '../../src/model/canonical.ts';
import { finishPlan } from '../../src/plan/finish.ts';

/** Makes a peer for each label, as one revision, the way enrolment will; answers their ids in the same order. */
export async function addPeers(engine: Engine, account: string, labels: readonly string[]): Promise<readonly string[]> {
  const kind = engine.registry.get('Peer');
  const ids = labels.map(() => engine.newId());
  const edits = (first: number) =>
    labels.map((label, at) => {
      const spec = canonicalSpec(kind, peerSpec(label, first + at)).spec;
      const object = { id: ids[at] ?? '', kind: kind.name, key: label, spec, derived: {} };
      return { after: storedObject(engine, object, engine.now()) };
    });
  const committed = await engine.committer.mutate({
    account,
    actor: { type: 'system', id: 'test', name: 'test' },
    revision: 0,
    propose: (snapshot) =>
      finishPlan({
        snapshot,
        edits: edits(snapshot.countOf(kind.name)),
        locate: (object, fault) => ({ code: fault.code, kind: object.kind, key: object.name, message: fault.message }),
        newId: engine.newId,
      }),
  });
  if (!committed.ok) throw new Error(committed.problems.map(({ message }) => message).join('; '));
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
