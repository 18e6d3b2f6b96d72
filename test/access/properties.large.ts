import { allRuns } from './account.ts';
import { testProperties } from './properties.ts';

testProperties(allRuns);
