import { emptyAllowList } from '../../src/lib/net/public-address.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';

/** The way of a server without settings to other hosts; it holds nothing open between requests of a test. */
export const plainOutbound = createOutbound({ allow: emptyAllowList, userAgent: 'Heddle/test' });
