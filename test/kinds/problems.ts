/** Problems of manifests of the real kinds. */
import { DesiredStateError, type Problem } from '../../src/core/errors.ts';
import { declare, type Manifests } from '../support/world.ts';

/** Returns the problems of manifests; none if they are valid. */
export async function problemsIn(manifests: Manifests): Promise<readonly Problem[]> {
  try {
    await declare(manifests);
    return [];
  } catch (error) {
    if (error instanceof DesiredStateError) {
      return error.problems;
    }
    throw error;
  }
}
