import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';

/** Operation that serves the page on which a person accepts an invite. */
export const invitePage = {
  read: defineOperation({
    id: 'readInvitePage',
    method: 'GET',
    path: '/invite/{token}',
    access: { open: 'is a page that shows nothing by itself' },
    tag: 'users',
    summary: 'Accept an invite in a browser',
    params: { token: string({ doc: 'The token of the invite.' }) },
    answer: string({ doc: '' }),
    answerType: 'text/html',
    example: { params: { token: 'nbi_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp' }, answer: '<!doctype html>' },
  }),
};
