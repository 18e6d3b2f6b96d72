import { fewRuns } from './account.ts';
import { testProperties } from './properties.ts';

testProperties(fewRuns);
