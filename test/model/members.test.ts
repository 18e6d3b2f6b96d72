import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { members, string } from '../../src/model/schema/field.ts';
import {
  type Content,
  changedMembers,
  completeSpec,
  contentFromSpec,
  emptyContent,
  equalContent,
  type MemberOrigins,
  membersIn,
  originsOf,
  withMemberEdits,
} from '../../src/model/state/members.ts';

const fields = { name: string({ doc: 'Name.' }), peers: members('Peer', { doc: 'Peers.' }) };
const group = (...ids: readonly string[]) => contentFromSpec(fields, { name: 'g', peers: ids });
const peersIn = (content: Content) => Object.fromEntries(membersIn(content, 'peers'));

describe('memberships', () => {
  it('are stored beside the spec, and merged into it in the order of their ids', () => {
    const content = contentFromSpec(fields, { name: 'g', peers: { b: ['source'], a: ['api'] } });
    expect(content.spec).toEqual({ name: 'g' });
    expect(JSON.stringify(completeSpec(content))).toBe('{"name":"g","peers":{"a":["api"],"b":["source"]}}');
    expect(completeSpec(group())).toEqual({ name: 'g', peers: {} });
  });

  it('keep the origins of remaining members when they are written as a list', () => {
    const before = withMemberEdits(group('a', 'b'), 'peers', [['b', ['enrolment']]]);
    const after = contentFromSpec(fields, { name: 'g', peers: ['b', 'c'] }, before, 'source');
    expect(peersIn(after)).toEqual({ b: ['enrolment'], c: ['source'] });
  });

  it('are shared with the previous content when they are unchanged', () => {
    const before = group('a', 'b');
    const after = contentFromSpec(fields, completeSpec(before), before);
    expect(membersIn(after, 'peers')).toBe(membersIn(before, 'peers'));
  });

  it('leave the spec unchanged for a kind without members', () => {
    const spec = { name: 'n' };
    const content = contentFromSpec({ name: fields.name }, spec);
    expect([content, completeSpec(content)]).toEqual([{ spec }, spec]);
  });

  it('are empty where there is no object', () => {
    expect([membersIn(undefined, 'peers').size, originsOf(emptyContent, 'peers', 'a')]).toEqual([0, []]);
    expect(changedMembers(undefined, group('a'), 'peers')).toEqual([{ id: 'a', was: [], is: ['api'] }]);
    expect(changedMembers(group('a'), undefined, 'peers')).toEqual([{ id: 'a', was: ['api'], is: [] }]);
  });

  it('make objects unequal when they differ', () => {
    const one = group('a');
    const other = withMemberEdits(one, 'peers', [['a', ['source']]]);
    expect([equalContent(one, other), equalContent(one, group('a')), equalContent(emptyContent, { spec: {} })]).toEqual(
      [false, true, true],
    );
  });

  it('equal a plain record after any edits', () => {
    const id = fc.constantFrom(...'abcdefgh');
    const origins = fc.constantFrom<MemberOrigins>([], ['api'], ['api', 'source'], ['enrolment']);
    const edits = fc.array(fc.tuple(fc.nat(), id, origins), { maxLength: 60 });
    fc.assert(
      fc.property(fc.subarray([...'abcdefgh']), edits, fc.nat(), (first, taken, look) => {
        const versions: Content[] = [group(...first)];
        const plain: Readonly<Record<string, MemberOrigins>>[] = [peersIn(group(...first))];
        for (const [from, member, by] of taken) {
          // Most edits start from the newest version, some from an earlier version.
          const at = from % 4 === 0 ? from % versions.length : versions.length - 1;
          versions.push(withMemberEdits(versions[at] ?? emptyContent, 'peers', [[member, by]]));
          const { [member]: _, ...rest } = plain[at] ?? {};
          plain.push(by.length === 0 ? rest : { ...rest, [member]: by });
        }
        const [one, other] = [look % versions.length, (look * 7) % versions.length];
        expect(changedMembers(versions[one], versions[other], 'peers')).toEqual(
          [...'abcdefgh'].flatMap((name) => {
            const [was, is] = [plain[one]?.[name] ?? [], plain[other]?.[name] ?? []];
            return `${was}` === `${is}` ? [] : [{ id: name, was, is }];
          }),
        );
        expect(versions.map(peersIn)).toEqual(plain);
      }),
    );
  });
});
