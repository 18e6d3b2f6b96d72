import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends the output of a run with one machine-readable line, such as `412 passed, 0 failed`. It is written when the
 * process exits, after all output of other reporters and of the teardown. Vitest decides the exit code.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    const failedTests = tests.filter((test) => test.result().state === 'failed').length;
    const failed = failedTests + countBroken(modules) + errors.length;
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}

/**
 * Returns the number of files that failed without a failed test, because they could not be loaded or one of their hooks
 * threw.
 */
function countBroken(modules: readonly TestModule[]): number {
  return modules.filter((module) => !module.ok() && [...module.children.allTests('failed')].length === 0).length;
}
