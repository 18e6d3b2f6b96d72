import { it } from 'vitest';
import { checkRoles } from './role-walk.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi({ edition: 'hosted' });

it('every endpoint allows the callers that the role matrix allows, and answers 403 to all others', () =>
  checkRoles(api()));
