import { expect, test } from 'vitest';
import { callFault, heddleCalls } from './command-lines.ts';

test('heddleCalls finds the calls of heddle in a script, and no other words', () => {
  const script = `
    # heddle comment
    export HEDDLE_TOKEN=$(kubectl get secret heddle)
    A=1 heddle plan config \\
      --json > plan.json 2>&1
    if ! heddle validate "a b" | tee 'heddle out'; then echo heddle; fi
    digest=$(npx heddle plan - | jq -r .digest) && heddle apply config --expect-digest "$digest"
  `;
  expect(heddleCalls(script)).toEqual([
    ['plan', 'config', '--json'],
    ['validate', 'a b'],
    ['plan', '-'],
    ['apply', 'config', '--expect-digest', '$digest'],
  ]);
});

test.each([
  ['status', undefined],
  ['plan config --source-name office', undefined],
  ['plan config --sorce-name office', 'unknown flag --sorce-name; did you mean --source-name?'],
  ['plan', 'PATH… is missing'],
  ['secrets', 'there is no command'],
])('callFault reports for `heddle %s` what the program would report', (line, fault) => {
  const said = callFault(line.split(' '));
  if (fault === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(fault);
});
