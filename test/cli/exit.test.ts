import { describe, expect, test } from 'vitest';
import { requireSuccess } from '../../src/cli/client.ts';
import { exit, exitCodeOf, worstOf } from '../../src/cli/exit.ts';
import { exitCodeOfPlan } from '../../src/cli/plan/planning.ts';
import { applyCommand } from '../../src/cli/terminal/shell.ts';
import { SchemaTooNew } from '../../src/db/schema-too-new.ts';
import {
  Conflict,
  Internal,
  InvalidInput,
  NotAllowed,
  NotFound,
  Unauthenticated,
  Unavailable,
  UnsafePlan,
} from '../../src/model/errors.ts';
import type { Problem } from '../../src/model/problem.ts';
import type { PlanView } from '../../src/operations/config/plan.ts';

const problem: Problem = { code: 'kind_unknown', message: 'm' };
const conflict: Problem = { code: 'unit_conflict', message: 'm' };

describe('the exit code (E146)', () => {
  test.each([
    ['a defect', new TypeError('x'), 1],
    ['a server that is not there', new Unavailable('x'), 1],
    ['no token', new Unauthenticated('x'), 1],
    ['a token that may not', new NotAllowed('x'), 1],
    ['a missing thing', new NotFound('x'), 1],
    ['a failing server', new Internal('x'), 1],
    ['a wrong request', new InvalidInput('x'), 1],
    ['a tripped guard', new UnsafePlan('x'), 3],
    ['a stale plan', new Conflict('stale', 'x'), 4],
    ['problems that are conflicts only', new InvalidInput('x', { problems: [conflict] }), 4],
    ['wrong documents', new InvalidInput('x', { problems: [problem] }), 5],
    ['wrong documents beside conflicts', new InvalidInput('x', { problems: [problem, conflict] }), 5],
    ['a newer database', new SchemaTooNew('x'), 57],
  ])('is as documented for %s', (_, error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  test.each([
    [400, 1],
    [401, 1],
    [403, 1],
    [404, 1],
    [409, 4],
    [412, 4],
    [423, 4],
    [500, 1],
    [503, 1],
  ])('is as documented for a server that answers %i without problems', (status, code) => {
    expect(codeOfAnswer(status, {})).toBe(code);
  });

  test('is 5 for a server that answers 422 with problems', () => {
    expect(codeOfAnswer(422, { problems: [problem] })).toBe(5);
  });

  test('is the worst of several: 5 before 4 before 3 before 2', () => {
    const orders = [[2, 3], [4, 3, 2], [2, 5, 4], []];
    expect(orders.map(worstOf)).toEqual([3, 4, 5, 0]);
  });

  const change = { action: 'delete', kind: 'Group', name: 'g', units: [], risks: [] };
  const guard = { guard: 'deletes', message: 'm' };
  test.each([
    ['an empty plan', [], [], true, exit.ok],
    ['changes that nobody asked about', [change], [], false, exit.ok],
    ['changes', [change], [], true, exit.changes],
    ['changes that a guard stops', [change], [guard], true, exit.approval],
    ['a guard, whether asked or not', [change], [guard], false, exit.approval],
  ])('is as documented for a plan with %s', (_, changes, guards, detailed, code) => {
    // The cast is safe: the function reads only these two members.
    expect(exitCodeOfPlan({ changes, guards } as unknown as PlanView, detailed)).toBe(code);
  });
});

test('the command that applies an approved plan repeats the flags, quotes shell characters, and omits the token', () => {
  const flags = { 'source-name': 'a b', 'no-prune': true, json: true, token: 'nbp_x', approve: 'old' };
  expect(applyCommand(["it's", 'dir/a.yaml'], flags)).toBe(
    `heddle apply 'it'\\''s' dir/a.yaml --source-name 'a b' --no-prune`,
  );
});

test('an error about a refused token names the server and how to sign in there', () => {
  const refused = { server: 'https://mesh.example.com', status: 401, text: '', body: { message: 'token invalid' } };
  expect(() => requireSuccess(refused)).toThrow(
    'token invalid (https://mesh.example.com refused the token; give one of this server with --token or HEDDLE_TOKEN, ' +
      'or sign in with `heddle login --server https://mesh.example.com`)',
  );
});

function codeOfAnswer(status: number, body: object): number {
  try {
    requireSuccess({ server: 'https://mesh.example.com', status, text: '', body: { message: 'm', ...body } });
    return exit.ok;
  } catch (error) {
    return exitCodeOf(error);
  }
}
