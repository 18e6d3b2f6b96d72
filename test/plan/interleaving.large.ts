import { describeInterleavings } from './interleavings.ts';

describeInterleavings({ checked: 120, replayed: 60 });
