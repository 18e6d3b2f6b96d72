import { testRoundTrips } from './exported-resources.ts';

testRoundTrips(40);
