import { emptyAllowList } from '../../src/lib/net/public-address.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';

/** Outbound access of a server without settings. Keeps no connections open between the requests of a test. */
export const plainOutbound = createOutbound({ allow: emptyAllowList, userAgent: 'Heddle/test' });
