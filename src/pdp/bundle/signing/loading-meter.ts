import { AppError } from '../../../errors.js'
import type { WorkMeter } from '../../work-meter.js'

/** For what is done when policies are loaded, outside of any evaluation: the sizes of a bundle and of a key bound it. */
export const LOADING_METER: WorkMeter = {
  spend: () => undefined,
  reserve: () => undefined,
  exceed: (reason) => {
    throw new AppError('invalid', reason)
  },
}
