import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders of tests that start servers or run long; of two files it is not known anywhere else which takes longer. */
const long = ['faults', 'examples', 'ownership', 'upgrade', 'gen', 'docs', 'cli', 'db', 'spec', 'sources'];

/** Begins with what takes longest, so that no worker is left alone with it in the end. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const [, folder = ''] = relative(this.ctx.config.root, moduleId).split(sep);
      return long.includes(folder) ? long.indexOf(folder) : long.length;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
