import { testAnySchedule } from './schedule-property.ts';

testAnySchedule(2000);
