import { describe, expect, test } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import { cellOf, matrix, mayPerform, modules, operations, rightsOf, roles } from '../../src/model/declare/roles.ts';

const person = (role: string) => ({ role, isServiceUser: false });
const program = (role: string) => ({ role, isServiceUser: true });

describe('the rights of a role', () => {
  test('are all for an owner and none for a user', () => {
    for (const module of modules) {
      expect(operations.every((operation) => mayPerform(person('owner'), module, operation))).toBe(true);
      expect(operations.some((operation) => mayPerform(person('user'), module, operation))).toBe(false);
    }
  });

  test('are read-only for an auditor', () => {
    for (const module of modules)
      expect(operations.filter((operation) => mayPerform(person('auditor'), module, operation))).toEqual(['read']);
  });

  test.each([
    ['admin', 'accounts', 'delete', false],
    ['admin', 'settings', 'update', true],
    ['network_admin', 'policies', 'create', true],
    ['network_admin', 'users', 'update', false],
    ['network_admin', 'services', 'read', false],
    ['network_admin', 'config', 'read', true],
    ['network_admin', 'ingress', 'create', true],
    ['billing_admin', 'accounts', 'read', true],
    ['billing_admin', 'billing', 'update', true],
    ['billing_admin', 'peers', 'read', false],
    ['unheard_of', 'peers', 'read', false],
  ] as const)('for %s in the module %s include %s: %s', (role, module, operation, expected) => {
    expect(mayPerform(person(role), module, operation)).toBe(expected);
  });

  test('let service users read everything and write what their role allows', () => {
    for (const module of modules) expect(mayPerform(program('user'), module, 'read')).toBe(true);
    expect(mayPerform(program('user'), 'groups', 'create')).toBe(false);
    expect(mayPerform(program('network_admin'), 'groups', 'create')).toBe(true);
  });

  test('are listed by module and operation, for every module', () => {
    const rights = rightsOf(person('network_admin'));
    expect(Object.keys(rights)).toEqual(modules);
    expect(rights['groups']).toEqual({ read: true, create: true, update: true, delete: true });
    expect(rights['users']).toEqual({ read: true, create: false, update: false, delete: false });
  });
});

describe('the permission matrix', () => {
  test('contains the module of every kind', () => {
    for (const kind of Object.values(kinds)) expect(Object.keys(matrix)).toContain(kind.module);
  });

  test('gives no role more rights than an admin, except in billing', () => {
    const letters = { CRUD: 2, R: 1, '-': 0 };
    for (const module of modules.filter((name) => name !== 'billing'))
      for (const role of roles.filter((name) => name !== 'owner'))
        expect(letters[cellOf(role, module)]).toBeLessThanOrEqual(letters[cellOf('admin', module)]);
  });
});
