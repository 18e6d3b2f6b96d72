import { describeInterleavings } from './interleavings.ts';

describeInterleavings({ checked: 5, replayed: 10 });
